#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# proctor drill: every attack is held here; launchers that lack a wall are found out; nothing is left, however
# it ends. What the attacks do without walls is shown by tests/attacks/control, in a virtual machine.
# shellcheck disable=SC2016 # scripts are expanded by the shells that run them
. "$(dirname "$0")/../lib/e2e.sh"
need_root
own_place
chmod 755 "$scratch"

# The number that the last JSON object has for KEY.
number() { # KEY
	sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" "$scratch/json"
}

# seen ATTACK WORD: that attack's row of the table.
seen() {
	grep -qE "^$1 .* $2 +[0-9.]+ s " "$scratch/out" || fail "'$1' is not '$2': $(grep -E "^$1 " "$scratch/out")"
}

it 'holds every attack'
run -t 300 sh -c '"$0" drill --json=5 5>"$1"' "$e2e_build/proctor" "$scratch/json"
expect_code 0
check test "$(number got_through)" -eq 0
check test "$(number broken)" -eq 0
check test "$(number held)" -ge 90
expect_out '^ATTACK +WALL +EXPECTED +SEEN +TIME +WHAT$'
expect_out '^[0-9]+ held, 0 got through, 0 broken, [0-9]+ n/a'
expect_no_out "$(printf '\033')"
while IFS='|' read -r attack state what; do
	it "holds $attack"
	case $state in
	held) ;;
	known) note 'gets through everywhere: see SECURITY.md, Residual risks' ;;
	n/a) note "not tried here: $what" ;;
	*) fail "$state: $what" ;;
	esac
done <<END
$(tr '{' '\n' <"$scratch/json" | sed -n 's/^"attack":"\([^"]*\)".*"seen":"\([^"]*\)","what":"\([^"]*\)".*/\1|\2|\3/p')
END

it 'leaves nothing behind'
expect_nothing_left
check_not grep -q proctor-drill /proc/mounts
check_not test -e /tmp/drill-was-here
check_not grep -q '@drill-' /proc/net/unix

it 'leaves nothing behind when it is ended at any moment'
moments='0.02 0.1 0.3 0.6 1.2'
[ "$slow" -eq 1 ] || moments='0.5 2'
for signal in TERM KILL; do
	for moment in $moments; do
		"$e2e_build/proctor" drill >/dev/null 2>&1 </dev/null &
		drill=$!
		sleep "$moment"
		kill -"$signal" "$drill" 2>/dev/null
		wait "$drill"
		expect_nothing_left
	done
done

it 'says that it was stopped'
run sh -c '"$0" drill >"$1" & sleep "$2"; kill -TERM $!; wait $!' "$e2e_build/proctor" "$scratch/stopped" \
	"$([ "$slow" -gt 1 ] && echo 3 || echo 0.5)"
expect_code 4
check grep -q '^stopped before the end$' "$scratch/stopped"

it 'tries what it is told to'
run proctor drill --only id-become-root --only net-
expect_code 0
seen id-become-root held
seen net-host-abstract held
expect_no_out '^kernel-'
run proctor drill --json --only id-become-root
expect_code 0
check test "$(wc -l <"$scratch/out")" -eq 1
expect_out '^\{"schema":"proctor/drill/1",.*"corpus":[0-9]+,"held":1,"got_through":0,"broken":0,"not_tried":0,"known":0,"stopped":false,"without":\[\],"attacks":\[\{"attack":"id-become-root",.*\}\]\}$'

it 'lists what it would try, without root and without trying'
run setpriv --reuid 65534 --regid 65534 --clear-groups "$e2e_build/proctor" drill --list
expect_code 0
expect_out '^kernel-bpf +system call filter +refused +yes +a map of BPF$'
check test "$(wc -l <"$scratch/out")" -gt 90
run proctor drill --list --json --only freeze-
expect_code 0
expect_out '^\{"attacks":\[\{"attack":"freeze-link",.*\}\]\}$'

it 'goes by the limits of a policy'
printf 'schema: 1\nname: small\nagent: { pids: 20 }\n' >"$scratch/small.yaml"
chmod 644 "$scratch/small.yaml"
run proctor drill --policy "$scratch/small.yaml" --only res-processes
expect_code 0
expect_out '^res-processes .* with 18 children$'

it 'says what is wrong with how it is called'
run proctor drill --only no-such-attack
expect_code 2
expect_err "there is no attack 'no-such-attack'"
run proctor drill all
expect_code 2
run proctor drill --policy /nonexistent
expect_code 3
printf 'schema: 1\nname: small\nagent: { pids: 1 }\n' >"$scratch/wrong.yaml"
run proctor drill --policy "$scratch/wrong.yaml"
expect_code 3
expect_err 'wrong.yaml:3: '
run setpriv --reuid 65534 --regid 65534 --clear-groups "$e2e_build/proctor" drill
expect_code 4
expect_err 'needs root'
run sh -c '"$0" drill --only id-become-root >/dev/full' "$e2e_build/proctor"
expect_code 5

# A drill that can not fail is worthless: launchers that lack one wall each. All attacks, or on a slow machine those
# that are named.
weak() { # LAUNCHER ATTACK…
	rm -rf "$scratch/weak"
	mkdir "$scratch/weak"
	for program in proctor proctor-attack; do
		cp "$e2e_build/$program" "$scratch/weak"
	done
	cp "$e2e_build/tests/$1" "$scratch/weak/proctor-launcher"
	shift
	attacks=$*
	set --
	for attack in $attacks; do
		[ "$slow" -eq 1 ] || set -- "$@" --only "$attack"
	done
	run -t 300 "$scratch/weak/proctor" drill "$@"
}

it 'finds a launcher out that filters no system calls'
through='ns-unshare-user ns-clone-user ns-clone3-user proc-trace-child kernel-io-uring kernel-userfaultfd kernel-foreign-table id-personality'
held='id-become-root read-root-only proc-see res-memory freeze-link'
# shellcheck disable=SC2086 # words on purpose, here and below
weak weak-filter $through $held
expect_code 1
check test "$(head -n 1 "$scratch/out")" = 'got through:'
for attack in $through; do
	expect_out "^  $attack: "
	seen "$attack" 'got through'
done
for attack in $held; do
	seen "$attack" held
done
expect_nothing_left

it 'finds a launcher out that keeps what it has inherited'
through='id-groups-inherited id-signals-inherited'
held='id-become-root kernel-bpf'
# shellcheck disable=SC2086 # the same
weak weak-reset $through $held
expect_code 1
for attack in $through; do
	expect_out "^  $attack: "
done
for attack in $held; do
	seen "$attack" held
done
expect_nothing_left
