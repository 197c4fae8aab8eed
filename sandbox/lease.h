/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "sandbox/base/err.h"

/*
 * Leases: what only one jail of the host may use at a time
 *
 * A lease is an exclusive flock on a file below the launcher's state folder, held by an open
 * descriptor: it ends with its holder, however the holder ends. What a dead holder left under the
 * lease's name (a cgroup with processes in it) is cleared by the next taker before use.
 */
struct lease {
	int lock_fd; /* owned; -1: none */
	uint32_t number;
};

#define LEASE_INIT ((struct lease){ .lock_fd = -1 })

/**
 * lease_open_folder() - make the folder of the leases, or open it
 * @path: its parent is there
 *
 * Return: its descriptor, owned by the caller; -1 with ERR_HOST, also where the folder could be
 * written by somebody else.
 */
int lease_open_folder(const char *path, struct err *err) must_check;

/**
 * lease_take() - take the first free one of @count leases
 * @folder_fd: the folder of their files, root's alone
 * @kind:      what is leased, for the file's name and for messages: "uids"
 *
 * Never waits. Return: 0, or -1 with ERR_HOST if all are taken.
 */
int lease_take(int folder_fd, const char *kind, uint32_t count, struct lease *out,
	       struct err *err) must_check;

/**
 * lease_try() - take lease @number if nobody has it
 *
 * Return: 1 taken, 0 it is another's, -1 error.
 */
int lease_try(int folder_fd, const char *kind, uint32_t number, struct lease *out,
	      struct err *err) must_check;

/**
 * lease_note() - write down what the next taker has to know of this one, should it die; "" once
 * there is nothing
 */
int lease_note(const struct lease *lease, const char *text, struct err *err) must_check;

/**
 * lease_read() - what the last holder has noted
 * @room: what does not fit, its end included, is an error
 */
int lease_read(const struct lease *lease, char *text, size_t room, struct err *err) must_check;

/**
 * lease_done() - give the lease back; nothing happens if there is none
 */
void lease_done(struct lease *lease);
