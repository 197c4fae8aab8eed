# SPDX-License-Identifier: Apache-2.0
"""beside.py: see beside.sh"""
import argparse
import sys
import tempfile
import time
from pathlib import Path

import sides


def listed(file):
    """(task, agent), each task with the agent that does nothing, some with the other one as well."""
    plain, more = [], []
    for line in file.read_text().splitlines():
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        plain.append((words[0], "nothing"))
        more += [(words[0], agent) for agent in words[1:]]
    return plain + more


class Side:
    def __init__(self, args, results):
        self.args, self.results, self.verdicts = args, results, {}
        self.tree = sides.CPU_TREE if args.cpu else sides.aka_root()
        self.lanes = args.gpus.split(",") if args.gpus else [None]

    def verdict(self, item, gpu):
        self.verdicts[item] = sides.theirs(["--tree", str(self.tree), "--verdicts", "--agent", str(sides.AGENTS / item[1])], [item[0]], gpu)[0]

    def measure(self, todo):
        begin = time.monotonic()
        sides.in_lanes(self.lanes * (self.args.jobs if self.args.gpus else 1), todo, self.verdict)
        verdicts_s = time.monotonic() - begin
        for agent in sorted({agent for _, agent in todo}):
            tasks = [task for task, of in todo if of == agent]
            folder = self.args.out / "runs" / f"{agent}-{self.args.part.replace('/', '-')}-{len(self.results.read())}"
            folder.parent.mkdir(parents=True, exist_ok=True)
            begin = time.monotonic()
            said = sides.run_ours(self.tree, sides.AGENTS / agent, tasks, folder, self.args.policy, self.args.gpus, len(self.lanes),
                                  max(1.0, self.args.until - begin))
            for task in tasks:
                self.keep(task, agent, folder, said)
            print(f"# {agent}: {len(tasks)} tasks in {time.monotonic() - begin:.0f} s", flush=True)
        print(f"# its verdicts took {verdicts_s:.0f} s", flush=True)

    def keep(self, task, agent, folder, said):
        attempt = sides.attempt_of(folder, task)
        ours = sides.ours(folder, task)
        # One that ended by us is none that the task has.
        ours = None if ours and ours["infra"] else ours
        given = None
        if attempt and (attempt / "task_result.yaml").exists():
            given = sides.theirs(["--tree", str(self.tree), "--given", str(attempt)], [task])[0]
        self.results.add({"task": task, "agent": agent, "verdict": self.verdicts[(task, agent)], "ours": ours, "given": given,
                          "said": None if ours else said})


def same_score(ours, given):
    if given.get("vanished"):
        return bool(ours["lost"])
    score = given.get("score")
    return ours["score_aka"] == score or ours["score_aka"] is None and score in (float("inf"), None)


def judge(tap, rows, done, is_gpu):
    ratios = []
    for item in rows:
        name, row = f"{item[0]} ({item[1]})", done.get(item)
        if not row or not row["ours"] or not row["given"]:
            tap.test(False, f"{name}: measured", row and row["said"] or "it was not; again, with the same --out")
            continue
        ours, verdict, given = row["ours"], row["verdict"], row["given"]
        if not tap.test((ours["compiled"], ours["correct"]) == (verdict.get("compiled"), verdict.get("correct")),
                        f"{name}: verdicts equal: compiles {ours['compiled']}, correct {ours['correct']}"):
            tap.note(verdict)
            tap.note(ours)
        if not tap.test(same_score(ours, given), f"{name}: score_aka {ours['score_aka']} equal, given the same reports"):
            tap.note(given)
        if not ours["correct"]:
            continue
        timing = ours.get("timing")
        if timing:
            ratios.append((ours["speedup_aka"], timing["speedup"], timing["verdict"]))
            # A host's cores are shared with others: there it is told alone.
            tap.test(not is_gpu or timing["verdict"] == "AMBG" or abs(timing["speedup"] - 1.0) <= 0.02,
                     f"{name}: {'nothing became faster' if is_gpu else 'timed'}: strict {timing['speedup']:.4f} [{timing['speedup_low']:.4f}, "
                     f"{timing['speedup_high']:.4f}] {timing['verdict']}, its evaluator's {ours['speedup_aka']:.4f}")
        else:
            tap.note(f"{name}: no strict ratio: {ours['reason']}")
    for verdict in sorted({row[2] for row in ratios}):
        tap.note(f"{verdict}: {sum(row[2] == verdict for row in ratios)} of {len(ratios)}")
    for which, what in ((0, "speedup_aka"), (1, "strict ratio")):
        values = sorted(row[which] for row in ratios) or [0.0]
        tap.note(f"{what}: {values[0]:.4f} to {values[-1]:.4f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpus", help="one seat for each: 0,1")
    parser.add_argument("--cpu", action="store_true", help="the tasks of tests/data/aka/cpu instead")
    parser.add_argument("--list", type=Path, default=sides.HERE / "h200.list")
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--jobs", type=int, default=4, help="verdicts of its evaluator at one time on each GPU")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seconds", type=float, default=3600.0, help="a run of ours is told to stop after that")
    parser.add_argument("--policy")
    parser.add_argument("--gather", action="store_true", help="measure nothing: judge what --out has")
    args = parser.parse_args()
    args.until = time.monotonic() + args.seconds
    args.policy = args.policy or (str(sides.HERE / "cpu.yaml") if args.cpu else "agentkernelarena")
    args.out = (args.out or Path(tempfile.mkdtemp(prefix="aka-beside-"))).resolve()
    if args.cpu:
        names = sorted(str(file.parent.relative_to(sides.CPU_TREE / "tasks")) for file in (sides.CPU_TREE / "tasks").rglob("config.yaml"))
        # The second format is none that its evaluator knows at that commit.
        items = [(name, agent) for name in names if "/second/" not in name for agent in ("nothing", "reworded")]
    else:
        items = listed(args.list)
    items = sides.share(items, args.part)
    tap, results = sides.Tap(), sides.Results(args.out, "beside-" + args.part.replace("/", "-"))
    known = {(row["task"], row["agent"]) for row in results.read() if row["ours"] and row["given"]}
    if not args.gather:
        Side(args, results).measure([item for item in items if item not in known])
    judge(tap, items, {(row["task"], row["agent"]): row for row in results.read()}, not args.cpu)
    tap.note(f"in {args.out}")
    return tap.end()


sys.exit(main())
