#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The layer check passes a good tree and fails each planted wrong include.
. "$(dirname "$0")/../lib/e2e.sh"

# put FILE LINE…: one file of the tree under test
put() {
	mkdir -p "$scratch/tree/$(dirname "$1")"
	file=$1
	shift
	printf '%s\n' "$@" >"$scratch/tree/$file"
}

good_tree() {
	rm -rf "$scratch/tree"
	put sandbox/base/io.c '#include "sandbox/base/io.h"' '#include <stdio.h>' '#include "sandbox/base/fd.h"'
	put sandbox/seccomp.c '#include "sandbox/seccomp.h"' '#include <seccomp.h>' '#include "sandbox/base/err.h"'
	put sandbox/spec.h '#include "sandbox/cgroup.h"' '#include "sandbox/seccomp.h"'
	put sandbox/monitor.c '#include "sandbox/monitor.h"' '#include "sandbox/cgroup.h" /* why */'
	put sandbox/wire.c '#include "sandbox/wire.h"' '#include "sandbox/spec.h"'
	put harness/run/run.c '#include "harness/run/run.h"' '#include "sandbox/spec.h"' '#include "harness/config/task.h"'
	put harness/config/yaml.c '#include <yaml.h>' '#  include <linux/types.h>'
	put tests/unit/test-run.c '#include "harness/run/run.h"' '#include "sandbox/cgroup.h"' '#include <jansson.h>'
}

it "passes a tree that keeps the rules"
good_tree
run "$e2e_root/tools/check-layers" "$scratch/tree"
expect_code 0

# planted FILE INCLUDE: the good tree with one wrong line
planted() {
	it "fails $1 that has: $2"
	good_tree
	put "$1" '#include <stdio.h>' "$2"
	run "$e2e_root/tools/check-layers" "$scratch/tree"
	expect_code 1
	expect_out "^$1:2: includes "
}

planted sandbox/base/io.c '#include "sandbox/spec.h"'
planted sandbox/base/io.c '#include "harness/run/run.h"'
planted sandbox/base/io.c '#include <seccomp.h>'
planted sandbox/mounts.c '#include "sandbox/cgroup.h"'
planted sandbox/mounts.c '#include "sandbox/spec.h"'
planted sandbox/wire.c '#include "sandbox/cgroup.h"'
planted sandbox/collect.c '#include "sandbox/spec.h"'
planted sandbox/monitor.c '#include "harness/run/run.h"'
planted sandbox/monitor.c '#include <bpf/bpf.h>'
planted sandbox/caps.c '#include <yaml.h>'
planted harness/run/run.c '#include "sandbox/monitor.h"'
planted harness/run/run.c '#include "tests/lib/check.h"'
planted harness/run/run.c '#include "harness/report/journals.h"'
planted harness/judge/caliper.c '#include "harness/run/run.h"'
planted harness/evidence/tree.c '#include "harness/config/task.h"'
planted harness/console/table.c '#include "harness/cli/cli.h"'
planted harness/report/tasks.c '#include "harness/check/check.h"'
planted harness/run/run.c '#include <openssl/evp.h>'
planted harness/run/run.c '#include <zlib.h>'
planted harness/run/run.c '#include "task.h"'
planted harness/run/run.c '#include "harness/run/../../sandbox/monitor.h"'
planted harness/run/run.c '#include "harness/run/freeze.c"'
planted harness/run/run.c '# include HEADER'
planted sandbox/base/new/x.c '	#include "sandbox/seccomp.h"'

it "passes the tree that it stands in"
run "$e2e_root/tools/check-layers"
expect_code 0
