/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sandbox/base/process.h"
#include "sandbox/brief.h"
#include "sandbox/cgroup.h"
#include "sandbox/devices.h"
#include "sandbox/gpu_seat.h"
#include "sandbox/handshake.h"
#include "sandbox/image.h"
#include "sandbox/lease.h"
#include "sandbox/ties.h"
#include "sandbox/wire.h"

/*
 * The host's side of one jail: built by a table of steps, each with its undo, and taken down by
 * the same table from bottom to top.
 */

/* What a jail leases: a range of uids, and with it a name for its control group. */
#define JAIL_LEASE "uids"

/*
 * What all jails of a launcher share; prepared once. A monitor has a copy of its own, in which the
 * last ones are of its client.
 */
struct jail_host {
	const struct cgroup_host *cgroups;
	const struct denied_calls *refused;
	const struct device_slice *devices;
	int devices_fd;      /* the BPF program that allows exactly these */
	int image_fd;        /* the program of pid 1: a sealed memfd */
	int state_fd;        /* the folder of the leases */
	int shelf_fd;        /* where images are mounted; -1: the site lists none */
	uint32_t range_base; /* first host id of the uid ranges */
	uint32_t range_count;
	uid_t client; /* who has asked for it; root for all that a private launcher makes */
	char masks[PLAN_MASKS_MAX][256]; /* proctor's own folders */
	struct plan_extras extras;       /* what else the tree of this one has */
	struct gpu_seat *gpus;           /* its own; NULL: none */
	int over_fd; /* a socket: a monitor sends its number when its jail is gone; -1: nobody reads
		      */
	struct ties ties; /* what the jail ends with, beside its control socket */
	uint32_t clamped; /* limits of the spec that the client's groups made lower: bits */
	const struct image_source *image; /* what the spec's image is; NULL: it has none */
};

struct jail {
	const struct jail_host *host;
	const struct jail_spec *spec; /* NULL: nobody has asked for it yet */
	struct spec_fds *fds;         /* borrowed */
	enum brief_payload payload;
	struct ids ids;
	char leaf[64]; /* the cgroup's name */
	struct cgroup_limits limits;
	uint32_t without; /* what the host can not enforce and the spec does without: bits */

	bool is_left; /* its control group could not be removed */
	size_t built; /* steps that were applied */
	struct cgroup cgroup;
	struct process init;
	int report_fd;  /* pid 1 talks here */
	int payload_fd; /* the payload's pidfd */
	int given_fd;   /* borrowed: the frozen tree, for BRIEF_COLLECT */
	int devices_fd; /* the mount that becomes /dev */
	int denied_fd;  /* the page that pid 1 counts refused calls in */
	int mounts_fd;  /* the mount namespace: see jail_let_go() */
	struct image image;
	struct denied_page *denied;
	struct report start;         /* what pid 1 said first */
	struct message_fds tmpfs;    /* each, to ask how full it is; a clone of the collected one */
	struct message_fds services; /* their sockets, until the client has them */
};

/* -- jail_lease.c -- */

/**
 * jail_name_leaf() - the control group's name of the jail with this lease
 */
void jail_name_leaf(uint32_t number, char *out, size_t room);

/**
 * jail_take_lease() - take a lease whose last holder has left nothing, or clear that up first
 *
 * One that can not be cleared is passed over from then on, until jail_reap() could. The holder's
 * control groups are noted in it.
 */
int jail_take_lease(const struct jail_host *host, struct lease *out, struct err *err) must_check;

/**
 * jail_leave_stuck() - before a lease is given back whose jail could not be cleared: it is passed
 * over at once
 */
void jail_leave_stuck(const struct lease *lease);

/**
 * jail_reap() - kill and remove what jails have left whose monitor was killed; takes some seconds
 * at most, whatever resists
 *
 * The next taker of the lease would do so as well; this is for when there may be none, and for what
 * could not be cleared at once.
 */
void jail_reap(const struct jail_host *host);

/* -- jail.c -- */

/**
 * jail_init() - a jail that is not built yet, and nobody's
 * @lease: decides uid range and name of the cgroup; all are borrowed
 */
void jail_init(struct jail *jail, const struct jail_host *host, const struct lease *lease);

/**
 * jail_prepare() - the steps that are the same for every payload: a control group, /dev, and a
 * pid 1 in its namespaces, which waits
 *
 * After a failure nothing is left.
 */
int jail_prepare(struct jail *jail, struct err *err) must_check;

/**
 * jail_assign() - from now on it is for the payload of @spec; before jail_build()
 */
void jail_assign(struct jail *jail, const struct jail_spec *spec, struct spec_fds *fds);

/**
 * jail_make_landlock() - the rules of a jail with these tmpfs: the second wall behind the mounts,
 * where it may write at all, and ioctl at all
 * @out: empty before
 */
int jail_make_landlock(const struct plan_slice *plan, struct landlock_slice *out,
		       struct err *err) must_check;

/**
 * jail_profile() - which system calls a jail has, those of spec->extra_calls aside
 */
enum seccomp_profile jail_profile(const struct jail_spec *spec);

/**
 * jail_extra_calls() - the lists of calls beside those of its profile: what it asks for, and what
 * comes with a GPU
 */
uint32_t jail_extra_calls(const struct jail_spec *spec);

/**
 * jail_build() - all steps that are left; afterwards the payload runs (or the collector has
 * finished)
 *
 * After a failure nothing is left; jail->start says what pid 1 had to say about it.
 */
int jail_build(struct jail *jail, struct err *err) must_check;

/**
 * jail_end_processes() - end every process of the jail and wait until the kernel says that none is
 * left; may be called again
 */
void jail_end_processes(struct jail *jail);

/**
 * jail_take_down() - undo all steps that were applied
 *
 * What is left is what jail_let_go() lets go: jail->tmpfs, which the workspace is collected from,
 * and the mounts.
 */
void jail_take_down(struct jail *jail);

/**
 * jail_let_go() - let the mounts of a jail go that was taken down
 *
 * The last process of a mount namespace waits, at its exit, for a grace period of the kernel: some
 * milliseconds that are better spent here, when the client knows that its jail is over. Nobody can
 * reach these mounts any more.
 */
void jail_let_go(struct jail *jail);
