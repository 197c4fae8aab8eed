#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# dryrun.sh: `proctor run --dry-run` over every torch2hip and hip2hip folder of AgentKernelArena, held against their
# own config.yaml. By hand: AKA_ROOT is a checkout, PROCTOR_BUILD a build (build); needs PyYAML. Prints TAP.
set -eu
build=${PROCTOR_BUILD:-$(dirname "$0")/../../build}
if [ -z "${AKA_ROOT:-}" ]; then
	echo '1..0 # SKIP AKA_ROOT is not set'
	exit 0
fi
exec python3 "$(dirname "$0")/dryrun.py" "$AKA_ROOT" "$build/proctor"
