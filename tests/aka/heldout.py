#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""heldout.py AKA_ROOT AKA-HELDOUT WORK CASES SEED: see heldout.sh

Injections go through their apply_all_injections() on a folder. Attempts go through their evaluate_single_task(),
copies of workspaces and all; run_command() alone is replaced: it hands out outputs and lays out reports.
"""
import copy
import json
import logging
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

root, program, work, wanted, seed = sys.argv[1:6]
work, wanted = Path(work), int(wanted)
sys.path.insert(0, root)
import yaml  # noqa: E402
from src import evaluator, performance  # noqa: E402
from src.held_out import injection, run_heldout_eval  # noqa: E402

rng = random.Random(int(seed))
failures = []
counts = {}


def count(what, number=1):
    counts[what] = counts.get(what, 0) + number


def check(what, where, ours, theirs):
    if ours != theirs:
        failures.append((what, where, ours, theirs))


# ---- injections ----

SPACES = ["", "", "", " ", "    ", "\t", "  \t", "\x0b", "\x0c", "\x1c", "\x1d", "\x1f", "\x85", "\xa0", "\u2003", "\u2028", "\u3000", "\n", "\n\n", "\r\n", "\r"]
INDENTS = ["", "", "", "    ", "\t", " \t ", "  "]


def space():
    return rng.choice(SPACES)


def shapes_list():
    return rng.choice(["[(1, 2), (3, 4)]", "[\n    (1, 2),\n    (3, 4),\n]", "[[1], [2, [3]]]", "[]", "['[', 1]", "[']', 1]", "[  # a ]\n    1,\n]", "[(1,\n2)",
                       "[[1]", "[1]]", "[x for x in range(3)]", "[\n]"])


def shapes_block():
    return rng.choice(INDENTS) + rng.choice(["TEST_SHAPES"] * 12 + ["TEST_SHAPES: list", "MY_TEST_SHAPES", "TEST_SHAPES_2", "test_shapes", "x = TEST_SHAPES"]) + space() + \
        rng.choice(["="] * 10 + ["==", "+=", ""]) + space() + shapes_list() + rng.choice(["\n", "\n", "\r\n", "\r", "  # end\n", "; x = 1\n", "", "\n\n\n"])


def inputs_block():
    indent = rng.choice(INDENTS)
    body = []
    for _ in range(rng.randrange(5)):
        body.append(rng.choice([indent + "    yield 1", indent + "\treturn [1]", "", "   ", "# at the margin", indent + "# as deep", "\x0c", "\x0b  x", "\u2003\u2003y", "\x85z",
                                indent + "x", indent + ") -> int:", indent + "    '''", "text of a docstring", indent + "    '''", "\u2028deep", indent + " x"]))
    head = indent + "def get_inputs" + space() + rng.choice(["():", "(n=1):", "( \n):", "", "[T]():", "_2():"])
    return head + rng.choice(["\n", "\n", "\r\n"]) + rng.choice(["\n", "\n", "\r\n", "\r"]).join(body) + rng.choice(["\n", "\n", "", "\n\n"])


def other_line():
    return rng.choice(["import torch\n", "\n", "x = [1, 2]\n", "def run():\n    pass\n", "# TEST_SHAPES = [\n", "class A:\n", "    y = 'é→\U0001f600'\n", "]\n", "\t\n", "@pytest.mark.parametrize('n', [1, 2])\n", "aXbXc\n",
                       "def get_init_inputs():\n    return []\n", "\u2028TEST_SHAPES = [1]\n", "    ", "\ufeff", "\x00\n", "async def get_inputs():\n    pass\n"])


def source():
    parts = [rng.choice([other_line, other_line, other_line, shapes_block, inputs_block])() for _ in range(rng.randrange(9))]
    data = "".join(parts).encode()
    if rng.random() < 0.03:
        at = rng.randrange(len(data) + 1)
        data = data[:at] + rng.choice([b"\xff", b"\xc3", b"\xe2\x82", b"\xed\xa0\x80", b"\xc0\x80"]) + data[at:]
    return data


def code():
    if rng.random() < 0.5:
        return rng.choice(["", "\n", "  "]) + rng.choice(["TEST_SHAPES = [\n    (7, 7),\n    (8, 8),\n]\n", "TEST_SHAPES = [(9,)]", "def get_inputs():\n    for s in [1, 2]:\n        yield s\n",
                                                          "def get_inputs():\r\n    return 3", "a\x0bb\x0cc\x1cd\x1de\x1ef\x85g\u2028h\u2029i\rj\r\nk", "x\n\n   \n  y\n", "é→", "it's: # \"q\"\n", "", " ", "\n\n", "\u3000", "\u3000z\u3000"])
    return "".join(rng.choice([inputs_block, shapes_block, other_line])().replace("\x00", "") for _ in range(rng.randrange(1, 3)))


def raw(data):
    """Some part of the file, mostly."""
    text = data.decode("utf-8", "ignore").replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    if text and rng.random() < 0.95:
        at = rng.randrange(len(text))
        return text[at:at + rng.randrange(1, 30)]
    return rng.choice(["not there", "not there", "not there", "", "\r", "X", "\n", None])


def make_injection(files):
    name = rng.choice(list(files))
    likely = ["TEST_SHAPES"] * (b"TEST_SHAPES" in files[name]) + ["def get_inputs"] * (b"def get_inputs" in files[name]) + ["raw_replace"]
    marker = rng.choice(likely) if rng.random() < 0.9 else rng.choice(["TEST_SHAPES", "def get_inputs", "def get_inputs():", "raw_replace", "def", "TEST_SHAPES ", "other", ""])
    spec = {"file": name, "find_marker": marker, "replacement_code": code()}
    if spec["find_marker"] == "raw_replace" or rng.random() < 0.1:
        old = raw(files[name])
        if old is not None or rng.random() < 0.5:
            spec["old_code"] = old
        if old and rng.random() < 0.1:
            spec["replacement_code"] = old
    if rng.random() < 0.02:
        spec["file"] = "gone.py"
    if rng.random() < 0.02:
        del spec[rng.choice(["file", "find_marker", "replacement_code"])]
    return spec


def make_heldout():
    files = {name: source() for name in ["a.py", "b.py"][:rng.randrange(1, 3)]}
    config = {"task_type": "triton2triton", "num_original_shapes": 5, "injections": [make_injection(files) for _ in range(rng.choice([1, 1, 1, 1, 2, 2, 3, 0]))]}
    if rng.random() < 0.2:
        config["init_constraints"] = rng.choice([{"features": 4}, None, "dim % 4 == 0", ["a"]])
    if rng.random() < 0.02:
        del config["injections"]
    return config, files


class Heard(logging.Logger):
    """The last refusal of each file's, in their words."""
    def __init__(self):
        super().__init__("heard")
        self.refusals = []

    def _log(self, level, msg, args, **_):
        if level >= logging.WARNING:
            self.refusals.append(msg % args if args else msg)


# What they log, and what ours is then: a number of enum aka_injected, or how loading fails.
REFUSALS = [("Could not find 'TEST_SHAPES", "2"), ("Unbalanced brackets", "3"), ("Could not find 'def get_inputs", "4"), ("raw_replace: old_code not found", "5"),
            ("produced no change", "6"), ("raw_replace injection missing", "load"), ("Unknown find_marker", "load"), ("No injections defined", "load"),
            ("target file not found", "gone"), ("can't decode", "1"), ("KeyError", "load")]


def their_injection(config, folder):
    heard = Heard()
    try:
        if injection.apply_all_injections(folder, config, heard):
            return None, heard
    except UnicodeDecodeError as error:
        heard.refusals.append(str(error))
    except KeyError as error:
        heard.refusals.append(f"KeyError {error}")
    return next((kind for text in heard.refusals for words, kind in REFUSALS if words in text), f"unknown: {heard.refusals}"), heard


def is_broken(config):
    """Would ours not even begin? Theirs looks at a file first."""
    markers = ("TEST_SHAPES", "def get_inputs", "def get_inputs():", "raw_replace")
    return not config.get("injections") or any(not {"file", "find_marker", "replacement_code"} <= set(spec) or spec["find_marker"] not in markers or
                                               (spec["find_marker"] == "raw_replace" and not spec.get("old_code")) for spec in config["injections"])


def compare_injection(config, folder):
    where = folder / "held_out_shapes.yaml"
    theirs = folder / "theirs"
    shutil.copytree(folder / "ws", theirs)
    refusal, heard = their_injection(yaml.safe_load(where.read_text()), theirs)
    facts = (folder / "ours" / "facts").read_text().splitlines()
    ours = next(("load" if line.startswith("load: ") else line.split()[1] for line in facts if line.startswith("load: ") or line.split()[1] != "0"), None)
    count("held-out files")
    if refusal is None:
        count("injected")
        check("injected", where, ours, None)
        for path in theirs.iterdir():
            mine = folder / "ours" / path.name
            if mine.exists():
                check("bytes", mine, mine.read_bytes(), path.read_bytes())
                count("files injected")
            else:
                check("untouched", path, (folder / "ws" / path.name).read_bytes(), path.read_bytes())
        return
    count("refused")
    check("refused", where, ours is not None, True)
    if is_broken(config):
        check("refused when it is read", where, ours, "load")
        count("refused when it is read")
        return
    # Of several refusals each side has the first in an order of its own, and an exception keeps theirs from the rest.
    if len(heard.refusals) == 1 and (refusal != "1" or len(config["injections"]) == 1):
        check(f"refusal, {heard.refusals[0]}", where, ours, refusal)
        count(f"refused: {refusal}")


def injections():
    for i in range(wanted):
        folder = work / "inject" / f"{i:06}"
        config, files = make_heldout()
        (folder / "ws").mkdir(parents=True)
        for name, data in files.items():
            (folder / "ws" / name).write_bytes(data)
        (folder / "held_out_shapes.yaml").write_text(yaml.dump(config, allow_unicode=rng.random() < 0.5, width=rng.choice([40, 80, 10 ** 6]), sort_keys=rng.random() < 0.5,
                                                               default_style=rng.choice([None, None, '"']) if "task_type" not in config else None))
        yield config, folder


# ---- attempts ----

COMMANDS = ["orig-compile", "orig-correct", "opt-compile", "opt-correct", "orig-perf", "opt-perf"]


def time_ms():
    return rng.choice([rng.uniform(0.001, 10)] * 12 + [0, -1.0, None, float("nan"), 1e-300, 1e300, "0.5", True, 5e-324] + [float("inf")] * (rng.random() < 0.1))


def cases(number, key):
    return [{"test_case_id": f"perf{i}", key: time_ms(), "params": {"m": i}} for i in range(number)]


def number():
    return rng.choice([0.0, 1.0, rng.uniform(0.5, 3), rng.uniform(0.5, 3), rng.uniform(0.5, 3), 1e-5, 0.00005, 2.00005, 1.00015, 1e16, 123456.78905, rng.uniform(0, 1e6)])


class Attempt:
    def __init__(self, index):
        self.type = rng.choice(["triton2triton", "triton2triton", "hip2hip", "torch2hip"])
        self.name = f"{self.type}/suite/" + rng.choice([f"t{index}", f"größe {index}", "long_" * 12 + str(index), f"it's: {index} #"])
        self.error = rng.choice([""] * 30 + ["config.yaml not found in workspace", "Failed to restore original kernel in orig/", "Injection failed in opt/"])
        self.seen = (rng.random() < 0.9, number(), number())
        self.ok = [rng.random() < 0.93 for _ in COMMANDS]
        self.said = [(b"PASS\n", b"") if rng.random() < 0.8 else (rng.choice([b"", b"1 failed\n", b"ok: # x\n", b"boom " * 30, "é\tx\n".encode(), b"\xff", b"all passed, 0 failed"]), rng.choice([b"", b"Traceback\n  x\n"]))
                     for _ in COMMANDS]
        self.reports = {}
        key = "execution_time_ms"
        many = rng.choice([1, 1, 2, 3, 5, 8])
        for side in ("orig", "opt"):
            if self.type == "torch2hip":
                key = "ori_time" if side == "orig" else "opt_time"
            if rng.random() < 0.93:
                self.reports[side] = json.dumps(cases(many if rng.random() < 0.95 else many + 1, key)).encode()
        if rng.random() < 0.1:
            self.reports = {}
            self.said[4], self.said[5] = [(rng.choice([b"GEAK_RESULT_LATENCY_MS=0.5\n", b"Test case 0: 1.25 ms\n", b"... ms\n"]), b"") for _ in range(2)]

    def write(self, folder):
        folder.mkdir(parents=True)
        facts = [self.name, self.type, self.error, str(int(self.seen[0])), repr(self.seen[1]), repr(self.seen[2])] + [str(int(ok)) for ok in self.ok]
        (folder / "facts").write_text("\n".join(facts) + "\n")
        for what, (out, err) in zip(COMMANDS, self.said):
            (folder / f"{what}.out").write_bytes(out)
            (folder / f"{what}.err").write_bytes(err)
        for side, data in self.reports.items():
            (folder / f"{side}.json").write_bytes(data)

    def command(self, command, workspace, timeout=0, logger=None, docker_container=None, extra_env=None):
        side, what = workspace.name, command.split()[0]
        if "--baseline_only" in command:
            side = "orig"
        at = COMMANDS.index(f"{side}-{what}")
        if what == "perf" and side in self.reports:
            (workspace / "build").mkdir(exist_ok=True)
            (workspace / "build/performance_report.json").write_bytes(self.reports[side])
        try:
            out, err = (data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n") for data in self.said[at])
        except UnicodeDecodeError as error:
            return False, "", str(error)
        return self.ok[at], out, err

    def theirs(self, place):
        """Their record, and the workspace it is in."""
        task, workspace, output = place / "task", place / "run" / "workspace", place / "out"
        for folder in (task, workspace):
            folder.mkdir(parents=True)
            (folder / "k.py").write_text("TEST_SHAPES = [1]\n")
        config = {"task_type": self.type, "source_file_path": ["k.py"], "target_file_path": "k.hip" if self.type == "torch2hip" else "k.py",
                  "compile_command": ["compile"], "correctness_command": ["correct"], "performance_command": ["perf"]}
        if self.error.startswith("Failed"):
            config["source_file_path"] = config["target_file_path"] = ["gone.py"][0] if self.type == "hip2hip" else None
            if self.type == "torch2hip":
                raise AssertionError
        if not self.error.startswith("config"):
            (workspace / "config.yaml").write_text(yaml.dump(config))
        (workspace / "task_result.yaml").write_text(yaml.dump({"task_name": self.name, "pass_correctness": self.seen[0], "speedup_ratio": self.seen[1], "score": self.seen[2]}))
        heldout = {"injections": [{"file": "k.py" if not self.error.startswith("Inj") else "gone.py", "find_marker": "TEST_SHAPES", "replacement_code": "TEST_SHAPES = [2]"}]}
        evaluator.run_command = performance.run_command = self.command
        return run_heldout_eval.evaluate_single_task(workspace, output, heldout, task, logging.getLogger("quiet")), output


def compare_attempt(attempt, folder, place, logger):
    lost = (folder / "ours" / "lost").read_text()
    count("attempts")
    try:
        result, output = attempt.theirs(place)
    except ValueError as error:
        count("attempts that end its evaluation")
        check(f"its evaluation ends: {error}", folder, bool(lost), True)
        return None
    check("lost", folder, lost, "")
    for name, path in (("heldout_task_result.yaml", output / "heldout_task_result.yaml"), ("optimized_perf.yaml", output / "opt" / "optimized_perf.yaml")):
        mine = folder / "ours" / name
        check(name, folder, mine.read_bytes() if mine.exists() else None, path.read_bytes() if path.exists() else None)
        count("files of attempts")
    count(result["generalization_status"])
    return result


def attempts():
    number_of_attempts, runs = max(20, wanted // 4), []
    while number_of_attempts > 0:
        folder = work / "unseen" / f"{len(runs):06}"
        folder.mkdir(parents=True)
        tasks = [Attempt(i) for i in range(rng.choice([1, 1, 2, 3, 20, 40]))]
        for task in tasks:
            if task.error.startswith("Failed") and task.type == "torch2hip":
                task.error = ""
        for i, task in enumerate(tasks):
            task.write(folder / f"{i:04}")
        runs.append((folder, tasks))
        number_of_attempts -= len(tasks)
    return runs


def compare_runs(runs):
    logger = logging.getLogger("quiet")
    for folder, tasks in runs:
        results = [compare_attempt(task, folder / f"{i:04}", folder.parent.parent / "theirs" / folder.name / f"{i:04}", logger) for i, task in enumerate(tasks)]
        out = work / "theirs" / folder.name
        mine = folder / "ours" / "heldout_summary.yaml"
        try:
            run_heldout_eval.write_summary(out, copy.deepcopy([result for result in results if result]), logger)
        except (AttributeError, ValueError, OverflowError) as error:
            count("summaries its own code can not write")
            check(f"summary: {error}", folder, mine.exists(), True)
            continue
        path = out / "heldout_summary.yaml"
        check("summary", folder, mine.read_bytes() if mine.exists() else None, path.read_bytes() if path.exists() else None)
        count("summaries")


def show(ours, expected):
    """The first lines that differ."""
    lines = [(data.decode("utf-8", "replace") if isinstance(data, bytes) else str(data)).split("\n") for data in (ours, expected)]
    at = next((i for i, pair in enumerate(zip(*lines)) if pair[0] != pair[1]), min(map(len, lines)))
    for side, text in zip(("ours", "theirs"), lines):
        print(f"{side + ':':<8}" + "\n        ".join(line[:300] for line in text[at:at + 3]))


def main():
    logging.disable(logging.NOTSET)
    quiet = logging.getLogger("quiet")
    quiet.setLevel(logging.CRITICAL + 1)
    made, runs = list(injections()), attempts()
    subprocess.run([program, str(work)], check=True)
    for config, folder in made:
        compare_injection(config, folder)
    logging.disable(logging.CRITICAL)
    compare_runs(runs)
    for what, where, ours, expected in failures[:12]:
        print(f"--- {what}: {where}")
        show(ours, expected)
    print(", ".join(f"{key}: {number}" for key, number in counts.items()) + f", differences: {len(failures)}")
    if failures and os.environ.get("KEEP"):
        shutil.copytree(work, os.environ["KEEP"], dirs_exist_ok=True)
    sys.exit(1 if failures else 0)


main()
