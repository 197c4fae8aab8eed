#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# score.sh [CASES [SEED]]: AgentKernelArena's own evaluator and ours over the same measurements, by hand
#
# AKA_ROOT is a checkout of it, PROCTOR_BUILD our build (default: build); needs python3 with yaml. Cases
# are made by hand and at random (default: 4000 of seed 1); verdicts, times and scores have to be equal
# to the last digit, files byte by byte.
set -eu
: "${AKA_ROOT:?is the folder of a checkout of AgentKernelArena}"
here=$(cd "$(dirname "$0")" && pwd)
build=${PROCTOR_BUILD:-$here/../../build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$here/score.py" "$AKA_ROOT" "$build/tests/aka-score" "$work" "${1:-4000}" "${2:-1}"
