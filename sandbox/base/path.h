/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "sandbox/base/err.h"

/*
 * Paths
 *
 * Files that outsiders name are opened beneath a folder's descriptor, and no symbolic link is
 * followed on the way (openat2, Linux 5.6). Full path strings exist for messages only.
 */

/**
 * path_is_relative() - is @path made of plain names: not empty, not absolute, no "." or ".."
 * component, no empty component, shorter than 4096 bytes, no name longer than 255
 */
bool path_is_relative(const char *path);

/**
 * path_open() - open @path beneath @dir_fd with RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
 * RESOLVE_NO_MAGICLINKS
 * @flags: as open(2); O_CLOEXEC and O_NOCTTY are added
 * @mode:  for O_CREAT
 *
 * Return: the descriptor, owned by the caller, or -1. A path that does not exist, is not allowed
 * or passes through a link is an ERR_INPUT error; err->sys holds the errno.
 */
int path_open(int dir_fd, const char *path, int flags, mode_t mode, struct err *err) must_check;

/**
 * path_open_file() - path_open() of a regular file, to be read; anything else, which could keep us
 * waiting, is an ERR_INPUT error
 */
int path_open_file(int dir_fd, const char *path, struct err *err) must_check;

/**
 * path_new_file() - a new, empty file of mode 0644 to read and write, in place of whatever has the
 * name (but not of a folder)
 */
int path_new_file(int dir_fd, const char *path, struct err *err) must_check;

/**
 * path_open_folder() - path_open() of a folder, to be read or used as a dir_fd
 */
int path_open_folder(int dir_fd, const char *path, struct err *err) must_check;
