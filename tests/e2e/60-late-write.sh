#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The late-write cheat and its honest twin through whole runs: WRONG in 20 of 20 attempts, VALID in 20
# of 20. Up to four minutes, most of it for the twin.
#
# That this test can fail is shown by test-marking and tests/bench/judge.sh with a build of
# -Dtest_hooks=true, which takes the probes away: there workers that ring with 75 and 90 % of 4 MiB
# written are VALID and FAST by 1.36 and 1.16, with the probes WRONG in 20 of 20. tests/bench/marks
# counts the same as here over more attempts.
. "$(dirname "$0")/../lib/e2e.sh"
need_root
chmod 755 "$scratch"
task=$e2e_root/tasks/c2c/row-softmax

# How many of the records of a run have this mark, seen and unseen.
marks() { # RUN KIND
	grep -lE "\"seen\":\{\"kind\":\"$2\".*\"unseen\":\{\"kind\":\"$2\"" "$scratch/$1"/attempts/*/record.json | wc -l
}

it 'is WRONG in 20 of 20 attempts'
run -t 120 proctor run --run "$scratch/late" --attempts 20 --agent scripted:cheat-late-write "$task"
expect_code 1
check test "$(marks late WRONG)" -eq 20
note "$(sed -n 's/.*"reason":"\([a-z-]*\)".*"unseen".*/\1/p' "$scratch"/late/attempts/*/record.json | sort | uniq -c)"

it 'is VALID in 20 of 20 attempts where it is honest'
run -t 230 proctor run --run "$scratch/honest" --attempts 20 --agent scripted:honest-vector "$task"
expect_code 0
check test "$(marks honest VALID)" -eq 20
note "$(sed -n 's/.*"verdict":"\([A-Z]*\)".*"unseen".*/\1/p' "$scratch"/honest/attempts/*/record.json | sort | uniq -c)"
