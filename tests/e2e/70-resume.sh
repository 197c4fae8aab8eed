#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kill -9 of proctor, its launcher, a monitor and the judge, at every line of the journal: after `proctor
# resume` no task is lost, each attempt number was started at most once, nothing is left on the host, and
# the report is that of an undisturbed run but for the counted INFRA.
#
# Needs the build with test hooks, which stops proctor when the line is on the disk. EVERY=1 takes every
# line for each of the four; otherwise it is every line for proctor, and each fifth for the others.
. "$(dirname "$0")/../lib/e2e.sh"
need_root
own_place
chmod 755 "$scratch"
hooks=${PROCTOR_HOOKS_BUILD:-$e2e_root/build-hooks}
task=$e2e_root/tasks/c2c/row-softmax
every=${EVERY:-5}

# A program that takes long enough to be hit, and leaves what does not compile.
cat >"$scratch/broken" <<-'EOF'
	#!/bin/sh
	sleep 0.3
	echo 'no C' >softmax.c
EOF
chmod 755 "$scratch/broken"

start() { # RUN [LINE]
	PROCTOR_STOP_AT_LINE=${2:-} "$hooks/proctor" run --run "$scratch/$1" --json=7 \
		--agent scripted:cheat-previous --agent "scripted:$scratch/broken" "$task" \
		7>"$scratch/json" >"$scratch/out" 2>"$scratch/err" &
	proctor=$!
}

finish() {
	wait "$proctor" 2>/dev/null
	code=$?
}

# What a report says, but for numbers and times: a line for each planned attempt.
essence() { # FILE
	tr '{' '\n' <"$1" | sed -n 's/^"task":"\([^"]*\)","agent":"\([^"]*\)",.*"ending":\("[^"]*"\).*"seen":\([^,]*\),"unseen":\([^,]*\),.*"score":\([^,]*\),.*/\1 \2 \3 \4 \5 \6/p'
}

wait_until_stopped() {
	tries=0
	until grep -q '^State:[[:space:]]*T' "/proc/$proctor/status" 2>/dev/null; do
		tries=$((tries + 1))
		[ "$tries" -lt 3000 ] && [ -e "/proc/$proctor" ] || return 1
		sleep 0.01
	done
}

# The pids of a run's processes by their part, as far as they are there.
find_part() { # PART
	launcher=$(pgrep -P "$proctor" -x proctor-launche)
	case $1 in
	launcher) echo "$launcher" ;;
	monitor) [ -z "$launcher" ] || pgrep -P "$launcher" | head -n 1 ;;
	judge) pgrep -x proctor-judge | head -n 1 ;;
	esac
}

# Kills the part as soon as it is there; a run that ends before has none.
strike() { # PART
	[ "$1" != proctor ] || { kill -9 "$proctor" && return; }
	[ "$1" != launcher ] || kill -9 "$(find_part launcher)"
	kill -CONT "$proctor"
	[ "$1" != launcher ] || return
	until victim=$(find_part "$1") && [ -n "$victim" ] && kill -9 "$victim" 2>/dev/null; do
		grep -q '^State:[[:space:]]*[RSDT]' "/proc/$proctor/status" 2>/dev/null || return
	done
}

# Of an attempt's numbers none has begun an agent twice.
expect_started_once() { # RUN
	twice=$(sed -n 's/.*"event":"attempt.begun","task":"\([^"]*\)","slot":[0-9]*,"attempt":\([0-9]*\),.*"state":"AGENT".*/\1 \2/p' \
		"$scratch/$1/journal.jsonl" | sort | uniq -d)
	[ -z "$twice" ] || fail "started twice: $twice"
}

resume() { # RUN
	# shellcheck disable=SC2016 # expanded inside of that shell
	run -t 120 sh -c 'exec "$0" resume --json=7 "$1" 7>"$2"' "$hooks/proctor" "$scratch/$1" "$scratch/json"
	expect_code 1
	expect_started_once "$1"
	essence "$scratch/json" >"$scratch/essence"
	cmp -s "$scratch/wanted" "$scratch/essence" ||
		fail "the report is another: $(cat "$scratch/essence")"
	expect_nothing_left
}

it 'is the run that nobody disturbs'
start undisturbed
finish
expect_code 1
essence "$scratch/json" >"$scratch/wanted"
check test "$(wc -l <"$scratch/wanted")" -eq 2
lines=$(wc -l <"$scratch/undisturbed/journal.jsonl")
note "$lines lines"
expect_nothing_left

for part in proctor launcher monitor judge; do
	it "goes on after kill -9 of the $part"
	step=$every infra=0
	[ "$part" != proctor ] || step=1
	for line in $(seq 1 "$step" "$lines"); do
		e2e_command="$part at line $line"
		start "$part-$line" "$line"
		wait_until_stopped || { finish && fail "no line $line: $(cat "$scratch/err")" && break; }
		strike "$part"
		finish
		e2e_command="$part at line $line, resume"
		resume "$part-$line"
		infra=$((infra + $(sed -n 's/.*"infra":\([0-9]*\).*/\1/p' "$scratch/json")))
		[ -z "$e2e_why" ] || break
	done
	note "$part: lines 1 to $lines by $step, $infra attempts were INFRA"
	# What proctor can lose is an agent that runs: one of the 13 lines of each of the two attempts.
	[ "$part" != proctor ] || check test "$infra" -eq 2
done
