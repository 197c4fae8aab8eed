#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""score.py AKA_ROOT AKA-SCORE WORK CASES SEED: see score.sh

Each case is a folder of what commands have left (see score.c). AgentKernelArena's functions get it through
their own run_command(), which is the one thing that is replaced: it hands out the outputs, decoded as
subprocess does, and lays out the reports.
"""
import json
import logging
import math
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

root, program, work, wanted, seed = sys.argv[1:6]
sys.path.insert(0, root)
import yaml  # noqa: E402
from src import evaluator, performance, postprocessing, score as scoring  # noqa: E402
from src.tools import compare_runs  # noqa: E402

logging.disable(logging.CRITICAL)
REPORTS = ["build/performance_report.json", "performance_report.json", "build/perf_report.json",
           "perf_report.json", "perf/benchmark_results.json"]
RUNS = 40
rng = random.Random(int(seed))

# ---- what a task may have left ----

TIME_KEYS = ["device_time_ms", "gpu_time_ms", "kernel_time_ms", "cuda_event_time_ms", "cuda_graph_time_ms",
             "execution_time_ms", "execution_time", "time_ms", "time", "host_time_ms", "wall_time_ms",
             "elapsed_time_ms", "total_time_ms", "end_to_end_time_ms", "ori_time", "opt_time", "timing_ms",
             "bytes_per_second_gs", "latency_ms", "b_ms_x_ms", "speedup"]
WORDS = ["a", "fp16", "yes", "null", "1", "1.5", "0x1f", "1e5", "2026-06-01", "12:30", "~", "", " x", "x ", "- a", "a: b",
         "a #b", "it's", '"q"', "naïve", "→", "\U0001f600", "tab\there", "line\nbreak", "two\n\nbreaks", "x\n", "\nx",
         "a\n b", "a \nb", "{x}", "[1]", "#c", "a,b", "%d", "@at", "`b`", "|", ">", "!t", "&a", "*a", "?", "? x", "-", "-x",
         ":", ":x", "x:", "=", "<<", "---", "--- x", "...", "nan", ".nan", ".inf", "+.inf", "\x00", "\x07", "\x7f", "\x85", "\xa0",
         "\u2028", "\ufeff", "0o7", "0b1", "07", "08", "1_000", "+1", "-0.0", "1:20.5", "on", "OFF", "N", "y",
         "word " * 30, "x" * 200, "it's " * 40, "long\tone " * 20, "é" * 130, "k" * 122, "k" * 123, "k" * 128, "é\u2028" * 20,
         "1. ", "1.", ".5", "5.e+3", "1e+3", "2001-12-14t21:59:43.10-05:00", "2001-1-1 1:00:00", "\\", "C:\\x", "\r", "a\r\nb"]


def number():
    kind = rng.randrange(14)
    if kind < 5:
        return rng.choice([rng.uniform(0.001, 10), rng.uniform(0.001, 0.02), rng.uniform(100, 3000)])
    if kind == 5:
        return rng.choice([0, 1, -1, 3, 1000, 999, 10 ** 20, 2 ** 70, 0.0, -0.0, -1.0, 1000.0, 999.9999])
    if kind == 6:
        return round(rng.uniform(0, 5), rng.randrange(6))
    if kind == 7:
        return rng.choice([1e-300, 5e-324, 1e300, 1.7e308, 1e16, 1e15, 123456789012345680.0, 1e-5, 1e-4, 2.0 ** -44, 1e22, 1e23])
    if kind == 8:
        return 2.0 ** rng.randrange(-1060, 1000)
    if kind == 9:
        return math.ldexp(rng.random() + 0.5, rng.randrange(-30, 30))
    return rng.uniform(0.01, 2)


def odd_number():
    return rng.choice([None, "0.5", " 1.25 ", "1_0.5", "abc", "", True, False, float("nan"), float("inf"), -float("inf"), [], {}, [1], "nan",
                       "inf", "-Infinity", "1e5", "0x10", "1e400", "٣.٥", "1__0", "_1", "1_", "1e1_0", "+ 1", "\u00a02\u2003", "1\x00",
                       10 ** 400, -10 ** 400, "9" * 400, 1e308 * 10])


def time_value():
    return number() if rng.random() < 0.85 else odd_number()


def value(depth=0):
    kind = rng.randrange(12)
    if kind < 3:
        return rng.choice([0, 1, 2, 16, 64, 128, 256, 1024, -1, 10 ** 25])
    if kind < 5:
        return rng.choice(WORDS)
    if kind == 5:
        return rng.choice([True, False, None])
    if kind == 6:
        return rng.choice([0.5, 1.0, 2.0, 16.0, 1e22, float("nan"), float("inf")])
    if kind < 10 or depth > 2:
        return rng.choice(["fp16", "bf16", "float32"])
    if kind == 10:
        return [value(depth + 1) for _ in range(rng.randrange(4))]
    return {rng.choice(WORDS): value(depth + 1) for _ in range(rng.randrange(4))}


def shape():
    return [rng.choice([1, 16, 32, 64, 128, 256, 1024]) for _ in range(rng.randrange(1, 4))]


def method():
    if rng.random() < 0.85:
        return rng.choice(["cuda_graph", "cuda_graph", "cuda_graph", "cuda_event_fallback", "cpu_timer_fallback"])
    return rng.choice([None, "", 1, 1.5, True, [], ["a", "b'c"], {"a": 'q"'}, rng.choice(WORDS)])


def make_case(index, style):
    case = {}
    if style["id"] and rng.random() < 0.95:
        case["test_case_id"] = f"perf{index}" if rng.random() < 0.9 else value()
    keys = [style["key"]]
    if rng.random() < 0.15:
        keys += rng.sample(TIME_KEYS, rng.randrange(1, 4))
    if rng.random() < 0.05:
        keys = keys[1:]
    for key in keys:
        case[key] = time_value() if rng.random() < style["odd"] else rng.uniform(0.01, 2)
        if key == "timing_ms":
            case[key] = {k: time_value() for k in rng.sample(["mean", "median", "min", "p90"], rng.randrange(5))} \
                if rng.random() < 0.9 else value()
    if style["shape"]:
        case[rng.choice(["shape", "shape", "shapes"])] = shape() if rng.random() < 0.95 else value()
    if style["params"]:
        case["params"] = {"M": rng.choice([16, 32, 64]), "dtype": rng.choice(["fp16", "bf16"]), "i": index} \
            if rng.random() < 0.9 else value()
    if style["method"]:
        case["benchmark_method"] = method()
        if rng.random() < 0.1:
            case["benchmark_fallback_reason"] = value()
    if rng.random() < 0.1:
        case[rng.choice(WORDS)] = value()
    items = list(case.items())
    rng.shuffle(items)
    return dict(items)


def make_style():
    return {"id": rng.random() < 0.6, "shape": rng.random() < 0.5, "params": rng.random() < 0.5, "method": rng.random() < 0.6,
            "key": rng.choice(["execution_time_ms"] * 6 + TIME_KEYS), "odd": rng.choice([0, 0, 0, 0.2, 0.5])}


def twist(cases):
    """What the candidate's report has: the same cases with other times, now and then reordered or cut."""
    out = []
    for case in cases:
        if not isinstance(case, dict):
            out.append(case)
            continue
        copy = dict(case)
        for key in copy:
            if key in TIME_KEYS and isinstance(copy[key], float):
                copy[key] = copy[key] * rng.uniform(0.2, 1.5) if rng.random() < 0.95 else time_value()
        if rng.random() < 0.05:
            copy["benchmark_method"] = method()
        if "params" in copy and rng.random() < 0.1 and isinstance(copy["params"], dict):
            copy["params"] = {k: float(v) if isinstance(v, int) and abs(v) < 2 ** 60 else v for k, v in reversed(list(copy["params"].items()))}
        out.append(copy)
    if rng.random() < 0.2:
        rng.shuffle(out)
    if rng.random() < 0.05 and out:
        out.pop()
    return out


def dump(report):
    text = json.dumps(report, ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, 2]))
    if rng.random() < 0.03:
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(["", ",", "}", "]", "x", '"', "\\", "\x01", "\ud800"]) + text[at + rng.randrange(2):]
    if rng.random() < 0.02:
        text = "\ufeff" + text
    if rng.random() < 0.03:
        text = text.replace('"execution_time_ms":', '"execution_time_ms": 7.5, "execution_time_ms":', 1)
    return text.encode("utf-8", "surrogatepass")


def make_reports():
    """(baseline, candidate): what lies where."""
    style = make_style()
    cases = [make_case(i, style) for i in range(rng.choice([1, 1, 2, 3, 5, 5, 8]))]
    if rng.random() < 0.05:
        cases.insert(rng.randrange(len(cases) + 1), rng.choice([None, 5, "x", []]))
    form = rng.randrange(6)

    def pack(cases):
        if form < 3:
            return cases
        if form == 3:
            return {"test_cases": cases, "status": "ok", **({"time": 1.5} if rng.random() < 0.3 else {})}
        return cases[0] if cases else {}
    both = [pack(cases), pack(twist(cases))]
    if form == 5:
        own = {k: time_value() for k in rng.sample(["a_ms", "b_ms", "z_ms_ms", "host_time_ms", "wall_time_ms", "_ms", "cpu_ms"], rng.randrange(1, 5))}
        own.update({k: v for k, v in (("shape", shape()), ("params", {"n": [1, 2]}), ("benchmark_method", method())) if rng.random() < 0.5})
        both = [own, {k: (v * 0.5 if isinstance(v, float) else v) for k, v in own.items()}]
    if rng.random() < 0.03:
        both[rng.randrange(2)] = rng.choice([None, 1, "test_cases", [], {}, "time", {"test_cases": 5, "time": 2}, {"test_cases": {"a": 1}},
                                             {"test_cases": "x", "time_ms": "3"}, ["time"], [[]], {"time": "time"}])
    place = rng.choice(REPORTS)
    sides = []
    for report in both:
        files = {place: dump(report)}
        if rng.random() < 0.05:
            files[rng.choice(REPORTS)] = rng.choice([b"", b"{", b"[]", dump(make_case(0, make_style()))])
        sides.append(files)
    return sides


SEPARATORS = [" ", ": ", ":", "  ", "\t", "\u00a0", "\u2003", ":\n"]
UNITS = ["ms", " ms", "MS", "m\u017f", " s", "s", " seconds", "second", " secs", "ms.", "ms_", "msé", "s\u00e9", "s→", "us", " m s", "\u017f"]


def stdout_number():
    return rng.choice(["1.5", "0.25", "12", ".5", "5.", "...", "1.2.3", ".", "0.0000", "0.1460", "1e5", "007", f"{rng.uniform(0, 9):.4f}"] +
                      [f"{rng.uniform(0.01, 9):.4f}"] * 12)


def stdout_line():
    n, s, u = stdout_number(), rng.choice(SEPARATORS), rng.choice(UNITS + ["ms"] * 12)
    i = rng.choice(["0", "1", "2", "3", "10", "٣", "x"])
    size = rng.choice(["128, 256", "[1", "1,2,3", " 4 , 5 ", "1, 2,", "1 2", "", "007", "12,\n3", "1,,2"])
    return rng.choice([
        f"Test case {i}{s}{n}{u}", f"TestCase {i}{s}{n}{u}", f"TEST\tCASE  {i}{s}{n}{u}", f"teſt caſe {i}{s}{n} mſ", f"Testcase{i}: {n} ms",
        f"Shape [{size}]{s}{n}{u}", f"shape{s}[{size}]{s}{n}{u}", f"Performance:{n}{u}", f"Performance: {n} {u}", f"PERFORMANCE:\u00a0{n}{u}",
        f"GEAK_RESULT_LATENCY_MS={n}", f"geak_reſult_latency_ms={n}", f"GEA\u212a_RESULT_LATENCY_MS={n}", f"GEAK_RESULT_LATENCY_MS= {n}",
        f"execution time{s}{n}{u}", f"execution_time{s}{n}{u}", f"Execut\u0131on t\u0130me: {n} {u}", f"elapsed time{s}{n}{u}", f"avg_time{s}{n}{u}",
        f"took {n}{u}", f"{n}{u}", f"compile took ... ms", f"{n}{u}{n}{u}", "ok", "PASS", "1.5.ms", f"x{n}ms"])


def output(lines):
    text = "".join(stdout_line() + rng.choice(["\n", "\n", "\r\n", "\r", " ", ""]) for _ in range(lines))
    data = text.encode()
    if rng.random() < 0.02:
        at = rng.randrange(len(data) + 1)
        data = data[:at] + rng.choice([b"\xff", b"\xc3", b"\xe2\x82", b"\xed\xa0\x80", b"\xf0\x9f", b"\xc0\x80", b"\xf5"]) + data[at:]
    return data


VERDICTS = ["PASS", "FAIL", "Correctness: PASS", "all passed", "1 failed", "3 passed, 0 failed", "failure", "paſs", "FAİL", "ok", "5 skipped",
            "correctness: pass", "FAILED", "", "long " * 50, "it's: a # b", "tab\tx", "é", "fa", "il"]


def verdict_output():
    return rng.choice(["\n", " ", ""]).join(rng.choices(VERDICTS, k=rng.randrange(4))).encode()


class Task:
    def __init__(self, index, name=None, **given):
        types = ["triton2triton/vllm", "torch2hip/gpumode", "hip2hip/others", "instruction2triton/rocmbench", "torch2hip"]
        kind = rng.choice(types)
        self.name = name or rng.choice([f"{kind}/task_{index}"] * 20 + [f"task_{index}", f'{kind}/a "quoted", {index}', f"{kind}/größe_{index}", f"{kind}/" + "long_" * 12 + str(index)])
        self.agent = rng.choice(["cursor", "claude_code", "it's", "a, b"])
        self.task_type = kind.split("/")[0]
        self.ok = [rng.random() < 0.95, rng.random() < 0.95, rng.random() < 0.97, rng.random() < 0.97]
        self.said = {"compile": (verdict_output(), verdict_output()), "correct": (verdict_output(), b"" if rng.random() < 0.7 else verdict_output())}
        if rng.random() < 0.75:
            self.said["correct"] = (b"PASS\n", b"")
        self.reports = {"base": {}, "opt": {}}
        if rng.random() < 0.65:
            self.reports["base"], self.reports["opt"] = make_reports()
            lines = rng.choice([0, 0, 1, 2])
        else:
            lines = rng.choice([1, 1, 2, 3, 6])
        once = output(lines)
        self.said["base"] = (once, output(rng.choice([0, 0, 0, 1])))
        self.said["opt"] = (once if rng.random() < 0.5 else output(lines), output(rng.choice([0, 0, 0, 1])))
        if lines and rng.random() < 0.5:
            # The same lines with other numbers: sides that match.
            text = rng.choice(["Test case {i}: {n} ms\n", "Shape [{i}, 2]: {n} ms\n", "Performance: {n} ms\n", "GEAK_RESULT_LATENCY_MS={n}\n"])
            for side in ("base", "opt"):
                self.said[side] = ("".join(text.format(i=i, n=f"{rng.uniform(0.1, 5):.4f}") for i in range(lines)).encode(), b"")
        for key, val in given.items():
            setattr(self, key, val)

    def write(self, folder):
        folder.mkdir()
        facts = [self.name, self.agent, self.task_type] + ["1" if ok else "0" for ok in self.ok]
        (folder / "facts").write_text("\n".join(facts) + "\n")
        for what, (out, err) in self.said.items():
            (folder / f"{what}.out").write_bytes(out)
            (folder / f"{what}.err").write_bytes(err)
        for side, files in self.reports.items():
            for path, data in files.items():
                (folder / side / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / side / path).write_bytes(data)


    @classmethod
    def read(cls, folder):
        """One of those in tests/data/aka."""
        facts = (folder / "facts").read_text().split("\n")
        task = cls(0, name=facts[0], agent=facts[1], task_type=facts[2], ok=[fact == "1" for fact in facts[3:7]], reports={}, said={})
        for what in ("compile", "correct", "base", "opt"):
            paths = [folder / f"{what}.{stream}" for stream in ("out", "err")]
            task.said[what] = tuple(path.read_bytes() if path.exists() else b"" for path in paths)
        for side in ("base", "opt"):
            task.reports[side] = {path: (folder / side / path).read_bytes() for path in REPORTS if (folder / side / path).exists()}
        return task


def recorded():
    """What tests/data/aka expects, as folders like those of a run."""
    data = Path(__file__).resolve().parent.parent / "data" / "aka"
    for run in sorted((data / "runs").glob("*/run_*")):
        folder = Path(work) / "recorded" / run.parent.name / run.name
        shutil.copytree(run, folder)
        tasks = sorted(path.name for path in run.iterdir())
        shutil.copytree(data / "expected" / run.name, folder / "ours")
        for task in tasks:
            shutil.move(folder / "ours" / task, folder / task / "ours")
        yield folder, Path(work) / "theirs" / "recorded" / run.parent.name / run.name, [(task, Task.read(run / task)) for task in tasks]


def by_hand():
    def pair(base, opt, place=REPORTS[0], **given):
        encode = lambda r: r if isinstance(r, bytes) else json.dumps(r).encode()  # noqa: E731
        return dict(reports={"base": {place: encode(base)}, "opt": {place: encode(opt)}}, ok=[True] * 4,
                    said={"compile": (b"", b""), "correct": (b"PASS", b""), "base": (b"", b""), "opt": (b"", b"")}, task_type="triton2triton", **given)

    def text(base, opt):
        return dict(reports={"base": {}, "opt": {}}, ok=[True] * 4, task_type="triton2triton",
                    said={"compile": (b"", b""), "correct": (b"PASS", b""), "base": (base.encode(), b""), "opt": (opt.encode(), b"")})
    ms = "execution_time_ms"
    yield pair([{"test_case_id": "a", ms: 1.0}, {"test_case_id": "b", ms: 500.0}], [{"test_case_id": "a", ms: 1.0}, {"test_case_id": "b", ms: -1.0}])
    yield pair([{ms: 1, "params": {"a": [["k", 1]]}}, {ms: 2, "params": {"x": 1}}], [{ms: 1, "params": {"a": {"k": True}}}, {ms: 2, "params": {"x": 1.0}}])
    yield pair(b'[{"execution_time_ms":1,"shape":[NaN]},{"execution_time_ms":2,"shape":3}]', b'[{"execution_time_ms":2,"shape":3.0},{"execution_time_ms":2,"shape":[NaN]}]')
    yield pair(b'[{"execution_time_ms":1,"shape":NaN},{"execution_time_ms":2,"shape":3}]', b'[{"execution_time_ms":2,"shape":3.0},{"execution_time_ms":2,"shape":NaN}]')
    yield pair({"a_ms": 1.5, "b_ms": 2.5, "shape": [1, 2], "params": {"q": [1]}}, {"a_ms": 1.0, "b_ms": 2.0, "shape": [1, 2], "params": {"q": [1]}})
    yield pair({"test_cases": [], "execution_time_ms": 1}, {"test_cases": [], "execution_time_ms": 2})
    yield pair(b'[{"execution_time_ms":1e400}]', b'[{"execution_time_ms":1e400}]')
    yield pair(b'[{"execution_time_ms":1e400}]', b'[{"execution_time_ms":1}]')
    yield pair([{ms: 1e308}], [{ms: 1e-300}])
    yield pair([{ms: 3, "test_case_id": {"a": 1, "b": [2]}}, {ms: 4}], [{ms: 3, "test_case_id": {"b": [2.0], "a": True}}, {ms: 4}])
    yield pair([{ms: 3, "test_case_id": 10 ** 22}, {ms: 4, "test_case_id": 0}], [{ms: 3, "test_case_id": 1e22}, {ms: 4, "test_case_id": 0}])
    yield pair(b'{"execution_time_ms": ' + b"1" * 5000 + b"}", b'{"time": 1}')
    yield pair(b'{"a":"\\ud83d\\ude00\\ud800x\\udc00","time":1,"params":{"\\ud800":"\\udfff","\\u00e9":"\\ud83d\\ude00"}}', b'{"time":1}')
    yield text("compile took ... ms\n", "GEAK_RESULT_LATENCY_MS=0.5\n")
    yield text("GEAK_RESULT_LATENCY_MS=0.5\n", "warming up ...\n... ms\n")
    yield text("Test case 1: 5 ms Test case 2: 1.2.3 ms", "Test case 1: 5 ms")
    yield text("5 seconds", "2 s")
    yield text("5 secondsx 6 second", "2 sx 3 ms_ 4 ms")


# ---- AgentKernelArena ----

class Stage:
    """Stands in for run_command() of one task."""
    def __init__(self, folder, task, workspace):
        self.folder, self.task, self.workspace = folder, task, workspace
        self.measured = 0

    def __call__(self, command, workspace, timeout=0, logger=None, docker_container=None, extra_env=None):
        what = command.split()[0]
        if what == "perf":
            what = "base" if self.measured == 0 else "opt"
            self.measured += 1
            for path, data in self.task.reports[what].items():
                (self.workspace / path).parent.mkdir(parents=True, exist_ok=True)
                (self.workspace / path).write_bytes(data)
        ok = self.task.ok[["compile", "correct", "base", "opt"].index(what)]
        try:
            out, err = (data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n") for data in self.task.said[what])
        except UnicodeDecodeError as error:
            return False, "", str(error)
        return ok, out, err


def theirs(task, folder, workspace):
    """None where the task vanishes, else its score and speedup."""
    config = {"task_type": task.task_type, "compile_command": ["compile"], "correctness_command": ["correct"], "performance_command": ["perf"]}
    if task.task_type == "torch2flydsl":
        raise AssertionError
    stage = Stage(folder, task, workspace)
    evaluator.run_command = performance.run_command = stage
    workspace.mkdir(parents=True)
    try:
        baseline = performance.measure_baseline(workspace, config)
        stage.measured = 1
        results = evaluator.evaluate_kernel(workspace, config, baseline)
        evaluator.write_task_result(workspace, results, baseline, task.name, task.agent, create_plots=False)
    except Exception as error:  # their main loop does the same: no result
        shutil.rmtree(workspace)
        return None, error
    return workspace, None


def check(what, where, ours, their_bytes, failures):
    if ours != their_bytes:
        failures.append((what, where, ours, their_bytes))


def compare_task(task, folder, workspace, error, failures, counts):
    ours = folder / "ours"
    lost, reason, score, speedup, strict = (ours / "facts").read_text().split("\n")[:5]
    if workspace is None:
        counts["lost"] += 1
        check("vanishes", folder, bool(lost), True, failures)
        if lost and lost not in str(error) and len(str(error)) < 90:
            failures.append(("why it vanishes", folder, lost, str(error)))
        return
    check("vanishes", folder, lost, "", failures)
    for name in ("task_result.yaml", "baseline_perf.yaml", "optimized_perf.yaml"):
        paths = [path / name for path in (ours, workspace)]
        check(name, folder, *[path.read_bytes() if path.exists() else None for path in paths], failures)
        counts["files"] += 1
    value = scoring.task_result_scoring(str(workspace))
    check("score", folder, score, repr(value), failures)
    check("scored file", folder, (ours / "task_result_scored.yaml").read_bytes(), (workspace / "task_result.yaml").read_bytes(), failures)
    data = yaml.safe_load((workspace / "task_result.yaml").read_text())
    resolved = scoring.resolve_speedup_ratio(data["speedup_ratio"], data["base_execution_time"], data["best_optimized_execution_time"])
    check("speedup", folder, speedup, repr(float(resolved)), failures)
    counts["equal"] += 1
    counts["positive"] += resolved > 0
    if not reason and float(strict) != value:
        failures.append(("a strict score differs without a reason", folder, strict, value))
    if reason and data["speedup_ratio"] > 0:
        counts["refused"] += 1
    if data["speedup_ratio"] == 0 and resolved > 0:
        counts["paid though refused"] += 1
        check("strict score of a refused speedup", folder, float(strict) <= 120, True, failures)


def compare_run(run, their_run, before, failures, counts):
    if not any(their_run.iterdir()):
        return None
    try:
        postprocessing.general_post_processing([str(p) for p in their_run.iterdir()], None)
    except Exception as error:
        # The standard deviation of an infinite speedup: its report is lost.
        counts["reports its own code can not write"] += 1
        if "numerator" not in str(error):
            failures.append(("report", run, "", str(error)))
        return None
    for name in ("overall_report.txt", "task_type_breakdown.json", "overall_summary.csv"):
        check(name, run, (run / "ours" / name).read_bytes(), (their_run / "reports" / name).read_bytes(), failures)
        counts["reports"] += 1
    json.loads((run / "ours" / "proctor_marks.json").read_text())
    if before is not None:
        target = Path(work) / "comparison.txt"
        with open(os.devnull, "w") as null:
            stdout, sys.stdout = sys.stdout, null
            try:
                compare_runs.generate_comparison_report(before, their_run, target)
            finally:
                sys.stdout = stdout
        check("comparison", run, (run / "ours" / "comparison.txt").read_bytes(), target.read_bytes(), failures)
        counts["comparisons"] += 1
    return their_run


def show(ours, expected):
    """The first lines that differ."""
    lines = [(data.decode("utf-8", "replace") if isinstance(data, bytes) else str(data)).split("\n") for data in (ours, expected)]
    at = next((i for i, pair in enumerate(zip(*lines)) if pair[0] != pair[1]), min(map(len, lines)))
    for side, text in zip(("ours", "theirs"), lines):
        print(f"{side + ':':<8}" + "\n        ".join(line[:300] for line in text[at:at + 3]))


def main():
    per_run = max(1, int(wanted) // RUNS)
    hand = [Task(10000 + i, name=f"hand/{i}", **given) for i, given in enumerate(by_hand())]
    runs, failures = [], []
    counts = dict.fromkeys(["tasks", "equal", "positive", "lost", "files", "reports", "comparisons", "refused", "paid though refused",
                            "reports its own code can not write"], 0)
    for number_of_run in range(RUNS):
        place = rng.choice(["workspace_MI300_cursor", "workspace_H200_claude_code", "ws_x_y", "workspace_x"])
        name = f"run_2026010{number_of_run % 10}_{number_of_run:06}" if number_of_run % 7 else f"other_{number_of_run}"
        folder, their_run = (Path(work) / side / str(number_of_run) / place / name for side in ("ours", "theirs"))
        folder.mkdir(parents=True)
        their_run.mkdir(parents=True)
        tasks = hand if number_of_run == 0 else [Task(i) for i in range(rng.choice([1, 2, 3, per_run, per_run, per_run * 2]))]
        for i, task in enumerate(tasks):
            task.write(folder / f"task_{i:05}")
        runs.append((folder, their_run, [(f"task_{i:05}", task) for i, task in enumerate(tasks)]))
    subprocess.run([program] + [str(folder) for folder, _, _ in runs], check=True)
    before = None
    for folder, their_run, tasks in list(recorded()) + runs:
        if folder == runs[0][0]:
            before = None
        their_run.mkdir(parents=True, exist_ok=True)
        for name, task in tasks:
            counts["tasks"] += 1
            workspace, error = theirs(task, folder / name, their_run / name)
            compare_task(task, folder / name, workspace, error, failures, counts)
        before = compare_run(folder, their_run, before, failures, counts)
    for what, where, ours, expected in failures[:12]:
        print(f"--- {what}: {where}")
        show(ours, expected)
    print(", ".join(f"{key}: {count}" for key, count in counts.items()) + f", differences: {len(failures)}")
    if failures and os.environ.get("KEEP"):
        shutil.copytree(work, os.environ["KEEP"], dirs_exist_ok=True)
    sys.exit(1 if failures else 0)


main()
