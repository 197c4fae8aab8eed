/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <poll.h>
#include <stdbool.h>

#include "sandbox/base/err.h"
#include "sandbox/base/process.h"

/*
 * The launcher: a private child of proctor where that is started by root, else the service that
 * root has started for a group; and proctor's own programs beside it.
 */
struct launcher {
	struct process process; /* of a private child; else none */
	int socket_fd;          /* owned; requests go here */
	bool is_service;
};

/* Where the service listens, unless PROCTOR_SOCKET names another path; see its unit. */
#define LAUNCHER_SOCKET "/run/proctor.socket"

#define LAUNCHER_INIT ((struct launcher){ .process = PROCESS_INIT, .socket_fd = -1 })

/* Folders of proctor's own that the launcher covers in jails; NULL is behind the last. */
extern const char *const launcher_prefixes[];

/**
 * launcher_open_program() - open one of proctor's own programs ("proctor-launcher")
 * @folder: looked for here first: the folder of the running program, which is a build folder with
 *          all of them, or not; NULL for none. Then where meson installs it
 *
 * Return: a descriptor to read or execute, owned by the caller, or -1 with ERR_HOST.
 */
int launcher_open_program(const char *folder, const char *name, struct err *err) must_check;

/**
 * launcher_start() - start the launcher while we are still root, and wait until it is ready
 * @folder: as for launcher_open_program()
 */
int launcher_start(const char *folder, struct launcher *out, struct err *err) must_check;

/**
 * launcher_connect() - connect to the service
 * @path: NULL: LAUNCHER_SOCKET
 *
 * One that is not root's, or that does not take us, is an ERR_HOST error that says what to do.
 */
int launcher_connect(const char *path, struct launcher *out, struct err *err) must_check;

/**
 * launcher_open() - launcher_start() for root, launcher_connect() for others
 */
int launcher_open(const char *folder, const char *path, struct launcher *out,
		  struct err *err) must_check;

/**
 * launcher_poll() - what poll(2) is to be given so that it tells when the launcher has gone
 */
struct pollfd launcher_poll(const struct launcher *launcher);

/**
 * launcher_done() - close the socket and, where it is our child, wait until launcher and monitors
 * have taken everything down; nothing happens if there is none
 */
void launcher_done(struct launcher *launcher);
