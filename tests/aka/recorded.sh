#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# recorded.sh AKA-SCORE DATA: what comes out of the measurements in DATA/runs is what DATA/expected has
#
# Both are ours; score.sh holds what is expected against AgentKernelArena itself. With RECORD=yes what comes
# out becomes what is expected.
set -eu
program=$1
data=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$data/runs/." "$work"
"$program" "$work"/*/run_*
mkdir "$work/expected"
for ours in "$work"/*/run_*/ours "$work"/*/run_*/*/ours; do
	place=${ours#"$work"/*/}
	mkdir -p "$work/expected/${place%/ours}"
	cp "$ours"/* "$work/expected/${place%/ours}"
done
if [ "${RECORD:-no}" = yes ]; then
	rm -rf "$data/expected"
	cp -r "$work/expected" "$data/expected"
fi
diff -r "$data/expected" "$work/expected"
