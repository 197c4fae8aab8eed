#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# proctor run --aka: tasks of AgentKernelArena's format that need no GPU, from the agent to its reports.
. "$(dirname "$0")/../lib/e2e.sh"
need_root
own_place
chmod 755 "$scratch"
tree=$e2e_root/tests/data/aka/cpu
agents=$e2e_root/tests/aka/agents

# What the record of a task says, by a path of keys.
of_record() { # RUN TASK KEY…
	python3 -c 'import json, sys
value = json.load(open(sys.argv[1]))
for key in sys.argv[2:]:
    value = value[key]
print(json.dumps(value))' "$scratch/$1/attempts/$(echo "$2" | tr / +)-0001/record.json" "$3" ${4:+"$4"} ${5:+"$5"}
}

it 'runs all tasks that it can, marks them, and writes the reports of the reference'
run -t 120 proctor run --aka "$tree" --gpu-model MI300 --seats 2 --agent "scripted:$agents/nothing" --run "$scratch/all"
expect_code 1
expect_err "task 'triton2triton/second/scale' is not run: runs do not speak the protocol of schema_version 2 yet"
expect_out '^triton2triton/vllm/row_norm_counted .* VALID .* SAME .* 220.0 '
expect_out '^triton2triton/vllm/wrong .* WRONG .* 20.0 '
expect_out '^triton2triton/vllm/no_compile .* 0.0 .* compile: exit code 1$'
expect_out '^hip2hip/others/polynomial .* VALID .* 220.0 '
check grep -q '^Target GPU: MI300$' "$scratch/all/reports/overall_report.txt"
check grep -q '^  Total Tasks:           9$' "$scratch/all/reports/overall_report.txt"
check grep -q '"task":"triton2triton/vllm/wrong","score_aka":20.0,"score_strict":20.0' "$scratch/all/reports/proctor_marks.json"
check test "$(wc -l <"$scratch/all/reports/overall_summary.csv")" -eq 10
check grep -q '^pass_correctness: false$' "$scratch/all/attempts/triton2triton+vllm+wrong-0001/task_result.yaml"
check grep -q '"kind":"agentkernelarena"' "$scratch/all/planned.json"
check test "$(of_record all triton2triton/vllm/row_norm_counted tier)" = '"IN-PROCESS"'

it 'pays for a faster kernel, and for nothing that was done to its harness'
cat >"$scratch/faster" <<-'EOF2'
	#!/bin/sh
	python3 - <<-'EOF3'
	from pathlib import Path
	source = Path("source/row_norm.py")
	text = source.read_text()
	new = text.replace("        square = value * value\n        total = total + square", "        total += value * value")
	assert new != text
	source.write_text(new)
	EOF3
	echo 'raise SystemExit(0)' >scripts/task_runner.py
	mkdir -p build && echo '[{"test_case_id": "x", "execution_time_ms": 1e-9}]' >build/performance_report.json
	echo 'pass_compilation: true' >task_result.yaml
	echo >conftest.py
EOF2
chmod 755 "$scratch/faster"
run -t 60 proctor run --aka "$tree" --agent "scripted:$scratch/faster" --run "$scratch/faster.run" triton2triton/vllm/row_norm_counted
expect_code 0
expect_out ' VALID .* FAST '
check test "$(of_record faster.run triton2triton/vllm/row_norm_counted unused total)" -ge 4
check test "$(of_record faster.run triton2triton/vllm/row_norm_counted aka strict_speedup)" != 1.0

it 'carries functions alone out of a file that holds its tests'
cat >"$scratch/tests" <<-'EOF2'
	#!/bin/sh
	python3 - <<'EOF3'
	import re
	text = open("add.py").read()
	open("add.py", "w").write(re.sub(r"assert .*", "assert True", text) + "\nraise SystemExit(0)\n")
	EOF3
EOF2
chmod 755 "$scratch/tests"
task=triton2triton/rocmbench/easy/add
for file in "$tree/tasks/$task"/*.py; do
	case $file in
	*performance_utils*) ;;
	*) break ;;
	esac
done
sed -i "s/add\.py/$(basename "$file")/g" "$scratch/tests"
run -t 60 proctor run --aka "$tree" --agent "scripted:$scratch/tests" --run "$scratch/tests.run" $task
check test "$(of_record tests.run $task carried replaced)" -eq 0
check test "$(of_record tests.run $task carried idle)" -ge 1
check test "$(of_record tests.run $task built)" = true

it 'has a folder of reports for each agent'
run -t 60 proctor run --aka "$tree" --agent "scripted:$agents/nothing" --agent "scripted:$scratch/faster" \
	--run "$scratch/two" --seats 2 triton2triton/vllm/row_norm_counted
expect_code 0
check test -f "$scratch/two/reports/1-1/overall_report.txt" -a -f "$scratch/two/reports/2-1/overall_report.txt"
check_not test -e "$scratch/two/reports/overall_report.txt"
run proctor report "$scratch/two"
expect_code 0
expect_out '^scripted:.*/faster '

it 'takes sets and run configurations, and drops what a checkout does not have'
printf 'triton2triton/vllm/row_norm_counted\nhip2hip/gone\n' >"$scratch/my.list"
run -t 60 proctor run --aka "$tree" --set "$scratch/my.list" --agent "scripted:$agents/nothing" --run "$scratch/set.run"
expect_code 0
expect_err "task 'hip2hip/gone' is not run: the set has it, and this tree does not"
cat >"$scratch/theirs.yaml" <<-'EOF2'
	agent: { template: claude_code }
	tasks: [triton2triton/vllm/row_norm_counted]
	target_gpu_model: MI325X
	log_directory: logs
	workspace_directory_prefix: workspace
EOF2
run -t 60 proctor run --aka "$tree" --config "$scratch/theirs.yaml" --agent "scripted:$agents/nothing" --run "$scratch/theirs.run"
expect_code 0
expect_err "names the agent 'claude_code', which proctor does not have yet"
check grep -q '^Target GPU: MI325X$' "$scratch/theirs.run/reports/overall_report.txt"
run proctor run --config "$scratch/theirs.yaml"
expect_code 3
expect_err 'is a run configuration of AgentKernelArena: say where its checkout is, with --aka FOLDER'

it 'runs both kernels on shapes that were held out'
task=triton2triton/vllm/row_norm_counted
mkdir -p "$scratch/held/$task"
cat >"$scratch/held/$task/held_out_shapes.yaml" <<-'EOF2'
	task_type: triton2triton
	num_original_shapes: 1
	injections:
	- file: scripts/task_runner.py
	  find_marker: TEST_SHAPES
	  replacement_code: "TEST_SHAPES = [(3, 7), (5, 11)]"
EOF2
run -t 60 proctor run --aka "$tree" --held-out "$scratch/held" --agent "scripted:$agents/nothing" --run "$scratch/held.run" $task
expect_code 0
expect_out ' VALID +VALID +1.00 .* SAME '
check test "$(of_record held.run $task heldout status)" = '"both_pass"'
check grep -q '^total_tasks: 1$' "$scratch/held.run/reports/heldout_summary.yaml"

it 'tells what it would do, and does nothing'
run proctor run --aka "$tree" --rounds 3 --dry-run hip2hip torch2hip
expect_code 0
expect_out '^baseline performance python3 eval_tools/cal_kernel_perf.py .* --baseline_only \(at most 3600 s\)$'
expect_out '1 to 3 rounds of baseline'
expect_out '^==== the evaluator.s jail ====$'
run proctor run --aka "$tree" --dry-run --json second
expect_code 3
expect_err "the selector 'second' matches no task"

it 'refuses what makes no sense, with the way out'
run proctor run --aka "$scratch" --agent "scripted:$agents/nothing" --run "$scratch/no"
expect_code 3
expect_err 'tasks'
run proctor run --aka "$tree" --agent scripted:honest --run "$scratch/no" hip2hip
expect_code 3
expect_err "a task of AgentKernelArena has no solutions; name a program, scripted:./PROGRAM"
run proctor run --aka "$tree" --agent "scripted:$agents/nothing" --gpus 0,0 --run "$scratch/no" hip2hip
expect_code 2
expect_err "option --gpus: '0' is named twice"
run proctor run --aka "$tree" --agent "scripted:$agents/nothing" --gpus 0 --run "$scratch/no" hip2hip
expect_code 3
expect_err "1 GPUs are named, and no jail of the policy 'default' has one"
run proctor run --aka "$tree" --policy agentkernelarena --seats 2 --agent "scripted:$agents/nothing" --run "$scratch/no" hip2hip
check test "$code" -ne 0
run proctor run --rounds 2 --agent "scripted:$agents/nothing" --run "$scratch/no" x
expect_code 2
expect_err 'option --rounds: only together with --aka'
run -t 60 proctor run --aka "$tree" --python /opt/none/python3 --agent "scripted:$agents/nothing" --retries 0 --run "$scratch/none" \
	triton2triton/vllm/row_norm_counted
expect_code 1
expect_out 'INFRA|/opt/none/python3'
check_not test -e "$scratch/no"

it 'leaves nothing behind'
expect_nothing_left
