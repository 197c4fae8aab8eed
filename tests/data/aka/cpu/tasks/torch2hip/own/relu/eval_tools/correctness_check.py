# SPDX-License-Identifier: Apache-2.0
import argparse
import sys

from utils import load

parser = argparse.ArgumentParser()
parser.add_argument("--py_modu_file")
parser.add_argument("--hip_file")
args = parser.parse_args()
relu, forward = load(args.hip_file, "relu"), load(args.py_modu_file, "forward")
for number, values in enumerate(load(args.py_modu_file, "get_inputs")()):
    if relu(list(values)) != forward(values):
        print(f"FAIL: case {number}")
        sys.exit(1)
print("PASS")
