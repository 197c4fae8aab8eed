#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The judge's campaign: what its constants rest on and whether it keeps what it promises.
# usage: judge.sh BUILD [MARKINGS]    BUILD was configured with -Dtest_hooks=true
set -eu

build=${1:?usage: judge.sh BUILD [MARKINGS]}
count=${2:-60}
bench=$build/tests/bench/bench-judge

# A shared machine spoils intervals, never marks: say how busy it was.
echo "load before: $(cat /proc/loadavg)"
"$bench" inputs
for campaign in aa one serves twice slower reverse; do
	"$bench" "$campaign" "$count"
done
"$bench" walls 20
echo "load after: $(cat /proc/loadavg)"
