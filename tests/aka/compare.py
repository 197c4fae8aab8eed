#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare.py ROOT DUMP PROCTOR: our reading of AgentKernelArena's tasks beside its own (tree.sh).

Prints TAP. PyYAML reads the same files, shlex splits the same commands, pathlib selects; the helpers
that measure are put in by the tree's own src/perf_helper_materialization.py.
"""
import collections
import datetime
import json
import pathlib
import shlex
import subprocess
import sys
import time

import yaml

KINDS = {bool: "bool", int: "int", float: "float", datetime.date: "date", datetime.datetime: "date"}
# reference: the inventory of the tree at commit d6f7c8a4
COUNTS = {
    "flydsl2flydsl": 15, "hip2hip": 32, "image_kernel": 21, "instruction2triton": 31, "repository": 9,
    "torch2flydsl": 45, "torch2hip": 57, "triton2flydsl": 51, "triton2triton": 165,
}


class Checks:
    """Numbered lines of TAP."""

    def __init__(self):
        self.count = 0
        self.failed = 0

    def say(self, name, wrong):
        self.count += 1
        self.failed += bool(wrong)
        for line in wrong[:10]:
            print("#", line)
        print("not ok" if wrong else "ok", self.count, "-", name, flush=True)


def differs(ours, theirs, where):
    """What is not the same in a value, a text each; and how many values were compared."""
    kind, value = next(iter(ours.items()))
    if isinstance(theirs, dict):
        if kind != "map" or value[0::2] != list(theirs):
            return ["%s: other keys" % where], 1
        pairs = [(v, t, "%s.%s" % (where, k)) for k, v, t in zip(value[0::2], value[1::2], theirs.values())]
    elif isinstance(theirs, list):
        if kind != "list" or len(value) != len(theirs):
            return ["%s: another list" % where], 1
        pairs = [(v, t, "%s[%d]" % (where, i)) for i, (v, t) in enumerate(zip(value, theirs))]
    else:
        if theirs is None:
            same = kind == "null"
        elif isinstance(theirs, str):
            same = kind == "text" and value == theirs
        else:
            same = kind == KINDS[type(theirs)] and yaml.safe_load(value) == theirs
        return ([] if same else ["%s: %r is not %r" % (where, ours, theirs)]), 1
    wrong, count = [], 1
    for pair in pairs:
        more, compared = differs(*pair)
        wrong += more
        count += compared
    return wrong, count


def run(*argv, codes=(0,)):
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode not in codes:
        sys.exit("%s ended with %d: %s" % (argv, done.returncode, done.stderr))
    return done.stdout


def check_values(checks, files, dump):
    wrong, count = [], 0
    for name, path in files.items():
        done = subprocess.run([dump], input=path.read_bytes(), capture_output=True, check=False)
        if done.returncode:
            wrong.append("%s: %s" % (name, done.stderr.decode()))
            continue
        more, compared = differs(json.loads(done.stdout), yaml.safe_load(path.read_text()), name)
        wrong += more
        count += compared
    print("# %d values in %d files" % (count, len(files)))
    checks.say("every key and value is PyYAML's, in its type and order", wrong)


def substituted(command):
    """A command as evaluator_utils.normalize_python_command() makes it, split."""
    for token, by in (("python3", "python3"), ("python", "python3"), ("pytest", "python3 -m pytest")):
        stripped = command.lstrip()
        if stripped == token or stripped.startswith(token + " "):
            command = by + stripped[len(token):]
    return shlex.split(command)


def expected_steps(task):
    """What main.run_task runs, in proctor's words."""
    steps = []
    baseline = [("baseline compile", "compile_command", ""), ("baseline performance", "performance_command", "")]
    if task["task_type"] == "torch2hip":
        baseline = [("baseline performance", "performance_command", " --baseline_only")]
    for step, key, extra in baseline + [
            ("compile", "compile_command", ""), ("correctness", "correctness_command", ""),
            ("performance", "performance_command", "")]:
        wall = int(task.get(key.replace("_command", "_timeout"), 3600))
        steps += [{"step": step, "argv": substituted(c + extra), "shell": False, "wall_s": wall} for c in task[key]]
    return steps


def expected_edits(task):
    """The folder that is brought, the target of torch2hip, the sources, or the file with the tests."""
    brought = task.get("image_repo_path") or task.get("repo_url")
    if brought:
        name = brought.rstrip("/").rsplit("/", 1)[-1].removesuffix(".git")
        return [task.get("repo_subdir") or name]
    if task["task_type"] == "torch2hip":
        return [task["target_file_path"]]
    tests = [w for w in shlex.split(task["correctness_command"][0]) if w.endswith(".py")]
    return task["source_file_path"] or tests[:1]


def check_plans(checks, tasks, root, proctor):
    commands, edits, colocated, shells, missing = [], [], 0, 0, []
    for name, task in tasks.items():
        plan = json.loads(run(proctor, "tasks", "show", "--aka", root, "--json", name))
        steps = [s for s in plan["steps"] if s["step"] != "setup"]
        shells += sum(s["shell"] for s in plan["steps"])
        if steps != expected_steps(task):
            commands.append("%s: %s" % (name, steps))
        if [e["path"] for e in plan["editable"]] != expected_edits(task):
            edits.append("%s: %s" % (name, plan["editable"]))
        colocated += any(e["scope"] == "symbols" for e in plan["editable"])
        missing += plan["remarks"]
    print("# commands of setup that need a shell: %d" % shells)
    checks.say("each command is planned as its evaluator runs it, and each baseline", commands)
    checks.say("what may be edited is what the task declares", edits)
    checks.say("nothing is odd", missing)
    return colocated


def check_helpers(checks, files, root, dump, proctor):
    """Where a helper goes, and the runners with theirs put in, to the byte."""
    sys.dont_write_bytecode = True
    sys.path.insert(0, root)
    from src import perf_helper_materialization as theirs  # pylint: disable=import-error,import-outside-toplevel

    block = theirs.canonical_vllm_block()
    wrong, count = [], collections.Counter()
    for name, path in files.items():
        want = ["performance_utils_pytest.py"] if theirs._workspace_uses_rocmbench_helper(path.parent) else []
        runner = path.parent / "scripts/task_runner.py"
        text = runner.read_text() if runner.exists() else ""
        if theirs.MARK_END in text:
            want.append("scripts/task_runner.py")
            done = subprocess.run([dump, root], input=text, capture_output=True, text=True, check=False)
            if done.stdout != theirs.replace_marked_region(text, block):
                wrong.append("%s: another runner" % name)
        count.update(want)
        if json.loads(run(proctor, "tasks", "show", "--aka", root, "--json", name))["helpers"] != want:
            wrong.append("%s: other helpers than %s" % (name, want))
    print("#", dict(count))
    checks.say("each task gets the helpers that its own code gives it", wrong)


def check_selection(checks, files, root, proctor):
    wrong = []
    for selector in ("hip2hip", "hip2hip/gpumode", "torch2hip/gpumode/14539_GELU", "*/rocmbench", "**/softmax",
                     "triton2triton/vllm/triton_[a-c]*", "image_kernel/mi355x*", "t?iton2*/*/*[!a-m]"):
        theirs = sorted(str(p.parent.relative_to(root + "/tasks"))
                        for p in pathlib.Path(root, "tasks").glob(selector + "/**/config.yaml"))
        ours = json.loads(run(proctor, "tasks", "list", "--aka", root, "--json", selector))["tasks"]
        print("# %s: %d" % (selector, len(ours)))
        if [t["task"] for t in ours] != theirs or not theirs:
            wrong.append(selector)
    checks.say("selectors mean what they mean to pathlib", wrong)


def check_platform(checks, tasks, root, proctor):
    wrong = []
    for arch in ("gfx942", "gfx950", "gfx1201"):
        want = sorted(n for n, t in tasks.items()
                      if (t.get("platform_support") or {}).get("required_arch") in (None, arch))
        got = json.loads(run(proctor, "tasks", "list", "--aka", root, "--arch", arch, "--json"))
        print("# %s: %d run, %d dropped" % (arch, len(got["tasks"]), len(got["dropped"])))
        if [t["task"] for t in got["tasks"]] != want or len(want) + len(got["dropped"]) != len(tasks):
            wrong.append(arch)
    checks.say("what another GPU needs is dropped, with the reason", wrong)


def main():
    root, dump, proctor = sys.argv[1:]
    checks = Checks()
    files = {str(p.parent.relative_to(root + "/tasks")): p
             for p in sorted(pathlib.Path(root, "tasks").glob("**/config.yaml"))}
    tasks = {n: yaml.safe_load(p.read_text()) for n, p in sorted(files.items())}
    begun = time.monotonic()
    listed = json.loads(run(proctor, "tasks", "list", "--aka", root, "--json"))
    print("# proctor tasks list: %.2f s" % (time.monotonic() - begun))
    checks.say("it takes less than 5 s", [] if time.monotonic() - begun < 5 else ["it does not"])
    checks.say("all %d folders load, in the order of their names" % len(tasks),
               ["%(task)s: %(why)s" % r for r in listed["refused"]]
               or [] if [t["task"] for t in listed["tasks"]] == list(tasks) else ["other tasks"])
    counts = {t["type"]: t["tasks"] for t in listed["types"]}
    print("#", counts)
    checks.say("their types count as PyYAML counts them",
               [] if counts == collections.Counter(t["task_type"] for t in tasks.values()) else [str(counts)])
    if len(tasks) == 426:
        checks.say("and as the inventory says", [] if counts == COUNTS else [str(counts)])
    check_values(checks, files, dump)
    colocated = check_plans(checks, tasks, root, proctor)
    checks.say("61 files hold a kernel and its tests", [] if colocated == 61 or len(tasks) != 426 else [str(colocated)])
    check_helpers(checks, files, root, dump, proctor)
    check_selection(checks, files, root, proctor)
    check_platform(checks, tasks, root, proctor)
    print("1..%d" % checks.count)
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
