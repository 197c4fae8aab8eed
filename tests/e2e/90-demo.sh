#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tools/demo, which shows the whole: on each task the honest agent is VALID and FAST, the cheats are
# WRONG, as the NOTE.md of each says. About a minute on a quiet machine.
. "$(dirname "$0")/../lib/e2e.sh"
need_root
chmod 755 "$scratch"

it 'ends 0, and says where the record is'
run -t 280 "$e2e_root/tools/demo" --run "$scratch/demo"
expect_code 0
expect_out "^the record: $scratch/demo$"
sed -n 's/^/# /; /TASK/,$p' "$scratch/out"
