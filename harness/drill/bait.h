/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "harness/drill/victim.h"
#include "sandbox/base/err.h"

/*
 * The bait: what attacks look for on a host
 *
 * Root lays it out before the launcher starts: files in a file system in memory, mounted over a
 * folder that every jail sees and over one that none sees; objects of System V and POSIX; a key; a
 * process with listeners; and what a launcher must not pass on (a group, ignored signals, an open
 * descriptor). All of it is in mount and IPC namespaces of the drill's own or held by descriptors:
 * it goes with the last process of the drill, whatever ended that.
 */
enum { BAIT_SECRET_MAX = 64, BAIT_TAG_MAX = 16 };

struct bait {
	char tag[BAIT_TAG_MAX];       /* the name of everything that has one */
	char secret[BAIT_SECRET_MAX]; /* "drill-secret:" and 32 digits */
	const char *folder;           /* that jails see, absolute */
	const char *outside;          /* that no jail sees */
	int folder_fd, outside_fd;    /* owned, O_PATH */
	int root_only_fd;             /* owned: root's file, to see whether it changed */
	int program_fd;               /* owned: the attacks' program, sealed */
	int inherited_fd;             /* not close-on-exec: a launcher must not pass it on */
	struct victim victim;
	gid_t group; /* that may read bait/by-group */
	uint16_t port, near_port;
	int key, near_key;
	unsigned int disk_major, disk_minor; /* of the host's root; 0: no disk */
	uint64_t netns;
};

#define BAIT_INIT                           \
	((struct bait){ .folder_fd = -1,    \
			.outside_fd = -1,   \
			.root_only_fd = -1, \
			.program_fd = -1,   \
			.inherited_fd = -1, \
			.victim = VICTIM_INIT })

/**
 * bait_plant() - lay all of it out; as root, before a launcher is started
 * @programs: as for launcher_open_program()
 * @group:    of the account that root will be dropped for: some bait is for its members
 *
 * Changes this process for good: mount and IPC namespace, session keyring, groups, signals. After a
 * failure it should end.
 */
int bait_plant(const char *programs, gid_t group, struct bait *out, struct err *err) must_check;

/**
 * bait_calm() - when the launcher runs: take back what only it was to inherit
 */
int bait_calm(struct bait *bait, struct err *err) must_check;

/**
 * bait_is_whole() - is everything as it was laid out? Needs no privilege
 * @what: receives what is not, if it is not
 */
bool bait_is_whole(const struct bait *bait, const char **what);

/**
 * bait_done() - close what is held; the rest goes with the process
 */
void bait_done(struct bait *bait);
