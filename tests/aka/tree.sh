#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tree.sh: AgentKernelArena's own tasks, as we read and plan them, beside its own reading. By hand:
# AKA_ROOT is a checkout, PROCTOR_BUILD a build (build); needs python3-yaml. Prints TAP.
set -eu
build=${PROCTOR_BUILD:-$(dirname "$0")/../../build}
if [ -z "${AKA_ROOT:-}" ]; then
	echo '1..0 # SKIP AKA_ROOT is not set'
	exit 0
fi
if ! python3 -c 'import yaml' 2>/dev/null; then
	echo '1..0 # SKIP python3-yaml is not there'
	exit 0
fi
exec python3 "$(dirname "$0")/compare.py" "$AKA_ROOT" "$build/tests/aka-dump" "$build/proctor"
