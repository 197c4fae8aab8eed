#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# proctor run where it can not begin: it says why, with the place in the run plan, and leaves nothing behind.
. "$(dirname "$0")/../lib/e2e.sh"
need_root
task=$e2e_root/tests/data/tasks/known-ratio
chmod 755 "$scratch"
mkdir "$scratch/here"
cd "$scratch/here" || exit 1

plan() { # LINE…
	printf 'schema: proctor/run/1\n' >"$scratch/plan.yaml"
	for line; do printf '%s\n' "$line" >>"$scratch/plan.yaml"; done
}

# It ends with 3 and has left no folder, named or not.
refused() { # ERE [OPTION]…
	ere=$1
	shift
	for folder in '' "$scratch/here/named"; do
		run proctor run ${folder:+--run "$folder"} "$@"
		expect_code 3
		expect_err "$ere"
		check test -z "$(ls "$scratch/here")"
	done
}

it 'removes the folder that it made, named or not, where the run plan is wrong'
plan 'tasks: [x]' 'agent: []'
refused "plan.yaml:3: there is no key 'agent' here" --config "$scratch/plan.yaml"
refused "open 'none.yaml': No such file" --config "$scratch/none.yaml"
plan "tasks: [$task]" 'set: all.yaml' 'agents: [{ name: a, solution: once }]'
refused "plan.yaml:3: key 'set': the tasks are named by 'tasks' in line 2 already" --config "$scratch/plan.yaml"

it 'names file and line of what the run plan names and is not there'
plan "tasks: [$task]" 'policy: none.yaml' 'agents: [{ name: a, solution: once }]'
refused "plan.yaml:3: key 'policy': policy 'none.yaml': no such file" --config "$scratch/plan.yaml"
plan "tasks: [$task]" 'agents:' ' - { name: a, solution: once }' ' - { name: b, solution: twice }'
refused "task '$task': plan.yaml:5: agent 'b': there is no solution 'twice'; there are once" --config "$scratch/plan.yaml"
plan "tasks: [$task, $scratch/none]" 'agents: [{ name: a, solution: once }]'
refused "plan.yaml:2: task '$scratch/none': No such file" --config "$scratch/plan.yaml"
refused "task 'none': there is no such folder; 'proctor tasks list' shows" --agent scripted:once none
refused "task '$scratch': there is no task.yaml in this folder; 'proctor tasks list $scratch' shows" --agent scripted:once "$scratch"
refused "there is no solution 'twice'; there are once" --agent scripted:twice "$task"

it 'does the same for whoever calls it by sudo'
mkdir "$scratch/daemons"
chown daemon "$scratch/daemons"
plan 'tasks: [x]' 'agent: []'
run env SUDO_UID="$(id -u daemon)" "$e2e_build/proctor" run --run "$scratch/daemons/x" --config "$scratch/plan.yaml"
expect_code 3
expect_err "plan.yaml:3: there is no key 'agent' here"
check test -z "$(ls "$scratch/daemons")"

it 'leaves an empty folder that was there before'
mkdir "$scratch/before"
run proctor run --run "$scratch/before" --config "$scratch/plan.yaml"
expect_code 3
check test -d "$scratch/before"
check test -z "$(ls -A "$scratch/before")"

it 'ends with a word and without its folder, wherever descriptors run out'
for files in 8 9 10 11 12 13 14; do
	run sh -c "ulimit -n $files; exec \"\$@\"" sh "$e2e_build/proctor" run --run "$scratch/here/few" --agent scripted:once "$task"
	case $code in
	[345]) expect_err '^proctor: error: .' ;;
	*) fail "with $files descriptors it ends with $code" ;;
	esac
	check test -z "$(ls "$scratch/here")"
done

it 'is not killed by a limit of file sizes, and says what it is about'
run sh -c 'ulimit -f 4; exec "$@"' sh "$e2e_build/proctor" run --run "$scratch/here/few" --agent scripted:once "$task"
expect_code 5
expect_err 'proctor: error: .*: File too large'
check test -z "$(ls "$scratch/here")"
run sh -c 'ulimit -f 4; exec "$@"' sh "$e2e_build/proctor" drill --only id-crash
expect_code 5
expect_err 'proctor: error: .*: File too large'

it 'says what a folder has that can not be used, and what to do'
mkdir -p "$scratch/broken"
cp -R "$task" "$scratch/broken/"
sed -i 's/^void work/strange void work/' "$scratch/broken/known-ratio/workspace/work.c"
run -t 100 proctor run --run "$scratch/here/run" --agent scripted:once "$scratch/broken/known-ratio"
expect_code 3
expect_err "baseline: the build ended with code 1; its output is in tasks/known-ratio/baseline.stderr of the run's folder"
check grep -q strange "$scratch/here/run/tasks/known-ratio/baseline.stderr"
run proctor run --run "$scratch/here/run" --agent scripted:once "$task"
expect_code 3
expect_err "'$scratch/here/run': it is not empty: it has what a run left that could not begin .*; remove it, or name a new folder"
run proctor resume "$scratch/here/run"
expect_code 3
expect_err "no run was begun in '$scratch/here/run': .proctor run. begins one, in a folder that is new or empty"
mkdir "$scratch/other"
touch "$scratch/other/x"
run proctor run --run "$scratch/other" --agent scripted:once "$task"
expect_code 3
expect_err "it is not empty, and what is in it is no run's; name a new folder"

it 'asks for root before it makes anything'
chmod 777 "$scratch/daemons"
for command in "run --run $scratch/daemons/x --agent scripted:once $task" "resume $scratch/here/run"; do
	# shellcheck disable=SC2086 # words
	run setpriv --reuid 65534 --regid 65534 --clear-groups "$e2e_build/proctor" $command
	expect_code 4
	expect_err "proctor's launcher needs root: use sudo"
done
check test -z "$(ls "$scratch/daemons")"
