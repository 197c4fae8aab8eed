# SPDX-License-Identifier: Apache-2.0
# compile.py CHECKOUT PROCTOR: see compile.sh.
import json
import os
import shutil
import subprocess
import sys
import tempfile

root, proctor = map(os.path.abspath, sys.argv[1:])
# The limits of a build in the shipped policy.
JAIL = [proctor, "jail", "--wall", "5m", "--cpu", "10m", "--memory", "2GiB", "--pids", "256", "--cpus", "2",
        "--output", "16MiB", "--work", "512MiB", "--files", "32768", "--tmp", "256MiB"]


def planned(verb, *names):
    out = subprocess.run([proctor, "tasks", verb, "--aka", root, "--json", *names], stdout=subprocess.PIPE, check=True)
    return json.loads(out.stdout)


# The environment of a jail, whose Python is the host's.
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "TMPDIR": "/tmp"}


def run(argv, folder):
    done = subprocess.run(argv, cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout, done.stderr


# A line at the end that Python can not parse.
def broken(folder):
    for name in sorted(os.listdir(folder)):
        if name.endswith(".py"):
            with open(os.path.join(folder, name), "ab") as file:
                file.write(b"\ndef broken(:\n")


def check(number, name, argv, folder, code):
    bare = run(argv, folder)
    jailed = run(JAIL + ["--put", folder, "--"] + argv, "/")
    same = bare == jailed and (bare[0] == 0) == (code == 0)
    if not same:
        print(f"# bare {bare}\n# jail {jailed}")
    print(f"{'ok' if same else 'not ok'} {number} - {name}: {'fails' if code else 'succeeds'} alike", flush=True)
    return same


def main():
    tests = bad = 0
    for row in planned("list")["tasks"]:
        task = planned("show", row["task"])
        steps = [step for step in task["steps"] if step["step"] == "compile"]
        if len(steps) != 1 or steps[0]["argv"][1:2] != ["-c"] or "ast.parse(" not in steps[0]["argv"][2]:
            continue
        with tempfile.TemporaryDirectory() as work:
            folder = os.path.join(work, "task")
            shutil.copytree(os.path.join(root, "tasks", row["task"]), folder)
            for code in (0, 1):
                tests += 1
                if code:
                    broken(folder)
                bad += not check(tests, row["task"], steps[0]["argv"], folder, code)
    print(f"1..{tests}\n# {tests // 2} compile commands; {bad} of {tests} tries differ")
    return bad > 0 or tests == 0


sys.exit(main())
