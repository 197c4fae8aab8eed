#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What users of sandboxes expect of one, and other sandboxes' own checks try, as far as no other test here does:
# tests/BEHAVIOURS.md has the whole list.
# shellcheck disable=SC2016 # most commands are expanded inside of the jail
. "$(dirname "$0")/../lib/e2e.sh"
need_root
own_place
chmod 755 "$scratch"
mkdir "$scratch/put"
program=$e2e_build/proctor

# Waits for a process with this command line; its number is $pid.
await() { # COMMAND
	tries=0
	until pid=$(pgrep -fx "$1"); do
		tries=$((tries + 1))
		[ "$tries" -lt 200 ] || { fail "'$1' does not start" && pid=$$ && return; }
		sleep 0.1
	done
}

it 'ends with 0 as true does, and with 1 as false does'
run proctor jail -- /bin/true
expect_code 0
run proctor jail -- /bin/false
expect_code 1

it 'tells a crash by its signal, and leaves no core'
run proctor jail --json=2 -- sh -c 'ulimit -c unlimited 2>/dev/null; sh -c "kill -SEGV \$\$"; echo $?; ls -A /work /tmp; kill -ABRT $$'
expect_code 134
expect_out '^139$'
expect_err '"ending":"signaled","code":6'
expect_no_out core

it 'has namespaces of its own, but that of time'
kinds='cgroup ipc mnt net pid user uts'
for kind in $kinds time; do
	printf '%s %s\n' "$kind" "$(readlink "/proc/self/ns/$kind")"
done >"$scratch/outside"
# shellcheck disable=SC2086 # words on purpose
run proctor jail -- sh -c 'for kind; do echo $kind $(readlink /proc/self/ns/$kind); done' sh $kinds time
expect_code 0
[ "$(grep -cxFf "$scratch/outside" "$scratch/out")" -eq 1 ] || fail 'more than one namespace is the same'
check grep -qxF "$(tail -n 1 "$scratch/outside")" "$scratch/out"
check test "$(wc -l <"$scratch/out")" -eq 8

it 'has one range of ids, that none of the host is in, and files that belong to it'
printf 'exec 3>/work/file; exec sleep 6201\n' >"$scratch/put/stay"
"$program" jail --put "$scratch/put" -- sh ./stay 2>/dev/null &
client=$!
await 'sleep 6201'
check test "$(wc -l <"/proc/$pid/uid_map")" -eq 1
check test "$(wc -l <"/proc/$pid/gid_map")" -eq 1
read -r inside outside count <"/proc/$pid/uid_map"
check test "$inside" -eq 0 -a "$outside" -ge 1879048192 -a "$count" -eq 65536
user=$((outside + 1000))
check test "$(sed -n 's/^Uid:[[:space:]]*//p' "/proc/$pid/status" | tr '\t' ' ')" = "$user $user $user $user"
check test "$(stat -c '%u %g' "/proc/$pid/root/work/file")" = "$user $user"
kill "$client"
wait "$client"
run proctor jail -- sh -c 'id -u; id -g; stat -c "%u %g" /work; touch /work/f; stat -c "%u %g" /work/f'
expect_out_is "1000
1000
1000 1000
1000 1000"

it 'has a name of its own, and the host keeps its own'
name=$(cat /proc/sys/kernel/hostname)
run proctor jail -- sh -c 'cat /proc/sys/kernel/hostname; hostname other'
expect_out '^jail$'
check_not test "$name" = jail
check test "$(cat /proc/sys/kernel/hostname)" = "$name"

it 'has the folders that it should, with the modes that they should have'
run proctor jail -- sh -c 'ls -A /; for path; do stat -c "%n %a" "$path"; done' sh / /etc /etc/passwd /etc/hosts /usr /work /tmp /dev /dev/shm
expect_code 0
for line in '/ 755' '/etc 755' '/etc/passwd 444' '/etc/hosts 444' '/usr 755' '/work 700' '/tmp 1777' '/dev 755' '/dev/shm 1777'; do
	expect_out "^$line\$"
done
[ "$(sed '/ /d' "$scratch/out" | grep -cvxE 'bin|dev|etc|lib(32|64|x32)?|proc|sbin|sys|tmp|usr|work')" -eq 0 ] || fail 'the root holds something else'

it 'has nothing of the host in its /tmp, and none of the folders that roots are changed by'
echo 'of the host' >"$scratch/of-the-host"
run proctor jail -- sh -c 'ls -A /tmp; cat "$1"; for name in oldroot newroot .old put_old; do ls -d /$name /tmp/$name; done; cut -d " " -f 5 /proc/self/mountinfo' \
	sh "$scratch/of-the-host"
expect_no_out 'of the host|^/(tmp/)?(oldroot|newroot|\.old|put_old)|proctor-e2e'

it 'has devices that everybody may use, and the links that programs look for'
run proctor jail -- sh -c 'cd /dev; for node in null zero full random urandom tty; do stat -c "%n %F %t:%T %a" $node; done; for link in fd stdin stdout stderr ptmx; do echo $link $(readlink $link); done
	echo x >null && head -c 3 zero | wc -c && head -c 5 urandom | wc -c && echo y | cat /dev/stdin'
expect_code 0
for line in 'null character special file 1:3 666' 'zero character special file 1:5 666' 'full character special file 1:7 666' \
	'random character special file 1:8 666' 'urandom character special file 1:9 666' 'tty character special file 5:0 666' \
	'fd /proc/self/fd' 'stdin /proc/self/fd/0' 'stdout /proc/self/fd/1' 'stderr /proc/self/fd/2' 'ptmx pts/ptmx' 3 5 y; do
	expect_out "^$line\$"
done

it 'refuses sizes and counts that are none, with the option and the value'
for value in '' 0 -1 ' -1' 1x 123bogus 1MiBx 0x10MiB 1e3MiB 16777216TiB 18446744073709551615B 18446744073709551616B 99999999999999999999999GiB; do
	for option in memory work tmp output; do
		run proctor jail "--$option" "$value" -- true
		expect_code 2
		grep -qF "option --$option: '$value' is not " "$scratch/err" || fail "--$option '$value'"
	done
done
for value in '' -1 1.5 max 4294967296 18446744073709551616; do
	for option in pids files; do
		run proctor jail "--$option" "$value" -- true
		expect_code 2
		grep -qF "option --$option: '$value' is not " "$scratch/err" || fail "--$option '$value'"
	done
done

it 'refuses an option that is said twice'
run proctor jail --work 1MiB --work 2MiB -- true
expect_code 2
expect_err "option --work is there twice"
run proctor jail --wall=5s --json=2 --wall=5s -- true
expect_code 2
expect_err "option --wall is there twice"
run proctor jail --env A=1 --env B=2 --accept swap --accept landlock -- sh -c 'echo $A$B'
expect_out_is 12

it 'keeps to its caps: so many bytes, so many files, and it goes on'
run proctor jail --work 1MiB --files 100 -- sh -c 'head -c 2097152 /dev/zero >big; stat -c %s big; rm big; i=0; while [ $i -lt 200 ] && true >f$i; do i=$((i + 1)); done; ls | wc -l; rm f*; echo alive >f && cat f' 
expect_code 0
expect_err 'No space left on device'
expect_out '^1048576$'
expect_out '^9[89]$'
expect_out '^alive$'

it 'says that it is proctor that complains'
run proctor jail --put /nonexistent -- true
expect_err '^proctor: (error: )?'
expect_no_out .
run proctor jail --wall 100ms -- sleep 60
expect_err '^proctor: warning: the jail was ended: timeout \(--wall\)$'

it 'takes what stands behind two dashes as the command, whatever its name'
printf '#!/bin/sh\necho "ran with $*"\n' >"$scratch/put/--wall"
chmod 755 "$scratch/put/--wall"
run proctor jail --put "$scratch/put" --env PATH=/work:/usr/bin:/bin -- --wall 5s
expect_code 0
expect_out_is 'ran with 5s'
run proctor jail -- --put /etc sh -c 'echo ran'
expect_code 127
expect_no_out ran
run proctor jail -- sh -c 'echo $0'
expect_out_is sh

it 'is not pid 1, and pid 1 reaps what it leaves'
run proctor jail -- sh -c 'echo $$; (sleep 0.1 & exit 0); sleep 0.3; for file in /proc/[0-9]*/stat; do cut -d " " -f 3 $file; done'
expect_code 0
expect_no_out '^1$'
expect_no_out '^Z$'

it 'can not change its identity, its root or its mounts by a jail in the jail'
for command in 'unshare --user true' 'unshare --mount true' 'chroot /tmp /bin/true' 'mount -t proc proc /tmp' 'mount --bind /usr /tmp' 'umount /proc/sys' 'nsenter -t 1 -m true'; do
	run proctor jail -- sh -c "$command"
	[ "$code" != 0 ] || fail "'$command' works"
done
if command -v bwrap >/dev/null; then
	run proctor jail -- bwrap --ro-bind / / true
	[ "$code" != 0 ] || fail 'bubblewrap works'
fi

it 'reads no file that only root may, by whatever way'
closed=$(mktemp /usr/local/lib/.proctor-test-XXXXXX)
chmod 600 "$closed"
echo 'of root alone' >"$closed"
mkdir "$closed.d"
chmod 700 "$closed.d"
echo 'of root alone' >"$closed.d/file"
run proctor jail -- sh -c 'cat "$1"; ls "$1.d"; cat "$1.d/file"; ln -s "$1" link; cat link; ln "$1" hard; cat hard; cp "$1" .; cat /etc/shadow; exit 0' sh "$closed"
rm -r "$closed" "$closed.d"
expect_code 0
expect_no_out .

it 'has the environment that it was given, and no other'
run env -i FOO=wrong PATH="$PATH" LD_PRELOAD= "$program" jail --env FOO=right --env EMPTY= -- sh -c 'env | cut -d = -f 1 | sort | xargs; echo "$FOO<$EMPTY>"'
expect_code 0
expect_out '^EMPTY FOO HOME LANG PATH PWD USER$'
expect_out '^right<>$'

it 'has three descriptors, however many are open around it'
run python3 -c 'import os, sys
for fd in range(3, 256):
    os.dup2(0, fd)
    os.set_inheritable(fd, True)
os.execv(sys.argv[1], sys.argv[1:])' "$program" jail -- sh -c 'ls /proc/self/fd'
expect_code 0
# ls has one of its own, for the folder.
expect_out_is '0
1
2
3'

it 'puts ten megabytes in as they are'
mkdir "$scratch/large"
head -c 10000000 /dev/urandom >"$scratch/large/file"
run proctor jail --put "$scratch/large" -- sh -c 'sha256sum <file'
expect_code 0
expect_out_is "$(sha256sum <"$scratch/large/file")"

it 'writes nothing on the host'
find "$scratch/put" "$scratch/large" | sort >"$scratch/before"
find "$scratch/put" "$scratch/large" -type f -exec sha256sum {} + | sort >>"$scratch/before"
run proctor jail --put "$scratch/put" -- sh -c 'echo changed >stay; rm -r ./--wall; mkdir new; echo x >/tmp/x; echo x >/dev/shm/x'
find "$scratch/put" "$scratch/large" | sort >"$scratch/after"
find "$scratch/put" "$scratch/large" -type f -exec sha256sum {} + | sort >>"$scratch/after"
check cmp "$scratch/before" "$scratch/after"
check_not test -e /dev/shm/x
check_not test -e /tmp/x

it 'keeps little of a flood in memory'
"$program" jail --output 1TiB --wall 60s -- yes >/dev/null 2>&1 &
client=$!
await yes
sleep $((slow > 1 ? 10 : 2))
peak=$(sed -n 's/^VmHWM:[[:space:]]*\([0-9]*\) kB$/\1/p' "/proc/$client/status")
kill "$client"
wait "$client" 2>/dev/null
note "proctor had ${peak:-0} KiB at most"
check test "${peak:-0}" -gt 0 -a "${peak:-0}" -le 32768

it 'ends at a call of a foreign table, and its outcome says so'
cat >"$scratch/foreign.c" <<'END'
int main(void)
{
	long result;

	__asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory");
	return result > 0 ? 0 : 1;
}
END
if [ "$(uname -m)" = x86_64 ]; then
	check cc -o "$scratch/put/foreign" "$scratch/foreign.c"
	run proctor jail --json=2 --put "$scratch/put" -- ./foreign
	expect_code 159
	expect_err '"ending":"signaled","code":31'
else
	skip 'there is no foreign table'
fi

it 'obeys a filter that was there before it as well as its own'
cat >"$scratch/filters.c" <<'END'
#include <errno.h>
#include <stdio.h>
#include <sched.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	int inotify = inotify_init1(0) < 0 ? errno : 0, own, name, third;

	own = unshare(CLONE_NEWNET) < 0 ? errno : 0;
	name = syscall(SYS_seccomp, 1, 0, 0) < 0 ? errno : 0;
	third = prctl(PR_SET_SECCOMP, 2, 0, 0, 0) < 0 ? errno : 0;
	printf("%d %d %d %d\n", inotify, own, name, third);
	return 0;
}
END
check cc -D_GNU_SOURCE -o "$scratch/put/filters" "$scratch/filters.c"
run proctor jail --put "$scratch/put" -- ./filters
expect_out_is '0 1 1 1'
# 294 is inotify_init1 on x86, 95 EOPNOTSUPP.
number=$(printf '#include <sys/syscall.h>\nSYS_inotify_init1\n' | cc -E - | tail -n 1)
run "$e2e_build/tests/without-call" "$number" "$program" jail --put "$scratch/put" -- ./filters
expect_out_is '95 1 1 1'

it 'keeps no limit of the jail before it'
run proctor jail --json=2 --pids 16 --memory 192MiB --work 16MiB --files 1024 --tmp 16MiB --cpus 0.1 -- true
expect_code 0
run proctor jail --json=2 -- sh -c 'i=0; while [ $i -lt 40 ]; do sleep 0.2 & i=$((i + 1)); done; head -c 200000000 /dev/zero >/work/f; ls -l /work/f | cut -d " " -f 5'
expect_code 0
expect_out '^200000000$'
expect_err '"ending":"exited","code":0,"flags":\[\]'

it 'shares no key, socket without a file, or shared memory with another'
cat >"$scratch/put/near.py" <<'END'
import os, socket, sys, time
path = "\0proctor-behaviours"
first = socket.socket(socket.AF_UNIX)
try:
    first.bind(path)
    first.listen()
except OSError as error:
    print("bind:", error)
if os.path.exists("/dev/shm/near"):
    print("shared memory is shared")
open("/dev/shm/near", "w").close()
time.sleep(float(sys.argv[1]))
print("done")
END
for i in 1 2; do
	"$program" jail --put "$scratch/put" -- python3 near.py "$((2 * slow))" >"$scratch/near-$i" 2>&1 &
	last=$!
	clients="${clients:-} $last"
done
for client in $clients; do
	wait "$client" || fail "a jail ended with $?"
done
for i in 1 2; do
	check test "$(cat "$scratch/near-$i")" = 'done'
done

it 'leaves nothing behind'
expect_nothing_left
