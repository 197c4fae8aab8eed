#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The limits of a jail against what goes for them with all its might (tests/attacks/limits.c, fill.c),
# each ROUNDS times (3; ROUNDS=20 for the full count). After each jail nothing of it is left, and the
# host goes on meanwhile.
# shellcheck disable=SC2016 # most commands are expanded inside of the jail
. "$(dirname "$0")/../lib/e2e.sh"
need_root
own_place
chmod 755 "$scratch"
mkdir "$scratch/put"
cp "$e2e_build/tests/attack-fill" "$scratch/put/fill"
cp "$e2e_build/tests/attack-limits" "$scratch/put/limits"
rounds=$(seq "${ROUNDS:-3}")
# What takes long on a slow machine, as long as it takes all CPUs there.
few=$([ "$slow" -gt 1 ] && echo 4 || echo 20)
# In which a bomb has to get to its limit.
bomb_ms=$((600 + 200 * slow))

now_ms() {
	echo $(($(date +%s%N) / 1000000))
}

# The value of KEY in the JSON object of the last run.
value() { # KEY
	sed -n "s/.*\"$1\":\"\{0,1\}\([a-z0-9_]*\).*/\1/p" "$scratch/json"
}

# Runs a jail with the attacks in its /work. The object goes to $scratch/json; proctor is done two
# seconds after the command's end at the latest, and then nothing is left.
jail() { # ARGUMENT…
	begun=$(now_ms)
	run -t 60 sh -c 'file=$1; shift; exec "$0" jail --json=7 --put "$@" 7>"$file"' \
		"$e2e_build/proctor" "$scratch/json" "$scratch/put" "$@"
	took=$(($(now_ms) - begun))
	grep -q '"ending"' "$scratch/json" || { fail "there was no jail: $(cat "$scratch/json")" && return; }
	[ $((took - $(value wall_ms))) -le $((2000 * slow)) ] || fail "proctor took $took ms, the command $(value wall_ms)"
	expect_nothing_left
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

# From its start to the last of it, two seconds over its limit included.
expect_over_by() { # LIMIT-IN-MILLISECONDS
	[ "$took" -le $(($1 + 2000 * slow)) ] || fail "it took $took ms"
}

# The host, outside of every jail: how long it let a process wait at most.
(
	while [ -e "$scratch/put" ]; do
		now_ms
		sleep 0.05
	done >"$scratch/canary"
) &
canary=$!

small='--memory 192MiB --work 16MiB --files 4096 --tmp 16MiB'

it 'memory: one process that takes it all'
for _ in $rounds; do
	# shellcheck disable=SC2086 # words on purpose, here and below
	jail $small -- ./limits eat
	expect_code 124
	expect_ending oom
	expect_no_flags
	[ "$(value memory_peak)" -le 201326592 ] || fail "it used $(value memory_peak) bytes"
done

it 'memory: a child is killed, and its parent ends well at that moment'
for _ in $rounds; do
	# shellcheck disable=SC2086
	jail $small -- ./limits eat-in-child
	expect_code 124
	expect_ending oom
done

it 'memory: many processes that each take little'
for _ in $rounds; do
	# shellcheck disable=SC2086
	jail $small -- ./limits eat-together 16
	expect_code 124
	expect_ending oom
done

it 'memory: what no process maps any more'
for _ in $rounds; do
	# shellcheck disable=SC2086
	jail $small -- ./limits eat-shared
	expect_code 124
	expect_ending oom
done

it 'a command that kills itself was not out of memory, its child neither'
for _ in $rounds; do
	# shellcheck disable=SC2086
	jail $small -- sh -c 'kill -9 $$'
	expect_code 137
	expect_ending signaled
	expect_no_flags
	# shellcheck disable=SC2086
	jail $small -- sh -c 'sh -c "kill -9 \$\$"; exit 5'
	expect_code 5
	expect_ending exited
	expect_no_flags
done

it 'wall time: asleep, at work, stopped, deaf'
for command in 'sleep 60' 'while :; do :; done' 'kill -STOP $$' './limits stay'; do
	for _ in $rounds; do
		jail --wall 200ms --grace 50ms -- sh -c "$command"
		expect_code 124
		expect_ending timeout
		expect_over_by 250
	done
done

it 'CPU time: one process, many together, and many that are short'
for command in 'while :; do :; done' \
	'for i in 1 2 3 4 5 6 7 8; do (while :; do :; done) & done; wait' \
	'while :; do (i=0; while [ $i -lt 5000 ]; do i=$((i + 1)); done); done'; do
	for _ in $rounds; do
		jail --cpu 300ms --grace 0ms --wall 20s -- sh -c "$command"
		expect_code 124
		expect_ending cpu
		[ "$(value cpu_ms)" -ge 300 ] || fail "it used only $(value cpu_ms) ms"
	done
done

it 'idle time: asleep, stopped, and waking up for nothing'
for command in 'sleep 60' 'kill -STOP $$' 'exec python3 -c "
import time
while True: time.sleep(0.3)"'; do
	for _ in $rounds; do
		jail --idle 1s --grace 50ms --wall 20s -- sh -c "$command"
		expect_code 124
		expect_ending idle
		expect_over_by 3000
	done
done

it 'idle time: who computes or prints is not idle'
for _ in $rounds; do
	jail --idle 700ms --wall 10s -- sh -c 'i=0; while [ $i -lt 12 ]; do echo here; sleep 0.15; i=$((i + 1)); done; exit 6'
	expect_code 6
	expect_ending exited
	jail --idle 500ms --wall 1500ms --grace 0ms -- sh -c 'while :; do :; done'
	expect_ending timeout
done

it 'output: a flood to both descriptors'
for _ in $rounds; do
	jail --output 1MiB -- ./limits flood
	expect_code 124
	expect_ending output
	[ $(($(stat -c %s "$scratch/out") + $(grep -o 'y' "$scratch/err" | wc -l))) -le 1048576 ] || fail 'more came out'
done

it 'output: exactly the limit is not over it'
jail --output 1000000B -- head -c 1000000 /dev/zero
expect_code 0
expect_ending exited
check test "$(value output_bytes)" -eq 1000000
jail --output 1000000B -- head -c 1000001 /dev/zero
expect_ending output

it 'processes: a fork bomb of sessions that are deaf meets the limit, and the host goes on'
for _ in $rounds; do
	(sleep 0.5 && timeout 10 sh -c 'exit 3'; echo $? >"$scratch/meanwhile") &
	meanwhile=$!
	jail --pids 64 --wall "${bomb_ms}ms" --grace 50ms -- ./limits bomb
	expect_code 124
	expect_ending timeout
	expect_flag pids_hit
	[ "$(value processes_peak)" -le 64 ] || fail "there were $(value processes_peak)"
	expect_over_by $((bomb_ms + 50))
	wait "$meanwhile"
	[ "$(cat "$scratch/meanwhile")" = 3 ] || fail 'the host could not start a process meanwhile'
done

it 'processes: a bomb of shells'
for _ in $rounds; do
	jail --pids 64 --wall "${bomb_ms}ms" --grace 50ms -- sh -c 'bomb() { bomb | bomb & }; (bomb) 2>/dev/null; exec sleep 60'
	expect_ending timeout
	expect_flag pids_hit
	expect_over_by $((bomb_ms + 50))
done

it 'processes: who met the limit and ended leaves no child'
for _ in $rounds; do
	jail --pids 200 -- ./limits forks
	expect_code 0
	expect_ending exited
	expect_flag pids_hit
done
jail --pids 64 -- sh -c 'i=0; while [ $i -lt 30 ]; do sleep 0.1 & i=$((i+1)); done 2>/dev/null; exit 0'
expect_no_flags

it 'disk: a full /work says so and is no memory kill'
for _ in $rounds; do
	jail --memory 160MiB --work 1MiB --files 4096 --tmp 16MiB -- sh -c 'head -c 5000000 /dev/zero >/work/big 2>/dev/null; exit 0'
	expect_code 0
	expect_ending exited
	expect_flag disk_full
done
jail --work 1MiB -- true
expect_no_flags

it 'disk: one that is full and freed before the end says so too'
for _ in $rounds; do
	# shellcheck disable=SC2086
	jail $small -- ./limits disk 300
	expect_code 0
	expect_ending exited
	expect_flag disk_full
done

it 'disk: a full /tmp and a full /dev/shm say so'
for folder in /tmp /dev/shm; do
	jail --tmp 4MiB -- sh -c "head -c 90000000 /dev/zero >$folder/big 2>/dev/null; exit 0"
	expect_code 0
	expect_flag disk_full
done

it 'disk: a full one ends the jail where that is asked for, and inodes as well'
for _ in $rounds; do
	# shellcheck disable=SC2086
	jail $small --on-full end --grace 50ms --wall 20s -- ./limits disk 60000
	expect_code 124
	expect_ending full
	expect_flag disk_full
	expect_over_by 3000
	# shellcheck disable=SC2086
	jail $small --on-full=end --grace 0ms --wall 20s -- sh -c './limits files 1000000; sleep 60'
	expect_ending full
	expect_flag inodes_full
	# shellcheck disable=SC2086
	jail $small --on-full=end -- true
	expect_ending exited
	expect_no_flags
done

it 'inodes: there are no more than the option says'
for _ in $rounds; do
	jail --files 1000 -- sh -c '(i=0; while : >/work/f$i; do i=$((i+1)); done) 2>/dev/null; ls /work | wc -l'
	expect_code 0
	expect_flag inodes_full
	expect_out '^99[89]$'
done

it 'inodes: a million files'
for _ in $rounds; do
	jail -- ./limits files 1000000
	expect_code 0
	expect_ending exited
	expect_flag inodes_full
done

it 'inodes: a hundred thousand where there is room for them'
jail --files 120000 -- sh -c './limits files 100000; ls /work | wc -l'
expect_ending exited
expect_no_flags
expect_out '^10000[12]$'

it 'tracing: whoever traces pid 1, or tries, and ends, leaves no jail that hangs'
for _ in $rounds; do
	jail -- ./limits trace
	expect_code 0
	expect_ending exited
	expect_flag denied:ptrace
	expect_flag denied:process_vm_readv
done

it 'refused calls: a flood of them ends with its limit'
for _ in $rounds; do
	jail --wall 500ms --grace 50ms --pids 64 -- ./limits refuse $((2 * few))
	expect_code 124
	expect_ending timeout
	expect_flag denied:ptrace
	expect_over_by 550
	jail --cpu 300ms --wall 20s --grace 0ms -- ./limits refuse 4
	expect_ending cpu
done

it 'refused calls: a flood of them delays neither the end of the command nor the reaping of others'
for _ in $rounds; do
	jail --pids 64 -- ./limits refuse-and-end $((2 * few))
	expect_code 7
	expect_ending exited
	expect_flag denied:ptrace
	jail --pids 64 -- ./limits refuse-and-leave "$few"
	expect_code 0
	expect_ending exited
done

it 'refused calls: they are counted, each for itself'
jail -- unshare --net true
expect_code 1
expect_flag denied:unshare
check grep -q '"denied":{"unshare":1}' "$scratch/json"
jail -- true
check grep -q '"denied":{}' "$scratch/json"

it 'everything full at once, with the least memory that is accepted, is no memory kill'
for limits in '--work 8MiB --files 65536 --tmp 1MiB' '--work 64MiB --files 20000 --tmp 16MiB' '--work 1MiB --files 120000 --tmp 64KiB'; do
	# shellcheck disable=SC2086 # words on purpose
	run proctor jail $limits --memory 16MiB -- true
	expect_code 125
	least=$(sed -n 's/.*less than the \([0-9]*[KMG]*i*B\) that.*/\1/p' "$scratch/err")
	for _ in $rounds; do
		# shellcheck disable=SC2086 # the same
		jail $limits --memory "$least" -- ./fill /work /tmp /dev/shm
		expect_code 0
		expect_ending exited
		expect_flag disk_full
		expect_flag inodes_full
	done
	note "$limits: $(value memory_peak) bytes of $least"
	[ "$slow" -eq 1 ] || break
done

it 'the host is as it was: a jail works, and no process had to wait for long'
rm -r "$scratch/put"
wait "$canary"
waited=$(awk 'NR > 1 && $1 - last > most { most = $1 - last } { last = $1 } END { print most + 0 }' "$scratch/canary")
note "a process outside that sleeps for 50 ms had to wait for $waited ms at most, $(wc -l <"$scratch/canary") times"
[ "$waited" -le $((2000 * slow)) ] || fail "a process outside had to wait for $waited ms"
mkdir "$scratch/put"
jail -- sh -c 'echo fine'
expect_out_is fine
expect_ending exited
expect_no_flags
