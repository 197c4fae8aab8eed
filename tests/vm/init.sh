#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Process 1 of a virtual machine: control groups of version 2 alone with all their controllers, then
# /run/test/run.sh as root, whose exit code it leaves in /run/out/status. Lines to /dev/ttyS1 are
# seen by who started the machine.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
mount -t tmpfs none /run
mkdir -p /dev/pts /dev/shm /run/test /run/out
mount -t devpts none /dev/pts
ln -s /proc/self/fd /dev/fd
for n in 0:stdin 1:stdout 2:stderr; do
	ln -s "/proc/self/fd/${n%%:*}" "/dev/${n#*:}"
done
mount -t tmpfs none /dev/shm
mount -t cgroup2 none /sys/fs/cgroup
mount -t securityfs none /sys/kernel/security
mount -t bpf none /sys/fs/bpf
echo '+cpu +cpuset +io +memory +pids' >/sys/fs/cgroup/cgroup.subtree_control
ip link set lo up
ip link add eth0 type dummy
hostname vm
stty -F /dev/ttyS1 -onlcr 2>/dev/null
p=trans=virtio,version=9p2000.L,msize=512000
if mount -t 9p -o $p,ro test /run/test && mount -t 9p -o $p out /run/out; then
	echo "vm: $(uname -r), up for $(cut -d ' ' -f 1 /proc/uptime) s"
	# In a group of its own, as a login or a batch job would be.
	mkdir /sys/fs/cgroup/test
	sh -c 'echo 0 >/sys/fs/cgroup/test/cgroup.procs && exec sh /run/test/run.sh'
	code=$?
	echo "vm: exit code $code, up for $(cut -d ' ' -f 1 /proc/uptime) s"
	echo "$code" >/run/out/status
	sync
	umount /run/out
fi
# The machine is thrown away: started with -no-reboot, this is its end.
echo b >/proc/sysrq-trigger
