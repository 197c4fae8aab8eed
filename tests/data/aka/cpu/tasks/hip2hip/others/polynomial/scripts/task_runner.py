#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""task_runner.py compile|correctness|performance: all but the first need what the first makes"""
import json
import math
import os
import sys

os.chdir(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PRODUCT = "build/lib/polynomial.json"


def compile_source():
    program = []
    with open("src/polynomial.txt") as file:
        for line in file:
            words = line.split()
            if not words or words[0] == "#":
                continue
            if len(words) != 2 or words[0] not in ("add", "multiply") or words[1] != "x" and not math.isfinite(float(words[1])):
                raise ValueError(f"'{line.strip()}' is no step")
            program.append(words)
    os.makedirs(os.path.dirname(PRODUCT), exist_ok=True)
    with open(PRODUCT, "w") as file:
        json.dump(program, file)


def load():
    with open(PRODUCT) as file:
        return json.load(file)


def evaluate(program, x):
    value = 0.0
    for step, number in program:
        by = x if number == "x" else float(number)
        value = value + by if step == "add" else value * by
    return value


def main():
    mode = sys.argv[1]
    if mode == "compile":
        compile_source()
    elif mode == "correctness":
        program = load()
        for x in (-2.0, 0.0, 1.0, 10.0):
            if evaluate(program, x) != 3 * x * x + 2 * x + 1:
                print(f"Correctness: FAIL at {x}")
                return 1
        print("Correctness: PASS")
    else:
        cases = [{"test_case_id": f"x{x}", "execution_time_ms": len(load()) * x / 100.0, "shape": [x]} for x in (1, 10, 100)]
        with open("build/performance_report.json", "w") as file:
            json.dump(cases, file, indent=2)
    return 0


sys.exit(main())
