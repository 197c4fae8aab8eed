#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The limits of a jail against what goes for them with all its might, each a few times; and that the
# host goes on meanwhile and afterwards.
# shellcheck disable=SC2016 # most commands are expanded inside of the jail
. "$(dirname "$0")/../lib/e2e.sh"
need_root
chmod 755 "$scratch"
mkdir "$scratch/put"
cp "$e2e_build/tests/attack-fill" "$scratch/put/fill"

# The value of KEY in the JSON object of the last run.
value() { # KEY
	sed -n "s/.*\"$1\":\"\{0,1\}\([a-z0-9_]*\).*/\1/p" "$scratch/json"
}

# Runs a jail; its object goes to $scratch/json.
jail() { # ARGUMENT…
	run -t 30 sh -c 'file=$1; shift; exec "$0" jail --json=7 "$@" 7>"$file"' "$e2e_build/proctor" "$scratch/json" "$@"
}

expect_ending() { # ENDING
	[ "$(value ending)" = "$1" ] || fail "the ending is not $1: $(cat "$scratch/json")"
}

expect_flag() { # FLAG
	grep -q "\"flags\":\[[^]]*\"$1\"" "$scratch/json" || fail "the flag $1 is not there: $(cat "$scratch/json")"
}

expect_no_flags() {
	grep -qF '"flags":[]' "$scratch/json" || fail "there is a flag: $(cat "$scratch/json")"
}

# The jail was over at most this long after its limit.
expect_wall() { # MILLISECONDS
	[ "$(value wall_ms)" -le "$1" ] || fail "it took $(value wall_ms) ms"
}

thrice='1 2 3'

it 'memory: one process that takes it all at once'
for _ in $thrice; do
	jail --memory 256MiB --work 16MiB --files 4096 --tmp 16MiB -- sh -c 'x=$(head -c 600000000 /dev/zero | tr "\0" x); echo ${#x}'
	expect_code 124
	expect_ending oom
	[ "$(value memory_peak)" -le 268435456 ] || fail "it used $(value memory_peak) bytes"
done

it 'memory: many processes that each take little'
for _ in $thrice; do
	jail --memory 256MiB --work 16MiB --files 4096 --tmp 16MiB --pids 64 -- sh -c '
		for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do (x=$(head -c 30000000 /dev/zero | tr "\0" x); sleep 5; : $x) & done; wait'
	expect_code 124
	expect_ending oom
	expect_wall 20000
done

it 'wall time: asleep, at work, stopped'
for command in 'sleep 60' 'while :; do :; done' 'kill -STOP $$'; do
	for _ in $thrice; do
		jail --wall 200ms --grace 50ms -- sh -c "$command"
		expect_code 124
		expect_ending timeout
		expect_wall 3000
	done
done

it 'CPU time: one process, and many together'
for command in 'while :; do :; done' \
	'for i in 1 2 3 4 5 6 7 8; do (while :; do :; done) & done; wait' \
	'while :; do (i=0; while [ $i -lt 5000 ]; do i=$((i + 1)); done); done'; do
	for _ in $thrice; do
		jail --cpu 300ms --grace 0ms --wall 20s -- sh -c "$command"
		expect_code 124
		expect_ending cpu
		[ "$(value cpu_ms)" -ge 300 ] || fail "it used only $(value cpu_ms) ms"
	done
done

it 'output: a flood to both descriptors'
for _ in $thrice; do
	jail --output 1MiB -- sh -c 'yes >&2 & yes'
	expect_code 124
	expect_ending output
	[ $(($(stat -c %s "$scratch/out") + $(grep -c '^y$' "$scratch/err") * 2)) -le 1048577 ] || fail 'more came out'
done

it 'output: exactly the limit is not over it'
jail --output 1000000B -- head -c 1000000 /dev/zero
expect_code 0
expect_ending exited
check test "$(value output_bytes)" -eq 1000000
jail --output 1000000B -- head -c 1000001 /dev/zero
expect_ending output

it 'processes: a fork bomb meets the limit, is over in time, and the host goes on'
for _ in $thrice; do
	"$e2e_build/proctor" jail --json=7 --pids 64 --wall 1500ms --grace 100ms -- \
		sh -c 'bomb() { bomb | bomb & }; bomb; exec sleep 60' 7>"$scratch/json" >/dev/null 2>&1 &
	client=$!
	sleep 0.7
	timeout 10 sh -c 'exit 3'
	[ $? -eq 3 ] || fail 'the host can not start a process meanwhile'
	wait "$client"
	code=$?
	expect_code 124
	expect_ending timeout
	expect_flag pids_hit
	[ "$(value processes_peak)" -le 64 ] || fail "there were $(value processes_peak)"
	expect_wall 6000
done

it 'processes: a bomb of sessions that ignore every signal'
for _ in $thrice; do
	jail --pids 64 --wall 700ms --grace 100ms -- sh -c 'trap "" TERM HUP INT; bomb() { setsid sleep 60 & bomb & bomb; }; bomb 2>/dev/null'
	expect_flag pids_hit
	expect_wall 6000
done

it 'disk: a full /work says so and is no memory kill'
for _ in $thrice; do
	jail --memory 160MiB --work 1MiB --files 4096 --tmp 16MiB -- sh -c 'head -c 5000000 /dev/zero >/work/big 2>/dev/null; exit 0'
	expect_code 0
	expect_ending exited
	expect_flag disk_full
done
jail --work 1MiB -- true
expect_no_flags

it 'disk: a full /tmp and a full /dev/shm say so'
for folder in /tmp /dev/shm; do
	jail --tmp 4MiB -- sh -c "head -c 90000000 /dev/zero >$folder/big 2>/dev/null; exit 0"
	expect_code 0
	expect_flag disk_full
done

it 'inodes: there are no more than the option says'
for _ in $thrice; do
	jail --files 1000 -- sh -c '(i=0; while : >/work/f$i; do i=$((i+1)); done) 2>/dev/null; ls /work | wc -l'
	expect_code 0
	expect_flag inodes_full
	expect_out '^99[89]$'
done

it 'inodes: a hundred thousand files'
jail --files 65536 -- sh -c 'i=0; while [ $i -lt 100000 ] && : >/work/f$i; do i=$((i+1)); done 2>/dev/null; exit 0'
expect_ending exited
expect_flag inodes_full
jail --files 120000 -- sh -c 'i=0; while [ $i -lt 100000 ] && : >/work/f$i; do i=$((i+1)); done 2>/dev/null; ls /work | wc -l'
expect_ending exited
expect_no_flags
expect_out '^100000$'

it 'everything full at once, with the least memory that is accepted, is no memory kill'
for limits in '--work 8MiB --files 65536 --tmp 1MiB' '--work 64MiB --files 20000 --tmp 16MiB' '--work 1MiB --files 120000 --tmp 64KiB'; do
	# shellcheck disable=SC2086 # words on purpose
	run proctor jail $limits --memory 16MiB -- true
	expect_code 125
	least=$(sed -n 's/.*less than the \([0-9]*\) that.*/\1/p' "$scratch/err")
	# shellcheck disable=SC2086 # the same
	jail $limits --memory "${least}B" --put "$scratch/put" -- /work/fill /work /tmp /dev/shm
	expect_code 0
	expect_ending exited
	expect_flag disk_full
	expect_flag inodes_full
	note "$limits: $(value memory_peak) of $least bytes"
done

it 'the host is as it was: a jail works, and no memory is missing'
run proctor jail --json -- echo fine
expect_code 0
jail -- sh -c 'echo fine'
expect_out_is fine
expect_ending exited
expect_no_flags
