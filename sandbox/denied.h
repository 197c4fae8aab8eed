/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sandbox/base/err.h"

/*
 * How often a jail tried what it may not
 *
 * Calls that policies/syscalls/refused.list names wait for an answer from pid 1 of the jail, which
 * is always EPERM and is counted in a page that pid 1 shares with the monitor: so the counts are
 * there however the jail ends. Counters are in the order of the list. They saturate, and nothing in
 * the page decides anything.
 */
#define DENIED_MAX 96

struct denied_calls {
	uint32_t count;
	int32_t number[DENIED_MAX]; /* of each call in the list; negative: this machine has none */
};

struct denied_page {
	uint32_t tries[DENIED_MAX];
};

/**
 * denied_create() - a page of zeros that can neither shrink nor grow
 *
 * Return: a descriptor, owned by the caller, or -1.
 */
int denied_create(struct err *err) must_check;

/**
 * denied_map() - see the page
 * @writable: in pid 1
 *
 * Return: the page, ended with denied_unmap(), or NULL.
 */
struct denied_page *denied_map(int fd, bool writable, struct err *err) must_check;

/**
 * denied_unmap() - nothing happens for NULL
 */
void denied_unmap(struct denied_page *page);

/**
 * denied_answer() - refuse and count the calls that wait at @listener_fd, but no more than some
 * dozens, so that a flood of them starves nobody; never waits
 *
 * Return: 0, or -1 when the listener is of no more use: nobody is left who could call.
 */
int denied_answer(int listener_fd, const struct denied_calls *calls,
		  struct denied_page *page) must_check;
