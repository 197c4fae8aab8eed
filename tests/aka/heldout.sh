#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# heldout.sh [CASES [SEED]]: AgentKernelArena's own held-out evaluation and ours over the same files, by hand
#
# AKA_ROOT is a checkout of it, PROCTOR_BUILD our build (default: build); needs python3 with yaml. Made at
# random (default: 4000 of seed 1): held-out shapes and the files that they are put into, a quarter as many
# attempts on such shapes, and its example configurations. Files have to be equal byte by byte, refusals
# for the same reason.
set -eu
[ -n "${AKA_ROOT:-}" ] || {
	echo 'skipped: AKA_ROOT is no checkout of AgentKernelArena'
	exit 0
}
here=$(cd "$(dirname "$0")" && pwd)
build=${PROCTOR_BUILD:-$here/../../build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$here/heldout.py" "$AKA_ROOT" "$build/tests/aka-heldout" "$work" "${1:-4000}" "${2:-1}"
