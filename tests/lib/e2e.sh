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
#	run [-t S] CMD…		runs CMD, standard input empty, for at most S seconds (60, $slow times); sets $code
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
#	own_place		from here on this file's jails are apart from all others of the machine: in
#				control groups and with leases of its own, so that what is left is ours
#	wait_for COMMAND…	until it ends with 0; fails after thirty seconds, $slow times
#	expect_nothing_left	within two seconds, $slow times, there is no control group, mount, process or locked
#				lease of a jail any more
#
# Given
#	$scratch		a folder of this file's own, removed at the end
#	$e2e_root, $e2e_build	the source tree and the build folder (PROCTOR_BUILD, or build/)
#	proctor ARG…		the program under test
#	$slow			how many times slower than a common machine this one is (E2E_SLOW, 1): for
#				whatever may take so and so long
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
slow=${E2E_SLOW:-1}
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
		while e2e_left_over && [ "$e2e_try" -lt $((20 * slow)) ]; do
			e2e_try=$((e2e_try + 1))
			sleep 0.1
		done
		[ -z "$e2e_left" ] || fail "still there:$e2e_left"
		e2e_close
	fi
	e2e_leave_place
	cd / && rm -rf --one-file-system "$scratch"
	echo "1..$e2e_count"
	[ "$e2e_failed" -eq 0 ] || exit 1
	exit "$e2e_status"
}
# The group of this process in a hierarchy, as a path below /sys: CONTROLLER, "" for version 2.
e2e_group() {
	while IFS=: read -r _ e2e_list e2e_own; do
		case ",$e2e_list," in
		*",$1,"*) ;;
		*) continue ;;
		esac
		awk -v list="$1" -v own="${e2e_own%/}" '
			$3 == (list ? "cgroup" : "cgroup2") && (!list || index("," $4 ",", "," list ",")) { print $2 own; exit }
		' /proc/mounts
		return
	done </proc/self/cgroup
}

# Makes a group below FOLDER, which is left for it when the file ends.
e2e_enter() { # FOLDER
	e2e_new=$1/e2e-${scratch##*-}
	mkdir "$e2e_new" || return 1
	e2e_groups="$e2e_new ${e2e_groups:-}"
	for e2e_file in cpuset.mems cpuset.cpus; do
		[ ! -e "$e2e_new/$e2e_file" ] || [ -e "$e2e_new/cgroup.controllers" ] || cat "$1/$e2e_file" >"$e2e_new/$e2e_file"
	done
}

# Version 2 hands controllers to groups without processes only: ours is one level deeper.
e2e_enter_unified() {
	e2e_folder=$(e2e_group '')
	e2e_homes="$e2e_folder ${e2e_homes:-}"
	for e2e_word in memory pids; do
		[ -z "$(e2e_group $e2e_word)" ] || continue
		until grep -qw "$e2e_word" "$e2e_folder/cgroup.subtree_control"; do
			e2e_folder=${e2e_folder%/*}
			[ -e "$e2e_folder/cgroup.subtree_control" ] || return 1
		done
	done
	e2e_enter "$e2e_folder" || return 1
	for e2e_word in memory pids cpu cpuset; do
		! grep -qw "$e2e_word" "$e2e_new/cgroup.controllers" || echo "+$e2e_word" >"$e2e_new/cgroup.subtree_control"
	done
	e2e_enter "$e2e_new" && echo 0 >"$e2e_new/cgroup.procs"
}

wait_for() {
	e2e_tries=0
	until "$@"; do
		e2e_tries=$((e2e_tries + 1))
		[ "$e2e_tries" -lt $((1500 * slow)) ] || { fail "it did not come to: $*" && return 1; }
		sleep 0.02
	done
}

own_place() {
	[ -n "$e2e_inside" ] || return 0
	mkdir -p /run/proctor && mount -t tmpfs -o mode=700 e2e /run/proctor || exit 1
	for e2e_word in memory pids cpu cpuset; do
		e2e_folder=$(e2e_group $e2e_word)
		[ -n "$e2e_folder" ] || continue
		e2e_homes="$e2e_folder ${e2e_homes:-}"
		e2e_enter "$e2e_folder" && echo 0 >"$e2e_new/cgroup.procs" || exit 1
	done
	e2e_enter_unified || { echo "Bail out! no group hands on memory and pids" && exit 1; }
	e2e_mounts=$(cat /proc/self/mountinfo)
}

e2e_leave_place() {
	for e2e_folder in ${e2e_homes:-}; do
		echo 0 >"$e2e_folder/cgroup.procs"
	done
	for e2e_folder in ${e2e_groups:-}; do
		# A file that broke off leaves its own processes, which are ours to end.
		if [ -w "$e2e_folder/cgroup.kill" ]; then
			echo 1 >"$e2e_folder/cgroup.kill"
			sleep 0.1
		fi
		[ ! -e "$e2e_folder/proctor" ] || rmdir "$e2e_folder/proctor"
		rmdir "$e2e_folder"
	done
}

# What jails of ours have left, a line each.
e2e_jails_left() {
	# shellcheck disable=SC2086 # words on purpose
	find ${e2e_groups:-} -type d -name 'uids-*' 2>/dev/null
	[ "$e2e_mounts" = "$(cat /proc/self/mountinfo)" ] || echo 'a mount'
	for e2e_proc in /proc/[0-9]*; do
		e2e_uid='' e2e_state='' e2e_comm=''
		while read -r e2e_key e2e_value _; do
			case $e2e_key in
			Name:) e2e_comm=$e2e_value ;;
			State:) e2e_state=$e2e_value ;;
			Uid:) e2e_uid=$e2e_value && break ;;
			esac
		done 2>/dev/null <"$e2e_proc/status"
		case $e2e_state:$e2e_comm in
		Z:* | X:* | :*) continue ;;
		*:proctor*) echo "process ${e2e_proc#/proc/} $e2e_comm" ;;
		*) [ "$e2e_uid" -lt 1879048192 ] || echo "process ${e2e_proc#/proc/} $e2e_comm of uid $e2e_uid" ;;
		esac
	done
	for e2e_file in /run/proctor/*.lock; do
		[ ! -e "$e2e_file" ] || flock -n "$e2e_file" true || echo "locked ${e2e_file##*/}"
	done
}

expect_nothing_left() {
	e2e_try=0
	until e2e_jails=$(e2e_jails_left) && [ -z "$e2e_jails" ]; do
		e2e_try=$((e2e_try + 1))
		[ "$e2e_try" -lt $((20 * slow)) ] || { fail "there is still: $e2e_jails" && return; }
		sleep 0.1
	done
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
	e2e_limit=$((60 * slow))
	if [ "$1" = -t ]; then
		e2e_limit=$(($2 * slow))
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
