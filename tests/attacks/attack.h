/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "sandbox/base/compiler.h"

/*
 * The program that goes for the walls: one function an attack, run by `proctor drill` as an agent.
 *
 *	proctor-attack ID [NAME=VALUE]…
 *
 * It says itself whether it got through, and looks at the effect before it does: the secret that
 * was read, the node that was opened, not a call that returned. Its word goes to descriptor 3, a
 * line each:
 *
 *	GOT what it has now		HELD what stopped it		READY
 *	NA why it can not be tried	BROKEN why nothing can be said
 *
 * GOT counts whoever of its processes says it, and whatever else is said. It is static, links to
 * nothing of ours, and is hostile on purpose: what it does when nothing stops it is as harmless as
 * its purpose allows (a setting is written back as it was; a limit is passed by a little).
 */
enum { WORD_FD = 3, GIVEN_FD = 4 };

/* What the drill has laid out; each is NAME=VALUE on the command line, and 0 or "" without. */
struct scene {
	const char *bait;    /* a folder of the host that every jail sees */
	const char *outside; /* a folder of the host that no jail sees */
	const char
		*tag; /* the name of all that was laid out elsewhere: process, sockets, objects */
	const char *own;             /* folders of proctor's own, with ':' between */
	const char *gpus;            /* device nodes of GPUs that the host has, the same */
	long victim;                 /* a process of the host, by its number there */
	long port;                   /* a listener on the host's loopback */
	long near_port;              /* and one in a jail that runs beside this one */
	long service;                /* a port of its own that leads to an endpoint */
	long key;                    /* of System V objects of the host */
	long near_key;               /* of that other jail */
	long netns;                  /* inode of the host's network namespace */
	long group;                  /* of the host, which may read bait/by-group */
	long disk_major, disk_minor; /* of the host's root */
	long memory, work, inodes; /* limits of this jail: bytes, bytes in /work, files in /work */
	long pids, files;          /* processes, descriptors of a process */
	long output;               /* bytes */
	long huge;                 /* huge pages that the host keeps */
	long round;                /* 1, 2: the same attack in one jail after the other */
	long bare; /* 1: there are no walls; what would harm the machine is left out */
};

struct attack {
	const char *id; /* NULL ends a table */
	void (*run)(const struct scene *scene);
};

extern const struct attack attacks_on_identity[];
extern const struct attack attacks_on_files[];
extern const struct attack attacks_on_secrets[];
extern const struct attack attacks_on_mounts[];
extern const struct attack attacks_on_processes[];
extern const struct attack attacks_on_the_end[];
extern const struct attack attacks_on_the_kernel[];
extern const struct attack attacks_on_devices[];
extern const struct attack attacks_on_the_network[];
extern const struct attack attacks_on_resources[];
extern const struct attack attacks_on_the_freeze[];
extern const struct attack attacks_on_results[];

/* Say the word and end this process. */
no_return void got(const char *format, ...) printf_like(1, 2);
no_return void held(const char *format, ...) printf_like(1, 2);
no_return void broken(const char *format, ...) printf_like(1, 2);
no_return void not_here(const char *format, ...) printf_like(1, 2);

/* For the control: root of this host lacks what the attack takes; nothing happens in a jail. */
void needs_capability(const struct scene *scene, int capability, const char *name);

/* held() with what errno says of @call. */
no_return void held_by(const char *call);

/* What was laid out is in place, and stays until this process ends; the drill looks at the host. */
void say_ready(void);

/* The beginning of every secret. It stands nowhere in this program as one text. */
const char *secret_mark(void);
bool has_secret(const void *bytes, size_t len);

/* got(), if the descriptor gives a secret; it is closed otherwise. */
void try_secret(int fd, const char *where);

/* "FOLDER/NAME"; good until the eighth next call. */
const char *below(const char *folder, const char *name);

/* Reads a file into @text; -1 with errno, else bytes. */
ssize_t read_text(const char *path, char *text, size_t room);
bool write_text(const char *path, const char *text);

/* A number of /proc/self/status, in this base; -1 if there is none. */
long status_number(const char *key, int base);

/* The inode of a namespace of this process ("net"), 0 if it can not be seen. */
long namespace_of(const char *kind);

/* Calls @visit for all that is below the folder, other file systems of the kernel left out. */
void walk(const char *folder, int depth,
	  void (*visit)(const char *path, mode_t mode, const struct scene *scene),
	  const struct scene *scene);

/* Listens where a jail beside this one may not hear it, gives the secret to whoever comes. */
no_return void serve_neighbours(const struct scene *scene, const char *secret);

/* Every signal that can be. */
void ignore_signals(void);

/* Sleeps through signals. */
void sleep_ms(long ms);
