#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# proctor compare: two runs in the form of AgentKernelArena's comparison report.
. "$(dirname "$0")/../lib/e2e.sh"
chmod 755 "$scratch"
expected=$e2e_root/tests/data/aka/expected
one=$scratch/run_20260101_000000
two=$scratch/run_20260202_000000_again

# A folder of a run with such a breakdown.
place() { # FILE FOLDER
	mkdir -p "$2/reports"
	cp "$1" "$2/reports/task_type_breakdown.json"
}
place "$expected/run_20260101_000000/task_type_breakdown.json" "$one"
place "$expected/run_20260202_000000_again/task_type_breakdown.json" "$two"

it 'prints the report that AgentKernelArena makes of the two'
run proctor compare "$one" "$two"
expect_code 0
{ cat "$expected/run_20260202_000000_again/comparison.txt" && echo; } >"$scratch/want"
check cmp "$scratch/want" "$scratch/out"

it 'takes the files themselves, and writes the same bytes to a file'
printf 'what was there before and is much longer than nothing\n%s\n' "$(seq 9000)" >"$scratch/file"
[ "$(id -u)" -ne 0 ] || chmod 777 "$scratch"
run proctor compare --output "$scratch/file" "$one/reports/task_type_breakdown.json" "$two"
expect_code 0
check cmp "$expected/run_20260202_000000_again/comparison.txt" "$scratch/file"
check cmp "$scratch/want" "$scratch/out"

it 'warns that other numbers of tasks are other tasks'
run proctor compare "$one" "$two"
expect_err 'run 1 has [0-9]+ tasks and run 2 has [0-9]+: these are figures of other tasks'
run proctor compare "$one" "$one"
expect_code 0
check test ! -s "$scratch/err"
sed 's/"count": 1,/"count": 2,/' "$one/reports/task_type_breakdown.json" >"$scratch/other.json"
check_not cmp -s "$scratch/other.json" "$one/reports/task_type_breakdown.json"
run proctor compare "$one" "$scratch/other.json"
expect_err 'both runs have [0-9]+ tasks, but not as many of each type'

it 'says the same in JSON, and nothing else on that descriptor'
run proctor compare --json "$one" "$two"
expect_code 0
check test "$(wc -l <"$scratch/out")" -eq 1
expect_out '^\{"schema":"proctor/compare/1","same_numbers_of_tasks":false,"runs":\[\{"run":".*/run_20260101_000000","run_timestamp":"20260101_000000",'
expect_out '"task_types":\[\{"task_type":"[a-z0-9]+","tasks":[0-9]+,"total_score":'
run proctor compare --json "$one" "$one"
expect_out '"same_numbers_of_tasks":true'

it 'shows control characters of a name escaped'
printf '{"agent": "a\\u001b[31m", "overall": {"total_tasks": 1}}' >"$scratch/odd.json"
run proctor compare "$scratch/odd.json" "$scratch/odd.json"
expect_code 0
expect_out '^Run 1: unknown \(a\\x1b\[31m\)$'
run proctor compare --json "$scratch/odd.json" "$scratch/odd.json"
expect_out '"agent":"a\\u001b\[31m"'

it 'refuses what is no run, and leaves the output file alone'
echo before >"$scratch/kept"
chmod 666 "$scratch/kept"
mkdir "$scratch/empty"
run proctor compare --output "$scratch/kept" "$one" "$scratch/empty"
expect_code 3
expect_err "run '.*/empty': .*task_type_breakdown.json"
for text in '' '{' '[]' '{"overall": {"total_score": "x"}}' '{"overall": {"total_tasks": -1}}' '{"task_types": []}'; do
	printf '%s' "$text" >"$scratch/bad.json"
	run proctor compare --output "$scratch/kept" "$one" "$scratch/bad.json"
	expect_code 3
	expect_err "run '.*/bad.json': task_type_breakdown.json"
done
run proctor compare "$one" "$scratch/nowhere"
expect_code 3
expect_err "run '.*/nowhere': No such file or directory$"
run proctor compare /dev/null "$one"
expect_code 3
expect_err 'it is no regular file$'
check test "$(cat "$scratch/kept")" = before

it 'follows no link to a report or to the output'
mkdir -p "$scratch/linked/reports"
ln -s "$one/reports/task_type_breakdown.json" "$scratch/linked/reports/task_type_breakdown.json"
run proctor compare "$scratch/linked" "$one"
expect_code 3
ln -s "$scratch/kept" "$scratch/link"
run proctor compare --output "$scratch/link" "$one" "$one"
expect_code 3
expect_err "option --output: '.*/link': Too many levels of symbolic links$"
check test "$(cat "$scratch/kept")" = before

it 'takes two runs, no more and no less'
run proctor compare "$one"
expect_code 2
expect_err 'it takes two runs'
run proctor compare "$one" "$two" "$one"
expect_code 2
run proctor compare --by agent "$one" "$two"
expect_code 2
run proctor compare --help
expect_code 0
expect_out 'does not check that both runs had the same tasks'

it 'reads what only root reaches, after root opened it'
if [ "$(id -u)" -eq 0 ]; then
	mkdir "$scratch/deep"
	chmod 700 "$scratch/deep"
	cp -r "$one" "$scratch/deep/run"
	chmod 600 "$scratch/deep/run/reports/task_type_breakdown.json"
	run proctor compare "$scratch/deep/run" "$one"
	expect_code 0
	run env SUDO_UID=65534 "$e2e_build/proctor" compare "$scratch/deep/run" "$one"
	expect_code 3
	expect_err "run '.*/deep/run': Permission denied$"
fi
