#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Many attempts over several seats; what ends a run in the middle, and that it goes on from there.
# shellcheck disable=SC2317 # functions that wait_for calls
. "$(dirname "$0")/../lib/e2e.sh"
need_root
own_place
chmod 755 "$scratch"
hooks=${PROCTOR_HOOKS_BUILD:-$e2e_root/build-hooks}
task=$e2e_root/tasks/c2c/row-softmax

program() { # NAME TEXT
	printf '#!/bin/sh\n%s\n' "$2" >"$scratch/$1"
	chmod 755 "$scratch/$1"
}
program broken "echo 'no C' >softmax.c"
program slow "sleep 60"

value() { # KEY
	sed -n "s/.*\"$1\":\([^,}]*\).*/\1/p" "$scratch/json"
}

report() { # PROCTOR SUBCOMMAND ARGUMENT…
	# shellcheck disable=SC2016 # expanded inside of that shell
	run -t 120 sh -c 'file=$1 proctor=$2 what=$3; shift 3; exec "$proctor" "$what" --json=7 "$@" 7>"$file"' sh "$scratch/json" "$@"
}

records() { # RUN
	find "$scratch/$1" -name record.json | wc -l
}

it 'runs 24 attempts on 4 seats, each once'
report "$e2e_build/proctor" run --run "$scratch/many" --seats 4 --attempts 24 --agent "scripted:$scratch/broken" "$task"
expect_code 1
check test "$(records many)" -eq 24
check test "$(value planned)" -eq 24
check test "$(grep -c '"event":"attempt.begun".*"state":"AGENT"' "$scratch/many/journal.jsonl")" -eq 24
expect_nothing_left

it 'has several agents at one time'
begun() {
	[ "$(grep -c '"event":"attempt.begun".*"state":"AGENT"' "$scratch/slow-run/journal.jsonl" 2>/dev/null)" = 3 ]
}
"$e2e_build/proctor" run --run "$scratch/slow-run" --seats 3 --attempts 5 --agent "scripted:$scratch/slow" "$task" \
	>"$scratch/out" 2>"$scratch/err" &
proctor=$!
wait_for begun

it 'refuses a second proctor on the same folder'
run -t 30 proctor resume "$scratch/slow-run"
expect_code 3
expect_err "being written by process $proctor:"
run -t 30 proctor run --run "$scratch/slow-run" --agent "scripted:$scratch/broken" "$task"
expect_code 3
expect_err 'not empty.*proctor resume'

it 'ends cleanly by SIGINT: agents are INFRA, the rest is left for later'
kill -INT "$proctor"
wait "$proctor"
code=$?
expect_code 1
check test "$(records slow-run)" -eq 3
check grep -q '"infra":"stopped by the operator"' "$scratch/slow-run/attempts/row-softmax-0001/record.json"
check grep -qx '5 of 5 planned attempts are still to do: 2 have no record yet, 3 ended INFRA and will be tried again' "$scratch/out"
check grep -q "proctor resume $scratch/slow-run" "$scratch/err"
check grep -q '"event":"run.stopped"' "$scratch/slow-run/journal.jsonl"
expect_nothing_left

it 'goes on after SIGINT, with new numbers for what was stopped'
"$e2e_build/proctor" resume --seats 4 "$scratch/slow-run" >"$scratch/out" 2>"$scratch/err" &
proctor=$!
begun() {
	[ "$(grep -c '"event":"attempt.begun".*"state":"AGENT"' "$scratch/slow-run/journal.jsonl")" = 7 ]
}
wait_for begun
kill -TERM "$proctor"
wait "$proctor"
twice=$(sed -n 's/.*"event":"attempt.begun".*"attempt":\([0-9]*\),.*"state":"AGENT".*/\1/p' "$scratch/slow-run/journal.jsonl" | sort | uniq -d)
[ -z "$twice" ] || fail "agents that began twice under one number: $twice"
expect_nothing_left

it 'says that a run is finished when it is resumed again'
report "$e2e_build/proctor" resume "$scratch/many"
expect_code 1
check test "$(value finished)" = true
check test "$(value planned)" -eq 24

it 'refuses a folder without a run, and one that was changed'
mkdir "$scratch/none"
chown proctor "$scratch/none"
run -t 30 proctor resume "$scratch/none"
expect_code 3
expect_err 'no run was begun in '
cp -a "$scratch/many" "$scratch/changed"
echo ' ' >>"$scratch/changed/tasks/row-softmax/task.yaml"
run -t 30 proctor resume "$scratch/changed"
expect_code 3
expect_err "task.yaml' is not what was planned"
rm -r "$scratch/changed"
cp -a "$scratch/many" "$scratch/changed"
sed -i '5s/attempt/Attempt/' "$scratch/changed/journal.jsonl"
run -t 30 proctor resume "$scratch/changed"
expect_code 3
expect_err 'journal.*line 5'
rm -r "$scratch/changed"
cp -a "$scratch/many" "$scratch/changed"
head -c 32 /dev/urandom >"$scratch/changed/secret"
run -t 30 proctor resume "$scratch/changed"
expect_code 3
expect_err "'secret'"

it 'cuts a torn line off, and goes on'
cp -a "$scratch/many" "$scratch/torn"
head -n -1 "$scratch/many/journal.jsonl" >"$scratch/torn/journal.jsonl"
printf '{"seq":12,"pr' >>"$scratch/torn/journal.jsonl"
report "$e2e_build/proctor" resume "$scratch/torn"
expect_code 1
check grep -q '"event":"run.resumed","cut":13' "$scratch/torn/journal.jsonl"
check test "$(value finished)" = true

it 'stops with a clear error when the disk is full, and goes on when there is room'
mkdir "$scratch/disk"
# What an agent may leave is reserved before it begins.
printf 'schema: 1\nname: small\nagent: { workspace: { size: 1MiB, inodes: 64 } }\n' >"$scratch/small.yaml"
mount -t tmpfs -o size=8m disk "$scratch/disk"
chmod 755 "$scratch/disk"
e2e_mounts=$(cat /proc/self/mountinfo) # with this one
for line in 3 6 8 10 12; do
	folder=$scratch/disk/run-$line
	PROCTOR_STOP_AT_LINE=$line "$hooks/proctor" run --run "$folder" --policy "$scratch/small.yaml" --agent scripted:cheat-previous \
		--agent "scripted:$scratch/broken" "$task" >"$scratch/out" 2>"$scratch/err" &
	proctor=$!
	wait_for grep -q '^State:[[:space:]]*T' "/proc/$proctor/status"
	dd if=/dev/zero of="$scratch/disk/filler" bs=4096 2>"$scratch/dd"
	kill -CONT "$proctor"
	wait "$proctor"
	code=$?
	e2e_command="a full disk at line $line"
	expect_code 4
	check grep -q 'No space left on device' "$scratch/err"
	check grep -q 'proctor resume' "$scratch/err"
	expect_nothing_left
	rm "$scratch/disk/filler"
	report "$hooks/proctor" resume "$folder"
	expect_code 1
	check test "$(value finished)" = true
	check test "$(value planned)" -eq 2
	[ -z "$e2e_why" ] || break
	rm -r "$folder"
done
umount "$scratch/disk"
e2e_mounts=$(cat /proc/self/mountinfo)

it 'reserves what an agent may leave, so that none fills the disk of the run'
mkdir "$scratch/disk2"
mount -t tmpfs -o size=6m disk "$scratch/disk2"
chmod 755 "$scratch/disk2"
e2e_mounts=$(cat /proc/self/mountinfo)
program filler 'head -c 100000000 /dev/urandom >big; true'
printf 'schema: 1\nname: roomy\nagent: { workspace: { size: 8MiB, inodes: 64 } }\n' >"$scratch/roomy.yaml"
run -t 60 proctor run --run "$scratch/disk2/roomy" --policy "$scratch/roomy.yaml" --agent "scripted:$scratch/filler" "$task"
expect_code 4
expect_err 'reserve 8 MiB for what the agent may leave: No space left on device'
check_not grep -q '"state":"AGENT"' "$scratch/disk2/roomy/journal.jsonl"
rm -r "$scratch/disk2/roomy"
report "$e2e_build/proctor" run --run "$scratch/disk2/small" --policy "$scratch/small.yaml" --agent "scripted:$scratch/filler" "$task"
check test "$(value infra)" = 0
check test "$(value finished)" = true
umount "$scratch/disk2"
e2e_mounts=$(cat /proc/self/mountinfo)

it 'opens what the caller of sudo names with his rights, and makes the folder with them'
echo secret >"$scratch/rooted"
chmod 600 "$scratch/rooted"
mkdir -m 755 "$scratch/roots"
SUDO_UID=$(id -u daemon)
export SUDO_UID
run -t 30 proctor run --run "$scratch/sudo1" --agent "scripted:$scratch/rooted" "$task"
expect_code 3
expect_err 'rooted.*Permission denied'
run -t 30 proctor run --run "$scratch/roots/run" --agent "scripted:$scratch/broken" "$task"
expect_code 3
expect_err 'Permission denied'
check_not test -e "$scratch/roots/run"
run -t 30 proctor resume "$scratch/many"
expect_code 3
expect_err "is that of 'proctor'"
run -t 30 proctor jail --put "$scratch/rooted" -- true
expect_code 125
mkdir -m 700 "$scratch/closed"
cp -r "$task" "$scratch/many" "$scratch/closed"
run -t 30 proctor tasks show "$scratch/closed/row-softmax"
expect_code 3
run -t 30 proctor report "$scratch/closed/many"
expect_code 3
expect_err 'Permission denied'
unset SUDO_UID

it 'is not kept waiting by what is no file'
cp -a "$scratch/many" "$scratch/fifo"
sed -i '$d' "$scratch/fifo/journal.jsonl"
for file in policy.yaml planned.json tasks/row-softmax/task.yaml tasks/row-softmax/pristine.tree agents/1.tree; do
	rm "$scratch/fifo/$file"
	mkfifo "$scratch/fifo/$file"
	run -t 10 proctor resume "$scratch/fifo"
	expect_code 3
	cp -a "$scratch/many/$file" "$scratch/fifo/.new" && mv "$scratch/fifo/.new" "$scratch/fifo/$file"
done

it 'is ended by SIGTERM to all of its group as by one to itself'
setsid "$e2e_build/proctor" run --run "$scratch/group" --agent "scripted:$scratch/slow" "$task" >"$scratch/out" 2>"$scratch/err" &
proctor=$!
begun() {
	grep -q '"state":"AGENT"' "$scratch/group/journal.jsonl" 2>/dev/null
}
wait_for begun
kill -TERM "-$proctor"
wait "$proctor"
code=$?
expect_code 1
check grep -q '"stopped":true' "$scratch/group/journal.jsonl"
expect_nothing_left
