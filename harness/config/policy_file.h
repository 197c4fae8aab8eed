/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/config/policy.h"

/*
 * A policy as somebody names it: one that came with proctor, by its name, or a file
 *
 * It is opened by whoever named it, who may be root, and read later by a process without privilege;
 * what it extends is opened only then, with the rights of that process.
 */
struct policy_file {
	const char *path; /* as it was named, borrowed; NULL: the default policy */
	int fd;           /* owned; -1: one that came with proctor */
	int folder_fd;    /* owned: where it is; only to look from */
};

#define POLICY_FILE_INIT ((struct policy_file){ .fd = -1, .folder_fd = -1 })

/**
 * policy_file_open() - open what @path names
 * @folder_fd: where @path starts; AT_FDCWD
 *
 * A name without '/' and '.' is that of a policy that came with proctor. What is no regular file,
 * or is not there, is an ERR_INPUT error.
 */
int policy_file_open(struct policy_file *out, int folder_fd, const char *path,
		     struct err *err) must_check;

/**
 * policy_file_read() - read it and what it extends
 * @out:  untouched on failure; the caller ends it with policy_done()
 * @text: receives one file that says all of it: the policy's own where it extends nothing; NULL:
 *        nobody wants it
 */
int policy_file_read(const struct policy_file *file, struct policy *out, struct str *text,
		     struct err *err) must_check;

/**
 * policy_file_done() - close it; it is POLICY_FILE_INIT again
 */
void policy_file_done(struct policy_file *file);
