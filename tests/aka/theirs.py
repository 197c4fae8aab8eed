#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""AgentKernelArena's own evaluator on tasks of a tree, by hand; a line of JSON for each

  theirs.py [--tree DIR] --agent PROGRAM TASK…   baseline, agent, guard, evaluation and score, as its main.py does it
  theirs.py --verdicts [--agent PROGRAM] TASK…   compile and correctness alone
  theirs.py --given ATTEMPT TASK                 its parser, matcher and score over the reports of an attempt of ours

AKA_ROOT is a checkout of it (python3-yaml is needed). Everything happens in a temporary folder, laid out as its own:
its src/ beside the workspaces, with the helpers of the tree. The agent runs there as it would with it: as this user,
with no walls. So what is run so had better be one of those in cheats/.
"""
import argparse
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PERF = Path("src") / "tools" / "perf"
REPORTS = ["build/performance_report.json", "performance_report.json", "build/perf_report.json",
           "perf_report.json", "perf/benchmark_results.json"]
STAMP = "20260101_000000"


class Arena:
    """Its modules, out of a copy of its src/ that may be spoilt."""

    def __init__(self, root, tree, place):
        self.tree, self.place = tree, place
        shutil.copytree(root / "src", place / "src")
        if tree != root and (tree / PERF).is_dir():
            shutil.copytree(tree / PERF, place / PERF, dirs_exist_ok=True)
        sys.path.insert(0, str(place))
        import yaml
        from src import evaluator, harness_guard, perf_helper_materialization, performance, preprocessing, score

        self.yaml, self.evaluator, self.guard, self.performance = yaml, evaluator, harness_guard, performance
        self.setup, self.scoring = preprocessing.setup_workspace, score
        self.materialize = perf_helper_materialization.materialize_perf_helpers_in_workspace
        self.log = logging.getLogger("theirs")
        self.run = place / "workspace_here_scripted" / f"run_{STAMP}"
        self.run.mkdir(parents=True)

    def config(self, task):
        return self.yaml.safe_load((self.tree / "tasks" / task / "config.yaml").read_text())

    def workspace(self, task):
        return self.setup(str(self.tree / "tasks" / task / "config.yaml"), self.run, STAMP, self.log, task_name=task)

    def measure(self, task, program, limit_s):
        """main.run_task() without what only logs."""
        workspace, config = self.workspace(task), self.config(task)
        evaluator, baseline, vanished = self.evaluator, [], None
        try:
            if config.get("task_type") == "torch2hip" or evaluator.evaluate_compilation(workspace, config, self.log)[0]:
                baseline = self.performance.measure_baseline(workspace, config, self.log)
            snapshot = self.guard.snapshot_workspace_harness(workspace)
            launch(program, workspace, limit_s)
            self.guard.verify_workspace_harness(snapshot, logger=self.log)
            self.materialize(workspace, logger=self.log)
            results = evaluator.evaluate_kernel(workspace, config, baseline, self.log)
            evaluator.write_task_result(workspace, results, baseline, task, "scripted", self.log, create_plots=False)
        except Exception as error:
            vanished = f"{type(error).__name__}: {error}"
        return self.outcome(task, workspace, vanished)

    def outcome(self, task, workspace, vanished=None):
        """What its reports would show. A result that is there although the task vanished is the agent's."""
        file = workspace / "task_result.yaml"
        said = {"task": task, "compiled": None, "correct": None, "speedup": None, "score": None, "vanished": vanished,
                "outside_written": file.is_symlink() and file.exists() and self.run not in file.resolve().parents}
        if file.exists():
            said["score"] = self.scoring.task_result_scoring(str(workspace))
            data = self.yaml.safe_load(file.read_text())
            said["compiled"], said["correct"] = data.get("pass_compilation"), data.get("pass_correctness")
            said["speedup"] = self.scoring.resolve_speedup_ratio(data.get("speedup_ratio"), data.get("base_execution_time", 0.0),
                                                                 data.get("best_optimized_execution_time", 0.0))
            said["error"] = data.get("speedup_calculation_error_message") or data.get("correctness_error_message") \
                or data.get("compilation_error_message")
        return said

    def verdicts(self, task, program, limit_s):
        workspace, config = self.workspace(task), self.config(task)
        if program:
            launch(program, workspace, limit_s)
        compiled, why = self.evaluator.evaluate_compilation(workspace, config, self.log)
        correct = False
        if compiled:
            correct, why = self.evaluator.evaluate_correctness(workspace, config, self.log)
        return {"task": task, "compiled": compiled, "correct": correct, "error": why}

    def given(self, task, attempt, sides):
        """Its own evaluation, where every command is one of the attempt's, run before."""
        workspace, config = self.run / "given", self.config(task)
        workspace.mkdir()
        stage = Stage(attempt, workspace, config, sides, self.yaml)
        self.evaluator.run_command = self.performance.run_command = stage
        vanished = None
        try:
            baseline = self.performance.measure_baseline(workspace, config, self.log) if stage.measures_baseline() else []
            stage.turn = 1
            results = self.evaluator.evaluate_kernel(workspace, config, baseline, self.log)
            self.evaluator.write_task_result(workspace, results, baseline, task, "scripted", self.log, create_plots=False)
        except Exception as error:
            vanished = f"{type(error).__name__}: {error}"
        return self.outcome(task, workspace, vanished)


class Stage:
    """Stands in for its run_command(): lays out what a command of an attempt has left, and says how it ended."""

    def __init__(self, attempt, workspace, config, sides, yaml):
        self.attempt, self.workspace, self.sides, self.turn = attempt, workspace, sides, 0
        self.of = {}
        for step in ("compile", "correctness", "performance"):
            for command in config.get(f"{step}_command") or []:
                self.of[command] = step
                self.of[command + " --baseline_only"] = step
        self.result = yaml.safe_load((attempt / "task_result.yaml").read_text())

    def step(self, what):
        return self.sides[self.turn] if what == "performance" else what

    def was_there(self, step):
        return (self.attempt / f"{step}.stdout").exists()

    def measures_baseline(self):
        return self.was_there(self.sides[0])

    def ended_well(self, what):
        if what == "compile":
            return bool(self.result["pass_compilation"])
        if what == "correctness":
            # What failed by its output alone, their rule has to find again.
            return bool(self.result["pass_correctness"]) or \
                str(self.result["correctness_error_message"]).startswith("Correctness test reported failure")
        # There are cases, or they made the task vanish; of a command that failed, and of one that said nothing, there are none.
        known = json.loads((self.attempt / "record.json").read_text()).get("aka") or {}
        return (self.attempt / ["baseline_perf.yaml", "optimized_perf.yaml"][self.turn]).exists() or bool(known.get("lost"))

    def __call__(self, command, workspace, timeout=0, logger=None, docker_container=None, extra_env=None):
        what = self.of[command]
        step = self.step(what)
        if not self.was_there(step):
            return False, "", f"{step} was not run"
        if what == "performance":
            for path in REPORTS:
                kept = self.attempt / f"{step}+{path.replace('/', '+')}"
                if kept.exists():
                    (self.workspace / path).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(kept, self.workspace / path)
        try:
            said = [(self.attempt / f"{step}.{stream}").read_bytes().decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
                    if (self.attempt / f"{step}.{stream}").exists() else "" for stream in ("stdout", "stderr")]
        except UnicodeDecodeError as error:
            return False, "", str(error)
        return self.ended_well(what), said[0], said[1]


def launch(program, workspace, limit_s):
    """An agent as its launchers start one: nothing taken away, its exit code ignored, only itself ended in the end."""
    try:
        subprocess.run([program], cwd=workspace, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       timeout=limit_s)
    except subprocess.TimeoutExpired:
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=Path, help="the checkout whose tasks are meant (AKA_ROOT)")
    parser.add_argument("--agent", help="a program that is run in the workspace")
    parser.add_argument("--agent-seconds", type=float, default=120.0)
    parser.add_argument("--verdicts", action="store_true")
    parser.add_argument("--given", type=Path, metavar="ATTEMPT")
    parser.add_argument("--steps", default="perf-01-baseline,perf-02-candidate", help="of --given: which rounds are meant")
    parser.add_argument("--gpu", help="the one GPU that is seen")
    parser.add_argument("tasks", nargs="+")
    args = parser.parse_args()
    if not os.environ.get("AKA_ROOT"):
        parser.error("AKA_ROOT is not set")
    root = Path(os.environ["AKA_ROOT"]).resolve()
    program = os.path.abspath(args.agent) if args.agent else None
    if not (program or args.verdicts or args.given):
        parser.error("one of --agent, --verdicts and --given is needed")
    if args.gpu is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["HIP_VISIBLE_DEVICES"] = args.gpu
    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory(prefix="aka-theirs-") as place:
        place = Path(place).resolve()
        # Caches of compiled kernels and temporary files are the agent's as well as the evaluator's there, and stay.
        for variable, name in (("HOME", "home"), ("TMPDIR", "tmp")):
            (place / name).mkdir()
            os.environ[variable] = str(place / name)
        arena = Arena(root, (args.tree or root).resolve(), place)
        for task in args.tasks:
            begin = time.monotonic()
            if args.given:
                said = arena.given(task, args.given.resolve(), args.steps.split(","))
            elif args.verdicts:
                said = arena.verdicts(task, program, args.agent_seconds)
            else:
                said = arena.measure(task, program, args.agent_seconds)
            print(json.dumps({**said, "seconds": round(time.monotonic() - begin, 2)}), flush=True)


main()
