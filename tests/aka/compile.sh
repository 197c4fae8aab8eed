#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# compile.sh: those compile commands of AgentKernelArena's tasks that need no GPU (python parses a file), in the jail
# of a build and bare, each in a folder of its own: the same exit code and the same output, of the task as it is and
# with its file broken. By hand, as root: AKA_ROOT is a checkout, PROCTOR_BUILD a build (build). Prints TAP.
set -eu
build=${PROCTOR_BUILD:-$(dirname "$0")/../../build}
if [ -z "${AKA_ROOT:-}" ]; then
	echo '1..0 # SKIP AKA_ROOT is not set'
	exit 0
fi
[ "$(id -u)" -eq 0 ] || { echo '1..0 # SKIP needs root' && exit 0; }
exec python3 "$(dirname "$0")/compile.py" "$AKA_ROOT" "$build/proctor"
