#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# proctor tasks list and show of a tree in the formats of AgentKernelArena.
. "$(dirname "$0")/../lib/e2e.sh"
chmod 755 "$scratch"
tree=$e2e_root/tests/data/aka

# A tree of one task, whose config.yaml is standard input.
only() {
	rm -rf "$scratch/tree"
	mkdir -p "$scratch/tree/tasks/hip2hip/mine"
	cat >"$scratch/tree/tasks/hip2hip/mine/config.yaml"
}

it 'lists every task of both formats, and counts their types'
run proctor tasks list --aka "$tree"
expect_code 0
expect_out '^hip2hip/own/scale +hip2hip +hip +hip +python tools/correct.py +folder +- +hip/scale.hip$'
expect_out '^triton2triton/own/add +.* add.py:add_kernel,add_tail_kernel$'
expect_out '^image_kernel/copy +image_kernel +triton +triton +python scripts/task_runner.py +image +gfx950 +kernels/$'
expect_out '^flydsl/second +flydsl +torch +flydsl +python run.py +git +skip +kernel.py:build_kernel$'
expect_out '^all +7$'
check test ! -s "$scratch/err"

it 'says the same in JSON, and nothing else on that descriptor'
run proctor tasks list --aka "$tree" --json
expect_code 0
check test "$(wc -l <"$scratch/out")" -eq 1
expect_out '"types":\[\{"type":"flydsl","tasks":1\},.*\],"dropped":\[\],"refused":\[\]\}$'

it 'takes selectors, and refuses one that matches nothing'
run proctor tasks list --aka "$tree" 'hip2hip' '*/own/[a-r]*'
expect_code 0
expect_out '^all +3$'
run proctor tasks list --aka "$tree" hip2hip cuda2hip
expect_code 3
expect_err "the selector 'cuda2hip' matches no task$"
check test ! -s "$scratch/out"

it 'drops what a GPU does not run, with the reason'
run proctor tasks list --aka "$tree" --arch gfx942
expect_code 0
expect_out '^image_kernel/copy +it needs gfx950, and the GPU is gfx942$'
expect_out '^flydsl/second +platform_support.status is skip: no such GPU here$'
expect_out '^all +5$'

it 'takes sets by name or as files, and tells what the tree does not have'
printf 'hip2hip/own/scale # one\ntorch2hip/own/relu\nhip2hip/own/gone\n' >"$scratch/my.list"
run proctor tasks list --aka "$tree" --set "$scratch/my.list"
expect_code 3
expect_out '^all +2$'
expect_err "task 'hip2hip/own/gone': the set has it, and this tree does not$"
run proctor tasks list --aka "$tree" --set curated-60
expect_code 3
expect_err "task 'hip2hip/gpumode/GELU': the set has it"
expect_out '^all +0$'
run proctor tasks list --aka "$tree" --set nowhere
expect_code 3
expect_err "set 'nowhere': it is none of those that came with proctor \(curated-60, paper-196\), and as a file: "

it 'shows how a task is planned, its baseline too'
run proctor tasks show --aka "$tree" torch2hip/own/relu
expect_code 0
expect_out '^editable +hip/relu.hip$'
expect_out '^baseline performance python3 tools/perf.py --hip_file hip/relu.hip --baseline_only \(at most 3600 s\)$'
expect_no_out '^baseline compile'
run proctor tasks show --aka "$tree" triton2triton/own/add
expect_out '^correctness +python3 -m pytest -vv -x --maxfail=1 add.py -k "not test_performance" \(at most 3600 s\)$'
run proctor tasks show --aka "$tree" repository/prefix
expect_out '^source +git https://example.org/kernels/prefix.git at no pinned commit -> prefix/$'
expect_out '^setup +/bin/sh -c "command -v cmake .*" \(at most 7200 s\)$'
run proctor tasks show --aka "$tree" --json flydsl/second
expect_out '\{"step":"performance","argv":\["python3","run.py","candidate","performance"\],"shell":false,"wall_s":1800\}'

it 'goes on past a task that is broken, and names file, line, key and value'
only <<'END'
task_type: hip2hip
source_file_path: [a.hip]
compile_command: make all
END
mkdir -p "$scratch/tree/tasks/hip2hip/other"
cp "$tree/tasks/hip2hip/own/scale/config.yaml" "$scratch/tree/tasks/hip2hip/other"
run proctor tasks list --aka "$scratch/tree"
expect_code 3
expect_err "task 'hip2hip/mine': tasks/hip2hip/mine/config.yaml:3: key 'compile_command': 'make all' is a plain text; write a list: - make all$"
expect_out '^hip2hip/other '
expect_out '^all +1$'
run proctor tasks list --aka "$scratch/tree" --json
expect_out '"refused":\[\{"task":"hip2hip/mine","why":"tasks/hip2hip/mine/config.yaml:3: '

it 'shows control characters of a task escaped'
only <<'END'
task_type: hip2hip
source_file_path: ["a\e[31m.hip"]
compile_command: [make]
correctness_command: [make]
performance_command: [make]
END
run proctor tasks list --aka "$scratch/tree"
expect_code 0
expect_out 'a\\x1b\[31m\.hip'
run proctor tasks show --aka "$scratch/tree" hip2hip/mine
expect_out 'a\\x1b\[31m\.hip'

it 'refuses what is no checkout, and words that contradict each other'
run proctor tasks list --aka "$scratch/nowhere"
expect_code 3
run proctor tasks list --aka "$tree/tasks"
expect_code 3
expect_err 'is no checkout of AgentKernelArena'
run proctor tasks list --set paper-196
expect_code 2
run proctor tasks list --aka "$tree" --set paper-196 hip2hip
expect_code 2
run proctor tasks show --aka "$tree" --arch gfx942 hip2hip/own/scale
expect_code 2
run proctor tasks show --aka "$tree" ../aka/tasks/hip2hip/own/scale
expect_code 3
