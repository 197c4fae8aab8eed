/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <limits.h>

#include "sandbox/base/compiler.h"

/*
 * Errors
 *
 * A function that can fail takes a `struct err *` last and returns 0 or -1 (or a pointer or a
 * descriptor and NULL or -1). Whoever meets the failure first says what was tried; callers add
 * what only they know with err_wrap(); main prints the text once. The struct is a value: nothing
 * to free, and small enough to cross a pipe in one atomic write, so that a child's failure
 * reaches the user in the child's own words.
 *
 * Expected outcomes (a timeout, a failed task, a cheat found) are data, never errors.
 */
enum err_kind {
	ERR_NONE,
	ERR_USAGE, /* the command line is wrong */
	ERR_INPUT, /* a task, policy or argument value is wrong: its author can fix it */
	ERR_HOST,  /* this host lacks a privilege, a device or a kernel feature */
	ERR_SYS,   /* a system call failed that should not have */
};

struct err {
	enum err_kind kind;
	int sys;        /* errno at the origin, or 0 */
	char text[500]; /* outermost context first */
};

#define ERR_INIT ((struct err){ .kind = ERR_NONE })

_Static_assert(sizeof(struct err) <= PIPE_BUF, "an error must fit one atomic pipe write");

/**
 * err_set() - raise an error that no system call reported
 * @kind:   who has to act
 * @format: what was tried, names in '…', lower case, no full stop
 *
 * Return: -1, so that `return err_set(…)` reads well.
 */
int err_set(struct err *err, enum err_kind kind, const char *format, ...) printf_like(3, 4);

/**
 * err_sys() - raise an error that a system call reported in errno; ERR_SYS
 *
 * Reads errno before anything else. Return: -1.
 */
int err_sys(struct err *err, const char *format, ...) printf_like(2, 3);

/**
 * err_host() - as err_sys(), where the host lacks what was asked for; ERR_HOST
 *
 * The text should say what the administrator can do about it. Return: -1.
 */
int err_host(struct err *err, const char *format, ...) printf_like(2, 3);

/**
 * err_wrap() - put context that the callee did not have in front of the text
 *
 * Return: -1. A text that grows too long loses its end, never its beginning.
 */
int err_wrap(struct err *err, const char *format, ...) printf_like(2, 3);

/**
 * err_exit_code() - the exit code of a program that ends with this error: 2 usage, 3 input,
 * 4 host, 5 ours
 */
int err_exit_code(const struct err *err);
