#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# pysource.sh [CASES [SEED]]: files of Python as we cut them, beside Python's own ast, by hand
#
# AKA_ROOT is a checkout of AgentKernelArena, PROCTOR_BUILD a build (build), PYTHON the interpreter (python3, with
# yaml): its files, its files and pieces of our own changed at random (CASES of SEED), its colocated tasks carried over
# themselves and changed, and its own guard against stubs over its tasks and variants of them. Prints TAP.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${PROCTOR_BUILD:-$here/../../build}
python=${PYTHON:-python3}
if [ -z "${AKA_ROOT:-}" ]; then
	echo '1..0 # SKIP AKA_ROOT is not set'
	exit 0
fi
if ! "$python" -c 'import yaml' 2>/dev/null; then
	echo '1..0 # SKIP python3-yaml is not there'
	exit 0
fi
exec "$python" "$here/pysource.py" "$AKA_ROOT" "$build/tests/aka-source" "${1:-3000}" "${2:-1}"
