#!/bin/busybox sh
# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# The first program of a virtual machine: loads what the root file system needs, and goes there.
b=/bin/busybox
$b mkdir -p /proc /sys /new
$b mount -t proc none /proc
$b mount -t sysfs none /sys
$b mount -t devtmpfs none /dev
for module in /modules/*; do
	$b insmod "$module" 2>/dev/null
done
$b mount -t ext4 /dev/vda /new || { echo 'vm: no root file system' && exec $b reboot -f; }
for folder in dev proc sys; do
	$b mount --move /$folder /new/$folder
done
exec $b switch_root /new /vm-init
