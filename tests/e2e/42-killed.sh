#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kill -9 of whoever has a part in a jail, at several moments of its life (MOMENTS), each ROUNDS times (1): two
# seconds later nothing of it is left, and whoever lives says what has happened. Where nobody was left
# who could clear up, the next launcher does.
. "$(dirname "$0")/../lib/e2e.sh"
need_root
own_place
chmod 755 "$scratch"
mkdir "$scratch/put"
cp "$e2e_build/tests/attack-limits" "$scratch/put/limits"
rounds=$(seq "${ROUNDS:-1}")
# Seconds after the victim is there: while the jail is built, while it starts, while it runs.
moments=${MOMENTS:-0 0.002 0.005 0.01 0.02 0.05 0.3}

# The only child of process $1, waited for.
child() {
	tries=0
	until child=$(pgrep -P "$1") || [ "$tries" -gt 2000 ] || [ ! -e "/proc/$client" ]; do
		tries=$((tries + 1))
	done
	echo "$child" | head -n 1
}

find_pids() { # how many of them: launcher, monitor, pid 1, payload
	pids='' at=$client
	for _ in $(seq "$1"); do
		at=$(child "$at")
		[ -n "$at" ] || return 1
		pids="$pids $at"
	done
}

start() {
	"$e2e_build/proctor" jail --json=7 --wall "$((20 * slow))s" --pids 32 --put "$scratch/put" -- ./limits "$attack" 20 \
		7>"$scratch/json" >"$scratch/out" 2>"$scratch/err" &
	client=$!
}

# Kills the processes that are named, at one moment. @: pids
strike() {
	[ "$moment" = 0 ] || sleep "$moment"
	# shellcheck disable=SC2086 # words on purpose
	kill -9 "$@" 2>/dev/null
}

finish() {
	wait "$client" 2>/dev/null
	code=$?
	e2e_command="moment $moment, attack $attack"
}

# shellcheck disable=SC2120 # none is a list too
expect_codes() { # CODE…
	for one in "$@"; do
		[ "$code" != "$one" ] || return 0
	done
	fail "the exit code is $code, none of $*"
}

# A process that had ended before the blow is none of our business.
was_lost() {
	expect_codes 125
	[ ! -s "$scratch/json" ] || grep -qE '"ending":"launcher_lost"|"error":' "$scratch/json" || fail "$(cat "$scratch/json")"
}

each() { # FUNCTION
	for _ in $rounds; do
		for attack in stay bomb refuse; do
			for moment in $moments; do
				start
				"$1"
			done
		done
	done
}

it 'the client'
client_dies() {
	find_pids 1
	strike "$client"
	finish
	expect_nothing_left
}
each client_dies

it 'the client, when the jail runs'
running_client_dies() {
	find_pids 4
	strike "$client"
	finish
	expect_nothing_left
}
each running_client_dies

it 'the launcher: the client says that it is lost'
launcher_dies() {
	find_pids 1
	# shellcheck disable=SC2086 # none or one
	strike $pids
	finish
	was_lost
	expect_nothing_left
}
each launcher_dies

it 'the launcher, when the jail runs: the client says that it is lost'
running_launcher_dies() {
	find_pids 4 || fail 'the jail did not start'
	strike "$(echo "$pids" | cut -d ' ' -f 2)"
	finish
	expect_code 125
	grep -q '^{"ending":"launcher_lost",' "$scratch/json" || fail "$(cat "$scratch/json")"
	expect_nothing_left
}
each running_launcher_dies

it 'the monitor: the client says that it is lost, and the launcher clears up'
monitor_dies() {
	find_pids 2
	strike "$(echo "$pids" | cut -d ' ' -f 3)"
	finish
	was_lost
	expect_nothing_left
}
each monitor_dies

it 'pid 1 of the jail: that is the end of it'
init_dies() {
	find_pids 3
	strike "$(echo "$pids" | cut -d ' ' -f 4)"
	finish
	expect_codes 137 125
	expect_nothing_left
}
each init_dies

it 'the payload'
payload_dies() {
	find_pids 4
	strike "$(echo "$pids" | cut -d ' ' -f 5)"
	finish
	expect_codes 137 125
	expect_nothing_left
}
each payload_dies

it 'client and launcher: the monitor clears up'
both_die() {
	find_pids 2
	strike "$client" "$(echo "$pids" | cut -d ' ' -f 2)"
	finish
	expect_nothing_left
}
each both_die

it 'launcher and monitor: the next launcher clears up'
next_clears_up() {
	run proctor jail -- echo fine
	expect_out_is fine
	expect_nothing_left
}
root_dies() {
	find_pids 3
	strike "$(echo "$pids" | cut -d ' ' -f 2)" "$(echo "$pids" | cut -d ' ' -f 3)"
	finish
	was_lost
	next_clears_up
}
each root_dies

it 'all three: the next launcher clears up'
all_die() {
	find_pids 3
	strike "$client" "$(echo "$pids" | cut -d ' ' -f 2)" "$(echo "$pids" | cut -d ' ' -f 3)"
	finish
	next_clears_up
}
each all_die

it 'all of them with the jail running, and then the next taker of the lease'
all_die_late() {
	find_pids 4 || fail 'the jail did not start'
	strike "$client" "$(echo "$pids" | cut -d ' ' -f 2)" "$(echo "$pids" | cut -d ' ' -f 3)"
	finish
	next_clears_up
}
each all_die_late
