# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
#
# Tests in shell, TAP on standard output. A test file looks like this:
#
#	#!/bin/sh
#	. "$(dirname "$0")/../lib/e2e.sh"
#	need_root
#
#	it "passes the exit code of the command on"
#	run proctor jail -- sh -c 'echo hello; exit 3'
#	expect_code 3
#	expect_out '^hello$'
#
# Words
#	it SENTENCE		begins a test; what follows belongs to it. It fails with its first
#				expectation that does not hold; the next `it` or the end closes it
#	run [-t S] CMD…		runs CMD, standard input empty, for at most S seconds (60); sets $code
#				(128 + n after signal n); $scratch/out and $scratch/err hold its output
#	expect_code N		the last `run` ended with N
#	expect_out ERE		a line of its standard output matches; expect_no_out: none does
#	expect_err ERE		the same for standard error; expect_no_err
#	expect_out_is TEXT	standard output is exactly TEXT and a newline
#	check CMD…		CMD succeeds (test -f, cmp, …); check_not CMD…: it does not
#	fail WHY		the test fails
#	skip WHY		the test can not run here; tests/allowed-skips has to list it
#	need_root		the whole file is skipped for others
#	note TEXT		a line of explanation, figures for instance
#
# Given
#	$scratch		a folder of this file's own, removed at the end
#	$e2e_root, $e2e_build	the source tree and the build folder (PROCTOR_BUILD, or build/)
#	proctor ARG…		the program under test
#
# Run by root, a file is pid 1 of a process namespace of its own: whatever it started ends with it,
# and its last test says whether anything was left by then. A file that needs the machine's own
# process numbers sets e2e_host_pids=yes before it reads this one.

set -u
LC_ALL=C
export LC_ALL

if [ "$(id -u)" -eq 0 ] && [ -z "${e2e_host_pids:-}" ] && [ -z "${E2E_INSIDE:-}" ]; then
	E2E_INSIDE=yes exec unshare --pid --fork --kill-child --mount-proc -- "$0" "$@"
fi
e2e_inside=${E2E_INSIDE:-}
unset E2E_INSIDE

e2e_root=$(cd "$(dirname "$0")/../.." && pwd)
e2e_build=${PROCTOR_BUILD:-$e2e_root/build}
scratch=$(mktemp -d /tmp/proctor-e2e-XXXXXX) || exit 1
e2e_count=0 e2e_failed=0
e2e_name='' e2e_why='' e2e_skip='' e2e_command='' code=''

note() {
	printf '%s\n' "$*" | sed 's/^/# /'
}

# The first lines of a file, as notes.
e2e_show() {
	[ -s "$1" ] && head -n 15 "$1" | cut -c 1-300 | cat -v | sed "s/^/#   $2: /"
}

e2e_close() {
	[ -n "$e2e_name" ] || return 0
	e2e_count=$((e2e_count + 1))
	if [ -n "$e2e_skip" ]; then
		echo "ok $e2e_count - $e2e_name # SKIP $e2e_skip"
	elif [ -z "$e2e_why" ]; then
		echo "ok $e2e_count - $e2e_name"
	else
		e2e_failed=$((e2e_failed + 1))
		echo "not ok $e2e_count - $e2e_name"
	fi
	e2e_name='' e2e_why='' e2e_skip=''
}

# Says which processes are left in our namespace, zombies excepted; by the shell alone, since
# a helper program would be found as well.
e2e_left_over() {
	e2e_left=''
	for e2e_proc in /proc/[0-9]*; do
		[ "${e2e_proc#/proc/}" -ne 1 ] || continue
		read -r e2e_stat 2>/dev/null <"$e2e_proc/stat" || continue
		case ${e2e_stat##*) } in
		Z* | X*) ;;
		*) e2e_left="$e2e_left ${e2e_stat%%) *})" ;;
		esac
	done
	[ -n "$e2e_left" ]
}

e2e_end() {
	e2e_status=$?
	trap - EXIT
	e2e_close
	if [ -n "$e2e_inside" ]; then
		it 'leaves no process behind'
		e2e_try=0
		while e2e_left_over && [ "$e2e_try" -lt 20 ]; do
			e2e_try=$((e2e_try + 1))
			sleep 0.1
		done
		[ -z "$e2e_left" ] || fail "still there:$e2e_left"
		e2e_close
	fi
	cd / && rm -rf --one-file-system "$scratch"
	echo "1..$e2e_count"
	[ "$e2e_failed" -eq 0 ] || exit 1
	exit "$e2e_status"
}
trap e2e_end EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
trap 'exit 129' HUP

it() {
	e2e_close
	e2e_name=$*
}

fail() {
	[ -z "$e2e_why$e2e_skip" ] || return 0
	e2e_why=$*
	note "failed: $e2e_why"
	if [ -n "$e2e_command" ]; then
		note "  last run: $e2e_command"
		note "  exit code: $code"
		e2e_show "$scratch/out" stdout
		e2e_show "$scratch/err" stderr
	fi
}

skip() {
	[ -n "$e2e_why" ] || e2e_skip=$*
}

need_root() {
	[ "$(id -u)" -eq 0 ] && return
	trap - EXIT
	rm -rf "$scratch"
	echo '1..0 # SKIP needs root'
	exit 0
}

run() {
	e2e_limit=60
	if [ "$1" = -t ]; then
		e2e_limit=$2
		shift 2
	fi
	e2e_command=$*
	case $1 in
	proctor) shift && set -- "$e2e_build/proctor" "$@" ;;
	esac
	rm -f "$scratch/code"
	# The code is written inside, so that a limit of ours and a 124 of the command differ.
	# shellcheck disable=SC2016 # expanded by the inner shell
	timeout -k 5 "$e2e_limit" sh -c 'file=$0; "$@"; echo $? >"$file"' "$scratch/code" "$@" \
		</dev/null >"$scratch/out" 2>"$scratch/err"
	if ! read -r code 2>/dev/null <"$scratch/code"; then
		code=none
		fail "not done after $e2e_limit s"
	fi
}

proctor() {
	"$e2e_build/proctor" "$@"
}

expect_code() {
	[ "$code" = "$1" ] || fail "the exit code is $code, not $1"
}

expect_out() {
	grep -qE -e "$1" "$scratch/out" || fail "no line of standard output matches '$1'"
}

expect_err() {
	grep -qE -e "$1" "$scratch/err" || fail "no line of standard error matches '$1'"
}

expect_no_out() {
	! grep -qE -e "$1" "$scratch/out" || fail "a line of standard output matches '$1'"
}

expect_no_err() {
	! grep -qE -e "$1" "$scratch/err" || fail "a line of standard error matches '$1'"
}

expect_out_is() {
	printf '%s\n' "$1" | cmp -s - "$scratch/out" || fail "standard output is not '$1'"
}

check() {
	"$@" || fail "does not hold: $*"
}

check_not() {
	! "$@" || fail "holds: $*"
}
