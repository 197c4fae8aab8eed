# SPDX-License-Identifier: Apache-2.0
"""What goes between the marks of scripts/task_runner.py: from the first function to the end."""


def _measure_cuda_event_fallback(fn, repetition):
    import time

    times = []
    for _ in range(repetition):
        begin = time.perf_counter()
        fn()
        times.append((time.perf_counter() - begin) * 1000.0)
    return times


def _benchmark_cuda_graph_or_events(fn, warmup, repetition):
    for _ in range(warmup):
        fn()
    times = sorted(_measure_cuda_event_fallback(fn, repetition))
    return times[len(times) // 2], {"benchmark_method": "measured", "benchmark_samples": repetition}
