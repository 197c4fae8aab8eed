/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sandbox/base/err.h"

/*
 * A folder for the time of a program, beneath the one for such things
 *
 * Its descriptor holds a lock on it, which ends with the program however that ends: whoever opens
 * the next one of the same name removes those of the same user that nobody has locked.
 */
#define SCRATCH_PATH_MAX 256

struct scratch {
	char path[SCRATCH_PATH_MAX]; /* from the root; empty: there is none */
	int fd;                      /* owned */
};

#define SCRATCH_INIT ((struct scratch){ .fd = -1 })

/**
 * scratch_open() - make a new folder, and remove what killed programs have left of this name
 * @parent: "/tmp"; may be relative
 * @name:   its name begins so
 */
int scratch_open(const char *parent, const char *name, struct scratch *out,
		 struct err *err) must_check;

/**
 * scratch_make() - make a folder in it
 *
 * Return: its descriptor, owned by the caller, or -1.
 */
int scratch_make(const struct scratch *scratch, const char *name, struct err *err) must_check;

/**
 * scratch_done() - remove it with all that is in it; it is SCRATCH_INIT again
 */
void scratch_done(struct scratch *scratch);
