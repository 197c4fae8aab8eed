#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# proctor jail: what passes through, what it says, what its options do, how it ends.
# shellcheck disable=SC2016 # most commands are expanded inside of the jail
. "$(dirname "$0")/../lib/e2e.sh"
need_root
own_place
chmod 755 "$scratch"
jail=$e2e_build/proctor

# The whole line by its grammar: what matches is valid JSON and has every key.
number='[0-9]+'
object="\{\"ending\":\"[a-z_]+\",\"code\":$number,\"flags\":\[(\"[a-z_:]+\"(,\"[a-z_:]+\")*)?\],\"denied\":\{(\"[a-z_]+\":$number)?\},\"image\":null,\"wall_ms\":$number,\
\"cpu_ms\":$number,\"memory_peak\":[1-9][0-9]*,\"processes_peak\":[1-9][0-9]*,\"output_bytes\":$number\}"

# The object in FILE is one line, and its ending and code are these.
expect_object() { # FILE ENDING CODE
	[ "$(wc -l <"$1")" -eq 1 ] || fail "$1 has not one line"
	grep -qxE "$object" "$1" || fail "no object: $(cat "$1")"
	grep -q "^{\"ending\":\"$2\",\"code\":$3," "$1" || fail "not $2 with $3: $(cat "$1")"
}

# Waits until a process with this command line is there; 10 s at most.
await() {
	tries=0
	until pgrep -fx "$1" >/dev/null; do
		tries=$((tries + 1))
		[ "$tries" -lt 100 ] || { fail "'$1' does not start" && return; }
		sleep 0.1
	done
}

# No process with this command line is left after S seconds.
expect_gone() { # S COMMAND
	tries=$(($1 * 10))
	while pgrep -fx "$2" >/dev/null; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || { fail "'$2' is still there after $1 s" && return; }
		sleep 0.1
	done
}

it 'passes standard output, standard error and the exit code on'
run proctor jail -- sh -c 'echo to-out; echo to-err >&2; exit 37'
expect_code 37
expect_out_is to-out
expect_err '^to-err$'

it 'passes ten megabytes on exactly'
run proctor jail -- sh -c 'head -c 10000000 /dev/zero | tr "\0" "\377"'
expect_code 0
head -c 10000000 /dev/zero | tr '\0' '\377' | cmp -s - "$scratch/out" || fail 'other bytes came'

it 'passes every byte value on, without an end of line'
bytes=$(awk 'BEGIN { for (i = 0; i < 256; i++) printf "\\%03o", i }')
run proctor jail -- printf "$bytes"
expect_code 0
# shellcheck disable=SC2059 # the bytes are the format
printf "$bytes" | cmp -s - "$scratch/out" || fail 'other bytes came'

it 'passes arguments on as they are'
run proctor jail -- printf '<%s>' 'a b' '' '*' '$HOME' 'ö' '--wall'
printf '<a b><><*><$HOME><ö><--wall>' | cmp -s - "$scratch/out" || fail 'other arguments came'

it 'knows no variable without a name'
run proctor jail --env =x -- true
expect_code 2
expect_err "option --env: '=x' is not NAME=VALUE"

it 'gives the command an empty standard input and a small environment'
run sh -c 'echo secret | SECRET=1 "$0" jail --env ONE=1 --env "TWO=a b=c" -- sh -c "cat; env | sort"' "$jail"
expect_code 0
expect_no_out secret
expect_no_out SECRET
expect_out '^ONE=1$'
expect_out '^TWO=a b=c$'
expect_out '^HOME=/tmp$'

it 'gives 128 and the signal for a command that a signal ended'
for signal in SEGV:139 KILL:137 TERM:143; do
	run proctor jail --json=1 -- sh -c "kill -${signal%:*} \$\$"
	expect_code "${signal#*:}"
	expect_object "$scratch/out" signaled $((${signal#*:} - 128))
done

it 'gives 127 for a command that is not there'
run proctor jail --json -- /nonexistent/command
expect_code 127
expect_err "execute '/nonexistent/command': No such file"
expect_out_is "{\"error\":\"jail 'jail': start: execute '/nonexistent/command': No such file or directory\"}"

it 'gives 126 for a command that can not be executed'
for file in /etc/passwd /usr; do
	run proctor jail --json -- $file
	expect_code 126
	expect_out_is "{\"error\":\"jail 'jail': start: execute '$file': Permission denied\"}"
done

it 'says which folder its account can not read, and what to do'
mkdir -m 700 "$scratch/mine"
run proctor jail --put "$scratch/mine" -- true
expect_code 125
expect_err "option --put: read the folder '$scratch/mine' as the account 'proctor', which proctor runs as; give it the right to, .*: Permission denied"
mkdir "$scratch/theirs"
mkdir -m 700 "$scratch/theirs/mine"
chmod 755 "$scratch/theirs"
run proctor jail --put "$scratch/theirs" -- true
expect_code 125
expect_err "option --put: 'mine' can not be put"

it 'refuses a kernel without Landlock, unless that is accepted'
# 444 is landlock_create_ruleset on every machine.
run "$e2e_build/tests/without-call" 444 "$jail" jail --json -- true
expect_code 125
expect_err 'this kernel has no Landlock, .* or accept to do without: .* proctor jail --accept landlock'
run "$e2e_build/tests/without-call" 444 "$jail" jail --json --accept landlock -- sh -c 'exit 4'
expect_code 4
expect_object "$scratch/out" exited 4
expect_out '"flags":\["without:landlock"\]'
run proctor jail --json --accept landlock --accept memory --accept pids -- true
expect_out '"flags":\[\]'

it 'refuses a host that can not limit memory or processes, unless that is accepted'
for limit in memory pids; do
	# Without its hierarchy of version 1 a controller is nowhere; where it is in version 2, we can
	# not take it away.
	[ -n "$(e2e_group $limit)" ] || continue
	hide='umount "$0" && exec "$@"'
	run unshare -m sh -c "$hide" "/sys/fs/cgroup/$limit" "$jail" jail --json -- true
	expect_code 125
	expect_err "the host can not enforce a limit of $limit: .* or accept to do without: '$limit' in the policy's accept, or proctor jail --accept $limit"
	run unshare -m sh -c "$hide" "/sys/fs/cgroup/$limit" "$jail" jail --json --accept $limit -- sh -c 'exit 4'
	expect_code 4
	expect_out "\"ending\":\"exited\",\"code\":4,\"flags\":\\[\"without:$limit\"\\]"
done
expect_nothing_left

it 'gives 125 for a failure of its own'
run proctor jail --archive /nonexistent/folder/file -- true
expect_code 125
expect_err "option --archive: create file '/nonexistent/folder/file': No such file"
echo full >"$scratch/there"
run proctor jail --archive "$scratch/there" -- true
expect_code 125
expect_err 'File exists'
run proctor jail --put "$scratch/there" -- true
expect_code 125
expect_err "option --put: '$scratch/there' is neither a folder nor a tree, such as --archive writes"
run proctor jail --put /nonexistent -- true
expect_code 125
expect_err "option --put: open '/nonexistent'"
run proctor jail --put /dev/null -- true
expect_code 125
expect_err "option --put: '/dev/null' is neither a folder nor a tree"

it 'writes its archive where a call without a jail has left an empty file, and over nothing else'
run proctor jail --archive "$scratch/again" -- /nonexistent
expect_code 127
check test -f "$scratch/again"
run proctor jail --archive "$scratch/again" -- true
expect_code 0
check test -s "$scratch/again"
touch "$scratch/roots"
run proctor jail --archive "$scratch/roots" -- true
expect_code 125
expect_err 'File exists'
ln -s "$scratch/nowhere" "$scratch/link"
run proctor jail --archive "$scratch/link" -- true
expect_code 125
expect_err 'File exists'

it 'puts back what was collected, and refuses what is no tree'
run proctor jail --archive "$scratch/tree" -- sh -c 'mkdir a; echo "of a tree" >a/b; ln -s a link; chmod +x a/b'
expect_code 0
run proctor jail --put "$scratch/tree" -- sh -c 'find . | sort; cat a/b; test -x a/b'
expect_code 0
expect_out '^of a tree$'
check test "$(head -n 3 "$scratch/out" | xargs)" = '. ./a ./a/b'
head -c 60 "$scratch/tree" >"$scratch/torn"
for bad in torn empty text; do
	[ "$bad" != empty ] || : >"$scratch/empty"
	[ "$bad" != text ] || seq 100 >"$scratch/text"
	run proctor jail --put "$scratch/$bad" -- echo ran
	expect_code 125
	expect_no_out ran
	expect_err 'tree'
done

it 'says in JSON how it ended'
run proctor jail --json -- sh -c 'echo 12345 >&2; echo 1234567; exit 3'
expect_code 3
expect_object "$scratch/out" exited 3
expect_out '"flags":\[\].*"output_bytes":14\}$'
expect_err '^1234567$'

it 'writes the JSON to another descriptor'
run sh -c '"$0" jail --json=5 -- echo hello 5>"$1"' "$jail" "$scratch/json"
expect_out_is hello
expect_object "$scratch/json" exited 0

it 'writes a JSON object that nothing of the command gets into'
run proctor jail --json -- sh -c 'echo "{\"ending\":\"exited\"}"'
expect_object "$scratch/out" exited 0

it 'says in JSON of each limit that it ended the command'
run proctor jail --json --wall 300ms -- sleep 60
expect_code 124
expect_object "$scratch/out" timeout 0
run proctor jail --json --cpu 300ms -- sh -c 'while :; do :; done'
expect_code 124
expect_object "$scratch/out" cpu 0
run proctor jail --json --memory 256MiB --work 64MiB --files 4096 --tmp 16MiB -- sh -c 'head -c 400000000 /dev/zero | tail'
expect_code 124
expect_object "$scratch/out" oom 0
run sh -c '"$0" jail --json=5 --output 1MiB -- yes 5>"$1"' "$jail" "$scratch/json"
expect_code 124
expect_object "$scratch/json" output 0
check test "$(stat -c %s "$scratch/out")" -eq 1048576

it 'takes each limit from its option'
run proctor jail --work 3MiB --files 100 --tmp 5MiB -- sh -c 'df -B1 --output=size,itotal /work /tmp'
expect_out '^ *3145728 +100$'
expect_out '^ *5242880 +[0-9]+$'
run proctor jail --json --pids 16 -- sh -c 'i=0; while [ $i -lt 40 ]; do sleep 1 & i=$((i+1)); done 2>/dev/null; exit 0'
expect_out '"flags":\["pids_hit"\].*"processes_peak":1[0-6],'
run proctor jail --json --pids 64 -- sh -c 'i=0; while [ $i -lt 40 ]; do sleep 0.1 & i=$((i+1)); done 2>/dev/null; exit 0'
expect_out '"flags":\[\]'
run proctor jail --json --cpus 0.2 --wall 1s --grace 0ms -- sh -c 'while :; do :; done'
# The kernel takes back what a virtual CPU used while another had its place, but not within a second.
check test "$(sed -n 's/.*"cpu_ms":\([0-9]*\).*/\1/p' "$scratch/out")" -lt $((slow > 1 ? 800 : 500))
run proctor jail --json --wall "$((200 * slow))ms" --grace 700ms -- sh -c 'trap "" TERM; while :; do sleep 0.05; done'
expect_object "$scratch/out" timeout 0
check test "$(sed -n 's/.*"wall_ms":\([0-9]*\).*/\1/p' "$scratch/out")" -ge $((200 * slow + 700))

it 'ends what ignores SIGTERM, children too'
run proctor jail --json --wall 300ms --grace 100ms -- sh -c 'trap "" TERM; sleep 60 & sleep 60'
expect_code 124
expect_object "$scratch/out" timeout 0

it 'lets a command clean up between SIGTERM and its end'
run proctor jail --wall "$((300 * slow))ms" --grace 5s -- sh -c 'trap "echo cleaned; exit 0" TERM; while :; do sleep 0.05; done'
expect_code 124
expect_out_is cleaned

it 'names the option whose value is wrong'
while read -r option value message; do
	run proctor jail "--$option" "$value" -- true
	expect_code 2
	grep -qF "option --$option: '$value' $message" "$scratch/err" || fail "--$option $value"
done <<'END'
wall 5 is not a time such as 500ms, 2s or 5m
wall 0s is not within 1ms..168h
cpu x is not a time such as
grace 2h is not within 0..1m
memory 1 is not a size such as 64MiB
memory 1MiB is not within 16MiB..64TiB
pids 1 is not within 4..4194304
pids -5 is not a whole number such as 64, within 4..4194304
cpus 0 is not within 0.01..1024
output 0B is not
work 1KiB is not within 64KiB..4TiB
files 5 is not within 16..
tmp 64XB is not a size
env NAME is not NAME=VALUE
idle 0s is not within 1ms..168h
on-full stop is not one of report, end
accept time is not one of memory, swap, pids, cpus, landlock
END
run proctor jail --memory 20MiB -- true
expect_code 125
expect_err 'filled to the brim'
run proctor jail --json=77 -- true
expect_code 2
expect_err 'option --json: descriptor 77 is not open'

it 'knows its options, and that there has to be a command'
for option in --walls=5s --walls -w; do
	run proctor jail "$option" -- true
	expect_code 2
	expect_err "there is no option '$option'"
done
run proctor jail
expect_code 2
run proctor jail --
expect_code 2
run proctor jail --wall
expect_code 2
expect_err 'option --wall lacks its TIME'
run proctor jails
expect_code 2
expect_err "there is no command 'jails'"
run proctor jail --help
expect_code 0
expect_out '--archive FILE'

it 'is not held up by a process that keeps the output open, and ends it'
run -t 20 proctor jail -- sh -c 'setsid sleep 6101 & exit 4'
expect_code 4
expect_gone 0 'sleep 6101'

it 'is not held up by a process that traced pid 1 and ended'
cat >"$scratch/trace.c" <<'END'
#include <sys/ptrace.h>
#include <unistd.h>
int main(void)
{
	if (fork() == 0) {
		ptrace(PTRACE_SEIZE, 1, 0, 0);
		ptrace(PTRACE_ATTACH, 1, 0, 0);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		_exit(0);
	}
	ptrace(PTRACE_SEIZE, 1, 0, 0);
	ptrace(PTRACE_ATTACH, getppid(), 0, 0);
	return 5;
}
END
mkdir "$scratch/put"
check cc -o "$scratch/put/trace" "$scratch/trace.c"
run -t 20 proctor jail --put "$scratch/put" -- ./trace
expect_code 5

it 'ends a jail whose processes are all stopped'
run -t 20 proctor jail --json --wall 500ms --grace 100ms -- sh -c 'kill -STOP $$'
expect_code 124
expect_object "$scratch/out" timeout 0

it 'ends with its client within two seconds, however that ends'
"$jail" jail -- sh -c 'setsid sleep 6102 & sleep 6103' &
client=$!
await 'sleep 6102'
await 'sleep 6103'
kill -9 "$client"
expect_gone 2 'sleep 6102'
expect_gone 2 'sleep 6103'
wait "$client" 2>/dev/null

it 'ends at a signal to proctor'
for signal in TERM:143 INT:130 HUP:129; do
	setsid "$jail" jail --json -- sleep 6104 >"$scratch/json" 2>/dev/null &
	client=$!
	await 'sleep 6104'
	pkill -"${signal%:*}" -fx "$jail jail --json -- sleep 6104"
	wait "$client"
	code=$?
	expect_code "${signal#*:}"
	expect_gone 0 'sleep 6104'
	expect_object "$scratch/json" stopped 0
done

it 'says so when its launcher is lost, and the jail is gone'
"$jail" jail --json -- sleep 6105 >"$scratch/json" 2>/dev/null &
client=$!
await 'sleep 6105'
# Launcher and monitor: this process namespace has no others.
pkill -9 -f '^proctor-launcher '
wait "$client"
code=$?
expect_code 125
expect_gone 2 'sleep 6105'
check grep -q '^{"ending":"launcher_lost",.*}$' "$scratch/json"
run proctor jail -- echo again
expect_out_is again

# A reader that does not read, behind a pipe and behind a terminal.
stalled() { # COMMAND…: its standard output is a pipe that is full and stays so
	mkfifo "$scratch/stalled"
	(exec 3<"$scratch/stalled" && exec sleep 6107) &
	reader=$!
	"$@" >"$scratch/stalled" 2>/dev/null &
	client=$!
}

it 'ends at a signal although nobody reads its output'
for command in 'yes' 'yes & sleep 6106'; do
	for signal in TERM:143 INT:130; do
		stalled setsid "$jail" jail --grace 100ms --json=5 -- sh -c "$command" 5>"$scratch/json"
		await 'yes'
		sleep 0.3
		begun=$(date +%s%N)
		pkill -"${signal%:*}" -fx "$jail jail --grace .*"
		wait "$client"
		code=$?
		took=$((($(date +%s%N) - begun) / 1000000))
		expect_code "${signal#*:}"
		[ "$took" -lt $((2000 * slow)) ] || fail "it took $took ms"
		expect_object "$scratch/json" stopped 0
		expect_nothing_left
		kill "$reader"
		wait "$reader" 2>/dev/null
		rm "$scratch/stalled"
	done
done

# Long enough for a short command to have ended.
moment() {
	for _ in $(seq "$slow"); do
		sleep 0.5
	done
}

it 'ends at a signal although its command has ended and nobody reads what it said'
stalled setsid "$jail" jail --grace 100ms --json=5 -- head -c 500000 /dev/zero 5>"$scratch/json"
moment
# All that fits into the pipes; the command waits for the rest to be taken.
pkill -TERM -fx "$jail jail --grace .*"
wait "$client"
code=$?
expect_code 143
kill "$reader"
wait "$reader" 2>/dev/null
rm "$scratch/stalled"
stalled setsid "$jail" jail --json=5 -- head -c 100000 /dev/zero 5>"$scratch/json"
moment
check_not test -s "$scratch/json" # it waits for its reader
pkill -TERM -fx "$jail jail --json=5 .*"
wait "$client"
code=$?
expect_code 143
expect_object "$scratch/json" exited 0
kill "$reader"
wait "$reader" 2>/dev/null
rm "$scratch/stalled"

it 'waits for a slow reader and loses nothing'
run sh -c '"$0" jail --output 64MiB -- head -c 3000000 /dev/zero | { sleep 1; wc -c; }' "$jail"
expect_out_is 3000000

it 'leaves the descriptors that it was given as they are'
cat >"$scratch/flags.c" <<'END'
#include <fcntl.h>
int main(void) { return fcntl(1, F_GETFL) & O_NONBLOCK ? 1 : 0; }
END
check cc -o "$scratch/flags" "$scratch/flags.c"
run sh -c '{ "$0" jail -- sh -c "sleep 0.2; yes | head -n 1000" & sleep 0.1; "$1"; echo $? >"$2"; wait; } | cat' "$jail" "$scratch/flags" "$scratch/nonblocking"
check test "$(cat "$scratch/nonblocking")" = 0

it 'says when its output could not be written'
run sh -c '"$0" jail -- echo lost >/dev/full' "$jail"
expect_code 125
expect_err 'No space left on device'

it 'lets the command notice that the reader of its output has gone'
run -t 20 sh -c '{ "$0" jail --json=5 -- yes 5>"$1"; } | head -n 1' "$jail" "$scratch/json"
expect_out_is y
expect_object "$scratch/json" signaled 13

it 'keeps what is printed out of its files where standard output is closed'
run sh -c '"$0" jail --archive "$1" -- echo hello >&-' "$jail" "$scratch/archive"
expect_code 0
check_not grep -q hello "$scratch/archive"
run sh -c '"$0" jail --archive "$1" -- true' "$jail" "$scratch/archive-2"
check cmp -s "$scratch/archive" "$scratch/archive-2"
run sh -c '"$0" jail -- true <&- >&- 2>&-' "$jail"
expect_code 0

it 'drops to the account that called sudo, or to proctor'
for account in daemon proctor; do
	mkdir "$scratch/$account"
	[ $account = proctor ] || chown $account "$scratch/$account"
	if [ $account = daemon ]; then
		SUDO_UID=$(id -u daemon)
		export SUDO_UID
	fi
	"$jail" jail --archive "$scratch/$account/of" -- sleep "$((2 * slow))" &
	client=$!
	unset SUDO_UID
	await "sleep $((2 * slow))"
	check test "$(sed -n 's/^Uid:[[:space:]]*//p' "/proc/$client/status" | tr '\t' ' ')" = \
		"$(for i in 1 2 3 4; do id -u $account; done | xargs)"
	check test "$(sed -n 's/^NoNewPrivs:[[:space:]]*//p' "/proc/$client/status")" = 1
	wait "$client"
	check test "$(stat -c %U "$scratch/$account/of")" = $account
done

it 'says so when it can not know that account'
run env SUDO_UID=abc "$jail" jail -- true
expect_code 125
expect_err "SUDO_UID is 'abc', which is no uid"
run env SUDO_UID=4242424 "$jail" jail -- true
expect_code 125
expect_err 'SUDO_UID is 4242424, which has no account'

it 'says what it needs when it is not root'
run setpriv --reuid 65534 --regid 65534 --clear-groups "$jail" jail -- true
expect_code 125
expect_err 'needs root'
expect_no_out .

it 'runs ten jails at once, each for itself'
for i in 1 2 3 4 5 6 7 8 9 10; do
	"$jail" jail -- sh -c "echo $i >f; sleep 0.3; cat ./*" >"$scratch/at-once-$i" 2>&1 &
	last=$!
	clients="${clients:-} $last"
done
for client in $clients; do
	wait "$client" || fail "a jail ended with $?"
done
for i in 1 2 3 4 5 6 7 8 9 10; do
	check test "$(cat "$scratch/at-once-$i")" = $i
done

it 'leaves no control group, mount, process or lease behind'
expect_nothing_left
# shellcheck disable=SC2086 # words on purpose
folders=$(find $e2e_groups -name proctor 2>/dev/null)
[ -z "$folders" ] || fail "there is $folders"
