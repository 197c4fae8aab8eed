#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The counter of test points believes nobody.
. "$(dirname "$0")/../lib/e2e.sh"

# counts SENTENCE WANTED [ERE]: what standard input holds is the output of test-a
counts() {
	it "$1"
	cat >"$scratch/test-a.12.tap"
	printf '%s\n' '# a comment' 'test-a no such device: .*' >"$scratch/allowed"
	run "$e2e_root/tests/lib/tap-count" "$scratch/allowed" "$scratch/test-a.12.tap"
	expect_code 0
	[ "$(tail -n 1 "$scratch/out")" = "$2" ] || fail "the count is not $2"
	[ -z "${3:-}" ] || expect_out "$3"
}

counts "counts points" '2 0 0' <<'E1'
TAP version 13
1..2
ok 1 - a
ok 2
# exit 0
E1
counts "shows why a point failed" '1 1 0' '# because' <<'E1'
ok 1 - a
# because
not ok 2 - b
1..2
# exit 1
E1
counts "accepts a skip that is listed" '1 0 1' '^skipped test-a: b: no such device: gpu$' <<'E1'
1..2
ok 1 - a
ok 2 - b # SKIP no such device: gpu
# exit 0
E1
counts "fails a skip that is not listed" '0 1 0' '^FAILED .*not allowed: too lazy' <<'E1'
1..1
ok 1 - b # SKIP too lazy
# exit 0
E1
counts "fails a file that is skipped whole without leave" '0 1 0' <<'E1'
1..0 # SKIP too lazy
# exit 0
E1
counts "accepts a file that is skipped whole with leave" '0 0 1' <<'E1'
1..0 # SKIP no such device: gpu
# exit 0
E1
counts "fails a plan that is not kept" '1 1 0' <<'E1'
1..2
ok 1 - a
# exit 0
E1
counts "fails a plan that is missing" '1 1 0' <<'E1'
ok 1 - a
# exit 0
E1
counts "fails a test that did not end by itself" '1 1 0' <<'E1'
1..1
ok 1 - a
E1
counts "fails an exit code that no point explains" '1 1 0' <<'E1'
1..1
ok 1 - a
# exit 1
E1
counts "takes a test without TAP as one point" '1 0 0' <<'E1'
checked
# exit 0
E1
counts "shows the output of a test without TAP that failed" '0 1 0' 'oops' <<'E1'
oops
# exit 1
E1
counts "fails an empty file" '0 1 0' </dev/null

it "names the virtual machine that a test ran in"
mkdir "$scratch/vm-6.1"
printf '1..2\nnot ok 1 - a\nok 2 - b # SKIP no such device\n# exit 1\n' >"$scratch/vm-6.1/test-a.12.tap"
echo 'vm-6.1/test-a no such device' >"$scratch/allowed"
run "$e2e_root/tests/lib/tap-count" "$scratch/allowed" "$scratch/vm-6.1/test-a.12.tap"
expect_out '^FAILED  vm-6.1/test-a: a$'
expect_out '^skipped vm-6.1/test-a: b: no such device$'

it "keeps output and exit code of a test"
TAP_FOLDER=$scratch/kept
export TAP_FOLDER
mkdir "$TAP_FOLDER"
run "$e2e_root/tests/lib/tap-keep" sh -c 'echo 1..0; exit 3'
expect_code 3
expect_out_is 1..0
check grep -qx '# exit 3' "$TAP_FOLDER"/sh.*.tap
