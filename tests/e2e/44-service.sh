#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The launcher as a service for the members of a group, none of them root: what they get, and what
# each of them may try to get beyond that. Accounts are numbers that no list has.
# shellcheck disable=SC2317 # functions that wait_for calls
. "$(dirname "$0")/../lib/e2e.sh"
need_root
own_place
chmod 755 "$scratch"
group=61000 one=61001 two=61002 outsider=61003
hostile=$e2e_build/tests/hostile-client
socket=$scratch/run/socket
PROCTOR_SOCKET=$socket
export PROCTOR_SOCKET
mkdir -m 755 "$scratch/etc" "$scratch/run"
# A folder of each account's own.
for uid in $one $two $outsider; do
	mkdir -m 700 "$scratch/$uid"
	chown "$uid:$uid" "$scratch/$uid"
done

as() { # UID COMMAND…
	as_uid=$1
	shift
	as_groups=--groups=$group
	[ "$as_uid" != $outsider ] || as_groups=--clear-groups
	env -C "$scratch/$as_uid" setpriv --reuid="$as_uid" --regid="$as_uid" "$as_groups" -- "$@"
}

spawn() { # UID COMMAND… &: as that, so that $! is the command's own number
	as_uid=$1
	shift
	exec env -C "$scratch/$as_uid" setpriv --reuid="$as_uid" --regid="$as_uid" --groups=$group -- "$@"
}

run_as() { # UID COMMAND…
	as_uid=$1
	shift
	case $1 in
	proctor) shift && set -- "$e2e_build/proctor" "$@" ;;
	esac
	as_groups=--groups=$group
	[ "$as_uid" != $outsider ] || as_groups=--clear-groups
	run -t 120 env -C "$scratch/$as_uid" setpriv --reuid="$as_uid" --regid="$as_uid" "$as_groups" -- "$@"
}

attack() { # UID ATTACK ARGUMENT…
	attack_uid=$1
	shift
	run_as "$attack_uid" "$hostile" "$socket" "$@"
	expect_code 0
}

conf() { # LINE…
	printf '%s\n' "$@" >"$scratch/etc/site.conf"
	chmod 644 "$scratch/etc/site.conf"
}

is_served() {
	[ -S "$socket" ] && "$hostile" "$socket" greet 2>/dev/null | grep -q granted
}

start_service() {
	"$e2e_build/proctor-launcher" --listen --socket="$socket" --site="$scratch/etc/site.conf" 2>"$scratch/log" &
	service=$!
	wait_for is_served
}

stop_service() {
	kill -TERM "$service"
	wait "$service"
	code=$?
	e2e_command='the service, by SIGTERM'
}

# Still there, and serving others?
expect_served() {
	kill -0 "$service" || fail "the service is gone: $(cat "$scratch/log")"
	as $two "$e2e_build/proctor" jail -- echo fine >"$scratch/served" 2>&1
	[ "$(cat "$scratch/served")" = fine ] || fail "another account is not served: $(cat "$scratch/served")"
}

expect_refused() { # ERE
	expect_out "^refused: .*$1"
	expect_no_out '^granted|^ended'
	expect_served
}

it 'does not start without a site.conf, and says what to do'
run "$e2e_build/proctor-launcher" --listen --socket="$socket" --site="$scratch/etc/site.conf"
expect_code 4
expect_err "there is no '$scratch/etc/site.conf', so nobody but root may have jails: copy site.conf.example there"
it 'does not start with one that is wrong, or that others may write'
conf 'jail.memory 1GiB' 'jail.pids lots'
run "$e2e_build/proctor-launcher" --listen --socket="$socket" --site="$scratch/etc/site.conf"
expect_code 4
expect_err "site.conf:2: key 'jail.pids': 'lots' is not a number from 4 to 4194304"
conf 'jail.memory 1GiB'
chmod 666 "$scratch/etc/site.conf"
run "$e2e_build/proctor-launcher" --listen --socket="$socket" --site="$scratch/etc/site.conf"
expect_code 4
expect_err "has mode 0666: root alone may be able to write it"
check_not test -e "$socket"

it 'is told by those who are not there that it is not there'
run_as $one proctor jail -- true
expect_code 125
expect_err "use sudo; or the service of a shared node, which is not there: .* it listens at '$socket'"

conf "group $group" 'jail.memory 8GiB' 'jail.pids 1024' 'jail.cpus 64' 'jail.wall 2h' 'jail.bytes 2GiB' 'jail.inodes 400000' \
	'jail.output 4GiB' 'client.jails 4' 'client.memory 32GiB' 'client.timing 1s' 'device log /dev/kmsg' 'device full /dev/full' 'device gone /dev/none/such'
start_service

it 'gives a member a jail like any other'
run_as $one proctor jail -- sh -c 'id; echo error >&2; exit 3'
expect_code 3
expect_out_is 'uid=1000(agent) gid=1000(agent) groups=1000(agent)'
expect_err '^error$'

it 'puts files in and collects what is left, with the rights of the member alone'
mkdir "$scratch/$one/put"
echo text >"$scratch/$one/put/file"
chown -R $one:$one "$scratch/$one/put"
run_as $one proctor jail --put put --archive left -- sh -c 'cat file; echo more >new'
expect_code 0
expect_out_is text
check test "$(stat -c %u "$scratch/$one/left")" = $one
echo secret >"$scratch/rooted"
chmod 600 "$scratch/rooted"
run_as $one proctor jail --put "$scratch/$two" -- true
expect_code 125
expect_err 'Permission denied'
run_as $one proctor jail --archive "$scratch/etc/left" -- true
expect_code 125
expect_err 'Permission denied'

it 'does not know who is not in the group'
run_as $outsider proctor jail -- true
expect_code 125
expect_err "this account may not use proctor's launcher: .*usermod -aG $group NAME"
chmod 666 "$socket" # the belt, where the file lets everybody in
attack $outsider greet
expect_refused "account $outsider is not in the group $group"
it 'does not know accounts of jails'
run setpriv --reuid=1879048200 --regid=1879048200 --groups=$group "$hostile" "$socket" greet
expect_out '^refused: account 1879048200 is that of a jail'
chmod 660 "$socket"

it 'looks at a host for a member: doctor'
run_as $one proctor doctor
expect_code 0
expect_out '^jail +ok +tried '

it 'has a whole run without root: its folder and its secret are the member'"'"'s own'
printf '#!/bin/sh\necho "no C" >softmax.c\n' >"$scratch/$one/broken"
chmod 755 "$scratch/$one/broken"
chown $one "$scratch/$one/broken"
task=$e2e_root/tasks/c2c/row-softmax
run_as $one proctor run --run result --attempts 2 --agent scripted:./broken "$task"
expect_code 1
check test "$(find "$scratch/$one/result" -name record.json | wc -l)" -eq 2
check test "$(stat -c '%u %a' "$scratch/$one/result/secret")" = "$one 600"
run_as $one proctor resume result
expect_code 1

it 'marks for a member as it does for root'
# On a machine that is busy with something else the time for a marking may be over: that is RESOURCE.
run_as $one proctor run --run marked --agent scripted:honest-vector "$task"
expect_out '^row-softmax .* exited  (VALID|RESOURCE) '
check test "$(find "$scratch/$one/marked" -name record.json | wc -l)" -eq 1

it 'lets nobody go on with a run of somebody else'
run_as $two proctor resume "$scratch/$one/result"
expect_code 3
expect_err 'Permission denied'
chmod 755 "$scratch/$one"
run_as $two proctor resume "$scratch/$one/result"
expect_code 3
expect_err "is that of account $one"
chmod 700 "$scratch/$one"

it 'believes no SUDO_UID of an account that is not root'
SUDO_UID=$two
export SUDO_UID
run_as $one proctor run --run sudo --agent scripted:./broken "$task"
unset SUDO_UID
expect_code 1
check test "$(stat -c %u "$scratch/$one/sudo")" = $one

# --- a root-only file ---

it 'takes no folder and no file by its mere name: an O_PATH descriptor is no right to read'
mkdir -m 700 "$scratch/closed"
cp "$scratch/rooted" "$scratch/closed/file"
for role in program tree pass archive output; do
	for path in "$scratch/closed" "$scratch/rooted" /etc/shadow /root /; do
		attack $one path-as $role "$path"
		expect_refused 'descriptor [0-9]+ of the request, the .*, is not '
	done
done

it 'reads no file of root'"'"'s through a jail'
run_as $one proctor jail -- sh -c 'cat /etc/shadow /root/.bashrc; ls /root; cat /proc/1/environ'
check_not test -s "$scratch/out"

# --- writing elsewhere ---

it 'writes into nothing that was not open to be written'
echo before >"$scratch/readable"
chmod 644 "$scratch/readable"
attack $one archive-into "$scratch/readable"
expect_refused 'the archive, is not a regular file or a pipe, to be written'
check test "$(cat "$scratch/readable")" = before

it 'follows no path out of a jail'
for what in tree collect tmpfs folder name mask root extra gpu-path; do
	attack $one spec $what
	expect_refused .
done

# --- devices ---

it 'has no device that is not listed, by whatever name'
attack $one device mem
expect_refused "there is no device 'mem' for jails on this host: its administrator can list it in .*site.conf"
attack $one device ../mem
expect_refused 'no path'
attack $one device /dev/mem
expect_refused 'no path'
attack $one device log log
expect_refused "the device 'kmsg' is there twice"
attack $one device full
expect_refused "the device 'full' is there twice"
attack $one device gone
expect_refused "device 'gone': '/dev/none/such' is no character device now"
attack $one spec gpu
expect_refused "there are no GPUs for jails on this host: its administrator can list them in .*site.conf"
it 'has one that is listed'
attack $one device log
expect_out '^ended exited$'
run_as $one proctor jail -- sh -c 'echo x >/dev/kmsg || head -c 1 /dev/mem || head -c 1 /dev/vda'
check_not test "$code" = 0

# --- leases and limits ---

it 'gives no jail more than the site permits, and says which key it is'
for what in memory:jail.memory pids:jail.pids cpus:jail.cpus wall:jail.wall bytes:jail.bytes inodes:jail.inodes; do
	attack $one spec "${what%:*}"
	expect_refused "more than the .* that this host allows a jail: .*raise '${what#*:}' in $scratch/etc/site.conf"
done
for what in memory-none accept cpu-list; do
	attack $one spec $what
	expect_refused .
done

it 'gives no account more jails than its quota, while others have theirs'
attack $one hold 7
check test "$(grep -c '^granted$' "$scratch/out")" -eq 4
check test "$(grep -c "^refused: account $one has jails with 4 jails together: .*'client.jails' in " "$scratch/out")" -eq 3
expect_served
it 'gives them back with the connection'
attack $one hold 4
check test "$(grep -c '^granted$' "$scratch/out")" -eq 4

it 'gives no account more connections than it needs'
attack $one crowd 60
expect_out "^32 granted; .*account $one has 32 connections to the launcher already"
expect_served

it 'has one marking at a time, and nobody gives back what is another'"'"'s'
spawn $one "$hostile" "$socket" timing turn alone wait >"$scratch/holder" &
holder=$!
wait_for grep -q '^alone: granted' "$scratch/holder"
attack $two timing alone shared turn leave leave-turn alone turn
expect_out_is "$(printf 'alone: busy\nshared: busy\nturn: busy\nleave: granted\nleave-turn: granted\nalone: busy\nturn: busy')"
check flock -n /run/proctor/uids-0000.lock true
check_not flock -n /run/proctor/timing true
it 'takes the lease from whoever has it for too long, who then waits as others do'
attack $two timing sleep alone leave
expect_out '^alone: granted$'
kill -9 "$holder" && wait "$holder" 2>/dev/null
attack $one timing sleep alone sleep alone leave
expect_out_is "$(printf 'alone: granted\nalone: busy\nleave: granted')"
it 'by whichever of its connections: others have their turn'
attack $one timing alone turn
expect_out_is "$(printf 'alone: busy\nturn: busy')"

it 'ends what a dead client had, though an accomplice keeps its connection'
attack_orphan() {
	as $one "$hostile" "$socket" orphan >"$scratch/out" 2>"$scratch/err"
	# The accomplice goes on after its parent.
	wait_for grep -qE '^(closed|silence|nonsense)' "$scratch/out"
}
attack_orphan
expect_out '^granted$'
expect_out '^ended stopped$'
expect_out '^closed$'
attack $two timing alone leave
expect_out '^alone: granted$'
expect_served

it 'knows a client by its process: no other speaks for it, and all greet first'
attack $one stranger
expect_refused 'it is not the process that has connected who speaks'
attack $one rude
check test "$(grep -c 'a client of the service greets first' "$scratch/out")" -eq 2
expect_refused 'greets first'
: >"$scratch/early"
kill -STOP $service
spawn $one "$hostile" "$socket" early >"$scratch/early" &
early=$!
wait_for grep -q sent "$scratch/early"
kill -CONT $service
wait $early
check grep -q '^refused: a client of the service waits until it is spoken to;' "$scratch/early"

# --- the wire ---

it 'answers every packet that is no request, and serves on'
attack $one packets
check test "$(grep -c '^refused: ' "$scratch/out")" -eq 11
expect_refused 'another version of proctor'
expect_out '^refused: a request is longer than'

it 'refuses descriptors too many, too few, and of other kinds'
attack $one descriptors
expect_refused 'descriptors too many'
expect_out '^refused: .*lacks descriptors|^closed'

it 'holds a jail to its limits whether its client reads or not'
attack $one stuffed
expect_out_is 'ended in time'
expect_served

expect_soon() { # SECONDS: another account is served within so many
	soon=$(date +%s)
	expect_served
	soon=$(($(date +%s) - soon))
	[ "$soon" -le $(($1 * slow)) ] || fail "another account waited for $soon s"
}

it 'waits for no descriptor of a client that takes long to close'
: >"$scratch/lingers"
spawn $one "$hostile" "$socket" linger-unused >"$scratch/lingers" &
lingers=$!
wait_for grep -q sent "$scratch/lingers"
expect_soon 3
kill -9 "$lingers" && wait "$lingers" 2>/dev/null
it 'nor for one that it has not received when a connection ends'
for ends in wait ''; do
	: >"$scratch/lingers"
	kill -STOP "$service"
	# shellcheck disable=SC2086 # a word or none
	spawn $one "$hostile" "$socket" linger-unread $ends >"$scratch/lingers" &
	lingers=$!
	wait_for grep -q sent "$scratch/lingers"
	[ -n "$ends" ] || wait "$lingers"
	kill -CONT "$service"
	expect_soon 3
	[ -z "$ends" ] || { kill -9 "$lingers" && wait "$lingers" 2>/dev/null; }
done

it 'holds a jail to its time whatever its client sends to its monitor'
attack $one linger-wish
expect_out_is 'ended in time'

# --- other clients ---

it 'takes the jails of a client that is killed, and of nobody else'
spawn $one "$e2e_build/proctor" jail -- sleep 30 >/dev/null 2>&1 &
first=$!
spawn $two "$e2e_build/proctor" jail -- sh -c 'sleep 2; echo survived' >"$scratch/survivor" 2>&1 &
second=$!
sleeps() { [ "$(pgrep -xc sleep)" -ge "$1" ]; }
wait_for sleeps 2
payload=$(pgrep -x sleep | head -n 1)
run_as $one kill -9 "$payload" $(pgrep -x sleep)
expect_err 'Operation not permitted'
kill -9 "$first"
wait "$first" 2>/dev/null
only_one() { [ "$(pgrep -xc sleep)" -le 1 ]; }
wait_for only_one
wait "$second"
check test "$(cat "$scratch/survivor")" = survived
expect_served

it 'keeps nothing of what was refused and what has ended'
descriptors() { find "/proc/$service/fd" -mindepth 1 | wc -l; }
before=$(descriptors)
for _ in 1 2 3 4 5; do
	attack $one packets
	attack $one device mem
done
wait_for test "$(descriptors)" -le "$before"
no_child() { ! pgrep -P "$service" >/dev/null; }
wait_for no_child

# --- the client's own control groups ---

# A batch system in small: a job with limits, in each hierarchy that this host has.
make_job() { # NAME
	job_groups=''
	for word in memory pids cpuset ''; do
		where=$(e2e_group "$word")
		[ -n "$where" ] || continue
		[ -n "$word" ] || where=${where%/*} # version 2: beside our own, which has processes
		mkdir "$where/$1" || continue
		job_groups="$job_groups $where/$1"
		for file in cpuset.mems cpuset.cpus; do
			[ -e "$where/cgroup.controllers" ] || [ ! -e "$where/$file" ] || cat "$where/$file" >"$where/$1/$file"
		done
	done
}

limit_job() { # FILE-OF-V1 FILE-OF-V2 VALUE
	for where in $job_groups; do
		for file in "$1" "$2"; do
			[ ! -w "$where/$file" ] || echo "$3" >"$where/$file"
		done
	done
}

in_job() { # UID COMMAND…: as a job's script is started
	# shellcheck disable=SC2016 # expanded inside of that shell
	job_uid=$1
	shift
	sh -c 'groups=$1 uid=$2 group=$3; shift 3
		for where in $groups; do echo $$ >"$where/cgroup.procs" || exit 99; done
		exec setpriv --reuid="$uid" --regid="$uid" --groups="$group" -- "$@"' sh "$job_groups" "$job_uid" $group "$@"
}

remove_job() {
	for where in $job_groups; do
		tries=0
		until rmdir "$where" 2>/dev/null || [ ! -d "$where" ] || [ "$tries" -ge 100 ]; do
			tries=$((tries + 1))
			sleep 0.05
		done
		[ ! -d "$where" ] || fail "the job's group '$where' can not be removed: $(find "$where" -mindepth 1 -type d)"
	done
}

it 'gives a job no more memory and processes than it has, and says so'
make_job job
limit_job memory.limit_in_bytes memory.max 536870912
limit_job pids.max pids.max 30
# shellcheck disable=SC2016 # expanded in the jail
in_job $one "$e2e_build/proctor" jail --json=7 --memory 1GiB --pids 200 --work 64MiB --tmp 16MiB -- sh -c 'n=0; while [ $n -lt 60 ]; do sleep 5 & n=$((n + 1)); done; wait' \
	7>"$scratch/json" >"$scratch/out" 2>"$scratch/err"
e2e_command='proctor jail in a job of 512 MiB and 30 processes'
check grep -q '"clamped:memory"' "$scratch/json"
check grep -q '"clamped:pids"' "$scratch/json"
check test "$(sed -n 's/.*"processes_peak":\([0-9]*\).*/\1/p' "$scratch/json")" -le 30
remove_job
it 'refuses a jail whose file systems a job has no memory for'
make_job job
limit_job memory.limit_in_bytes memory.max 134217728
in_job $one "$e2e_build/proctor" jail --memory 1GiB -- true >"$scratch/out" 2>"$scratch/err"
code=$?
e2e_command='proctor jail in a job of 128 MiB'
expect_code 125
expect_err "the client's own control groups allow no more: a memory limit of 128MiB is less than the 632MiB"
remove_job
it 'gives a job no CPU that is not its own'
make_job job
limit_job cpuset.cpus cpuset.cpus 0
in_job $one "$e2e_build/proctor" jail -- sh -c 'grep Cpus_allowed_list: /proc/self/status' >"$scratch/out" 2>"$scratch/err"
expect_out '^Cpus_allowed_list:[[:space:]]*0$'
in_job $one "$hostile" "$socket" spec cpu-list >"$scratch/out" 2>"$scratch/err"
expect_out "^refused: .*the CPUs '0-4000' are not all among those of the client's control group"
remove_job

it 'ends the jails of a job with the job, and leaves nothing in its groups'
make_job job
in_job $one "$e2e_build/proctor" jail -- sleep 30 >/dev/null 2>&1 &
client=$!
wait_for sleeps 1
for where in $job_groups; do
	xargs -r kill -9 <"$where/cgroup.procs" 2>/dev/null # as a batch system does
done
wait "$client" 2>/dev/null
no_sleep() { ! pgrep -x sleep >/dev/null; }
wait_for no_sleep
remove_job
expect_served

# On version 2 a job has to be given a subtree of its own for that.
delegate_job() {
	for where in $job_groups; do
		[ ! -e "$where/cgroup.subtree_control" ] || chown $one:$one "$where" "$where/cgroup.procs" "$where/cgroup.subtree_control"
	done
}

# Is the jail's payload in a group of the job, in each hierarchy that limits it?
is_inside() {
	inside_of=$(grep -cE '^[0-9]+:(memory|pids)?:.*/job/(launcher/)?proctor/uids-[0-9]+$' "/proc/$(pgrep -x sleep)/cgroup")
	# Of the four hierarchies of a hybrid host, the CPUs' has a jail only where it names some.
	[ "$inside_of" -eq 3 ] || [ "$inside_of" -eq "$(echo "$job_groups" | wc -w)" ]
}

it 'puts the jails of a job into the groups of the job'
make_job job
delegate_job
limit_job pids.max pids.max 40
in_job $one "$e2e_build/proctor" jail --pids 200 -- sleep 30 >/dev/null 2>&1 &
client=$!
wait_for sleeps 1
check is_inside
kill -9 "$client"
wait "$client" 2>/dev/null
wait_for no_sleep
for where in $job_groups; do
	[ ! -d "$where/launcher" ] || wait_for rmdir "$where/launcher"
done
remove_job
expect_served

it 'ends a jail that its owner has moved elsewhere in his subtree and stopped there'
make_job job
delegate_job
in_job $one "$e2e_build/proctor" jail -- sleep 30 >/dev/null 2>&1 &
client=$!
wait_for sleeps 1
payload=$(pgrep -x sleep)
for where in $job_groups; do
	[ -e "$where/cgroup.subtree_control" ] || continue
	as $one mkdir "$where/aside"
	for pid in $payload $(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$payload/status"); do
		as $one sh -c "echo $pid >'$where/aside/cgroup.procs'" || fail "process $pid can not be moved"
	done
	as $one sh -c "echo 1 >'$where/aside/cgroup.freeze'"
done
kill -9 "$(pgrep -x proctor)" # its parent is the shell that put it there
wait "$client" 2>/dev/null
wait_for no_sleep
for where in $job_groups; do
	[ ! -d "$where/aside" ] || wait_for rmdir "$where/aside" 2>/dev/null
	[ ! -d "$where/launcher" ] || wait_for rmdir "$where/launcher"
done
remove_job
expect_served

it 'refuses a group that a client has made for itself in the place of ours'
make_job job
delegate_job
for where in $job_groups; do
	mkdir -m 777 "$where/proctor"
	chown $one:$one "$where/proctor"
done
in_job $one "$e2e_build/proctor" jail -- true >"$scratch/out" 2>"$scratch/err"
code=$?
e2e_command='proctor jail in a group with a folder of its own'
expect_code 125
expect_err "belongs to user $one, not to root: remove it"
for where in $job_groups; do
	rmdir "$where/proctor"
	[ ! -d "$where/launcher" ] || wait_for rmdir "$where/launcher"
done
remove_job
expect_served

# --- the end ---

it 'ends all jails by SIGTERM, and says so to their clients'
spawn $one "$e2e_build/proctor" jail --json=7 -- sleep 30 7>"$scratch/json" >/dev/null 2>&1 &
client=$!
wait_for sleeps 1
stop_service
expect_code 0
wait "$client"
check test $? -eq 125 -o $? -eq 143 -o $? -ne 0
check_not test -e "$socket"
wait_for no_sleep
expect_nothing_left

it 'loses no jail when it is killed, and the next one takes over'
start_service
spawn $one "$e2e_build/proctor" jail --json=7 -- sleep 30 7>"$scratch/json" >/dev/null 2>&1 &
client=$!
wait_for sleeps 1
kill -9 "$service"
wait "$service" 2>/dev/null
wait "$client"
check test $? -eq 125
check grep -q '"ending":"launcher_lost"' "$scratch/json"
wait_for no_sleep
start_service
run_as $one proctor jail -- echo again
expect_out_is again
it 'leaves nothing in the groups of a job when it is killed: the monitors do that'
make_job job
in_job $one "$e2e_build/proctor" jail -- sleep 30 >/dev/null 2>&1 &
client=$!
wait_for sleeps 1
kill -9 "$service"
wait "$service" 2>/dev/null
wait "$client" 2>/dev/null
wait_for no_sleep
remove_job
start_service
it 'clears up behind launcher and monitors that were killed, also in the groups of a job'
make_job job
in_job $one "$e2e_build/proctor" jail -- sleep 30 >/dev/null 2>&1 &
client=$!
wait_for sleeps 1
# The next service is there before they are dead.
monitors=$(pgrep -P "$service")
# shellcheck disable=SC2086 # words on purpose
kill -STOP $monitors
kill -9 "$service"
wait "$service" 2>/dev/null
start_service
# shellcheck disable=SC2086 # words on purpose
kill -9 $monitors
wait "$client" 2>/dev/null
wait_for no_sleep
remove_job
stop_service
expect_nothing_left
