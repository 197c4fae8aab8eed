#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# proctor tasks check: a good task, and what authors do wrong.
# shellcheck disable=SC2016 # dollars are sed's
. "$(dirname "$0")/../lib/e2e.sh"
need_root
chmod 755 "$scratch"
task=$e2e_root/tests/data/tasks/known-ratio

# A copy of the task, broken by a sed script over one of its files, and what it is then told.
broken() { # NAME FILE SCRIPT ERE
	mkdir -p "$scratch/broken"
	rm -rf "$scratch/broken/known-ratio"
	cp -R "$task" "$scratch/broken/known-ratio"
	sed -i "$3" "$scratch/broken/known-ratio/$2"
	! cmp -s "$task/$2" "$scratch/broken/known-ratio/$2" || fail "$1: the script changes nothing"
	run -t 300 proctor tasks check "$scratch/broken"
	expect_code 3
	expect_out '^known-ratio: NOT GOOD|/known-ratio: NOT GOOD'
	expect_out "^$4"
	expect_no_err 'error: task'
	note "$1: $(sed -n '/^this machine is busy/d; 2,3{p;q}' "$scratch/out")"
}

it 'finds a good task good, with an estimate, cases and solutions'
run -t 300 proctor tasks check "$task"
expect_code 0
expect_out '^known-ratio: good; a marking of 40 blocks takes about '
expect_out '^odd 1 \(rows=[0-9]+ cols=[0-9]+\) +unseen +[0-9.]+'
expect_out '^once +yes +VALID +VALID +VALID +VALID'
note "$(sed -n 1p "$scratch/out")"

it 'says the same in JSON, and nothing else on that descriptor'
run -t 300 proctor tasks check --json "$task"
expect_code 0
expect_out '^\{"tasks":\[\{"folder":".*known-ratio","task":"known-ratio","good":true,"problem":null,.*"solutions":\[\{"solution":"once","expected":"yes".*\]\}\]\}$'
check test "$(wc -l <"$scratch/out")" -eq 1

it 'names the key that each mistake is about, and a way out'
broken 'a key' task.yaml 's/^kind: c2c/kind: c4c/' "task.yaml:4: key 'kind': "
broken 'the name' task.yaml 's/^name: known-ratio/name: known/' "task.yaml:3: key 'name': 'known' is not the name of the task's folder, 'known-ratio'; "
broken 'the entry' task.yaml 's/symbol: work,/symbol: werk,/' "entry.symbol: the library of the baseline has no function 'werk'"
broken "the oracle's entry" task.yaml 's/symbol: work_oracle/symbol: oracle/' "oracle.symbol: the library of the oracle has no function 'oracle'"
broken 'an argument' task.yaml 's/\[x, y, rows, cols\]/[x, y, cols]/' '.*\(const (float|double) \*x, (float|double) \*y, int64_t cols\)'
broken 'an argument of args' task.yaml 's/\[x, y, rows, cols\]/[y, rows, cols]/' "task.yaml:[0-9]+: key 'x': the entry's args do not list this argument"
broken 'a crash' evaluate/oracle.c 's/y\[i\] = x\[i\];/*(volatile int *) 0 = 0;/' 'case rows=[0-9]+ cols=[0-9]+: entry.args: the oracle crashes'
broken 'another result' evaluate/oracle.c 's/y\[i\] = x\[i\]/y[i] = x[i] + 1/' "case .*: args.y: the baseline and the oracle disagree at element 0: .*args.y.compare"
broken 'the compiler' workspace/work.c 's/^void work/strange void work/' 'build.argv: baseline: the build ended with code 1; it says: .*work.c:[0-9:]+ error: '
broken 'a function that nobody defines' workspace/work.c '/^void work(/,/^{/ s/^{/{ extern int nowhere(void); (void) nowhere();/' "build.out: 'work.so' can not be loaded as a shared library; .* neither it nor a library that it names defines \(-Wl,-z,defs shows which\)"
broken 'no library' task.yaml 's/-shared, work.c/-c, work.c/' "build.out: 'work.so' can not be loaded as a shared library"
broken 'no product' task.yaml 's/out: \[oracle.so\]/out: [o.so]/' "oracle.build.argv: oracle: the build left no 'o.so'"
broken 'the memory' task.yaml '$a limits: { memory: 17MiB }' "limits.memory, or the policy: the agent's jail: the task's limits under policy 'default': a memory limit"
broken 'processes' task.yaml '$a limits: { pids: 16 }
s/argv: \[proctor-check\]/argv: [sh, -c, "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18; do sleep 1 \& done; wait; exit 3"]/' 'limits.pids: .*raise it'
broken 'the workspace' task.yaml '$a limits: { workspace: 1MiB }
s/argv: \[proctor-check\]/argv: [sh, -c, "cat \/dev\/zero >\/work\/x; exit 3"]/' 'limits.workspace: .*raise it'
broken 'the time of the agent' task.yaml '$a limits: { wall: 1s }
s/argv: \[proctor-check\]/argv: [sleep, "30"]/' 'limits.wall: .*raise it'
broken 'the time of a call' task.yaml 's/call_wall: 2s/call_wall: 1ms/' 'case .*: mark.call_wall: a call of the (baseline|oracle) takes longer than 1 ms'

it 'tells a mistake on standard error as well where only JSON is printed'
run -t 300 proctor tasks check --json "$scratch/broken"
expect_code 3
expect_err "proctor: error: task '$scratch/broken/known-ratio': case .*: mark.call_wall: "

it 'holds each solution against its NOTE.md'
rm -rf "$scratch/broken"
mkdir -p "$scratch/broken"
cp -R "$task" "$scratch/broken/"
folder=$scratch/broken/known-ratio/solutions
cp -R "$folder/once" "$folder/cheat-honest"
printf 'No cheat.\n\nExpected: WRONG.\n' >"$folder/cheat-honest/NOTE.md"
cp -R "$folder/once" "$folder/honest-wrong"
sed -i 's/0.25f/0.24f/' "$folder/honest-wrong/work.c"
cp -R "$folder/once" "$folder/honest-without-note"
rm "$folder/honest-without-note/NOTE.md"
cp -R "$folder/once" "$folder/honest-extra"
echo x >"$folder/honest-extra/other.c"
cp -R "$folder/once" "$folder/honest-broken"
echo 'no C' >"$folder/honest-broken/work.c"
for i in word place; do cp -R "$folder/once" "$folder/cheat-$i"; done
printf 'No cheat.\n\nExpected: seen VALD, unseen WRONG.\n' >"$folder/cheat-word/NOTE.md"
printf 'No cheat.\nExpected: VALID.\n' >"$folder/cheat-place/NOTE.md"
run -t 300 proctor tasks check "$scratch/broken"
expect_code 3
expect_out '^known-ratio: NOT GOOD'
expect_out '^cheat-honest +NO +VALID +VALID +WRONG +-'
expect_out "^honest-wrong +NO +WRONG +WRONG +VALID +VALID +WRONG: candidate, check: an output is wrong; case 'rows=[0-9]+ cols=[0-9]+', call 0, argument 'y', element 0: got "
expect_out "^honest-without-note +NO .*it has to say in a few lines what it does: open 'solutions/honest-without-note/NOTE.md'"
expect_out "^cheat-word +NO .*NOTE.md:3: 'VALD' is none of VALID, WRONG, "
expect_out "^cheat-place +NO .*NOTE.md:2: 'Expected:' has to stand at the head of a paragraph of its own"
expect_out "^honest-extra +NO .*'other.c' is not editable"
expect_out '^honest-broken +NO +not built .*the build ended with code 1; it says: '
expect_out '^once +yes'

it 'goes on after a broken task, and refuses a folder without any'
cp -R "$task" "$scratch/broken/a-first"
echo 'schema: 2' >"$scratch/broken/a-first/task.yaml"
rm -rf "$folder"/cheat-* "$folder"/honest-*
run -t 300 proctor tasks check "$scratch/broken"
expect_code 3
expect_out '/a-first: NOT GOOD$'
expect_out '^known-ratio: good'
mkdir "$scratch/empty"
run proctor tasks check "$scratch/empty"
expect_code 3
expect_err "there is no task.yaml in '$scratch/empty'"
run proctor tasks check /nonexistent
expect_code 3
run proctor tasks check
expect_code 2
run proctor tasks check --policy /nonexistent "$task"
expect_code 3
run proctor tasks check --policy "$scratch" "$task"
expect_code 3
expect_err 'it is no regular file'
printf 'schema: 1\nname: p\nagent: { pids: 3 }\n' >"$scratch/p.yaml"
run proctor tasks check --policy "$scratch/p.yaml" "$task"
expect_code 3
expect_err "p.yaml:3: key 'pids'"
run setpriv --reuid proctor --regid proctor --clear-groups "$e2e_build/proctor" tasks check "$task"
expect_code 4
expect_err "proctor's launcher needs root: use sudo"

it 'leaves no folder behind, also where it is ended'
"$e2e_build/proctor" tasks check "$task" >"$scratch/out" 2>"$scratch/err" &
client=$!
sleep 1.5
kill -TERM "$client"
wait "$client"
code=$?
[ "$code" != 0 ] || note 'it was through before'
check test -z "$(find /tmp /var/tmp -maxdepth 1 -name 'proctor-tasks-check-*' -newer "$scratch/p.yaml")"

it 'removes what one that was killed has left'
"$e2e_build/proctor" tasks check "$task" >"$scratch/out" 2>"$scratch/err" &
client=$!
sleep 1.5
kill -KILL "$client"
wait "$client"
run -t 300 proctor tasks check "$task"
expect_code 0
check test -z "$(find /tmp /var/tmp -maxdepth 1 -name 'proctor-tasks-check-*' -newer "$scratch/p.yaml")"
