#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""thirty.py FOLDER [COUNT]: a tree of thirty tasks (or COUNT), whose figures are counted: equal in every run

For runs that are killed and resumed. Each is tests/data/aka/cpu's row_norm_counted with shapes of its own;
agents/thirty makes of them what the number in the source says.
"""
import re
import shutil
import sys
from pathlib import Path

tree = Path(__file__).resolve().parent.parent / "data" / "aka" / "cpu"
out = Path(sys.argv[1])
shutil.copytree(tree / "src", out / "src")
for number in range(int(sys.argv[2]) if len(sys.argv) > 2 else 30):
    task = out / "tasks" / "triton2triton" / f"made{number % 3}" / f"t{number:02}"
    shutil.copytree(tree / "tasks" / "triton2triton" / "vllm" / "row_norm_counted", task)
    shapes = [(2 + number % 5, 8 + number), (3, 16 + 2 * number)]
    runner = task / "scripts" / "task_runner.py"
    runner.write_text(re.sub(r"TEST_SHAPES = \[.*?\n\]", f"TEST_SHAPES = {shapes}", runner.read_text(), flags=re.DOTALL))
    source = task / "source" / "row_norm.py"
    source.write_text(f"# task {number}\n" + source.read_text())
