#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dryrun.py AKA_ROOT PROCTOR: does `proctor run --dry-run` plan the folders of torch2hip and hip2hip right?

Each plan is held against the task's own config.yaml, read by PyYAML and taken apart by shlex: the commands of
each step with the interpreter put in, how the baseline is measured, and which files are the agent's. Prints TAP.
"""
import glob
import json
import os
import shlex
import subprocess
import sys

import yaml

PYTHON = "/opt/own/bin/python3"
root, proctor = sys.argv[1:3]
failed = False


def words(text, extra=None):
    argv = shlex.split(text)
    if argv[0] in ("python3", "python"):
        argv[0] = PYTHON
    elif argv[0] == "pytest":
        argv[:1] = [PYTHON, "-m", "pytest"]
    return argv + ([extra] if extra else [])


def expected(config, kind):
    steps = []

    def add(step, key, extra=None):
        wall = int(config.get(key.replace("command", "timeout"), 3600))
        steps.extend((step, words(text, extra), wall) for text in config[key])

    # Of PyTorch there is nothing to compile, and the same command measures both sides.
    if kind == "torch2hip":
        add("baseline performance", "performance_command", "--baseline_only")
    else:
        add("baseline compile", "compile_command")
        add("baseline performance", "performance_command")
    add("compile", "compile_command")
    add("correctness", "correctness_command")
    add("performance", "performance_command")
    files = set()
    if config.get("target_file_path"):
        files.add(config["target_file_path"])
    if kind != "torch2hip":
        files.update(config["source_file_path"])
    return steps, files


def check(name, ok, why=""):
    global failed
    failed = failed or not ok
    check.count += 1
    print(("ok" if ok else "not ok"), check.count, "-", name)
    if not ok:
        print("#", why)


check.count = 0
for kind in ("torch2hip", "hip2hip"):
    done = subprocess.run([proctor, "run", "--aka", root, "--python", PYTHON, "--policy", "agentkernelarena",
                           "--dry-run", "--json", kind], capture_output=True, text=True)
    check(f"{kind}: a plan is told", done.returncode == 0, done.stderr)
    if done.returncode != 0:
        continue
    plan = json.loads(done.stdout)
    on_disk = {os.path.relpath(os.path.dirname(f), os.path.join(root, "tasks"))
               for f in glob.glob(os.path.join(root, "tasks", kind, "**", "config.yaml"), recursive=True)}
    told = {t["plan"][0]["task"]: t for t in plan["tasks"]}
    check(f"{kind}: all {len(on_disk)} folders", set(told) == on_disk, str(set(told) ^ on_disk))
    wrong = {"commands": [], "editable files": [], "dropped": []}
    for name in sorted(on_disk & set(told)):
        with open(os.path.join(root, "tasks", name, "config.yaml"), encoding="utf-8") as file:
            config = yaml.safe_load(file)
        steps, files = expected(config, kind)
        shown = [(s["step"], s["argv"], s["wall_s"]) for s in told[name]["plan"][0]["steps"]]
        if shown != steps:
            wrong["commands"].append((name, shown, steps))
        edits = {e["path"] for e in told[name]["plan"][0]["editable"] if e["scope"] == "file"}
        if edits != files or len(told[name]["plan"][0]["editable"]) != len(files):
            wrong["editable files"].append((name, sorted(edits), sorted(files)))
        if told[name]["dropped"]:
            wrong["dropped"].append((name, told[name]["dropped"]))
    for what, list_ in wrong.items():
        check(f"{kind}: {what} of each", not list_, str(list_[:2]))
    check(f"{kind}: the jails are told", [j["role"] for j in plan["jails"]] == ["agent", "evaluator"],
          str(plan["jails"])[:300])
print(f"1..{check.count}")
sys.exit(failed)
