# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import os
import sys
import time

from utils import load


def latency(function, values):
    times = []
    for _ in range(100):
        begin = time.perf_counter()
        function(values)
        times.append((time.perf_counter() - begin) * 1000.0)
    return round(sorted(times)[len(times) // 2], 5)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--py_modu_file")
    parser.add_argument("--hip_file")
    parser.add_argument("--baseline_only", action="store_true")
    args = parser.parse_args()
    forward = load(args.py_modu_file, "forward")
    relu = None if args.baseline_only else load(args.hip_file, "relu")
    cases = []
    for number, values in enumerate(load(args.py_modu_file, "get_inputs")()):
        case = {"case_idx": number, "params": {"input_0_shape": [len(values)]}, "ori_time": latency(forward, values)}
        if relu:
            case["correct"] = relu(list(values)) == forward(values)
            case["opt_time"] = latency(relu, values)
        cases.append(case)
    ok = all(case.get("correct", True) for case in cases)
    report = {"status": "baseline_ok" if not relu else "ok" if ok else "fail", "test_cases": cases,
              "ori_time": sum(case["ori_time"] for case in cases) / len(cases),
              "opt_time": sum(case["opt_time"] for case in cases) / len(cases) if relu else None}
    os.makedirs("build", exist_ok=True)
    with open("build/performance_report.json", "w") as file:
        json.dump(report, file, indent=2)
    return 0 if ok else 1


sys.exit(main())
