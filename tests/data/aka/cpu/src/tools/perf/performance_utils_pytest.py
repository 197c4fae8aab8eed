# SPDX-License-Identifier: Apache-2.0
"""The helper that lies beside a file of kernel and tests."""
import json
import os
import time

results = []


def benchmark(fn, name, params, repetition=100):
    for _ in range(10):
        fn()
    times = []
    for _ in range(repetition):
        begin = time.perf_counter()
        fn()
        times.append((time.perf_counter() - begin) * 1000.0)
    times.sort()
    results.append({
        "op_name": name,
        "params": params,
        "timing_ms": {"mean": times[len(times) // 2], "min": times[0], "max": times[-1], "repetition": repetition},
        "benchmark_method": "measured",
    })


def save(folder):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "benchmark_results.json"), "w") as file:
        json.dump(results, file, indent=1)
