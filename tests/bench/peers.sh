# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# The sandboxes of this host, each around one command in namespaces of its own: sourced by launch and walls.
# What a tool leaves to its caller and can do is asked for: limits, identities, a filter.

# A root of links into /usr, for those that do not take "/".
bare_root() { # FOLDER
	mkdir -p "$1/usr" "$1/proc" "$1/dev" "$1/tmp"
	for link in bin lib lib64; do
		ln -s "usr/$link" "$1/$link"
	done
}

# A bundle with a user namespace, limits, masks and a refusal of the calls that container engines refuse.
oci_bundle() { # FOLDER COMMAND
	bare_root "$1/rootfs"
	python3 - "$1/config.json" "$2" <<-'END'
		import json, os, sys

		refused = """acct add_key bpf clock_adjtime clock_settime delete_module finit_module init_module ioperm
		iopl kcmp kexec_file_load kexec_load keyctl lookup_dcookie mbind mount move_pages name_to_handle_at
		open_by_handle_at perf_event_open personality pivot_root process_vm_readv process_vm_writev ptrace
		quotactl reboot request_key setns settimeofday swapoff swapon umount2 unshare userfaultfd""".split()
		limits = {"memory": {"limit": 1 << 28}, "pids": {"limit": 64}, "cpu": {"quota": 80000, "period": 100000}}
		ids = [{"containerID": 0, "hostID": 100000, "size": 65536}]
		sets = ("bounding", "effective", "permitted", "inheritable")
		json.dump({
		    "ociVersion": "1.0.2",
		    "process": {"user": {"uid": 1000, "gid": 1000}, "args": sys.argv[2].split(), "cwd": "/",
		                "env": ["PATH=/usr/bin:/bin"], "noNewPrivileges": True,
		                "capabilities": {name: [] for name in sets}},
		    "root": {"path": "rootfs", "readonly": True},
		    "hostname": "jail",
		    "mounts": [
		        {"destination": "/usr", "type": "bind", "source": "/usr", "options": ["bind", "ro", "nosuid", "nodev"]},
		        {"destination": "/proc", "type": "proc", "source": "proc"},
		        {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755", "size=65536k"]},
		        {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "nodev", "size=64m"]}],
		    "linux": {
		        "namespaces": [{"type": kind} for kind in ("pid", "network", "ipc", "uts", "mount", "user", "cgroup")],
		        "uidMappings": ids, "gidMappings": ids,
		        "resources": dict(limits, devices=[{"allow": False, "access": "rwm"}]),
		        "maskedPaths": ["/proc/kcore", "/proc/keys", "/proc/timer_list"],
		        "readonlyPaths": ["/proc/sys", "/proc/irq", "/proc/bus"],
		        "seccomp": {"defaultAction": "SCMP_ACT_ALLOW",
		                    "syscalls": [{"names": refused, "action": "SCMP_ACT_ERRNO"}]}},
		}, open(sys.argv[1], "w"))
	END
}

# nsjail makes its groups below one of ours in each hierarchy.
nsjail_limits() {
	[ -d /sys/fs/cgroup/memory ] && [ -d /sys/fs/cgroup/pids ] && [ -d /sys/fs/cgroup/cpu ] || return 0
	mkdir -p "/sys/fs/cgroup/memory/bench-$$" "/sys/fs/cgroup/pids/bench-$$" "/sys/fs/cgroup/cpu/bench-$$"
	printf '%s' "--cgroup_mem_max 268435456 --cgroup_mem_parent bench-$$ --cgroup_pids_max 64 --cgroup_pids_parent bench-$$ --cgroup_cpu_ms_per_sec 800 --cgroup_cpu_parent bench-$$"
}

# crun refuses hosts with control groups of both versions: @FILE is a mount namespace that hides one of them.
crun_view() {
	[ -d /sys/fs/cgroup/unified ] && command -v crun >/dev/null || return 0
	if [ -z "${view_pid:-}" ]; then
		unshare -m sh -c 'mount -t tmpfs none /sys/fs/cgroup/unified && exec sleep 86400' &
		view_pid=$!
		until grep -q '^none /sys/fs/cgroup/unified tmpfs' "/proc/$view_pid/mounts"; do sleep 0.1; done
	fi
}

# Lines NAME|COMMAND for all that there could be; needs crun_view before it.
list_peers() { # SCRATCH-FOLDER COMMAND
	bare_root "$1/root"
	for oci in crun runc; do
		! command -v $oci >/dev/null || oci_bundle "$1/$oci" "$2"
	done
	cat <<-END
		bubblewrap|bwrap --unshare-all --unshare-user --die-with-parent --new-session --cap-drop ALL --uid 1000 --gid 1000 --ro-bind / / --proc /proc --dev /dev --tmpfs /tmp -- $2
		crun|${view_pid:+@/proc/$view_pid/ns/mnt }crun --cgroup-manager=cgroupfs --root $1/state-crun run --bundle $1/crun proctor-bench-$$
		runc|runc --root $1/state-runc run --bundle $1/runc proctor-bench-$$
		nsjail|nsjail -Mo -Q --chroot / --user 0:100000:1 --group 0:100000:1 --enable_clone_newtime -T /tmp $(nsjail_limits) -- $2
		minijail0|minijail0 -T static -I -v -l -e -N --uts=jail -P $1/root -b /usr,/usr -k proc,/proc,proc -t -d -n -c 0 --ambient -- $2
		isolate|isolate --box-id 0 --silent --processes=8 --mem=262144 --wall-time=60 --time=5 --run -- $2
		firejail|firejail --quiet --noprofile --private-tmp --private-dev --net=none --caps.drop=all --seccomp --nonewprivs --ipc-namespace --hostname=jail -- $2
	END
}

# Runs a command of list_peers().
run_peer() { # WORD…
	case $1 in
	@*)
		where=${1#@}
		shift
		nsenter --mount="$where" "$@"
		;;
	*) "$@" ;;
	esac
}

forget_peers() {
	for controller in memory pids cpu; do
		find "/sys/fs/cgroup/$controller/bench-$$" -depth -type d -exec rmdir {} ';' 2>/dev/null || true
	done
	[ -z "${view_pid:-}" ] || kill "$view_pid"
}
