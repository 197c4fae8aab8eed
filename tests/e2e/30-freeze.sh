#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The freeze of a hostile workspace (tests/attacks/hostile_tree.c): the archive holds exactly the
# regular files, everything else is listed, nothing hangs.
# shellcheck disable=SC2016,SC2059 # expanded inside of the jail; formats are ours
. "$(dirname "$0")/../lib/e2e.sh"
need_root

mkdir "$scratch/put"
cp "$e2e_build/tests/attack-hostile_tree" "$scratch/put/hostile"
chmod 755 "$scratch" "$scratch/put" "$scratch/put/hostile"

it 'collects within half a minute, though a daemon writes on'
run -t 30 proctor jail --put "$scratch/put" --archive "$scratch/archive" -- /work/hostile
expect_code 0

"$e2e_build/tests/tree-list" "$scratch/archive" >"$scratch/list" 2>"$scratch/list.err"
# shellcheck disable=SC2059 # contents are written as formats
sum() { printf "$1" | sha256sum | cut -d ' ' -f 1; }
holds() { # MODE SIZE CONTENT PATH
	grep -qxF -e "file $1 $2 $(sum "$3") $4" "$scratch/list" || fail "no 'file $1 $2 … $4'"
}

it 'is a stream of the grammar'
check test -s "$scratch/list"
check_not test -s "$scratch/list.err"

it 'holds a plain file'
holds - 5 plain plain
it 'holds files and folders of mode 000'
holds - 6 secret secret
holds - 6 inside dark/inside
it 'holds both names of a hard linked file'
holds - 4 twin twin-a
holds - 4 twin twin-b
it 'holds a file that somebody has parked a writable descriptor of'
holds - 6 parked parked
it 'holds a name with a newline, escaped when shown'
holds - 2 nl 'new\x0aline'
it 'holds a name of 255 bytes'
holds - 4 long "$(printf '%0255d' 0 | tr 0 n)"
it 'holds a path of 3,800 bytes'
check grep -qE '^file - 3 [0-9a-f]{64} (d{200}/){18}d{200}/end$' "$scratch/list"
it 'holds what the daemon wrote, up to its end, in whole writes'
size=$(sed -n 's/^file - \([0-9]*\) [0-9a-f]* written$/\1/p' "$scratch/list")
check test "${size:-0}" -gt 0
check test $((${size:-1} % 5)) -eq 0

for refused in 'symlink link-out' 'symlink link-in' 'fifo fifo' 'socket socket' 'oversize sparse' 'setid setuid'; do
	it "lists, and does not hold: ${refused#* }"
	grep -qE "^refused ${refused%% *} [0-9]+ - ${refused#* }$" "$scratch/list" || fail 'it is not listed'
	check_not grep -qE "^file .* ${refused#* }$" "$scratch/list"
done

it 'lists where it went no deeper'
check grep -qE '^refused too-deep [0-9]+ - deep(/below){128}$' "$scratch/list"
check grep -qE '^refused long-path [0-9]+ - long(/d{200})+$' "$scratch/list"

it 'holds nothing else'
others=$(grep -c '^file ' "$scratch/list")
check test "$others" -eq 11 # the ten above and the program itself

it 'gives the same archive of the same tree'
run proctor jail --archive "$scratch/one" -- sh -c 'mkdir b a; echo 1 >b/x; echo 2 >a/y; chmod 755 a/y'
run proctor jail --archive "$scratch/two" -- sh -c 'mkdir a b; echo 2 >a/y; chmod 755 a/y; echo 1 >b/x'
check cmp -s "$scratch/one" "$scratch/two"

it 'collects what a command left that was ended at a limit'
run -t 30 proctor jail --wall "$((500 * slow))ms" --grace 0ms --archive "$scratch/late" -- sh -c 'echo kept >/work/kept; setsid sh -c "while :; do echo x >>/work/log; done" & sleep 60'
expect_code 124
"$e2e_build/tests/tree-list" "$scratch/late" >"$scratch/list"
holds - 5 'kept\n' kept
check grep -q '^file - [0-9]* [0-9a-f]* log$' "$scratch/list"

it 'collects a full workspace'
run -t 60 proctor jail --work 8MiB --files 20000 --archive "$scratch/full" -- sh -c 'head -c 9000000 /dev/zero >/work/big; (i=0; while ln /work/big /work/$i; do i=$((i+1)); [ $i -lt 20 ] || break; done); exit 0'
expect_code 0
"$e2e_build/tests/tree-list" "$scratch/full" >"$scratch/list"
check test "$(grep -c '^file - 8388608 ' "$scratch/list")" -eq 21

it 'says what an archive that is memory takes'
# On v1 the kernel kills one process, and which is chance: a half written archive never counts.
mkdir "$scratch/memory"
for _ in 1 2 3 4 5 6; do
	check mount -t tmpfs -o size=1g memory "$scratch/memory"
	run -t 60 proctor jail --work 8MiB --archive "$scratch/memory/archive" -- sh -c 'head -c 8000000 /dev/zero >/work/big; for i in $(seq 20); do ln /work/big /work/$i; done'
	umount "$scratch/memory"
	expect_code 125
	expect_err 'collect the workspace: .*: more than 128 MiB of memory were used, .*; an archive in a tmpfs is memory: have it written to a disk$'
done

it 'says so when the archive can not be written, and the command has run'
mkdir "$scratch/small"
check mount -t tmpfs -o size=64k small "$scratch/small"
run -t 30 proctor jail --archive "$scratch/small/archive" -- sh -c 'head -c 1000000 /dev/zero >/work/big; echo ran'
umount "$scratch/small"
expect_code 125
expect_out_is ran
expect_err 'No space left on device'
