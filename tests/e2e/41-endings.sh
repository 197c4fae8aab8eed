#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each ending and each flag of a jail, provoked ROUNDS times (3; ROUNDS=20 for the full count): named right each
# time, and nothing named beside it. One that the program knows and that is not provoked here fails the last test;
# 40-limits has the many ways to each.
# shellcheck disable=SC2016 # most commands are expanded inside of the jail
. "$(dirname "$0")/../lib/e2e.sh"
need_root
# In this file's own mount namespace; the folder itself stays.
mkdir -p /etc/proctor && mount -t tmpfs -o mode=755 e2e /etc/proctor || exit 1
own_place
chmod 755 "$scratch"
mkdir "$scratch/put"
cp "$e2e_build/tests/attack-limits" "$scratch/put/limits"
rounds=$(seq "${ROUNDS:-3}")
program=$e2e_build/proctor

# Makes each call of refused.list that this machine has, with arguments that no kernel likes, prints its name, and
# ends with 1 if one was not refused.
{
	printf '#include <errno.h>\n#include <stdio.h>\n#include <sys/syscall.h>\n#include <unistd.h>\n'
	printf 'static const struct { const char *name; long number; } calls[] = {\n'
	sed -n 's/^\([a-z][a-z0-9_]*\)[[:space:]]*#.*/#ifdef SYS_\1\n{ "\1", SYS_\1 },\n#endif/p' "$e2e_root/policies/syscalls/refused.list"
	printf '};\nint main(void)\n{\n\tint code = 0;\n\n'
	printf '\tfor (unsigned int i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {\n'
	printf '\t\terrno = 0;\n\t\tif (syscall(calls[i].number, -1L, -1L, -1L, -1L, -1L, -1L) != -1 || errno != EPERM)\n'
	printf '\t\t\tcode = 1;\n\t\tputs(calls[i].name);\n\t}\n\treturn code;\n}\n'
} >"$scratch/refused.c"
cc -o "$scratch/put/refused" "$scratch/refused.c" || exit 1

# The outcome in $scratch/json is this one, and is noted for the last test.
expect_outcome() { # ENDING CODE FLAG…
	name=$1
	want="\"ending\":\"$1\",\"code\":$2,\"flags\":["
	shift 2
	comma=''
	for flag in "$@"; do
		want="$want$comma\"$flag\""
		comma=,
	done
	if grep -qF "{$want]," "$scratch/json"; then
		printf '%s right\n' "$name" "$@" >>"$scratch/named"
	else
		printf '%s wrong\n' "$name" "$@" >>"$scratch/named"
		fail "the outcome is not $want]: $(cut -c 1-300 "$scratch/json")"
	fi
}

# Runs a jail whose outcome goes to $scratch/json.
jail() { # ARGUMENT…
	run -t 60 sh -c 'file=$1; shift; exec "$0" jail --json=7 --put "$@" 7>"$file"' \
		"$program" "$scratch/json" "$scratch/put" "$@"
}

# provoke ENDING CODE FLAG… -- ARGUMENT…: so many times
provoke() {
	outcome=''
	while [ "$1" != -- ]; do
		outcome="$outcome $1"
		shift
	done
	shift
	for _ in $rounds; do
		jail "$@"
		# shellcheck disable=SC2086 # words on purpose
		expect_outcome $outcome
	done
}

it 'exited: by itself, with its code'
provoke exited 0 -- -- true
provoke exited 37 -- -- sh -c 'exit 37'

it 'signaled: by itself'
provoke signaled 9 -- -- sh -c 'kill -9 $$'
provoke signaled 11 -- -- sh -c 'kill -SEGV $$'

it 'timeout: the wall limit'
provoke timeout 0 -- --wall 150ms --grace 0ms -- sleep 60

it 'cpu: the limit of CPU time'
provoke cpu 0 -- --cpu 100ms --wall 50s --grace 0ms -- sh -c 'while :; do :; done'

it 'idle: the idle limit'
provoke idle 0 -- --idle 300ms --wall 50s --grace 0ms -- sleep 60

it 'oom: the limit of memory'
provoke oom 0 -- --memory 160MiB --work 1MiB --files 1024 --tmp 1MiB -- ./limits eat

it 'output: the limit of output'
provoke output 0 -- --output 64KiB -- ./limits flood

it 'full, with disk_full and with inodes_full: a file system that is full where this is an end'
provoke full 0 disk_full -- --work 1MiB --on-full end --wall 50s --grace 0ms -- ./limits disk 60000
provoke full 0 inodes_full -- --files 64 --on-full end --wall 50s --grace 0ms -- sh -c './limits files 1000000; sleep 60'

it 'disk_full and inodes_full: a file system that is full where this is none'
provoke exited 0 disk_full -- --work 1MiB -- sh -c 'head -c 5000000 /dev/zero >big 2>/dev/null; exit 0'
provoke exited 0 inodes_full -- --files 64 -- ./limits files 1000000
provoke exited 0 disk_full inodes_full -- --work 1MiB --files 64 -- sh -c './limits files 1000000; head -c 5000000 /dev/zero >f0 2>/dev/null; exit 0'

it 'pids_hit: the limit of processes'
provoke exited 0 pids_hit -- --pids 16 -- ./limits forks

# The only child of process $1, waited for.
child() {
	tries=0
	until child=$(pgrep -P "$1") || [ "$tries" -gt 2000 ] || [ ! -e "/proc/$client" ]; do
		tries=$((tries + 1))
	done
	echo "$child" | head -n 1
}

# A jail in the background: client, launcher, monitor, pid 1, payload.
start() {
	setsid "$program" jail --json=7 --grace 100ms -- sleep 60 7>"$scratch/json" >"$scratch/out" 2>"$scratch/err" &
	client=$!
	launcher=$(child "$client")
	monitor=$(child "${launcher:-0}")
	init=$(child "${monitor:-0}")
	payload=$(child "${init:-0}")
	[ -n "$payload" ] || fail 'the jail did not start'
	e2e_command='proctor jail in the background'
}

finish() {
	wait "$client" 2>/dev/null
	code=$?
}

it 'stopped: a signal to proctor'
for _ in $rounds; do
	for signal in TERM:143 INT:130 HUP:129; do
		start
		kill -"${signal%:*}" "$client"
		finish
		expect_code "${signal#*:}"
		expect_outcome stopped 0
	done
done

it 'launcher_lost: the launcher is killed, or the monitor'
for _ in $rounds; do
	for victim in launcher monitor; do
		start
		case $victim in
		launcher) kill -9 "$launcher" ;;
		monitor) kill -9 "$monitor" ;;
		esac
		finish
		expect_code 125
		expect_outcome launcher_lost 0
	done
done
expect_nothing_left

it 'denied: each call that is refused, once'
for _ in $rounds; do
	jail -- ./refused
	expect_code 0
	# In the order of the list.
	# shellcheck disable=SC2046 # words on purpose
	expect_outcome exited 0 $(sed 's/^/denied:/' "$scratch/out")
	want=$(sed 's/.*/"&":1/' "$scratch/out" | paste -sd ,)
	grep -qF "\"denied\":{$want}" "$scratch/json" || fail "not each was counted once: $(cat "$scratch/json")"
done

it 'without: a limit that this host can not enforce, where that is accepted'
for _ in $rounds; do
	# 444 is landlock_create_ruleset on every machine.
	run "$e2e_build/tests/without-call" 444 sh -c 'exec "$0" jail --json=7 --accept landlock -- true 7>"$1"' "$program" "$scratch/json"
	expect_outcome exited 0 without:landlock
	for limit in memory pids cpus; do
		# Without its hierarchy of version 1 a controller is nowhere; where it is in version 2, we can not take it away.
		folder=/sys/fs/cgroup/${limit%s}
		[ $limit != pids ] || folder=/sys/fs/cgroup/pids
		mountpoint -q "$folder" || continue
		run unshare -m sh -c 'umount "$0" && exec "$@"' "$folder" \
			sh -c 'exec "$0" jail --json=7 --cpus 1 --accept "$2" -- true 7>"$1"' "$program" "$scratch/json" "$limit"
		expect_outcome exited 0 without:$limit
	done
done

# The least that runs: a shell, and the libraries that it wants.
make_image() { # FILE
	for name in sh sleep; do
		mkdir -p "$scratch/root/bin" && cp -L "/bin/$name" "$scratch/root/bin/"
		ldd "/bin/$name" | grep -oE '/[^ ]+' | while read -r library; do
			mkdir -p "$scratch/root${library%/*}" && cp -L "$library" "$scratch/root$library"
		done
	done
	mksquashfs "$scratch/root" "$1" -quiet -no-progress >/dev/null
}

# Its last byte, which is padding.
touch_image() { # FILE
	printf x | dd of="$1" bs=1 seek=$(($(stat -c %s "$1") - 1)) conv=notrunc 2>/dev/null
}

it 'image_changed: the file of its image is written meanwhile'
if ! command -v mksquashfs >/dev/null; then
	note 'no mksquashfs here (tools/setup test)'
else
	[ -e /dev/loop-control ] || modprobe loop
	make_image "$scratch/live.sqfs"
	echo "source live squashfs $scratch/live.sqfs" >/etc/proctor/site.conf
	for _ in $rounds; do
		rm -f "$scratch/here"
		"$program" jail --image live --json=7 -- sh -c 'echo here; sleep 0.5' 7>"$scratch/json" >"$scratch/here" &
		child=$!
		wait_for grep -q here "$scratch/here"
		touch_image "$scratch/live.sqfs"
		wait "$child"
		expect_outcome exited 0 image_changed
	done
	rm /etc/proctor/site.conf
fi

# Groups of its own with less than a jail asks for, as a batch system makes them; on version 2 beside our own, which
# has processes.
make_job() {
	job_groups=''
	for word in memory pids cpu ''; do
		where=$(e2e_group "$word")
		[ -n "$where" ] || continue
		[ -n "$word" ] || where=${where%/*}
		mkdir "$where/job" 2>/dev/null || continue
		job_groups="$job_groups $where/job"
		for pair in memory.limit_in_bytes:536870912 memory.max:536870912 pids.max:30 cpu.cfs_quota_us:50000 cpu.max:50000; do
			[ ! -w "$where/job/${pair%:*}" ] || echo "${pair#*:}" >"$where/job/${pair%:*}"
		done
	done
}

remove_job() {
	for where in $job_groups; do
		tries=0
		until rmdir "$where" 2>/dev/null || [ "$tries" -ge 100 ]; do
			tries=$((tries + 1))
			sleep 0.05
		done
		[ ! -d "$where" ] || fail "there is still '$where'"
	done
}

it 'clamped: a limit that the job it runs in has made lower'
for _ in $rounds; do
	make_job
	run sh -c 'for where in $2; do echo 0 >"$where/cgroup.procs" || exit 99; done
		exec "$0" jail --json=7 --memory 1GiB --pids 200 --cpus 2 --work 64MiB --tmp 16MiB -- true 7>"$1"' \
		"$program" "$scratch/json" "$job_groups"
	expect_outcome exited 0 clamped:memory clamped:pids clamped:cpus
	remove_job
done

# What the program knows, a name a line: the rows of its tables.
known() { # TABLE FILE
	sed -n "/$1\[\] = {/,/};/p" "$e2e_root/sandbox/$2" | grep -o '{ "[a-z_]*"' | tr -cd 'a-z_\n'
}

# Not to be had everywhere: see above. Of a kernel that can limit memory and not swap, test-cgroup knows.
excused='without:swap clamped:swap clamped:landlock'
grep -q '^image_changed ' "$scratch/named" || excused="$excused image_changed"
for limit in memory pids cpus; do
	grep -q '^without:'$limit' ' "$scratch/named" || excused="$excused without:$limit"
done

it 'names each right each time, and leaves none out'
e2e_command='' refused=0
for name in $(known ending_names wire.c) $(known flag_names wire.c) $(known spec_limit_names spec.c | sed 's/.*/without:& clamped:&/') \
	$(sed -n 's/^\([a-z][a-z0-9_]*\)[[:space:]]*#.*/denied:\1/p' "$e2e_root/policies/syscalls/refused.list"); do
	right=$(grep -cx "$name right" "$scratch/named")
	wrong=$(grep -cx "$name wrong" "$scratch/named")
	case " $excused " in
	*" $name "*) note "$name: not to be had here" && continue ;;
	esac
	case $name in
	denied:*) refused=$((refused + 1)) ;;
	*) note "$name: $right of $((right + wrong))" ;;
	esac
	[ "$wrong" -eq 0 ] || fail "'$name' was named wrong"
	[ "$right" -ge "${ROUNDS:-3}" ] || fail "'$name' was provoked only $right times"
done
note "denied:NAME, of $refused names: $(grep -c '^denied:.* right$' "$scratch/named") of $(grep -c '^denied:' "$scratch/named")"
expect_nothing_left
