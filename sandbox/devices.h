/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "sandbox/base/err.h"

/*
 * Devices
 *
 * One list says which device nodes a jail's /dev has and which devices its control group may
 * open: nothing else, whatever nodes an image or a workspace brings along. Nobody in the group
 * makes device nodes, not even root, so the nodes are made from outside, on a mount that is not
 * attached yet (devices_nodes.c, no library); the group is guarded by a BPF program (devices.c,
 * libbpf). On hosts with a v1 devices hierarchy both must allow.
 */
#define DEVICES_MAX      32
#define DEVICE_ANY_MINOR UINT32_MAX

enum { DEVICE_READ = 1 << 0, DEVICE_WRITE = 1 << 1 };

enum device_type { DEVICE_CHAR, DEVICE_BLOCK };

struct device {
	char name[32]; /* below /dev, at most one folder deep; empty: allowed, but no node of ours
			*/
	uint32_t type; /* enum device_type */
	uint32_t major, minor; /* DEVICE_ANY_MINOR only with an empty name */
	uint32_t access;       /* DEVICE_READ, DEVICE_WRITE */
	uint32_t mode;         /* the node's permission bits */
};

struct device_slice {
	uint32_t count;
	struct device devices[DEVICES_MAX];
};

/**
 * devices_base() - what every jail has: null zero full random urandom tty, and the terminals of
 * its own devpts (ptmx and 136:*, whose nodes devpts makes)
 */
void devices_base(struct device_slice *out);

/**
 * devices_add() - append a device
 *
 * A name that is no plain path, one that is there already, or a device too many is an ERR_INPUT
 * error.
 */
int devices_add(struct device_slice *slice, const struct device *device,
		struct err *err) must_check;

/**
 * devices_make_nodes() - make the nodes in an empty /dev
 * @dev_fd: the folder; may be a mount that is not attached yet (fsmount)
 *
 * Nodes belong to root and have the mode that the list says. Needs CAP_MKNOD, and a control
 * group that no devices_attach() has guarded. After a failure some nodes may be there.
 */
int devices_make_nodes(int dev_fd, const struct device_slice *slice, struct err *err) must_check;

/**
 * devices_load() - the BPF program that allows exactly these devices
 *
 * Return: the program's descriptor, owned by the caller, good for any number of groups, or -1.
 */
int devices_load(const struct device_slice *slice, struct err *err) must_check;

/**
 * devices_guard() - put a program of devices_load() on a group
 * @cgroup_fd: a folder of the v2 hierarchy
 *
 * The program stays with the group until that is removed, whatever becomes of this process.
 * Groups above and below may have programs too: all of them must allow.
 */
int devices_guard(int cgroup_fd, int program_fd, struct err *err) must_check;

/**
 * devices_attach() - devices_load() and devices_guard() in one
 */
int devices_attach(int cgroup_fd, const struct device_slice *slice, struct err *err) must_check;
