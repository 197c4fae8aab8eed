#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The shell test library tells good from bad, and nothing outlives a test file.
. "$(dirname "$0")/../lib/e2e.sh"

# A test file with these lines, run on its own.
run_file() {
	mkdir -p "$scratch/tests/e2e" "$scratch/tests/lib"
	cp "$e2e_root/tests/lib/e2e.sh" "$scratch/tests/lib/"
	# shellcheck disable=SC2016 # expanded by the file
	printf '#!/bin/sh\n. "$(dirname "$0")/../lib/e2e.sh"\n%s\n' "$1" >"$scratch/tests/e2e/x.sh"
	chmod +x "$scratch/tests/e2e/x.sh"
	run "$scratch/tests/e2e/x.sh"
}

it "passes a test whose expectations hold"
run_file 'it "works"; run sh -c "echo a; echo b >&2; exit 3"
expect_code 3; expect_out "^a$"; expect_err "^b$"; expect_no_out b; expect_no_err a; expect_out_is a
check test -d /; check_not test -d /etc/passwd'
expect_code 0
expect_out '^ok 1 - works$'

for line in 'run false; expect_code 0' 'run echo a; expect_out b' 'run echo a; expect_no_out a' \
	'run echo a; expect_err a' 'run ls /none; expect_no_err none' 'run echo a; expect_out_is b' \
	'check false' 'check_not true' 'fail why'; do
	it "fails a test for: $line"
	run_file "it works; $line; it 'is another'"
	expect_code 1
	expect_out '^not ok 1 - works$'
	expect_out '^ok 2 - is another$'
done

it "ends a command at its limit and says so"
run_file 'it hangs; run -t 1 sleep 50; expect_code 124'
expect_out '^# failed: not done after 1 s$'
expect_out '^not ok 1'

it "gives more time where the machine is said to be slow"
E2E_SLOW=3 && export E2E_SLOW
run_file 'it "takes its time"; run -t 1 sleep 1.5; expect_code 0'
unset E2E_SLOW
expect_code 0

it "does not take a 124 of the command for its own limit"
run_file 'it "ends with 124"; run sh -c "exit 124"; expect_code 124'
expect_code 0

it "shows the reason of a skip and ignores what follows"
run_file 'it "is skipped"; skip "no such device"; check false'
expect_code 0
expect_out '^ok 1 - is skipped # SKIP no such device$'

it "fails a file that ends early"
run_file 'it "comes so far"; exit 7'
expect_code 7

it "removes its folder"
# shellcheck disable=SC2016 # expanded by the file
run_file 'it "has a folder"; mkdir "$scratch/x"; echo "# $scratch"'
check_not test -d "$(sed -n 's/^# //p' "$scratch/out")"

it "finds a daemon that was left behind, and ends it"
[ "$(id -u)" -eq 0 ] || skip "needs root"
run_file 'it "leaves a daemon"; setsid sleep 4711 & sleep 0.2'
expect_code 1
expect_out '^not ok 2 - leaves no process behind$'
check_not grep -qs 4711 /proc/[0-9]*/cmdline
