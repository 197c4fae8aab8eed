#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The late-write cheat through whole runs: WRONG in 20 of 20 attempts. That the same cheat gains where
# the probes are off, so that this test can fail, is shown by tests/bench/judge.sh with a build of
# -Dtest_hooks=true; tests/bench/marks repeats this one with its honest twin, 20 times.
. "$(dirname "$0")/../lib/e2e.sh"
need_root
chmod 755 "$scratch"

it 'is WRONG in 20 of 20 attempts'
run -t 200 proctor run --run "$scratch/run" --attempts 20 --agent scripted:cheat-late-write "$e2e_root/tasks/c2c/row-softmax"
expect_code 1
check test "$(grep -lE '"seen":\{"kind":"WRONG"' "$scratch"/run/attempts/*/record.json | wc -l)" -eq 20
