/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbox/base/err.h"
#include "sandbox/base/str.h"

/*
 * Reading and writing whole things. Every read has a bound, EINTR is dealt with, and short
 * writes go on.
 */

/**
 * io_write_all() - write all of @bytes to @fd
 * @what: what is written, for the error's text
 */
int io_write_all(int fd, const void *bytes, size_t len, const char *what,
		 struct err *err) must_check;

/**
 * io_write_waiting() - as io_write_all(), and wait where @fd is nonblocking and full: somebody
 * else's standard output may be, and what is written to it must not get lost
 */
int io_write_waiting(int fd, const void *bytes, size_t len, const char *what,
		     struct err *err) must_check;

/**
 * io_read_exact() - read exactly @len bytes; the end of the file before that is an error
 */
int io_read_exact(int fd, void *bytes, size_t len, const char *what, struct err *err) must_check;

/**
 * io_read_some() - one read(2) of at most @len bytes, repeated only for EINTR
 *
 * Return: bytes read, 0 at the end of the file, -1 with errno set.
 */
ssize_t io_read_some(int fd, void *bytes, size_t len) must_check;

/**
 * io_read_fd() - append all that @fd still has to @out
 * @max: more bytes than this are an ERR_INPUT error
 */
int io_read_fd(int fd, size_t max, const char *what, struct str *out, struct err *err) must_check;

/**
 * io_read_file() - append a whole regular file beneath @dir_fd to @out
 * @path: relative; no symbolic link is followed on the way
 * @max:  a larger file is an ERR_INPUT error
 */
int io_read_file(int dir_fd, const char *path, size_t max, struct str *out,
		 struct err *err) must_check;

/**
 * io_read_kernel_file() - read a file of procfs, sysfs or cgroupfs into @text, zero terminated,
 * trailing white space cut off
 * @path: relative to @dir_fd, or absolute; the caller's own constant, never an outsider's
 * @room: a content that does not fit, its end included, is an error and not cut
 */
int io_read_kernel_file(int dir_fd, const char *path, char *text, size_t room,
			struct err *err) must_check;

/**
 * io_write_kernel_file() - write @text to a file of procfs, sysfs or cgroupfs in one write
 */
int io_write_kernel_file(int dir_fd, const char *path, const char *text,
			 struct err *err) must_check;

/**
 * io_replace_file() - put a whole file in the place of @name in @dir_fd: readers see the old
 * content or the new, and after a crash one of both (written, fsynced, renamed, folder fsynced).
 * The draft is `.NAME.new`; one that is there already is removed, and a failure leaves none
 */
int io_replace_file(int dir_fd, const char *name, const void *bytes, size_t len, mode_t mode,
		    struct err *err) must_check;

/**
 * io_seal() - set all seals of a memfd, so that nobody can change it
 *
 * The kernel refuses with EBUSY while anybody holds a page of it, and that may be the kernel itself
 * for a moment (mm/memfd.c: memfd_wait_for_pins() gives up after 150 ms); so this waits a little.
 */
int io_seal(int fd, const char *name, struct err *err) must_check;

/**
 * io_memfd() - a memfd with these bytes and all seals set, so that nobody can change it
 * @name: shown in /proc/PID/maps
 *
 * Return: the descriptor, owned by the caller, offset 0, or -1.
 */
int io_memfd(const char *name, const void *bytes, size_t len, struct err *err) must_check;
