/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

#include "harness/run/account.h"
#include "sandbox/base/err.h"

/*
 * What proctor jail opens while it is root: the operator named it, but may not reach it any more
 * later
 */
struct jail_places {
	const char *put; /* the name of a folder, or of a tree such as --archive writes */
	bool is_tree;
	int put_fd, archive_fd, service_log_fd;
	int stdout_fd, stderr_fd; /* -1: the descriptors themselves */
};

#define JAIL_PLACES_INIT ((struct jail_places){ NULL, false, -1, -1, -1, -1, -1 })

/* As the options have them; NULL: not asked for. */
struct jail_places_names {
	const char *put, *archive, *service_log;
};

/**
 * jail_places_open() - open and create all of them, in the account's name
 */
int jail_places_open(const struct jail_places_names *names, const struct account *account,
		     struct jail_places *out, struct err *err) must_check;

/**
 * jail_places_done() - close all
 */
void jail_places_done(struct jail_places *places);

/**
 * jail_places_tree() - what is to be put, as a tree; without privilege
 * @tree_fd: receives that of a folder, for the caller to close; a tree is put_fd itself
 */
int jail_places_tree(const struct jail_places *places, const struct account *account, int *tree_fd,
		     struct err *err) must_check;
