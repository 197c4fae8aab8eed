#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# proctor report: journals in, figures out; damaged ones are named and the others reported. The runs are
# on paper, so this takes no seconds and, but for its own test of root, no privilege.
. "$(dirname "$0")/../lib/e2e.sh"
chmod 755 "$scratch"

paper() { # FOLDER RUN TASKS AGENTS REPEATS <ATTEMPTS
	mkdir "$scratch/$1" && "$e2e_build/tests/paper-run" "$scratch/$1" "$2" "$3" "$4" "$5"
}

paper first run-1 2 2 1 <<-'EOT'
	1 matmul honest 1 VALID 4 VALID 3.6
	2 matmul narrow 2 VALID 5 WRONG 0
	1 stencil honest 1 VALID 2 VALID 2
	2 stencil narrow 2 INFRA 0 - 0
	2 stencil narrow 3 VALID 5 WRONG 0
EOT
paper second run-2 2 2 1 <<-'EOT'
	1 matmul honest 1 BROKEN 0 - 0
	2 matmul narrow 2 VALID 5 WRONG 0
	1 stencil honest 1 INFRA 0 - 0
EOT

it 'says for each agent how it stands, over both runs'
run proctor report "$scratch/first" "$scratch/second"
expect_code 0
expect_out '^honest +2 +3 +75 % +100 % +50 % +290\.0 '
expect_out '^narrow +2 +3 +100 % +100 % +100 % +620\.0 '
expect_out '^honest +2 +75 % +0 +0 % +0 +0 % +1 +25 % +100 % +75 % '
expect_out '^narrow +0 +0 % +3 +100 % '
expect_out '^run run-1: 1 attempt was INFRA'
expect_out '^run run-2: 1 of 4 planned attempts have no record yet'
expect_no_err .

it 'shows who is right on seen cases only: full seen score, unseen WRONG, and how many cases'
run proctor report "$scratch/first"
expect_code 0
expect_out '^  matmul, narrow, try 2 of run-1: full seen score 620\.0, unseen WRONG \(8 unseen cases\)$'
expect_out '^  stencil, narrow, try 3 of run-1: full seen score 620\.0, unseen WRONG \(8 unseen cases\)$'

it 'has a row for each task and agent, and for each attempt, where that is asked for'
run proctor report --by task --attempts "$scratch/first" "$scratch/second"
expect_code 0
expect_out '^RUN +TASK +AGENT +TRY '
expect_out '^run-2 +matmul +honest +1 +exited .* 0\.0 .*it does not compile'
expect_out '^run-1 +stencil +narrow +3 +exited +VALID +WRONG '
expect_out '^matmul +honest +2 +50 % +0 % +260\.0 +367\.7 +0\.0 +520\.0 '

it 'writes one JSON object, beside the tables or in their place'
run sh -c '"$0" report --json=5 --by task "$1" 5>"$2"' "$e2e_build/proctor" "$scratch/first" "$scratch/json"
expect_code 0
expect_out '^TASK '
check grep -q '^{"schema":"proctor/report/1","runs":\[{"run":"run-1",.*"finished":true,.*"broken":\[\],.*"tasks":\[{"task":"matmul",.*}\],"seen_only":\[{.*}\]}$' "$scratch/json"
run proctor report --json --attempts "$scratch/first"
expect_code 0
check test "$(wc -l <"$scratch/out")" -eq 1
expect_out '"attempts":\[\{"run":"run-1","task":"matmul","agent":"honest","attempt":1,'

it 'writes CSV, with as many fields in each line'
run proctor report --csv --by task "$scratch/first" "$scratch/second"
expect_code 0
check test "$(wc -l <"$scratch/out")" -eq 5
check test "$(awk -F , '{ print NF }' "$scratch/out" | sort -u | wc -l)" -eq 1
expect_out '^task,tree,agent,tasks,attempts,.*,retention,retention_low,retention_high,'
run proctor report --csv --attempts "$scratch/first"
expect_code 0
expect_out '^run,task,agent,attempt,'
expect_out '^run-1,matmul,narrow,2,exited,VALID,WRONG,'

it 'names the line of a damaged journal, reports the others, and ends with 3'
mkdir "$scratch/damaged"
sed '4s/"attempt":1/"attempt":2/' "$scratch/second/journal.jsonl" >"$scratch/damaged/journal.jsonl"
run proctor report --json=1 "$scratch/damaged" "$scratch/first" "$scratch/nothing"
expect_code 3
expect_err "run '$scratch/damaged': journal line 4: it was changed after it was written"
expect_err "run '$scratch/nothing': open the folder: No such file or directory"
expect_out '"runs":\[\{"run":"run-1",.*"broken":\[\{"folder":".*/damaged","error":"journal line 4: '
run proctor report "$scratch/damaged" "$scratch/first"
expect_code 3
expect_out '^honest +2 +2 '
run proctor report "$scratch/damaged"
expect_code 3
expect_no_out .

it 'counts a run once'
cp -R "$scratch/first" "$scratch/copy"
run proctor report "$scratch/first" "$scratch/copy"
expect_code 3
expect_err "run '$scratch/copy': it is the run 'run-1', which counts already as '$scratch/first'"
expect_out '^honest +2 +2 '

it 'carries the names and labels of runs, and tells where one agent is other files'
for i in 1 2 3; do
	mkdir "$scratch/named-$i"
	echo '1 matmul honest 1 VALID 4 VALID 3.6' |
		"$e2e_build/tests/paper-run" "$scratch/named-$i" "named-$i" "$((i > 2 ? 8 : 7))"
done
run proctor report "$scratch/named-1"
expect_code 0
expect_out "^run named-1: in $scratch/named-1, name nightly, labels machine=paper, os=none.x0a$"
run proctor report --json=5 "$scratch/named-1" "$scratch/named-2" 5>"$scratch/json"
expect_code 0
expect_no_out 'other files'
check grep -q '{"run":"named-2","name":"nightly","labels":\[{"key":"machine","value":"paper"},{"key":"os","value":"none[^"]*"}\],"folder":".*named-2",.*"mixed_agents":\[\]' "$scratch/json"
run proctor report --json=5 "$scratch/named-1" "$scratch/named-2" "$scratch/named-3" 5>"$scratch/json"
expect_code 0
expect_out '^agent honest: it is other files in run named-1 than in run named-3; '
check grep -q '"mixed_agents":\[{"agent":"honest","task":null,"run":"named-1","other_run":"named-3"}\]' "$scratch/json"
rm "$scratch/named-3/planned.json"
run proctor report "$scratch/named-1" "$scratch/named-3"
expect_code 0
expect_no_out 'other files'
run proctor report "$scratch/first"
expect_no_out '^run run-1: in '

it 'waits for nobody and follows no link'
mkdir "$scratch/fifo" "$scratch/link"
check mkfifo "$scratch/fifo/journal.jsonl"
check ln -s "$scratch/first/journal.jsonl" "$scratch/link/journal.jsonl"
run -t 10 proctor report "$scratch/fifo" "$scratch/link"
expect_code 3
expect_err "/fifo': 'journal.jsonl' is no file"
expect_err "/link': open 'journal.jsonl': Too many levels of symbolic links"

it 'leaves what it reads as it is'
chmod 555 "$scratch/first"
chmod 444 "$scratch/first/journal.jsonl"
sha256sum "$scratch/first/journal.jsonl" >"$scratch/sum"
if [ "$(id -u)" -eq 0 ]; then
	run setpriv --reuid 65534 --regid 65534 --clear-groups -- "$e2e_build/proctor" report "$scratch/first"
	expect_code 0
	expect_out '^narrow '
fi
run proctor report "$scratch/first"
expect_code 0
check sha256sum --quiet -c "$scratch/sum"
check test "$(find "$scratch/first" | wc -l)" -eq 2
chmod 755 "$scratch/first"

it 'says what is wrong with a command line'
run proctor report
expect_code 2
expect_err 'it takes the FOLDERs of runs'
run proctor report --by day "$scratch/first"
expect_code 2
expect_err "option --by: 'day' is not agent or task"
run proctor report --json --csv "$scratch/first"
expect_code 2
expect_err 'options --json and --csv: both go to descriptor 1'
run proctor report --json=77 "$scratch/first"
expect_code 2
