#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# AMD's runtime out of the ROCm image, in a jail with the real driver's /dev/kfd. The image is the machine's second
# disk, where there was one to give it (tests/vm/test --help).
. "$(dirname "$0")/../lib/e2e.sh"
need_root
if ! [ -b /dev/vdb ]; then
	it 'has the ROCm image'
	skip 'this machine was given no ROCm image'
	exit 0
fi
mkdir -p /etc/proctor && mount -t tmpfs -o mode=755 e2e /etc/proctor || exit 1
own_place
# An image is a file: of this machine's disk, since what is in memory here is not many times its size.
image=/opt/rocm.sqfs
cat /dev/vdb >$image || exit 1
printf '%s\n' "source rocm squashfs $image" 'gpu gpu0 renderD128' >/etc/proctor/site.conf

it 'has the driver, and the image with a runtime of its own'
check modprobe loop
check modprobe virtio_gpu
check modprobe amdgpu
check test -c /dev/kfd
run proctor jail --image rocm -- sh -c 'cat /etc/debian_version; sha256sum /usr/bin/rocminfo; ls /dev/kfd'
expect_out '^13'
expect_err '/dev/kfd.*No such file'
check_not grep -qF "$(sha256sum </usr/bin/rocminfo 2>/dev/null | cut -d ' ' -f 1)" "$scratch/out"

it 'lists the agents by the rocminfo of the image, in a jail with a seat'
run -t 300 proctor jail --image rocm --gpu gpu0 --memory 1GiB -- rocminfo
note "$(grep -E 'ROCk|Agent|Marketing|Device Type' "$scratch/out" | head -n 8)"
expect_code 0
expect_out 'ROCk module is loaded'
expect_out '^Agent 1'
expect_out 'Device Type: +CPU'

it 'lists none without a seat'
run -t 300 proctor jail --image rocm --memory 1GiB -- rocminfo
expect_out 'ROCk module is NOT loaded'
expect_no_out '^Agent'
expect_nothing_left
