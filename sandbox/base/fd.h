/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sandbox/base/compiler.h"

/*
 * File descriptors. -1 means none. Every descriptor of ours is close-on-exec from birth. A
 * parameter `int fd` borrows; a function that takes ownership says so in its name.
 */

/**
 * fd_close() - close *fd if there is one, and leave -1; errno survives
 */
void fd_close(int *fd);

#define auto_fd cleanup(fd_close) int

/**
 * fd_take() - hand a descriptor over, leaving -1 behind
 */
static inline int fd_take(int *fd)
{
	return take(*fd, -1);
}
