# SPDX-License-Identifier: Apache-2.0
"""cheats.py: see cheats.sh"""
import argparse
import ast
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import sides

CHEATS = sides.HERE / "cheats"
COLUMNS = ["name", "number", "task", "cpu_task", "wants", "on_gpu", "on_cpu"]
# A figure that is as much better counts as a lie: no cheat has a faster kernel.
FAST = 1.5


def table():
    for line in (CHEATS / "table").read_text().splitlines():
        if line and not line.startswith("#"):
            yield dict(zip(COLUMNS, (word.strip() for word in line.split(" | "))))


def outside():
    return Path(tempfile.gettempdir()) / "aka-cheat-outside"


def is_accepted(wants, theirs):
    """Did their evaluator give it what it wants?"""
    if wants == "gone":
        return bool(theirs.get("vanished")) and theirs.get("score") is None
    if wants == "score":
        return (theirs.get("score") or 0) > 10000
    if wants == "outside":
        return bool(theirs.get("outside_written"))
    return bool(theirs.get("correct")) and (wants in ("right", "honest") or (theirs.get("speedup") or 0) >= FAST)


def ours_is(wants, ours, was_written):
    """refused: it gains nothing; labelled: it does, and that does not look right from outside; passes."""
    if ours is None:
        return "passes" if wants == "gone" else "refused"
    if wants in ("gone", "score", "outside"):
        gains = was_written if wants == "outside" else wants == "score" and ours["score_strict"] > 500
    elif wants in ("right", "honest"):
        gains = ours["correct"]
    else:
        gains = ours["correct"] and (ours["speedup_strict"] is None or ours["speedup_strict"] >= FAST)
    if not gains:
        return "refused"
    return "labelled" if ours["labels"] else "passes"


class Trial:
    def __init__(self, args, results):
        self.args, self.results, self.pending = args, results, {}
        self.tree = sides.aka_root() if args.gpus else sides.CPU_TREE

    def task(self, row):
        return row["task" if self.args.gpus else "cpu_task"]

    def theirs(self, row, gpu):
        self.pending[row["name"]] = sides.theirs(["--tree", str(self.tree), "--agent", str(CHEATS / row["name"])], [self.task(row)], gpu)[0]

    def ours(self, row, gpu):
        if time.monotonic() > self.args.until:
            return
        folder = self.args.out / "runs" / row["name"]
        if folder.exists():
            shutil.rmtree(folder)
        folder.parent.mkdir(exist_ok=True)
        if outside().exists():
            outside().unlink()
        said = sides.run_ours(self.tree, CHEATS / row["name"], [self.task(row)], folder, self.args.policy, gpu)
        theirs = self.pending[row["name"]]
        if not sides.has_reports(folder) or "broken" in theirs or (sides.ours(folder, self.task(row)) or {}).get("infra"):
            print(f"# {row['name']}: broken off: {theirs.get('broken') or said}", flush=True)
            return
        ours = sides.ours(folder, self.task(row))
        self.results.add({**row, "theirs": theirs, "accepted": is_accepted(row["wants"], theirs), "ours": ours,
                          "is": ours_is(row["wants"], ours, outside().exists()), "said": said})


def is_as(wanted, found):
    return wanted in ("-", found) or wanted == "gains" and found in ("labelled", "passes")


def doc(name):
    return ast.get_docstring(ast.parse((CHEATS / name).read_text())).rstrip(".")


def number(value):
    return "-" if value is None else f"{value:.2f}" if isinstance(value, float) and abs(value) < 1e6 else f"{value:.3g}" \
        if isinstance(value, float) else str(value)


def markdown(rows):
    yield "| cheat | no. | what it does | its evaluator: score | score_aka | score_strict | ours | labels | why |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for row in rows:
        theirs, ours = row["theirs"], row["ours"] or {}
        score = "in no report" if theirs.get("score") is None else number(theirs["score"])
        if not row["accepted"]:
            score += " (not accepted)"
        yield "| " + " | ".join([row["name"], row["number"], doc(row["name"]), score, number(ours.get("score_aka")), number(ours.get("score_strict")),
                                 row["is"], ", ".join(ours.get("labels") or []) or "-",
                                 (ours.get("reason") or ours.get("lost") or "-").replace("|", "/").split("\n")[0]]) + " |"


def judge(tap, rows, done, is_gpu):
    for row in rows:
        if row["name"] not in done:
            tap.test(False, f"{row['name']}: measured", "no time was left for it, or it broke off: again, with the same --out")
            continue
        result = done[row["name"]]
        if not tap.test(result["accepted"], f"{row['name']}: accepted by its evaluator"):
            tap.note(result["theirs"])
        wanted = row["on_gpu" if is_gpu else "on_cpu"]
        if not tap.test(result["ours"] is not None and is_as(wanted, result["is"]), f"{row['name']}: {result['is']}"
                        + ("" if wanted == "-" else f", as measured before: {wanted}")):
            tap.note(result["said"])
            tap.note(result["ours"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpus", help="the real tasks on these, one lane for each: 0,1; without: the tree that needs none")
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--jobs", type=int, default=6, help="of its evaluator at one time on each GPU")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seconds", type=float, default=3600.0, help="no run of ours begins after that")
    parser.add_argument("--policy")
    parser.add_argument("--gather", action="store_true", help="measure nothing: judge what --out has, and print the table")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    args.until = time.monotonic() + args.seconds
    args.policy = args.policy or ("agentkernelarena" if args.gpus else str(sides.HERE / "cpu.yaml"))
    args.out = (args.out or Path(tempfile.mkdtemp(prefix="aka-cheats-"))).resolve()
    tap, results = sides.Tap(), sides.Results(args.out, "cheats-" + args.part.replace("/", "-"))
    rows = [row for row in table() if row["task" if args.gpus else "cpu_task"] != "-"]
    rows = [row for row in sides.share(rows, args.part) if not args.names or row["name"] in args.names]
    known = {row["name"] for row in results.read()}
    if not args.gather:
        trial, todo = Trial(args, results), [row for row in rows if row["name"] not in known]
        lanes = args.gpus.split(",") if args.gpus else [None]
        # Theirs first, several on each GPU: while ours are timed, nothing else is there.
        sides.in_lanes(lanes * args.jobs if args.gpus else lanes, todo, trial.theirs)
        sides.in_lanes(lanes, todo, trial.ours)
    done = {row["name"]: row for row in results.read()}
    judge(tap, rows, done, bool(args.gpus))
    (args.out / "cheats.md").write_text("\n".join(markdown([done[row["name"]] for row in table() if row["name"] in done])) + "\n")
    tap.note((args.out / "cheats.md").read_text())
    counts = [row["is"] for row in done.values()]
    tap.note(f"{len(counts)} cheats, accepted by its evaluator {sum(row['accepted'] for row in done.values())}; of ours "
             + ", ".join(f"{word} {counts.count(word)}" for word in ("refused", "labelled", "passes")) + f"; in {args.out}")
    return tap.end()


sys.exit(main())
