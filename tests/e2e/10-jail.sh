#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# proctor jail: what passes through, what it says, what its options do.
# shellcheck disable=SC2016 # what the jail's shell expands
. "$(dirname "$0")/../lib/e2e.sh"
need_root

it 'passes standard output, standard error and the exit code on'
run proctor jail -- sh -c 'echo to-out; echo to-err >&2; exit 37'
expect_code 37
expect_out_is to-out
expect_err '^to-err$'

it 'passes ten megabytes and binary bytes on exactly'
run proctor jail -- sh -c 'head -c 10000000 /dev/zero | tr "\0" "\377"'
expect_code 0
head -c 10000000 /dev/zero | tr '\0' '\377' | cmp -s - "$scratch/out" || fail 'other bytes came'

it 'gives 128 and the signal for a command that a signal ended'
run proctor jail -- sh -c 'kill -SEGV $$'
expect_code 139

it 'gives 127 for a command that is not there'
run proctor jail -- /nonexistent/command
expect_code 127
expect_err "execute '/nonexistent/command': No such file"

it 'gives 126 for a command that can not be executed'
run proctor jail -- /etc/passwd
expect_code 126

it 'says in JSON how it ended'
run proctor jail --json -- sh -c 'exit 3'
expect_code 3
expect_out '^\{"ending":"exited","code":3,"flags":\[\],"wall_ms":[0-9]+,"cpu_ms":[0-9]+,"memory_peak":[1-9][0-9]*,"processes_peak":[0-9]+,"output_bytes":0\}$'

it 'writes the JSON to another descriptor'
run sh -c '"$0" jail --json=5 -- echo hello 5>"$1"' "$e2e_build/proctor" "$scratch/json"
expect_out_is hello
check grep -q '"output_bytes":6}' "$scratch/json"

it 'ends it at the wall limit'
run proctor jail --json --wall 300ms -- sleep 60
expect_code 124
expect_out '"ending":"timeout"'

it 'ends what ignores SIGTERM, children too'
run proctor jail --json --wall 300ms --grace 100ms -- sh -c 'trap "" TERM; sleep 60 & sleep 60'
expect_code 124
expect_out '"ending":"timeout"'

it 'ends it at the CPU limit'
run proctor jail --json --cpu 300ms -- sh -c 'while :; do :; done'
expect_code 124
expect_out '"ending":"cpu"'

it 'ends it at the memory limit'
run proctor jail --json --memory 512MiB --work 64MiB --tmp 64MiB -- sh -c 'x=$(head -c 600000000 /dev/zero | tr "\0" x); echo ${#x}'
expect_code 124
expect_out '"ending":"oom"'

it 'ends it at the output limit'
run sh -c '"$0" jail --json=5 --output 1MiB -- yes 5>"$1"' "$e2e_build/proctor" "$scratch/json"
expect_code 124
check grep -q '"ending":"output"' "$scratch/json"
check test "$(stat -c %s "$scratch/out")" -eq 1048576

it 'counts what the process limit refused'
run proctor jail --json --pids 16 -- sh -c 'i=0; while [ $i -lt 40 ]; do sleep 1 & i=$((i+1)); done 2>/dev/null; exit 0'
expect_out '"flags":\["pids_hit"\]'

it 'says when the disk was full, which is no memory kill'
run proctor jail --json --work 1MiB --memory 256MiB --tmp 16MiB -- sh -c 'head -c 5000000 /dev/zero >/work/big 2>/dev/null; exit 0'
expect_code 0
expect_out '"flags":\["disk_full"\]'

it 'says when there were no inodes left'
run proctor jail --json --files 100 -- sh -c 'i=0; while : >/work/f$i; do i=$((i+1)); done 2>/dev/null; exit 0'
expect_out '"flags":\["inodes_full"\]'

it 'limits the CPU time a second'
run proctor jail --json --cpus 0.2 --wall 1s -- sh -c 'while :; do :; done'
check test "$(sed -n 's/.*"cpu_ms":\([0-9]*\).*/\1/p' "$scratch/out")" -lt 500

it 'names the option whose value is wrong'
run proctor jail --wall 5 -- true
expect_code 2
expect_err "option --wall: '5' is not a time such as 500ms, 2s or 5m"
run proctor jail --pids 1 -- true
expect_code 2
expect_err "option --pids: '1' is not within 4..4194304"
run proctor jail --memory 20MiB -- true
expect_code 125
expect_err 'filled to the brim'
run proctor jail --walls 5s -- true
expect_code 2
expect_err "there is no option '--walls=?.*'|there is no option '--walls'"
run proctor jail
expect_code 2

it 'is not held up by a process that keeps the output open'
run -t 20 proctor jail -- sh -c 'setsid sleep 60 & exit 4'
expect_code 4

it 'ends a jail whose processes are all stopped'
run -t 20 proctor jail --wall 500ms --grace 100ms -- sh -c 'kill -STOP $$'
expect_code 124

it 'ends with its client, however that ends'
"$e2e_build/proctor" jail -- sleep 61 &
client=$!
sleep 1
check pgrep -f 'sleep 61' >/dev/null
kill -9 "$client"
sleep 2
pgrep -fx 'sleep 61' >/dev/null && fail 'the jail lives on'
wait "$client" 2>/dev/null

it 'ends at a signal to proctor'
run timeout -s TERM 1 "$e2e_build/proctor" jail -- sleep 62
pgrep -fx 'sleep 62' >/dev/null && fail 'the jail lives on'

it 'leaves no control group and no lease behind'
# Other runs may have jails: a leaf of theirs has processes.
empty() { find /sys/fs/cgroup -maxdepth 3 -path '*/proctor/uids-*/cgroup.events' -exec grep -l 'populated 0' {} + 2>/dev/null; }
sleep 0.5
[ -z "$(empty)" ] || sleep 0.5
[ -z "$(empty)" ] || fail "there is $(empty)"

it 'says what it needs when it is not root'
run setpriv --reuid 65534 --regid 65534 --clear-groups "$e2e_build/proctor" jail -- true
expect_code 125
expect_err 'needs root'
