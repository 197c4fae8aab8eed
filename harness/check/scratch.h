/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sandbox/base/err.h"

/*
 * A folder for the time of a program, beneath the one for such things
 */
struct scratch {
	char path[256]; /* empty: there is none */
	int fd;         /* owned */
};

#define SCRATCH_INIT ((struct scratch){ .fd = -1 })

/**
 * scratch_open() - make a new folder
 * @parent: "/tmp"
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
