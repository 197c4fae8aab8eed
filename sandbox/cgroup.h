/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbox/base/arena.h"
#include "sandbox/base/err.h"

/*
 * Control groups
 *
 * A jail has one leaf: where limits are set, where usage is read, and how the jail is ended:
 * whatever the agent has forked, cgroup_kill() reaches it. Leaves lie in a folder of ours beneath
 * a group that is ours to use; nothing above that group and no other group is ever written.
 *
 * Killing, the count of CPU time and the device program are always the v2 hierarchy's. Each of
 * the other controllers is v2's or, on a hybrid host, in a v1 hierarchy of its own, where the leaf
 * is then a second folder of the same name. cgroup_plan.c has one table of knobs for both.
 */
enum cgroup_controller {
	CGROUP_MEMORY,
	CGROUP_PIDS,
	CGROUP_CPU,
	CGROUP_CPUSET,
	CGROUP_CONTROLLERS,
};

/* As the kernel writes them. */
extern const char *const cgroup_controller_names[CGROUP_CONTROLLERS];

/* A set of controllers: bit N is controller N. */
#define CGROUP_BIT(controller) (UINT32_C(1) << (controller))

/* What a host may be unable to enforce; sets of them have a bit CGROUP_BIT(limit) for each. */
enum cgroup_limit {
	CGROUP_LIMIT_MEMORY,
	CGROUP_LIMIT_SWAP, /* that memory is not written to swap beside its limit */
	CGROUP_LIMIT_PIDS,
	CGROUP_LIMIT_CPUS,
	CGROUP_LIMITS,
};

struct cgroup_limits {
	uint64_t memory;    /* bytes, page cache and tmpfs included, no swap beside; 0: none */
	uint64_t pids;      /* processes and threads; 0: none */
	uint64_t cpu_milli; /* thousandths of a CPU, at least 10; 0: none */
	char cpus[64];      /* "0-3,8"; empty: those of the group above */
	uint32_t accept;    /* limits to do without where the host can not enforce them */
};

/* -- the host: cgroup_find.c reads, cgroup_host.c makes -- */

struct cgroup_place {
	const char *mount; /* NULL: there is no such hierarchy */
	const char *own;   /* our own group beneath it, "" for the mount's root */
};

struct cgroup_layout {
	struct cgroup_place unified;
	struct cgroup_place v1[CGROUP_CONTROLLERS];
};

/**
 * cgroup_find() - where the hierarchies are mounted and where we are in each of them; pure
 * @arena:     owns the paths
 * @mountinfo: as /proc/self/mountinfo
 * @own:       as /proc/self/cgroup
 *
 * A host without a v2 mount, with our group outside of every mount, or with two of the
 * controllers in one v1 hierarchy is an ERR_HOST error.
 */
int cgroup_find(struct arena *arena, const char *mountinfo, const char *own,
		struct cgroup_layout *out, struct err *err) must_check;

/**
 * cgroup_controllers() - the controllers that a list like "cpuset cpu io memory" names
 */
uint32_t cgroup_controllers(const char *text);

/**
 * cgroup_has_swap() - does /proc/swaps, whose text this is, name a place to swap to?
 */
bool cgroup_has_swap(const char *swaps);

/**
 * cgroup_look() - cgroup_find() of this process, and whether the host has somewhere to swap to;
 * needs no privilege
 */
int cgroup_look(struct arena *arena, struct cgroup_layout *out, bool *has_swap,
		struct err *err) must_check;

enum { CGROUP_PATH_MAX = 1024 };

struct cgroup_host {
	int unified_fd;                 /* owned: our folder in the v2 hierarchy, locked shared */
	int v1_fds[CGROUP_CONTROLLERS]; /* owned: the same in a v1 hierarchy; -1: not v1 */
	uint32_t v1;                    /* controllers that have a v1 hierarchy */
	uint32_t unified;               /* controllers that our v2 folder hands to its leaves */
	bool has_swap;                  /* there is somewhere to swap to */
	char mems[64];                  /* memory nodes of the v1 cpuset hierarchy */
	char path[CGROUP_PATH_MAX];     /* our v2 folder */
	char v1_paths[CGROUP_CONTROLLERS][CGROUP_PATH_MAX]; /* our v1 folders; "" for none */
};

#define CGROUP_HOST_INIT ((struct cgroup_host){ .unified_fd = -1, .v1_fds = { -1, -1, -1, -1 } })

/**
 * cgroup_host_open() - find our place and make the folder of our leaves, or share it
 *
 * On v1 the folder lies in our own group. On v2 it lies in our own group if that already hands
 * memory and pids on; else, where our own group has this process alone and offers them, the
 * process moves into a leaf "launcher" of it; else in the nearest group above that hands them on;
 * else in our own group all the same, whose leaves then have less: what limits they lack is
 * cgroup_create()'s to refuse. A host where no group can be made is an ERR_HOST error.
 */
int cgroup_host_open(struct cgroup_host *out, struct err *err) must_check;

/**
 * cgroup_host_done() - let go of the folder; whoever is last and finds it empty removes it
 */
void cgroup_host_done(struct cgroup_host *host);

/**
 * cgroup_host_forget() - in a child: close the folder, which goes on to be its parent's
 */
void cgroup_host_forget(struct cgroup_host *host);

/* -- who asks for jails: cgroup_client.c -- */

/*
 * The groups of a process. Jails that it asks for lie in its own groups where that can be, so that
 * what limits these (a batch system's job, a service) goes on to hold for them.
 */
struct cgroup_groups {
	char text[2048];                              /* as /proc/PID/cgroup */
	char unified[CGROUP_PATH_MAX];                /* its v2 group, from the root */
	size_t unified_mount;                         /* bytes of that which are the mount point */
	char v1[CGROUP_CONTROLLERS][CGROUP_PATH_MAX]; /* "": the controller has no v1 hierarchy */
	size_t v1_mount[CGROUP_CONTROLLERS];
};

/**
 * cgroup_groups_of() - find the groups of a process
 * @pid: the process; the caller makes sure that it still is the one that is meant
 *
 * Return: 1; 0 if they are those that @out has already; -1.
 */
int cgroup_groups_of(pid_t pid, struct cgroup_groups *out, struct err *err) must_check;

/**
 * cgroup_host_open_for() - the folder for the jails of somebody else
 * @own: where they go on v2 if there is no place for them in his own groups; open as long as @out
 * @pid: of the client, whose groups these are; @uid: his
 *
 * On v1 the folder lies in his own groups. On v2 it does so where the kernel asks nothing for it
 * (all limits are v1's), or where a group at or above his own is his (delegated) and hands memory
 * and pids on; a group of his that has this process alone is made to, as by cgroup_host_open().
 */
int cgroup_host_open_for(const struct cgroup_groups *groups, pid_t pid, uid_t uid,
			 const struct cgroup_host *own, struct cgroup_host *out,
			 struct err *err) must_check;

enum { CGROUP_LEVELS_MAX = 32, CGROUP_CPUS_MAX = 1024 };

#define CGROUP_ANY UINT64_MAX /* no limit */

/* A group above a client whose limits the kernel does not apply to its jails. */
struct cgroup_level {
	uint64_t id; /* no other group of this boot ever has it */
	uint64_t memory, pids, cpu_milli;
};

/* What the groups of a client allow it, from its own up to the root. */
struct cgroup_bounds {
	uint64_t memory, pids, cpu_milli; /* the least of all groups; CGROUP_ANY */
	char cpus[CGROUP_CPUS_MAX];       /* that it may use; "": any */
	uint32_t cpus_are_held; /* 1: jails lie below that cpuset, and can use no other CPU */
	uint32_t level_count;
	struct cgroup_level levels[CGROUP_LEVELS_MAX];
};

/**
 * cgroup_bounds_read() - read the limits that hold for these groups now
 * @where: the folder that the jails are in; decides what the kernel holds them to
 */
int cgroup_bounds_read(const struct cgroup_groups *groups, const struct cgroup_host *where,
		       struct cgroup_bounds *out, struct err *err) must_check;

/**
 * cgroup_groups_events_fd() - cgroup.events of the v2 group, which polls POLLPRI when it has lost
 * its last process, or is gone; it has been read once, as that takes
 *
 * Return: owned by the caller; -1 where there is none: the root has none.
 */
int cgroup_groups_events_fd(const struct cgroup_groups *groups);

/* -- one leaf: cgroup.c, and cgroup_plan.c for what is written to it -- */

struct cgroup {
	const struct cgroup_host *host; /* borrowed */
	int fd;                         /* owned: the v2 leaf, for CLONE_INTO_CGROUP */
	uint32_t v1;                    /* controllers whose v1 hierarchy has a leaf too */
	uint32_t without;               /* limits that do not hold, and were accepted not to */
	char name[64];
};

#define CGROUP_INIT ((struct cgroup){ .fd = -1 })

/* One file of a leaf and what is written to it. */
struct cgroup_knob {
	enum cgroup_controller controller;
	const char *file;
	const char
		*effective; /* says what holds, as a set of CPUs; NULL: @file itself, as written */
	bool optional;      /* a kernel without the file is not an error */
	const char *unit;   /* of the text, for people */
	char text[64];
};

#define CGROUP_KNOBS_MAX 8

/**
 * cgroup_plan() - what setting these limits writes, in order; pure
 * @v1:   the controllers to be set by their v1 files
 * @mems: memory nodes, for the v1 cpuset controller
 *
 * Return: the number of knobs in @out.
 */
size_t cgroup_plan(const struct cgroup_limits *limits, uint32_t v1, const char *mems,
		   struct cgroup_knob out[CGROUP_KNOBS_MAX]);

/**
 * cgroup_same_cpus() - do two lists like "0-2,5" name the same CPUs? false where one is no list
 */
bool cgroup_same_cpus(const char *one, const char *other);

/**
 * cgroup_has_cpus() - does the list @all name every CPU that @some names? false where one is no
 * list
 */
bool cgroup_has_cpus(const char *all, const char *some);

/**
 * cgroup_make() - make a leaf without limits, only to be killed and counted as yet
 * @name: as cgroup_create()
 */
int cgroup_make(const struct cgroup_host *host, const char *name, struct cgroup *out,
		struct err *err) must_check;

/**
 * cgroup_limit() - set the limits of a leaf of cgroup_make(), and read them back
 *
 * Before it runs what they are for: those in v1 hierarchies hold for processes that join
 * afterwards, see cgroup_join_fds(). Errors are those of cgroup_create(); the leaf stays, and is
 * the caller's to remove.
 */
int cgroup_limit(struct cgroup *cg, const struct cgroup_limits *limits, struct err *err) must_check;

/**
 * cgroup_create() - make a leaf, limits set and read back, no process in it
 * @name: letters, digits, '-' and '_', at most 63, unique among all who share the host
 *
 * A leaf that is there already is an error: nobody adopts a leaf that he did not make. A limit
 * that the host can not enforce is an ERR_HOST error, unless @limits accepts that: the leaf then
 * says what it is without. After a failure nothing is left.
 */
int cgroup_create(const struct cgroup_host *host, const char *name,
		  const struct cgroup_limits *limits, struct cgroup *out,
		  struct err *err) must_check;

/**
 * cgroup_clone_fd() - what clone3(CLONE_INTO_CGROUP) wants; borrowed from the leaf
 */
static inline int cgroup_clone_fd(const struct cgroup *cg)
{
	return cg->fd;
}

/**
 * cgroup_join_fds() - open what a process of the v2 leaf has to write "0" to, so that it is in the
 * v1 leaves as well
 * @fds: receives the descriptors, owned by the caller; -1 fills the rest
 *
 * The process writes for itself: a pid written by somebody else costs milliseconds.
 * Return: how many there are, 0 on a pure v2 host, or -1.
 */
int cgroup_join_fds(const struct cgroup *cg, int fds[CGROUP_CONTROLLERS],
		    struct err *err) must_check;

/**
 * cgroup_kill() - SIGKILL for every process in the leaf, forks under way included
 */
int cgroup_kill(const struct cgroup *cg, struct err *err) must_check;

/**
 * cgroup_populated_fd() - a descriptor that polls POLLPRI when the leaf gets its first process or
 * has lost its last one; owned by the caller
 */
int cgroup_populated_fd(const struct cgroup *cg, struct err *err) must_check;

/**
 * cgroup_is_populated() - does the leaf have a live process?
 * @populated_fd: from cgroup_populated_fd(); reading it is what arms the next POLLPRI
 */
bool cgroup_is_populated(int populated_fd);

struct cgroup_usage {
	uint64_t cpu_us;      /* user and system time of all processes, ended ones too */
	uint64_t memory_peak; /* bytes; 0: this kernel does not say */
	uint64_t pids_peak;   /* 0: this kernel does not say */
	uint64_t oom_kills;   /* processes that the kernel killed for memory */
	uint64_t pids_hits;   /* forks refused */
};

/**
 * cgroup_usage() - what the leaf has used so far
 */
int cgroup_usage(const struct cgroup *cg, struct cgroup_usage *out, struct err *err) must_check;

/**
 * cgroup_remove() - remove the leaf, which has no process any more, and release it
 *
 * The kernel may need some milliseconds after the last exit: tried again for up to two seconds.
 * Released in any case; what could not be removed is cgroup_reap()'s.
 */
int cgroup_remove(struct cgroup *cg, struct err *err) must_check;

/**
 * cgroup_done() - release the value, leaving the leaf on the host
 */
void cgroup_done(struct cgroup *cg);

/**
 * cgroup_reap() - kill and remove what an owner that died has left under @name; nothing there is
 * fine
 */
int cgroup_reap(const struct cgroup_host *host, const char *name, struct err *err) must_check;

/* -- leaves of dead launchers in folders that this one does not have: cgroup_places.c -- */

enum { CGROUP_PLACES_MAX = (1 + CGROUP_CONTROLLERS) * (CGROUP_PATH_MAX + 16) };

/**
 * cgroup_places_text() - write down where the folders of a host are, a line each, for
 * cgroup_places_reap()
 */
void cgroup_places_text(const struct cgroup_host *host, char out[CGROUP_PLACES_MAX]);

/**
 * cgroup_places_reap() - cgroup_reap() in folders that were written down, and remove those that are
 * empty then
 * @text: root's own; a line that is none of ours is an error, a folder that is gone is fine
 */
int cgroup_places_reap(const char *text, const char *name, struct err *err) must_check;
