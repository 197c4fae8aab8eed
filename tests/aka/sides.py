# SPDX-License-Identifier: Apache-2.0
"""Both sides of a comparison: AgentKernelArena's own evaluator (theirs.py) and `proctor run` (ours)"""
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

HERE = Path(__file__).resolve().parent
CPU_TREE = HERE.parent / "data" / "aka" / "cpu"
AGENTS = HERE / "agents"
PROCTOR = Path(os.environ.get("PROCTOR_BUILD", HERE.parent.parent / "build")) / "proctor"


def aka_root():
    return Path(os.environ["AKA_ROOT"]).resolve()


def share(items, part):
    """Those of a part "i/n", dealt out one by one."""
    index, count = map(int, part.split("/"))
    return items[index - 1::count]


def theirs(arguments, tasks, gpu=None):
    """The lines that theirs.py prints; what broke it off stands in the last one."""
    command = [sys.executable, str(HERE / "theirs.py")] + arguments + (["--gpu", gpu] if gpu is not None else []) + tasks
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    lines = [json.loads(line) for line in done.stdout.decode().splitlines()]
    for task in tasks[len(lines):]:
        lines.append({"task": task, "broken": done.stderr.decode("utf-8", "replace")[-400:]})
    return lines


def run_ours(tree, agent, tasks, folder, policy, gpus=None, seats=1, seconds=None):
    """One run, told to stop after so many seconds. Return: how it ended, with the end of what it said."""
    command = [str(PROCTOR), "run", "--aka", str(tree), "--agent", f"scripted:{agent}", "--policy", policy, "--run", str(folder),
               "--seats", str(seats), "--json=1"]
    if gpus:
        command += ["--gpus", gpus]
    if os.environ.get("AKA_PYTHON"):
        command += ["--python", os.environ["AKA_PYTHON"]]
    command += os.environ.get("PROCTOR_RUN_OPTIONS", "").split() + tasks
    started = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        said = started.communicate(timeout=min(seconds or 86400.0, float(os.environ.get("PROCTOR_RUN_SECONDS", "86400"))))[1]
    except subprocess.TimeoutExpired:
        # It stops where it stands, and reports what it has.
        started.terminate()
        said = started.communicate()[1]
    return f"proctor run ended with {started.returncode}: " + said.decode("utf-8", "replace")[-600:]


def attempt_of(folder, task):
    found = sorted((folder / "attempts").glob(task.replace("/", "+") + "-[0-9]*"))
    return found[0] if found else None


def has_reports(folder):
    return (folder / "reports" / "proctor_marks.json").exists()


def ours(folder, task):
    """What a run says of a task: its marks, and its labels; None where it is in no report.

    A run that was told to stop may have no reports: then what it recorded so far counts.
    """
    attempt = attempt_of(folder, task)
    record = json.loads((attempt / "record.json").read_text()) if attempt and (attempt / "record.json").exists() else {}
    known = record.get("aka") or {}
    if has_reports(folder):
        marks = json.loads((folder / "reports" / "proctor_marks.json").read_text())
        mark = next((row for row in marks["tasks"] if row["task"] == task), None)
    else:
        mark = known and {"score_aka": known["score"], "score_strict": known["strict_score"], "speedup_aka": known["speedup"],
                          "speedup_strict": known["strict_speedup"], "refused": known["reason"]}
    if not mark:
        return None
    return {"score_aka": mark["score_aka"], "score_strict": mark["score_strict"], "speedup_aka": mark["speedup_aka"],
            "speedup_strict": mark["speedup_strict"], "reason": mark["refused"], "compiled": known.get("compiles"),
            "correct": known.get("correct"), "lost": known.get("lost"), "labels": record.get("labels") or [], "infra": record.get("infra"),
            # What was measured, whether or not it counts.
            "timing": (record.get("seen") or {}).get("timing")}


def in_lanes(lanes, items, work):
    """work(item, lane) for all items, in as many threads as there are lanes."""
    items, lock = list(items), threading.Lock()

    def lane_main(lane):
        while True:
            with lock:
                if not items:
                    return
                item = items.pop(0)
            work(item, lane)

    threads = [threading.Thread(target=lane_main, args=(lane,)) for lane in lanes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class Results:
    """Lines of JSON in a folder, one file a part; what is in any of them is not measured again."""

    def __init__(self, folder, name):
        self.folder, self.file, self.lock = folder, folder / f"{name}.jsonl", threading.Lock()
        folder.mkdir(parents=True, exist_ok=True)

    def read(self):
        return [json.loads(line) for file in sorted(self.folder.glob("*.jsonl")) for line in file.read_text().splitlines()]

    def add(self, row):
        with self.lock, open(self.file, "a") as file:
            file.write(json.dumps(row) + "\n")


class Tap:
    def __init__(self):
        self.count = self.bad = 0

    def test(self, ok, name, why=""):
        self.count += 1
        self.bad += not ok
        print(f"{'ok' if ok else 'not ok'} {self.count} - {name}", flush=True)
        if not ok and why:
            self.note(why)
        return ok

    def skip(self, name, why):
        self.count += 1
        print(f"ok {self.count} - {name} # SKIP {why}", flush=True)

    def note(self, text):
        for line in str(text).splitlines():
            print("# " + line, flush=True)

    def end(self):
        print(f"1..{self.count}", flush=True)
        return 1 if self.bad or not self.count else 0
