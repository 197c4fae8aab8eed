#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# GPUs of a jail: those of this host, where there are some, and stand-ins, two of each vendor: nodes of numbers
# that no driver has, and a tree of /sys as their drivers show it, laid over this file's own mount namespace. What
# a stand-in's node answers is "no such device"; what the device program refuses is "not permitted".
# shellcheck disable=SC2016 # scripts are expanded by the shells that run them
# shellcheck disable=SC2317 # functions that wait_for calls
. "$(dirname "$0")/../lib/e2e.sh"
need_root
own_place
chmod 755 "$scratch"
group=61000 one=61001 two=61002
socket=$scratch/run/socket
mkdir -m 755 "$scratch/run" "$scratch/etc"

it 'gives a jail a GPU of this host, where it has one, and no jail without being asked'
if [ -c /dev/nvidia0 ] || [ -d /sys/class/kfd/kfd/topology/nodes/1 ]; then
	run proctor jail --gpu 0 --memory 4GiB -- sh -c 'for f in /dev/kfd /dev/nvidiactl; do [ ! -e $f ] || exec 3<>$f; done; ls /dev'
	expect_code 0
	expect_out '^(kfd|nvidiactl)$'
	run proctor jail -- ls /dev
	expect_no_out 'kfd|nvidia|dri'
else
	skip 'this host has no GPU'
fi

# --- the stand-ins ---

kfd=240 sys=$scratch/sys dev=$scratch/dev
put() { # FILE TEXT
	mkdir -p "${1%/*}" && printf '%s\n' "$2" >"$1"
}
amd() { # NODE RENDER BUS
	device=devices/pci0000:c0/0000:$3:00.0
	put "$sys/devices/virtual/kfd/kfd/topology/nodes/$1/gpu_id" 51110
	put "$sys/devices/virtual/kfd/kfd/topology/nodes/$1/properties" "drm_render_minor $2
gfx_target_version 90402"
	put "$sys/$device/drm/renderD$2/dev" "226:$2"
	put "$sys/$device/vendor" 0x1002
	mkdir -p "$sys/$device/drm/card$(($2 - 127))" "$sys/class/drm" "$sys/dev/char" "$sys/bus/pci/devices"
	ln -s "../../$device/drm/renderD$2" "$sys/dev/char/226:$2"
	ln -s "../../$device/drm/renderD$2" "$sys/class/drm/renderD$2"
	ln -s "../../$device/drm/card$(($2 - 127))" "$sys/class/drm/card$(($2 - 127))"
	ln -s "../../../$device" "$sys/bus/pci/devices/0000:$3:00.0"
	mknod -m 660 "$dev/dri/renderD$2" c 226 "$2"
}
nvidia() { # MINOR BUS
	put "$scratch/driver/nvidia/gpus/0000:$2:00.0/information" "Model: Stand-in
Device Minor: $1"
	put "$sys/devices/pci0000:00/0000:$2:00.0/vendor" 0x10de
	ln -s "../../../devices/pci0000:00/0000:$2:00.0" "$sys/bus/pci/devices/0000:$2:00.0"
	mknod -m 666 "$dev/nvidia$1" c 195 "$1"
}
stand_in() {
	mkdir "$sys" "$dev" "$scratch/driver" && mount -t tmpfs none "$sys" && mount -t tmpfs none "$dev" || return 1
	for folder in fs kernel devices/system; do
		mkdir -p "$sys/$folder" && mount --rbind "/sys/$folder" "$sys/$folder" || return 1
	done
	for node in null:3 zero:5 full:7 random:8 urandom:9; do
		mknod -m 666 "$dev/${node%:*}" c 1 "${node#*:}" || return 1
	done
	mknod -m 666 "$dev/tty" c 5 0 && ln -s /proc/self/fd "$dev/fd"
	mkdir "$dev/pts" "$dev/shm" "$dev/dri" && mount --bind /dev/pts "$dev/pts" && ln -s pts/ptmx "$dev/ptmx"
	mknod -m 660 "$dev/kfd" c $kfd 0 && mknod "$dev/nvidiactl" c 195 255 && mknod "$dev/nvidia-uvm" c 511 0
	put "$sys/devices/virtual/kfd/kfd/topology/nodes/0/gpu_id" 0
	# What kfd shows of each process that computes.
	put "$sys/devices/virtual/kfd/kfd/proc/4711/vram_51110" 65536
	mkdir -p "$sys/class/kfd" && ln -s ../../devices/virtual/kfd/kfd "$sys/class/kfd/kfd"
	amd 1 128 c1
	amd 2 129 c2
	nvidia 0 19
	nvidia 1 9b
	put "$scratch/driver/nvidia/version" 'NVRM version: stand-in 1.2.3'
	put "$scratch/devices" "Character devices:
  1 mem
195 nvidia
195 nvidiactl
226 drm
$kfd kfd
511 nvidia-uvm

Block devices:
  7 loop"
	mount --rbind "$sys" /sys && mount --rbind "$dev" /dev && mount --bind "$scratch/devices" /proc/devices &&
		mount --bind "$scratch/driver" /proc/driver
}
it 'can be shown GPUs that are not there'
check stand_in
e2e_mounts=$(cat /proc/self/mountinfo)

# What opening a node says, a line each.
cat >"$scratch/opens" <<'END'
for node; do
	if (exec 3<>"$node") 2>/tmp/why; then echo "$node: opened"; else sed "s,.*: ,$node: ," /tmp/why; fi
done
END
mkdir "$scratch/put" && cp "$scratch/opens" "$scratch/put/opens"

it 'has a doctor who lists them with the numbers that jails ask for them by, and what they get'
run proctor doctor
expect_out '^amd-gpu +ok +read +GPU 0: gfx942 at renderD128, 0000:c1:00.0; a jail with this one has /dev/kfd, /dev/dri/renderD128; GPU 1: '
expect_out '^nvidia-gpu +ok +read +driver 1.2.3; GPU 2: Stand-in at nvidia0, 0000:19:00.0; a jail with this one has /dev/nvidiactl, /dev/nvidia-uvm, /dev/nvidia0; GPU 3: '

it 'gives a jail none that does not ask'
run proctor jail -- sh -c 'ls /dev /dev/dri /sys/class /sys/bus /sys/devices; ls /proc/driver/nvidia'
expect_no_out 'kfd|dri|nvidia|pci|drm'

it 'gives it the node of the one it asks for, and no other'
run proctor jail --gpu 0 -- sh -c 'cd /dev && ls -d kfd nvidia* dri/*; stat -c "%n %a %F" kfd dri/renderD128'
expect_out '^kfd 666 character special file$'
expect_out '^dri/renderD128 666 character special file$'
expect_no_out '129|nvidia|card'
run proctor jail --gpu 3 -- sh -c 'cd /dev && ls -d kfd nvidia* dri/*'
expect_out_is 'nvidia-uvm
nvidia1
nvidiactl'

it 'opens them, and lets nobody make the node of another'
run proctor jail --gpu 0 --put "$scratch/put" -- sh -c 'sh ./opens /dev/kfd /dev/dri/renderD128 /dev/dri/renderD129 && mknod /tmp/n c 226 129'
expect_out '^/dev/kfd: (No such device or address|opened)$'
expect_out '^/dev/dri/renderD128: (No such device or address|No such device|opened)$'
# It is not there, and nothing can be made there.
expect_out '^/dev/dri/renderD129: Read-only file system$'
expect_err 'mknod: /tmp/n: Operation not permitted'

it 'has the calls of GPU runtimes with a GPU, and not without'
# set_mempolicy_home_node: without a list that names it a call is one that this kernel does not have.
printf '%s\n' 'import ctypes, errno' 'c = ctypes.CDLL(None, use_errno=True)' \
	'c.syscall(450, 0, 0, -1, 0)' 'print(errno.errorcode.get(ctypes.get_errno(), "done"))' >"$scratch/put/call.py"
run proctor jail --put "$scratch/put" -- python3 call.py
expect_out_is ENOSYS
run proctor jail --gpu 0 --put "$scratch/put" -- python3 call.py
expect_code 0
expect_no_out ENOSYS

it 'shows of /sys what is its own: the topology, its folder, the links to it'
run proctor jail --gpu 1 -- sh -c 'cat /sys/class/kfd/kfd/topology/nodes/2/gpu_id /sys/bus/pci/devices/0000:c2:00.0/vendor /sys/dev/char/226:129/dev /sys/class/drm/renderD129/dev; ls /sys/class/drm'
expect_code 0
expect_out_is '51110
0x1002
226:129
226:129
card2
renderD129'
run proctor jail --gpu 1 -- find /sys -name '*c1:00.0*' -o -name '*226:128*' -o -name renderD128 -o -name card1
expect_no_out .
run proctor jail --gpu 2 -- find /sys -name '*kfd*' -o -name '*9b:00*' -o -name '*c1:00*'
expect_no_out .
run proctor jail --gpu 1 -- sh -c 'ls /sys/class/kfd/kfd/; find /sys -name 4711'
expect_out_is topology
run proctor jail --gpu 1 -- sh -c 'echo 1 >/sys/bus/pci/devices/0000:c2:00.0/vendor'
expect_err 'Read-only file system'

it 'shows the same in an image, which has no /sys of its own'
mkdir -p "$scratch/root/bin" /etc/proctor && mount -t tmpfs -o mode=755 none /etc/proctor
for name in sh cat ls; do
	cp -L "/bin/$name" "$scratch/root/bin/"
	ldd "/bin/$name" | grep -oE '/[^ ]+' | while read -r library; do
		mkdir -p "$scratch/root${library%/*}" && cp -L "$library" "$scratch/root$library"
	done
done
printf '%s\n' "source base folder $scratch/root" 'gpu amd 1' 'gpu nvidia 2' >/etc/proctor/site.conf
run proctor jail --image base --gpu amd -- sh -c 'cat /sys/class/kfd/kfd/topology/nodes/2/gpu_id /sys/bus/pci/devices/0000:c2:00.0/vendor; ls /sys/class/drm /dev/dri'
expect_code 0
expect_out_is '51110
0x1002
/dev/dri:
renderD129

/sys/class/drm:
card2
renderD129'
run proctor jail --image base --gpu nvidia -- sh -c 'cat /sys/bus/pci/devices/0000:19:00.0/vendor; ls /sys/bus/pci/devices'
expect_out_is '0x10de
0000:19:00.0'
umount -l /etc/proctor

it 'gives several that share a node that node once'
run proctor jail --gpu renderD129 --gpu 0000:c1:00.0 -- sh -c 'cd /dev && ls kfd dri/*'
expect_out_is 'dri/renderD128
dri/renderD129
kfd'

it 'refuses what is not there, or asked for twice, and says what to do'
run proctor jail --gpu 7 -- true
expect_code 125
expect_err "jail 'jail': there is no GPU '7' on this host: its drivers show 4; 'proctor doctor' lists them"
run proctor jail --gpu 0 --gpu 0 -- true
expect_err "the GPU '0' is asked for twice"
run proctor jail --gpu 0 --gpu renderD128 -- true
expect_err "the GPU 'renderD128' is asked for twice, by two names"
run proctor jail --gpu /dev/kfd -- true
expect_err 'a GPU has a name of 1 to 31 letters'

holds() { # FILE: a jail says that it runs
	[ -s "$1" ]
}
is_free() {
	proctor jail --gpu 0 -- true 2>/dev/null
}
drivers() { # SED-SCRIPT: what /proc/devices says from here on
	sed "$1" "$scratch/devices" >"$scratch/drivers" && cat "$scratch/drivers" >"$scratch/devices"
}

it 'gives a GPU to one jail at a time, and the next free one to whoever takes any'
"$e2e_build/proctor" jail --gpu 0 -- sh -c 'echo runs; sleep 60' >"$scratch/held" &
held=$!
wait_for holds "$scratch/held"
# Whose it is, should the monitor be killed.
check test -s /run/proctor/gpu-renderD-0128.lock
run proctor jail --gpu 0000:c1:00.0 -- true
expect_code 125
expect_err "the GPU '0000:c1:00.0' \(gfx942\) is another jail's now: wait for its end, or take another GPU"
run proctor jail --gpu any -- ls /dev/dri
expect_out_is renderD129
run proctor jail --gpu any --gpu any --gpu any --gpu any -- true
expect_err "1 GPUs are other jails' now, and no other is free"
kill -TERM "$held"
wait "$held"
check_not test -s /run/proctor/gpu-renderD-0128.lock
run proctor jail --gpu 0 -- ls /dev/dri
expect_out_is renderD128

it 'gives it back though proctor, the launcher and the monitor are killed'
"$e2e_build/proctor" jail --gpu 0 -- sh -c 'echo runs; sleep 60' >"$scratch/held" &
held=$!
wait_for holds "$scratch/held"
for process in $(pgrep -f '^proctor-launcher ') $held; do
	kill -KILL "$process"
done
wait "$held" 2>/dev/null
wait_for is_free
expect_nothing_left

it 'says what is wrong with a host, before there is a jail'
drivers '/nvidia-uvm/d'
run proctor jail --gpu 2 -- true
expect_code 125
expect_err "no driver has the device '/dev/nvidia-uvm': load it: nvidia-modprobe -u"
drivers 's/^240 kfd/241 kfd/'
run proctor jail --gpu 0 -- true
expect_err "'/dev/kfd' is not the node of its driver, which is the character device 241:0: remove it"
drivers 's/^241 kfd/240 kfd\n511 nvidia-uvm/'

it 'has policies that give agents GPUs, and shows what that opens'
cat >"$scratch/put/gpu.yaml" <<'END'
schema: 1
name: gpu
agent: { gpus: 3 }
END
run proctor policy explain --role agent "$scratch/put/gpu.yaml"
expect_code 0
expect_out '^kfd +c 240:0 +rw +0666'
expect_out '^dri/renderD129 +c 226:129 +rw +0666'
expect_out '^nvidia0 +c 195:0 +rw +0666'
expect_no_out '^nvidia1 '
expect_out '^/sys/devices/pci0000:c0/0000:c1:00.0 +bind '
expect_out '^GPUs +3 +of this host.s 4 +lease '
expect_out '^set_mempolicy_home_node '
expect_out '^refused ioctls: TIOCSTI, TIOCLINUX, KFD_SET_CU_MASK, .*KFD_CRIU_OP, .*any other of KFD.s$'
sed -i 's/3/5/' "$scratch/put/gpu.yaml"
run proctor policy explain --role agent "$scratch/put/gpu.yaml"
expect_out '^GPUs +5 +of this host.s 4 +NOTHING on this host'
sed -i 's/5/9/' "$scratch/put/gpu.yaml"
run proctor policy check "$scratch/put/gpu.yaml"
expect_code 3
expect_err "gpu.yaml:3: key 'gpus': '9' is not within 0..8"

# --- members of a group ---

run_as() { # UID COMMAND…
	as_uid=$1
	shift
	run env -C / PROCTOR_SOCKET="$socket" setpriv --reuid="$as_uid" --regid="$as_uid" --groups=$group -- "$@"
}
is_served() {
	[ -S "$socket" ] && [ "$(PROCTOR_SOCKET=$socket proctor jail -- echo fine 2>/dev/null)" = fine ]
}
mkdir -p "$scratch/opt/kit/bin" && mount -t tmpfs -o mode=755 none /opt && mkdir -p /opt/kit && echo tool >/opt/kit/tool
mkdir -m 700 /opt/kit/secret && echo secret >/opt/kit/secret/file
e2e_mounts=$(cat /proc/self/mountinfo)
printf '%s\n' "group $group" 'gpu left renderD129' 'gpu lost 0000:ee:00.0' 'root.folder /opt/kit' >"$scratch/etc/site.conf"
chmod 644 "$scratch/etc/site.conf"
"$e2e_build/proctor-launcher" --listen --socket="$socket" --site="$scratch/etc/site.conf" 2>"$scratch/log" &
service=$!

it 'gives members the GPUs of site.conf by their names, and no other by any name'
check wait_for is_served
run_as $one "$e2e_build/proctor" jail --gpu left -- ls /dev/dri
expect_out_is renderD129
for which in 0 1 renderD128 renderD129 0000:c2:00.0 right nvidia0; do
	run_as $one "$e2e_build/proctor" jail --gpu $which -- true
	expect_code 125
	expect_err "there is no GPU '$which' for jails on this host: its administrator can list it in $scratch/etc/site.conf"
done
run_as $one "$e2e_build/proctor" jail --gpu lost -- true
expect_err "there is no GPU 'lost', which is listed as '0000:ee:00.0', on this host"
run_as $one "$e2e_build/proctor" jail --gpu any --gpu any -- true
expect_err 'this host has 1 GPUs for jails, and more are asked for'

it 'keeps what one member has from another'
PROCTOR_SOCKET=$socket setpriv --reuid=$one --regid=$one --groups=$group -- "$e2e_build/proctor" jail --gpu left -- \
	sh -c 'echo runs; sleep 60' >"$scratch/held" &
held=$!
wait_for holds "$scratch/held"
run_as $two "$e2e_build/proctor" jail --gpu any -- true
expect_err "1 GPUs are other jails' now, and no other is free"
kill -TERM "$held"
wait "$held"
run_as $two "$e2e_build/proctor" jail --gpu any -- ls /dev/dri
expect_out_is renderD129

it 'shows the folders that site.conf lists, as the host has them, and keeps what is kept for root'
run_as $one "$e2e_build/proctor" jail -- sh -c 'cat /opt/kit/tool; ls /opt; cat /opt/kit/secret/file; echo x >/opt/kit/tool'
expect_out_is 'tool
kit'
expect_err 'secret/file: Permission denied'
expect_err 'Read-only file system'
kill -TERM "$service"
wait "$service"
expect_nothing_left
# Before the folder of this file is removed.
for folder in /opt /proc/driver /proc/devices /dev /sys "$dev" "$sys"; do
	umount -l -R "$folder"
done
