#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A jail with an NVIDIA GPU, by hand, as root, on a quiet machine that has one or, for the last tests, two: nvcc on
# the PATH, python3 with PyTorch and Triton for theirs. GPU_ROUNDS: how often each program runs, bare and in a jail by
# turns (5). What a kernel takes may differ by 1 %.
# shellcheck disable=SC2016 # scripts are expanded by the shells that run them
. "$(dirname "$0")/../lib/e2e.sh"
need_root
chmod 755 "$scratch"
rounds=${GPU_ROUNDS:-5}
here=$e2e_root/tests/gpu
mkdir "$scratch/put"
cp "$here/torch_time.py" "$scratch/put/"
# Where a driver is mounted and not installed, its libraries are found by the environment alone.
set -- --memory 48GiB --pids 4096 --tmp 2GiB --work 1GiB --wall 10m ${LD_LIBRARY_PATH:+--env} ${LD_LIBRARY_PATH:+"LD_LIBRARY_PATH=$LD_LIBRARY_PATH"}

# Medians of the rounds' medians of both, and their ratio; fails above 1 %.
compare() { # FILE: lines "bare|jail NAME MICROSECONDS"
	awk '
	function median(key,    n, i, k, v) {
		n = split(substr(all[key], 2), list, " ")
		for (i = 2; i <= n; i++) {
			v = list[i]
			for (k = i - 1; k > 0 && list[k] + 0 > v + 0; k--)
				list[k + 1] = list[k]
			list[k + 1] = v
		}
		return list[int((n + 1) / 2)]
	}
	{ all[$1 " " $2] = all[$1 " " $2] " " $3; names[$2] }
	END {
		for (name in names) {
			bare = median("bare " name); jail = median("jail " name)
			if (bare == "" || jail == "") { printf "%s: no figures\n", name; bad = 1; continue }
			printf "%s: bare %.3f us, jail %.3f us, ratio %.4f; bare:%s, jail:%s\n", name, bare, jail, jail / bare, all["bare " name], all["jail " name]
			bad += jail / bare > 1.01
		}
		exit bad > 0
	}' "$1"
}

# Bare and jailed by turns, the other one first each time. PROGRAM and ARGUMENTS are those inside of the folder put.
rounds_of() { # OPTIONS… -- COMMAND…
	options=''
	while [ "$1" != -- ]; do
		options="$options $1"
		shift
	done
	shift
	: >"$scratch/times"
	round=0
	while [ $round -lt "$rounds" ]; do
		for side in bare jail; do
			[ $((round % 2)) -eq 0 ] || { [ $side = bare ] && side=jail || side=bare; }
			if [ $side = bare ]; then
				(cd "$scratch/put" && "$@") >"$scratch/figures" 2>"$scratch/err"
			else
				# shellcheck disable=SC2086 # words on purpose
				"$e2e_build/proctor" jail $options --put "$scratch/put" -- "$@" >"$scratch/figures" 2>"$scratch/err"
			fi
			code=$?
			[ $code -eq 0 ] || { fail "$side: exit code $code: $(tail -n 5 "$scratch/err")" && return 1; }
			sed "s/^/$side /" "$scratch/figures" >>"$scratch/times"
		done
		round=$((round + 1))
	done
	compare "$scratch/times" >"$scratch/ratios" || fail "the jail's kernels take longer: $(cat "$scratch/ratios")"
	note "$(cat "$scratch/ratios")"
}

it 'has a GPU, and a doctor who lists it'
note "$(uname -r); $(nvidia-smi -L 2>&1)"
run proctor doctor
note "$(grep -E '^(nvidia-gpu|cdi|kernel|cgroup-layout) ' "$scratch/out")"
expect_out '^nvidia-gpu +(ok|degraded) .*GPU 0: '
note "libcuda: $(ldconfig -p | grep -m 1 'libcuda.so.1')"
note "nodes: $(cd /dev && stat -c '%n %a %t:%T' nvidia* 2>/dev/null | tr '\n' ';')"

it 'compiles a CUDA program'
check nvcc -O3 -o "$scratch/put/kernel-time" "$here/kernel_time.cu"

it 'runs it in a jail with the GPU, and without one not'
run -t 120 proctor jail "$@" --gpu 0 --put "$scratch/put" -- ./kernel-time use
expect_code 0
expect_out_is 'used 0'
run -t 120 proctor jail "$@" --put "$scratch/put" -- ./kernel-time use
expect_code 1

it 'takes no longer for its kernels than bare, within 1 %'
rounds_of "$@" --gpu 0 -- ./kernel-time time

it 'shows the jail its own nodes, and what its driver says'
run proctor jail "$@" --gpu 0 -- sh -c 'ls /dev; cat /proc/driver/nvidia/params /proc/driver/nvidia/version; ls -la /proc/driver/nvidia/gpus /sys/bus/pci/devices; nvidia-smi -L'
expect_out '^ModifyDeviceFiles: 0$'
note "$(cat "$scratch/out" "$scratch/err")"
run proctor jail "$@" -- sh -c 'ls /proc/driver/nvidia; ls -d /dev/nvidia*'
expect_no_out .

it 'runs Triton and PyTorch, and takes no longer for their kernels'
python=$(command -v python3)
if ! folders=$(python3 -c 'import sys, os, torch, triton
names = {sys.prefix, sys.base_prefix, os.path.dirname(os.path.realpath(sys.executable)), os.path.dirname(torch.__path__[0]), os.path.dirname(triton.__path__[0])}
print("\n".join(sorted(name for name in names if not name.startswith("/usr/") and name != "/usr")))' 2>"$scratch/err"); then
	skip 'this host has no PyTorch and Triton'
else
	note "python: $python; folders beside /usr: $(echo "$folders" | tr '\n' ' ')"
	# A site.conf of this file's own mount namespace: what it lists, jails see.
	mkdir -p /etc/proctor && mount -t tmpfs -o mode=755 none /etc/proctor
	{
		echo "gpu first 0"
		for folder in $folders; do
			echo "root.folder $folder"
		done
	} >/etc/proctor/site.conf
	chmod 644 /etc/proctor/site.conf
	rounds_of "$@" --gpu first --env TRITON_CACHE_DIR=/tmp/triton -- "$python" torch_time.py
	umount /etc/proctor
fi

# --- two GPUs ---

it 'lets a jail with one of two use this one alone'
if [ "$(find /proc/driver/nvidia/gpus -mindepth 1 -maxdepth 1 | wc -l)" -lt 2 ]; then
	skip 'this host has one GPU'
else
	for seat in 0 1; do
		run -t 120 proctor jail "$@" --gpu $seat --put "$scratch/put" -- ./kernel-time list
		expect_code 0
		expect_out '^1 of 1: '
		expect_no_out ' of 2'
		cp "$scratch/out" "$scratch/seat-$seat"
	done
	check_not cmp -s "$scratch/seat-0" "$scratch/seat-1"
	note "seat 0 has $(cat "$scratch/seat-0"), seat 1 $(cat "$scratch/seat-1")"
	other=$(find /proc/driver/nvidia/gpus -mindepth 1 -maxdepth 1 | sort | sed -n 2p)
	uuid=$(sed -n 's/^GPU UUID:[ \t]*//p' "$other/information")
	for visible in 1 0,1 1,0 "$uuid"; do
		run -t 120 proctor jail "$@" --gpu 0 --put "$scratch/put" --env "CUDA_VISIBLE_DEVICES=$visible" -- ./kernel-time list
		expect_no_out ' of 2'
		expect_no_out "$(sed 's/.*: //' "$scratch/seat-1")"
		note "CUDA_VISIBLE_DEVICES=$visible: $(cat "$scratch/out" "$scratch/err" | tr '\n' ' ')"
	done
fi

it 'opens no node of the other one, and nobody can make one'
minor=$(sed -n 's/^Device Minor:[ \t]*//p' "${other:-/dev/null}"/information 2>/dev/null)
if [ -z "$minor" ]; then
	skip 'this host has one GPU'
else
	run proctor jail "$@" --gpu 0 -- sh -c "ls /dev/nvidia[0-9]*; cat /dev/nvidia$minor; mknod /tmp/n c 195 $minor; cat ${other}/information"
	check test "$(wc -l <"$scratch/out")" -eq 1
	expect_err "/dev/nvidia$minor: No such file or directory"
	expect_err '/tmp/n: Operation not permitted'
	expect_err 'information.?: Permission denied'
	# The names of all are left in /proc; their content is covered, and the driver's own tools show what they can open.
	check test "$(proctor jail "$@" --gpu 0 -- nvidia-smi -L 2>/dev/null | wc -l)" -eq 1
	note "what still lists it: $("$e2e_build/proctor" jail "$@" --gpu 0 -- sh -c 'echo /proc/driver/nvidia/gpus: $(ls /proc/driver/nvidia/gpus); echo nvidia-smi: $(nvidia-smi -L 2>&1); nvidia-smi topo -m 2>&1 | head -n 5; ls /sys/bus/pci/devices')"
fi

it 'gives each to one jail at a time'
"$e2e_build/proctor" jail "$@" --gpu 0 -- sh -c 'echo runs; sleep 60' >"$scratch/held" &
held=$!
until [ -s "$scratch/held" ] || ! kill -0 $held; do
	sleep 0.05
done
run proctor jail --gpu 0 -- true
expect_code 125
expect_err "is another jail's now"
kill -TERM $held
wait $held 2>/dev/null || :
