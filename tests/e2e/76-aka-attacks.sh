#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What candidates and checkouts do to `proctor run --aka`: none of it may end as a failure of ours, nor
# reach a step that it does not belong to.
. "$(dirname "$0")/../lib/e2e.sh"
need_root
own_place
chmod 755 "$scratch"
cd "$scratch" || exit 1
checkout=$scratch/checkout
task=$checkout/tasks/hip2hip/small
mkdir -p "$task/scripts" "$task/build" "$checkout/src"
cp -R "$e2e_root/tests/data/aka/cpu/src/tools" "$checkout/src"

# A task whose candidate is Python text that names what it does in each step; what it does not name is honest.
write_task() { # CORRECTNESS PERFORMANCE
	cat >"$task/config.yaml" <<END
source_file_path: [kernel.txt]
target_kernel_functions: [kernel]
compile_command: [python3 scripts/run.py compile]
correctness_command: [$1]
performance_command: [$2]
task_type: hip2hip
END
}
write_task 'python3 scripts/run.py correctness' 'python3 scripts/run.py performance'
echo x >"$task/build/given.txt"
echo 'step = None' >"$task/kernel.txt"
cat >"$task/scripts/run.py" <<'END'
import json, os, sys
mode, space = sys.argv[1], {}
def report(ms=5.0, name="a"):
    json.dump([{"test_case_id": name, "execution_time_ms": ms}], open("build/performance_report.json", "w"))
exec(compile(open("kernel.txt").read(), "kernel.txt", "exec"), space)
if mode in space:
    space[mode](report)
elif mode == "performance":
    report()
elif mode == "correctness":
    print("pass")
END
sed -e 's/^name: .*/name: small/' -e 's/wall: 2m/wall: 10s/' "$e2e_root/tests/aka/cpu.yaml" >small.yaml

# An agent that leaves standard input as its candidate.
agent() { # NAME
	{ echo '#!/bin/sh' && echo "cat >kernel.txt <<'END'" && cat && echo END; } >"$1"
	chmod 755 "$1"
}
marks() { # AGENT…: a run of these, once; its attempts in the order of the agents
	rm -rf run
	for marks_name; do
		set -- "$@" --agent "scripted:./$marks_name" && shift
	done
	run -t 120 proctor run --run run --aka "$checkout" --policy small.yaml --rounds 1 "$@"
}
record() { cat "run/attempts/hip2hip+small-000$1/record.json"; }
says() { # NUMBER ERE: the record of that attempt
	record "$1" | grep -qE "$2" || fail "attempt $1 does not say '$2': $(record "$1" | cut -c 1-1500)"
}

it 'takes output without end for a command that fails, and for nothing of ours'
agent loud-compile <<'END'
import sys
def compile(report):
    while True: sys.stdout.write("x" * 65536)
END
agent loud-check <<'END'
import sys
def correctness(report):
    while True: sys.stderr.write("x" * 65536)
END
agent loud-timing <<'END'
import sys
def performance(report):
    report()
    sys.stdout.write("x" * (64 << 20))
END
marks loud-compile loud-check loud-timing
says 1 '"build_why":"compile: output".*"infra":null'
says 2 '"seen":\{"kind":"WRONG".*"why":"Correctness test failed: output".*"infra":null'
says 3 '"seen":\{"kind":"VALID".*"strict_speedup":0.0.*"infra":null'

it 'takes a program that compiling did not make for a command that fails'
write_task ./build/app '/work/build/app performance'
cp "$task/scripts/run.py" run.py
cat >"$task/scripts/run.py" <<'END'
import os
how = open("kernel.txt").read().strip()
if how != "none":
    with open("build/app", "w") as file:
        file.write("#!/nowhere\n" if how == "interpreter" else "#!/bin/sh\ntest $# -eq 0 || rm /work/build/nothing\n")
    os.chmod("build/app", 0o644 if how == "mode" else 0o755)
END
for name in none interpreter mode honest; do echo $name | agent $name; done
marks none interpreter mode honest
for i in 1 2 3; do
	says $i '"seen":\{"kind":"WRONG".*"why":"Correctness test failed: there is no such program".*"infra":null'
done
says 4 '"seen":\{"kind":"VALID".*"strict_speedup":0.0.*"infra":null'
cp run.py "$task/scripts/run.py"

it 'keeps files that can be read of figures and outputs that are as large as they may be'
write_task 'python3 scripts/run.py correctness' 'python3 scripts/run.py performance'
agent long-names <<'END'
def performance(report):
    report(5.0, ["\x7f" * 680000])
END
agent deep-words <<'END'
def performance(report):
    with open("build/performance_report.json", "w") as file:
        file.write('[{"test_case_id": "a", "execution_time_ms": 5, "shape": %s"%s"%s}]' % ("[" * 58, "a " * 1900000, "]" * 58))
END
agent escapes <<'END'
import sys
def compile(report):
    sys.stdout.write("\x01" * (60 << 20))
    sys.exit(1)
END
marks long-names deep-words escapes
for i in 1 2 3; do
	says $i '"infra":null'
	check python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "run/attempts/hip2hip+small-000$i/samples.json"
done
check test "$(wc -c <run/attempts/hip2hip+small-0001/samples.json)" -lt 4000
check grep -qx '# it is left out: it takes more than 64 MiB' run/attempts/hip2hip+small-0002/optimized_perf.yaml
check grep -q '^score: 0.0$' run/attempts/hip2hip+small-0003/task_result.yaml

it 'refuses a task before it runs of which it is known that no attempt can be marked'
refuses() { # TEXT
	rm -rf run
	run proctor run --run run --aka "$checkout" --policy small.yaml --agent scripted:./honest
	expect_code 3
	expect_err "task 'hip2hip/[^']*': $1"
	check_not test -e run/attempts
}
cp "$task/config.yaml" config.yaml
dd if=/dev/zero of="$task/large" bs=1M count=40 2>/dev/null
refuses 'it has 4194[0-9]* bytes in [0-9]* files and folders, and a workspace .* half full takes 33554432 in 2048$'
rm "$task/large"
sed -i 's/kernel.txt/scripts/' "$task/config.yaml"
refuses "'scripts' may be edited as a file, and is a folder$"
echo "\"" >"$task/kernel.py"
write_task 'pytest kernel.py' 'pytest kernel.py'
sed -i 's/kernel.txt/kernel.py/' "$task/config.yaml"
refuses "'kernel.py', of which functions may be edited: the task's file: kernel.py:1: a string is not closed on its line$"
rm "$task/kernel.py"
refuses "'kernel.py', of which functions may be edited: there is no such file"
cp config.yaml "$task/config.yaml"
cp -R "$task" "$checkout/tasks/hip2hip/$(printf 'x\377')"
refuses "no folder can have its name: it has a '\+' or what can not be shown, or is too long$"
rm -r "$checkout/tasks/hip2hip/$(printf 'x\377')"

it 'takes no report for a measurement that came with the task'
cp config.yaml "$task/config.yaml"
echo '[{"test_case_id": "old", "execution_time_ms": 1.0}]' >"$task/build/performance_report.json"
echo 'step = None' | agent honest
agent silent <<'END'
def performance(report):
    pass
END
marks honest silent
says 1 '"seen":\{"kind":"VALID".*"strict_speedup":1.0'
says 2 '"seen":\{"kind":"VALID".*"speedup":0.0.*"strict_speedup":0.0.*"reason":"the candidate was not measured"'
rm "$task/build/performance_report.json"

it 'verifies the files of a run whose tasks have slashes in their names'
run proctor report --files run
expect_code 0
echo >>'run/attempts/hip2hip+small-0001/samples.json'
run proctor report --files run
expect_code 3
expect_err "'attempts/hip2hip\+small-0001/samples.json' is not what was recorded$"

it 'says of what compiling left how large it is, where the next jail does not take it'
agent large-product <<'END'
def compile(report):
    with open("build/large", "wb") as file:
        file.truncate(40 << 20)
END
marks large-product
says 1 '"build_why":"compile: the candidate has 4194[0-9]* bytes in [0-9]* files and folders; the policy.s evaluator jail takes 33554432 in 2048"'
says 1 '"infra":null'
