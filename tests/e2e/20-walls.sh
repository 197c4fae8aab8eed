#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The walls of a jail, tried from inside (tests/attacks/walls.c), and the same attempts where there
# are no walls, where they have to get through: a test that can not fail shows nothing.
. "$(dirname "$0")/../lib/e2e.sh"
need_root

mkdir "$scratch/put"
cp "$e2e_build/tests/attack-walls" "$scratch/put/walls"
chmod 755 "$scratch" "$scratch/put" "$scratch/put/walls"
secret=$(mktemp /usr/local/lib/.proctor-test-XXXXXX)
chmod 600 "$secret"

run proctor jail --put "$scratch/put" -- ./walls
rm -f "$secret"
jailed=$scratch/jailed
cp "$scratch/out" "$jailed"

it 'runs the attempts inside'
expect_code 0
check grep -q '^1\.\.' "$jailed"
while read -r line; do
	case $line in
	'ok '*) it "inside: ${line#*- }" ;;
	'not ok '*)
		it "inside: ${line#*- }"
		fail 'the wall did not hold'
		;;
	esac
done <"$jailed"

# The control: as root, in a mount and process namespace that is thrown away, and over the host's root
# in memory: what gets through here writes there.
mkdir "$scratch/bare-root"
cat >"$scratch/bare-walls" <<-'EOF'
	set -e
	cd "$1"
	mount --make-rprivate /
	mount -t tmpfs none .
	mkdir upper work root
	mount -t overlay -o lowerdir=/,upperdir=upper,workdir=work none root
	mount -t proc proc root/proc
	mount --rbind /sys root/sys
	mount -t tmpfs none root/tmp
	mount -t tmpfs none root/dev
	for node in /dev/*; do
		[ -d "$node" ] || cp -a "$node" root/dev/
	done
	mkdir root/dev/pts root/dev/shm
	mount -t devpts -o newinstance,ptmxmode=666 none root/dev/pts
	cp "$2" root/tmp/walls
	mkdir root/tmp/old
	pivot_root root root/tmp/old
	cd /tmp
	umount -l old
	exec ./walls
EOF
run unshare --mount --pid --fork sh "$scratch/bare-walls" "$scratch/bare-root" "$e2e_build/tests/attack-walls"
cp "$scratch/out" "$scratch/bare"
for wall in host_root_is_not_mapped the_user_is_not_root every_capability_set_is_empty \
	no_new_privileges_is_set a_system_call_filter_is_on the_only_interface_is_loopback \
	the_root_can_not_be_written dev_can_not_be_written dev_has_the_named_nodes_and_no_other \
	device_nodes_can_not_be_made no_file_that_the_host_keeps_for_root_is_readable \
	nothing_can_be_mounted no_namespace_can_be_made_by_unshare no_namespace_can_be_made_by_clone \
	no_namespace_can_be_made_by_clone3 no_process_can_be_traced pid_1_keeps_its_secrets bpf_is_refused \
	keyrings_are_refused \
	sockets_that_reach_past_the_network_namespace_are_refused files_can_not_be_opened_by_handle \
	kernel_settings_can_not_be_written foreign_system_call_tables_are_closed no_set_user_id_bit_works; do
	it "bare, where it has to get through: $wall"
	check grep -qE "^not ok [0-9]+ - $wall$" "$scratch/bare"
done

it 'leaves nothing of the control on the host'
check_not test -e /new -o -e /dev/new -o -e null
