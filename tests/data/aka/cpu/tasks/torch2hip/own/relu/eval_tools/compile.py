# SPDX-License-Identifier: Apache-2.0
import argparse

from utils import load

parser = argparse.ArgumentParser()
parser.add_argument("--hip_file")
load(parser.parse_args().hip_file, "relu")
print("Compilation: PASS")
