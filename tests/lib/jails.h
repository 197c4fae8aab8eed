/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/types.h>

#include "harness/run/jail.h"
#include "harness/run/launcher.h"

/*
 * Jails by way of the real launcher, for tests of those who ask for them and of what they leave
 *
 * The launcher is a child of the test. Other launchers may be at work on the machine, so whatever
 * is counted here is this launcher's: its children, its descriptors, and control groups by inode,
 * since a name is taken by somebody else the moment it is free.
 */
struct jails {
	struct launcher launcher;
	int fds; /* of the test, before the launcher was started */
};

/**
 * jails_start() - start a launcher; the test is skipped where there is no root
 */
void jails_start(struct jails *jails);

/**
 * jails_end() - close the launcher's socket and check that it ends well, has left no child, and
 * that this process has the descriptors again that it had before, and no child
 */
void jails_end(struct jails *jails);

/**
 * jails_spec() - a small jail that runs `sh -c @script` in /work
 */
void jails_spec(struct jail_spec *spec, const char *script);

/**
 * jails_run() - run it to its end; its output is in the files NAME.stdout and NAME.stderr of
 * check_folder()
 * @output_max: bytes
 */
struct jail_outcome jails_run(struct jails *jails, const struct jail_spec *spec, const char *name,
			      uint64_t output_max);

/**
 * jails_text() - the content of a file of check_folder(), valid until the next call
 */
const char *jails_text(const char *name);

/* A jail that runs, seen from outside. */
struct jails_held {
	int jail_fd; /* owned: the control socket */
	struct started_fds fds;
	pid_t payload, init, monitor;
	char leaf[512]; /* its control group */
	ino_t inode;
};

/**
 * jails_open() - ask for a jail, wait until its payload runs and look where it is
 *
 * Standard output and error go to /dev/null; other descriptors are the caller's, or NULL.
 */
void jails_open(struct jails *jails, const struct jail_spec *spec, struct spec_fds *fds,
		struct jails_held *out);

/**
 * jails_find() - the same for a payload that somebody else has started
 * @payload: its pid
 */
void jails_find(pid_t payload, struct jails_held *out);

/**
 * jails_processes_are_gone() - no process of it is left within @ms milliseconds
 */
bool jails_processes_are_gone(const struct jails_held *held, uint64_t ms);

/**
 * jails_is_gone() - no process and no control group of it is left within @ms milliseconds
 */
bool jails_is_gone(const struct jails_held *held, uint64_t ms);

/**
 * jails_close() - close what is held
 */
void jails_close(struct jails_held *held);

/**
 * jails_count_fds() - how many descriptors a process has
 */
int jails_count_fds(pid_t pid);

/**
 * jails_children() - how many children a process has that are no zombies
 * @last: receives the pid of one of them; NULL if that does not matter
 */
int jails_children(pid_t pid, pid_t *last);

/**
 * jails_running() - the monitor of a jail of a launcher's that has a payload; 0 if there is none
 *
 * The launcher's spare is a child of its, too, whose pid 1 has none yet.
 */
pid_t jails_running(pid_t launcher);

/**
 * jails_child() - the child of a process that has this name, no zombie; 0 if there is none
 */
pid_t jails_child(pid_t parent, const char *name);

/**
 * jails_parent() - the parent of a process
 */
pid_t jails_parent(pid_t pid);

/**
 * jails_wait_for() - wait until a file of check_folder() has @text in it
 */
void jails_wait_for(const char *name, const char *text);

/**
 * jails_cpu_ns() - the CPU time that a process has used
 */
int64_t jails_cpu_ns(pid_t pid);

/**
 * jails_worker_program() - proctor-worker in a memfd, as a run has it
 */
int jails_worker_program(void);
