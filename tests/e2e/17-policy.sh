#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# proctor policy: check, explain, diff; what a run keeps of a policy, and what it says of its walls.
. "$(dirname "$0")/../lib/e2e.sh"
need_root
own_place
chmod 755 "$scratch"
program=$e2e_build/proctor
mkdir "$scratch/shared" "$scratch/closed"

cat >"$scratch/shared/base.yaml" <<'END'
schema: 1
name: base
accept: [swap]
agent:
  pids: 600
  environment: { OMP_NUM_THREADS: 2 }
END
cat >"$scratch/mine.yaml" <<'END'
schema: 1
name: mine
extends: shared/base.yaml
agent:
  wall: 10m
  syscalls: [profiler]
END

it 'checks policies, and what they are weaker by'
run proctor policy check default profiler agentkernelarena "$scratch/mine.yaml" "$scratch/shared/base.yaml"
expect_code 0
expect_out '^default: ok$'
expect_out '^agentkernelarena: ok$'
expect_out '^profiler: ok; weaker than the shipped default: agent\.syscalls:profiler$'
expect_out 'mine\.yaml: ok; weaker than the shipped default: agent\.syscalls:profiler, accept:swap$'
run proctor policy check --json "$scratch/mine.yaml"
expect_code 0
expect_out '^\{"policies":\[\{"file":"[^"]*","ok":true,"policy":"mine","error":null,"weaker":\["agent\.syscalls:profiler","accept:swap"\]\}\]\}$'

it 'goes on past one that is wrong, and names file, line, key and value'
printf 'schema: 1\nname: bad\nextends: shared/base.yaml\nagent:\n  pids: 9\n' >"$scratch/bad.yaml"
printf 'schema: 1\nname: worse\nextends: ./worse.yaml\n' >"$scratch/worse.yaml"
printf 'schema: 1\nname: later\nclock: utc\n' >"$scratch/later.yaml"
run proctor policy check "$scratch/bad.yaml" "$scratch/worse.yaml" "$scratch/later.yaml" /nonexistent "$scratch" "$scratch/mine.yaml"
expect_code 3
expect_err "bad\.yaml:5: key 'pids': '9' is not within 16\.\.32768$"
expect_err "worse\.yaml:3: key 'extends': '\./worse\.yaml' extends itself in the end$"
expect_err "later\.yaml:3: key 'clock': 'clock' is not supported yet by this version"
expect_err "policy '/nonexistent': No such file or directory$"
expect_err "policy '$scratch': it is no regular file$"
expect_out 'mine\.yaml: ok; '
run proctor policy check --json "$scratch/bad.yaml" default
expect_code 3
expect_out '"ok":false,"policy":null,"error":"[^"]*bad\.yaml:5: .*"ok":true,"policy":"default"'

it 'shows what differs, and whether it weakens a wall'
run proctor policy diff default "$scratch/mine.yaml"
expect_code 0
expect_out '^agent\.wall +30m +10m +smaller +.*/mine\.yaml +5$'
expect_out '^agent\.pids +512 +600 +larger +.*/shared/base\.yaml +5$'
expect_out '^agent\.syscalls +\[\] +\[profiler\] +weaker +.*/mine\.yaml +6$'
expect_out '^agent\.environment\.OMP_NUM_THREADS +- +2 +other +.*/shared/base\.yaml +6$'
expect_out '^accept +\[\] +\[swap\] +weaker '
check test "$(wc -l <"$scratch/out")" -eq 6
run proctor policy diff --json "$scratch/mine.yaml" default
expect_code 0
expect_out '^\{"schema":"proctor/policy-diff/1","before":"mine","after":"default","changes":\[.*"change":"stronger"'
run proctor policy diff default default
expect_code 0
expect_out_is 'no value differs'

it 'shows each jail, down to the last call, without root'
run setpriv --reuid 65534 --regid 65534 --clear-groups "$program" policy explain
expect_code 0
for role in agent build worker evaluator; do
	expect_out "^==== the $role's jail ====$"
done
expect_out '^/proc/sys +read-only '
expect_out '^/work +tmpfs +- +tmpfs +rw,nosuid,nodev +size=1073741824,nr_inodes=65536,mode=0700'
expect_out '^null +c 1:3 +rw +0666$'
expect_out '^memory .* cgroup v[12] +/sys/fs/cgroup.*/memory\.(max|limit_in_bytes)$'
expect_out '^open files +1024 +descriptors +rlimit +setrlimit\(RLIMIT_NOFILE\)$'
expect_out '^openat +files +'
expect_out '^ptrace +refused +a tracer of pid 1'
expect_out '^refused ioctls: TIOCSTI, TIOCLINUX, any other of KFD.s$'
expect_out '^weaker   no wall than in the shipped default$'

it 'shows one jail alone, of a task'
run proctor policy explain --role agent --task "$e2e_root/tasks/c2c/row-softmax" "$scratch/mine.yaml"
expect_code 0
expect_no_out "the build's jail"
expect_no_out "the evaluator's jail"
expect_out '^ +OMP_NUM_THREADS=2$'
expect_out '^perf_event_open +profiler '
expect_out '^perf_event_open +argument 1 is -1 +EPERM$'
run proctor policy explain --json=1 --role worker
expect_code 0
check test "$(wc -l <"$scratch/out")" -eq 1
expect_out '^\{"schema":"proctor/policy-explain/1","policy":"default",.*"jails":\[\{"role":"worker",.*"refusals_are_counted":false,'
expect_no_out '"name":"socket"'

it 'shows the jail in which a harness of a benchmark checks and times'
run proctor policy explain --role evaluator agentkernelarena
expect_code 0
expect_out '^policy   agentkernelarena \(agentkernelarena, extends default\)$'
expect_out '^evaluator\.gpus +0 +1 +larger '
expect_out "^==== the evaluator's jail ====$"
expect_out '^ +TRITON_CACHE_DIR=/tmp/triton$'
expect_out '^services +none$'
expect_out '^wall +1h '
expect_no_out "the worker's jail"
run proctor policy explain --task "$e2e_root/tasks/c2c/row-softmax" default
expect_code 0
expect_out "^==== the worker's jail ====$"
expect_no_out "the evaluator's jail"

it 'refuses what it does not know'
for words in '' 'checks' 'check' 'diff default' 'diff a b c' 'explain a b' 'explain --role judge' 'check --nonsense default'; do
	# shellcheck disable=SC2086 # words
	run proctor policy $words
	expect_code 2
done
run proctor policy explain nonsense
expect_code 3
run proctor policy explain --task "$scratch/shared"
expect_code 3
run proctor policy --help
expect_code 0
run proctor policy explain --help
expect_code 0

it 'opens what a policy extends with the rights of the account'
printf 'schema: 1\nname: secret\nagent: {pids: 77}\n' >"$scratch/closed/base.yaml"
printf 'schema: 1\nname: reaches\nextends: closed/base.yaml\n' >"$scratch/reaches.yaml"
chmod 700 "$scratch/closed"
run proctor policy check "$scratch/reaches.yaml"
expect_code 3
expect_err "reaches\.yaml:3: key 'extends': open the folder 'closed/': Permission denied|open 'closed/base.yaml': Permission denied"
run proctor run --run "$scratch/no-run" --policy "$scratch/reaches.yaml" --agent scripted:cheat-previous "$e2e_root/tasks/c2c/row-softmax"
expect_code 3
expect_err 'Permission denied'
chmod 755 "$scratch/closed"
run proctor policy check "$scratch/reaches.yaml"
expect_code 0

it 'keeps a policy whole, so that a run goes on without the files that it was made of'
cp "$e2e_build/tests/inside" "$scratch/inside"
cat >"$scratch/agent" <<'END'
#!/bin/sh
cd /work && cp softmax.c /tmp && echo '#error' >>softmax.c
END
chmod 755 "$scratch/agent"
run -t 120 proctor run --run "$scratch/run" --policy "$scratch/mine.yaml" --agent "scripted:$scratch/agent" "$e2e_root/tasks/c2c/row-softmax"
expect_code 1
expect_out '^the policy is weaker than the shipped default: agent\.syscalls:profiler, accept:swap$'
check grep -q '^  pids: 600$' "$scratch/run/policy.yaml"
check_not grep -q extends: "$scratch/run/policy.yaml"
check grep -q "\"policy\":\"$(sha256sum <"$scratch/run/policy.yaml" | cut -d ' ' -f 1)\",\"policy_name\":\"mine\",\"weaker\":\[\"agent.syscalls:profiler\",\"accept:swap\"\]" "$scratch/run/journal.jsonl"
check grep -q '"policy":"mine","weaker":\["agent.syscalls:profiler","accept:swap"\]' "$scratch/run/attempts/row-softmax-0001/record.json"
mv "$scratch/shared" "$scratch/gone"
run proctor resume "$scratch/run"
expect_code 1
mv "$scratch/gone" "$scratch/shared"
run proctor policy diff "$scratch/run/policy.yaml" "$scratch/mine.yaml"
expect_out_is 'no value differs'

it 'tells in reports what the policy of a run is weaker by'
run proctor report "$scratch/run"
expect_code 0
expect_out "^run .*: its policy 'mine' is weaker than the shipped default: agent\.syscalls:profiler, accept:swap$"
run proctor report --json "$scratch/run"
expect_out '"policy":"mine","weaker":\["agent\.syscalls:profiler","accept:swap"\]'

it 'lets an agent profile its own processes where the policy says so, and counts the try elsewhere'
# An agent's program has no arguments: so it is a script that has the one with arguments inside. What does
# not compile is not marked, which would take its time.
{
	echo '#!/bin/sh'
	echo 'base64 -d >/tmp/inside <<END'
	base64 "$scratch/inside"
	echo END
	echo 'chmod 755 /tmp/inside && echo "#error" >>softmax.c && exec /tmp/inside perf'
} >"$scratch/perf-agent"
chmod 755 "$scratch/perf-agent"
for policy in default profiler; do
	run -t 120 proctor run --run "$scratch/$policy-run" --policy $policy --agent "scripted:$scratch/perf-agent" "$e2e_root/tasks/c2c/row-softmax"
	cp "$scratch/$policy-run/attempts/row-softmax-0001/record.json" "$scratch/$policy.json"
	cp "$scratch/$policy-run/attempts/row-softmax-0001/agent.stdout" "$scratch/$policy.stdout"
done
check grep -q '"policy":"default","weaker":\[\]' "$scratch/default.json"
check grep -q '"ending":{"how":"exited","code":1,"signal":null,"flags":\["denied:perf_event_open"\]}' "$scratch/default.json"
check grep -q '"policy":"profiler","weaker":\["agent.syscalls:profiler"\]' "$scratch/profiler.json"
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 2 ]; then
	note 'kernel.perf_event_paranoid forbids it to all'
	check_not grep -q denied: "$scratch/profiler.json"
else
	check grep -q '"ending":{"how":"exited","code":0,"signal":null,"flags":\[\]}' "$scratch/profiler.json"
	check grep -q '^perf_event_open: works$' "$scratch/profiler.stdout"
fi

it 'leaves nothing behind of any jail'
expect_nothing_left
