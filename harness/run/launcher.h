/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sandbox/base/err.h"
#include "sandbox/base/process.h"

/*
 * The launcher as a private child of proctor, and proctor's own programs beside it.
 */
struct launcher {
	struct process process;
	int socket_fd; /* owned; requests go here */
};

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
 * launcher_done() - close the socket and wait until launcher and monitors have taken everything
 * down; nothing happens if there is none
 */
void launcher_done(struct launcher *launcher);
