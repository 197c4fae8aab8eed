#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kill -9 of proctor and of its launcher in a run of thirty tasks of AgentKernelArena's format on two seats: when
# `proctor resume` is through, its reports are those of an undisturbed run, and every task has its record once.
. "$(dirname "$0")/../lib/e2e.sh"
need_root
own_place
chmod 755 "$scratch"
agent=$e2e_root/tests/aka/agents/thirty
python3 "$e2e_root/tests/aka/thirty.py" "$scratch/thirty" || exit 1

# But for the time of the run, which is in two of the files.
reports_of() { # RUN
	for name in overall_report.txt task_type_breakdown.json overall_summary.csv proctor_marks.json; do
		echo "== $name"
		sed 's/^Run: .*/Run:/; s/"run_timestamp": .*/"run_timestamp":/' "$scratch/$1/reports/$name"
	done
}

start() { # COMMAND…
	"$e2e_build/proctor" "$@" >"$scratch/out" 2>"$scratch/err" &
	proctor=$!
}

recorded() {
	[ -e "$scratch/killed/journal.jsonl" ] || { echo 0 && return; }
	grep -c '"event":"attempt.recorded"' "$scratch/killed/journal.jsonl" || :
}

# Waits for so many records, then kills; a run that ends before is not killed.
kill_after() { # COUNT proctor|launcher
	until [ "$(recorded)" -ge "$1" ] || [ ! -e "/proc/$proctor" ]; do
		sleep 0.02
	done
	if [ "$2" = launcher ]; then
		victim=$(pgrep -P "$proctor" -x proctor-launche) || return 0
	else
		victim=$proctor
	fi
	kill -9 "$victim" 2>/dev/null && struck=$((struck + 1))
	wait "$proctor" 2>/dev/null
}

it 'runs thirty tasks on two seats'
run -t 120 proctor run --aka "$scratch/thirty" --seats 2 --agent "scripted:$agent" --run "$scratch/whole"
expect_code 1
check test "$(wc -l <"$scratch/whole/reports/overall_summary.csv")" -eq 31

it 'is killed five times, and resumed each time'
struck=0
start run --aka "$scratch/thirty" --seats 2 --retries 9 --agent "scripted:$agent" --run "$scratch/killed"
kill_after 2 proctor
for strike in '6 proctor' '10 launcher' '15 proctor' '21 launcher'; do
	start resume "$scratch/killed"
	# shellcheck disable=SC2086 # two words
	kill_after $strike
done
check test "$struck" -eq 5
run -t 120 proctor resume "$scratch/killed"
expect_code 1

it 'has the reports of an undisturbed run then'
reports_of whole >"$scratch/want"
reports_of killed >"$scratch/got"
check cmp "$scratch/want" "$scratch/got"
diff "$scratch/want" "$scratch/got" | sed 's/^/# /' | head -n 20

it 'has lost no task, and started no agent twice under one number'
check test "$(sed -n 's/.*"event":"attempt.recorded","task":"\([^"]*\)".*"infra":null.*/\1/p' "$scratch/killed/journal.jsonl" | sort -u | wc -l)" -eq 30
twice=$(sed -n 's/.*"event":"attempt.begun","task":"\([^"]*\)","slot":[0-9]*,"attempt":\([0-9]*\),.*"state":"AGENT".*/\1 \2/p' \
	"$scratch/killed/journal.jsonl" | sort | uniq -d)
check test -z "$twice"
check tail -n 1 "$scratch/killed/journal.jsonl" | grep -q run.finished

it 'leaves nothing behind'
expect_nothing_left
