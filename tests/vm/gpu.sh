#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The nodes of GPUs in the virtual machine: the real driver's /dev/kfd, and a render node for each
# `-device virtio-gpu-pci`. They answer to root, and jails have those that they ask for. kfd lists none of these
# GPUs, so a jail asks by the name of the render node, as for one that root has listed.
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

it 'gives a jail kfd and the render node of its seat, whose drivers answer'
run proctor jail --gpu renderD128 --put "$scratch/put" -- ./nodes /dev/kfd /dev/dri/renderD128
expect_code 0
expect_out '^/dev/kfd: kfd 1\.[0-9]+$'
expect_out '^/dev/dri/renderD128: virtio_gpu$'

it 'gives a jail with one of two no other, by any name'
# shellcheck disable=SC2086 # words on purpose
run proctor jail --gpu renderD128 --put "$scratch/put" -- ./nodes $nodes
expect_code 1
expect_out '^/dev/dri/renderD129: open: No such file or directory$'
run proctor jail --gpu renderD128 --put "$scratch/put" -- sh ./find "$major"
expect_out "^$major:0 /dev/kfd$"
expect_out '^226:128 /dev/dri/renderD128$'
expect_no_out '129|card'
run proctor jail --gpu renderD128 -- mknod /tmp/n c 226 129
expect_err 'Operation not permitted'

it 'refuses what does not run kernels, and that alone'
run "$scratch/put/nodes" requests /dev/kfd
cp "$scratch/out" "$scratch/bare"
note "bare: $(tr '\n' ';' <"$scratch/bare")"
run proctor jail --gpu renderD129 --put "$scratch/put" -- ./nodes requests /dev/kfd
expect_code 0
for request in SET_CU_MASK GET_QUEUE_WAVE_STATE SMI_EVENTS SET_XNACK_MODE CRIU_OP DBG_TRAP CREATE_PROCESS IPC_IMPORT_HANDLE \
	IPC_EXPORT_HANDLE RLC_SPM PC_SAMPLE; do
	expect_out "^$request: Operation not permitted$"
done
# Of the driver itself, which does not look at the letter.
for request in SET_CU_MASK GET_QUEUE_WAVE_STATE SMI_EVENTS SET_XNACK_MODE CRIU_OP DBG_TRAP IPC_IMPORT_HANDLE IPC_EXPORT_HANDLE \
	RLC_SPM PC_SAMPLE; do
	expect_out "^$request x: Operation not permitted$"
done
check grep -q '^GET_CLOCK_COUNTERS x: done$' "$scratch/bare"
# Bare, the driver itself refuses a few of them so; the others fail by their arguments, or are not known.
check test "$(grep -v ' x: ' "$scratch/bare" | grep -c 'Operation not permitted')" -lt 6
expect_out '^GET_CLOCK_COUNTERS: done$'
expect_out '^GET_PROCESS_APERTURES_NEW: done$'
check grep -q '^GET_CLOCK_COUNTERS: done$' "$scratch/bare"

it 'shows of /sys the topology and the own render node'
run proctor jail --gpu renderD129 -- sh -c 'cat /sys/class/kfd/kfd/topology/nodes/0/gpu_id; ls /sys/class/drm /sys/dev/char; cat /sys/class/drm/renderD129/dev; ls -d /sys/module/amdgpu'
expect_code 0
expect_out '^0$'
expect_out '^226:129$'
expect_out '^renderD129$'
expect_no_out '128'
run proctor jail --gpu renderD129 --put "$scratch/put" -- sh -c 'exec 3<>/dev/kfd; ls /sys/class/kfd/kfd/'
expect_out_is topology

it 'gives a seat to one jail at a time, and two seats to two'
"$e2e_build/proctor" jail --gpu renderD128 -- sh -c 'echo runs; sleep 120' >"$scratch/held" &
held=$!
until [ -s "$scratch/held" ] || ! kill -0 $held; do
	sleep 0.1
done
run proctor jail --gpu renderD128 -- true
expect_code 125
expect_err "is another jail's now"
run proctor jail --gpu renderD129 -- ls /dev/dri
expect_out_is renderD129
kill -TERM $held
wait $held

it 'runs AMD'"'"'s runtime in a jail, which lists its agents'
if command -v rocminfo >/dev/null; then
	run proctor jail --gpu renderD128 --memory 1GiB -- rocminfo
	note "$(grep -E 'ROCk|Agent|Marketing|Device Type' "$scratch/out" | head -n 8)"
	expect_code 0
	expect_out 'ROCk module is loaded'
	expect_out 'Device Type: +CPU'
	run proctor jail --memory 1GiB -- rocminfo
	expect_no_out 'Device Type'
else
	skip 'this machine has no rocminfo'
fi
