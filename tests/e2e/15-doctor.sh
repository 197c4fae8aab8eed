#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# proctor doctor, here and where something has been taken away; proctor tasks and version; completion.
# shellcheck disable=SC2016 # scripts are expanded by the shells that run them
. "$(dirname "$0")/../lib/e2e.sh"
need_root
chmod 755 "$scratch"
doctor=$e2e_build/proctor

# verdict CHECK VERDICT: the row of a check in the table.
verdict() {
	grep -qE "^$1 +$2 +(tried|read) " "$scratch/out" || fail "'$1' is not '$2': $(grep -E "^$1 " "$scratch/out")"
}

# Runs the doctor in namespaces of its own after a script.
doctor_after() {
	run unshare --mount sh -c "mount --make-rprivate / && $1"' && shift && exec "$@"' - - "$doctor" doctor
}

it 'finds all that a run takes on a host that runs jails'
cut -d ' ' -f 2- /proc/self/mountinfo | sort >"$scratch/mounts"
run proctor doctor
expect_code 0
check test "$(head -n 1 "$scratch/out")" = 'all that the default policy needs is there'
for name in capabilities leases namespaces user-namespace cgroups memory pids cpu cpuset freeze kill \
	device-nodes device-program seccomp jail; do
	grep -qE "^$name +ok +tried " "$scratch/out" || fail "'$name' was not tried"
done
for name in programs account uid-range namespace-limits cgroup-layout cpus; do
	verdict "$name" ok
done
expect_no_out "$(printf '\033')"

it 'says the same of the host afterwards'
cut -d ' ' -f 2- /proc/self/mountinfo | sort | cmp -s - "$scratch/mounts" || fail 'the mounts have changed'
run proctor jail -- true
expect_code 0

it 'writes one JSON object, beside the table where that is asked for'
run proctor doctor --json
expect_code 0
check test "$(wc -l <"$scratch/out")" -eq 1
expect_out '^\{"run":"possible","why":\[\],"checks":\[\{"check":"kernel",.*\]\}$'
expect_out '\{"check":"memory","means":"[^"]*","verdict":"ok","needed":true,"how":"tried","found":"memory\.[^"]*","way_out":null\}'
run sh -c '"$0" doctor --json=5 5>"$1"' "$doctor" "$scratch/json"
expect_code 0
expect_out '^CHECK '
check grep -q '^{"run":"possible"' "$scratch/json"

it 'explains each check where that is asked for'
run proctor doctor --explain
expect_code 0
expect_out "^memory \(ok, needed\): "

it 'says to others what it could not see, and what they can see'
run setpriv --reuid 65534 --regid 65534 --clear-groups "$doctor" doctor
expect_code 4
check test "$(head -n 1 "$scratch/out")" = 'a run under the default policy would be refused:'
expect_out '^  not seen: capabilities, leases,.* memory, '
expect_out '^memory +unknown +read +not tried: only root can try it; the controller is in '
expect_out '^seccomp +ok +tried '
expect_out '^kernel +ok +read '

it 'names a capability that was taken away, as a run would'
run setpriv --bounding-set=-mknod --inh-caps=-mknod "$doctor" doctor
expect_code 4
expect_out '^  capabilities: the capability cap_mknod '
verdict capabilities missing
verdict device-nodes missing
verdict memory ok
expect_out '^device-nodes \(missing, needed\): '
run setpriv --bounding-set=-mknod --inh-caps=-mknod "$doctor" jail -- true
expect_code 125
expect_err 'the capability cap_mknod '

it 'sees that a user namespace lacks the ids of jails'
run unshare --map-root-user "$doctor" doctor
expect_code 4
expect_out '^  uid-range: .*uid_map does not map 1879048192'
verdict user-namespace missing
verdict device-program missing
verdict account missing

it 'sees that a kind of namespace is used up'
run unshare --map-root-user sh -c 'echo 0 >/proc/sys/user/max_net_namespaces && exec "$0" doctor' "$doctor"
expect_code 4
verdict namespaces missing
expect_out '^namespace-limits +missing +read +user.max_net_namespaces is 0'

it 'sees that the control groups are hidden, as a run does'
doctor_after 'mount -t tmpfs none /sys/fs/cgroup'
expect_code 4
verdict cgroup-layout missing
verdict cgroups missing
verdict jail missing
verdict namespaces ok
# A host of version 1 and 2 has other hierarchies left, where they may be.
check grep -qE '^memory +(unknown|missing) ' "$scratch/out"
run unshare --mount sh -c 'mount --make-rprivate / && mount -t tmpfs none /sys/fs/cgroup && exec "$0" jail -- true' "$doctor"
expect_code 125

it 'sees that the control groups can not be written'
doctor_after 'for point in $(awk '\''$3 ~ /^cgroup/ { print $2 }'\'' /proc/mounts); do
	mount -o remount,bind,ro "$point"; done'
expect_code 4
expect_out '^  cgroups: .*Read-only file system'
verdict cgroup-layout ok
verdict cgroups missing

it 'sees that /proc and /sys are not there'
doctor_after 'mount -t tmpfs none /sys'
expect_code 4
verdict clock unknown
verdict cgroup-layout missing

it 'sees a single CPU, an account that is none, and programs that stand elsewhere'
run taskset -c 0 "$doctor" doctor
expect_code 4
expect_out '^cpus +missing +read +1 CPU may be used'
run env SUDO_UID=4294967294 "$doctor" doctor
expect_code 4
expect_out '^  account: SUDO_UID is 4294967294, which has no account'
cp "$doctor" "$scratch/alone"
run "$scratch/alone" doctor
if [ -e /usr/local/libexec/proctor ] || [ -e /usr/libexec/proctor ]; then
	note 'proctor is installed: it finds its programs there'
else
	expect_code 4
	expect_out "^programs +missing +read +open 'proctor-launcher'"
	verdict jail missing
fi

it 'refuses what it does not know'
run proctor doctor --no-such-option
expect_code 2
run proctor doctor here
expect_code 2
run proctor doctor --json=77
expect_code 2
run sh -c '"$0" doctor >/dev/full' "$doctor"
expect_code 5
expect_err 'No space left on device'
run "$e2e_build/proctor-probe"
expect_code 2
run "$e2e_build/proctor-probe" --socket=1
expect_code 2

it 'lists the tasks that came with it'
run proctor tasks list
expect_code 0
expect_out '^row-softmax +c2c +3 +odd,up,down,edge +softmax.c +4 '
run proctor tasks list --json "$e2e_root/tasks"
expect_code 0
expect_out '^\{"tasks":\[\{"task":"heat-stencil",.*\{"task":"row-softmax",.*\],"broken":\[\]\}$'

it 'goes on past a task that is broken, and names file, line, key and value'
mkdir -p "$scratch/tasks/c2c"
for name in a-broken good z-broken; do
	cp -R "$e2e_root/tasks/c2c/row-softmax" "$scratch/tasks/c2c/$name"
	sed -i "s/^name: .*/name: $name/" "$scratch/tasks/c2c/$name/task.yaml"
done
sed -i 's/^kind: c2c/kind: c3po/' "$scratch/tasks/c2c/a-broken/task.yaml"
rm "$scratch/tasks/c2c/z-broken/workspace/softmax.c"
run proctor tasks list "$scratch/tasks"
expect_code 3
expect_out '^good '
expect_no_out broken
expect_err "task '$scratch/tasks/c2c/a-broken': task.yaml:4: key 'kind': 'c3po'"
expect_err "task '$scratch/tasks/c2c/z-broken': .*softmax.c"
run proctor tasks list --json "$scratch/tasks"
expect_code 3
expect_out '"broken":\[\{"folder":"[^"]*a-broken","error":"task.yaml:4: '

it 'shows all of a task, by its folder or by its name'
run proctor tasks show row-softmax
expect_code 0
expect_out '^row-softmax \(c2c\): '
expect_out '^y +out +f32 +\[rows, cols\] +close\(rel=1e-4, abs=1e-12\)'
expect_out '^solutions +cheat-late-write .*honest-vector'
run proctor tasks show --json "$scratch/tasks/c2c/good"
expect_code 0
expect_out '^\{"task":"good",'
run proctor tasks show "$scratch/tasks/c2c/a-broken"
expect_code 3
expect_err "task.yaml:4: key 'kind': 'c3po'"

it 'does not parse a task as root'
mkdir -m 700 "$scratch/tasks/c2c/closed"
cp "$e2e_root/tasks/c2c/row-softmax/task.yaml" "$scratch/tasks/c2c/closed"
run proctor tasks list "$scratch/tasks/c2c"
expect_code 3
expect_err "task '$scratch/tasks/c2c/closed': open the folder: Permission denied"
run setpriv --reuid 65534 --regid 65534 --clear-groups "$doctor" tasks list "$scratch/tasks/c2c"
expect_code 3
expect_out '^good '

it 'refuses a task that is not there, and words that are none'
run proctor tasks show no-such-task
expect_code 3
expect_err "there is no folder 'no-such-task', and no task of this name in "
run proctor tasks show ./no-such-task
expect_code 3
run proctor tasks list /nonexistent
expect_code 3
for words in '' 'shows' 'show' 'show a b' 'list --nonsense'; do
	# shellcheck disable=SC2086 # words
	run proctor tasks $words
	expect_code 2
done
run proctor tasks --help
expect_code 0

it 'says what it is made of'
run proctor version
expect_code 0
expect_out '^proctor [0-9]+\.[0-9]+\.[0-9]+$'
expect_out "^program +$(sha256sum <"$doctor" | cut -d ' ' -f 1)$"
expect_out "^policy +$(sha256sum <"$e2e_root/policies/default.yaml" | cut -d ' ' -f 1)$"
run proctor version --json
expect_code 0
expect_out '^\{"version":"[0-9.]+",.*"landlock_abi":6,'
run proctor version please
expect_code 2

it 'is completed by what its own help says'
# completed WORD…: what the last word is completed to.
completed() {
	run bash -c '. "$0" && COMP_WORDS=("$@") && COMP_CWORD=$(($# - 1)) && _proctor "$1" && echo "${COMPREPLY[@]}"' \
		"$e2e_root/harness/proctor.bash" "$doctor" "$@"
}
completed 'do'
expect_out_is 'doctor'
completed ''
expect_out '(^| )jail .*run .*tasks .*version'
completed doctor --
expect_out_is '--explain --json --help'
completed tasks s
expect_out_is 'show'
completed policy e
expect_out_is 'explain'
completed policy explain --r
expect_out_is '--role'
completed policy diff --
expect_out_is '--json --help'
completed tasks list /u
expect_out_is ''
