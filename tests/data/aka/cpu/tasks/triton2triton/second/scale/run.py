#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py validate-task | run.py baseline|candidate compile|correctness|performance"""
import json
import sys

SIZES = [10, 1000]


def executed(function):
    """The lines of the kernel that are executed, a thousand of them for a millisecond."""
    count = 0

    def line(frame, event, arg):
        nonlocal count
        count += event == "line"
        return line

    sys.settrace(lambda frame, event, arg: line if frame.f_code.co_filename.endswith("kernel.py") else None)
    try:
        function()
    finally:
        sys.settrace(None)
    return count / 1000.0


def run_case(action, size):
    from kernel import scale

    numbers = [float(n) for n in range(size)]
    case = {"test_case_id": f"size{size}", "status": "PASS", "shape": [size], "dtype": "float64", "params": {"factor": 3}}
    if action == "correctness" and scale(numbers, 3) != [n * 3 for n in numbers]:
        case["status"] = "FAIL"
    if action == "performance":
        case.update({"execution_time_ms": executed(lambda: scale(numbers, 3)), "benchmark_method": "cuda_event_fallback"})
    return case


def main():
    role, action = ("task", "validate-task") if len(sys.argv) == 2 else sys.argv[1:3]
    result = {"protocol": "arena-eval-v1", "role": role, "action": action, "status": "PASS", "cases": [], "reason": None,
              "failure_kind": None, "metadata": {}}
    try:
        if role != "task":
            result["cases"] = [run_case(action, size) for size in SIZES]
    except Exception as error:
        result.update({"status": "FAIL", "reason": str(error), "failure_kind": action})
    if any(case["status"] != "PASS" for case in result["cases"]):
        result.update({"status": "FAIL", "reason": "a case is wrong", "failure_kind": "correctness"})
    print("ARENA_EVAL_RESULT=" + json.dumps(result))
    return 0 if result["status"] == "PASS" else 1


sys.exit(main())
