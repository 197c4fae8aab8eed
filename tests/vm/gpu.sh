#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The nodes of GPUs in the virtual machine: the real driver's /dev/kfd, and a render node for each
# `-device virtio-gpu-pci`. They answer to root, and no jail has one.
. "$(dirname "$0")/../lib/e2e.sh"
need_root
chmod 755 "$scratch"
mkdir "$scratch/put"
cp "$e2e_build/tests/vm-nodes" "$scratch/put/nodes"
nodes='/dev/kfd /dev/dri/renderD128 /dev/dri/renderD129'

# Whatever is a node of these drivers, by its number, wherever it is and whatever its name is: a line
# each. KFD-MAJOR as its argument.
cat >"$scratch/put/find" <<'END'
find / -xdev -type c -exec stat -c '%Hr:%Lr %n' {} + 2>/dev/null | grep -E "^($1|226):"
find /dev/ -type c -exec stat -c '%Hr:%Lr %n' {} + 2>/dev/null | grep -E "^($1|226):"
exit 0
END

it 'has the nodes of a compute driver and of two GPUs'
check modprobe virtio_gpu
check modprobe amdgpu
for node in $nodes; do
	check test -c "$node"
done
check test -e /sys/class/kfd/kfd/topology/nodes/0
major=$(awk '$2 == "kfd" { print $1 }' /proc/devices)
check test -n "$major"

it 'has drivers behind them that answer'
# shellcheck disable=SC2086 # words on purpose
run "$scratch/put/nodes" $nodes
expect_code 0
expect_out '^/dev/kfd: kfd 1\.[0-9]+$'
expect_out '^/dev/dri/renderD128: virtio_gpu$'
expect_out '^/dev/dri/renderD129: virtio_gpu$'

it 'has a doctor who tells of the driver, and that it shows no GPU'
run proctor doctor
expect_code 0
note "$(grep -E '^(amd|nvidia)-gpu ' "$scratch/out")"
expect_out '^amd-gpu +missing +read +0 GPUs; '

it 'finds them by their numbers where there is no jail'
run sh "$scratch/put/find" "$major"
expect_out "^$major:0 /dev/kfd$"
expect_out '^226:129 /dev/dri/renderD129$'

it 'gives a jail none of them'
# shellcheck disable=SC2086 # the same
run proctor jail --put "$scratch/put" -- ./nodes $nodes
expect_code 1
for node in $nodes; do
	expect_out "^$node: open: No such file or directory$"
done

it 'gives a jail none of them under another name, and says nothing of them in /sys'
run proctor jail --put "$scratch/put" -- sh ./find "$major"
expect_code 0
expect_no_out .
run proctor jail -- sh -c 'ls -d /sys/class/kfd /sys/class/drm/* /sys/devices/virtual/kfd'
expect_no_out .

# A seat that has a GPU: its tests belong here.
