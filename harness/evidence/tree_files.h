/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "sandbox/base/err.h"
#include "sandbox/base/str.h"
#include "sandbox/stream.h"

/*
 * Some files of a tree: read out of its stream, and put into it, without unpacking anything
 */
struct tree_file {
	const char *path;  /* borrowed */
	bool is_there;     /* a regular file of that path */
	bool is_too_large; /* and more than the caller takes: no bytes */
	struct str bytes;
};

#define TREE_FILE_INIT ((struct tree_file){ .bytes = STR_INIT })

enum { TREE_FILES_MAX = 64 };

/**
 * tree_files_read() - look for files
 * @fd:    the stream; read from its beginning, up to the end of that file
 * @files: at most TREE_FILES_MAX, their paths set; the caller's to release with tree_files_done()
 * @most:  bytes of one file; a larger one is only noted
 */
int tree_files_read(int fd, const struct stream_limits *limits, struct tree_file *files,
		    size_t count, size_t most, struct err *err) must_check;

/**
 * tree_files_put() - write a tree with files of other content
 * @fd:     the stream to begin with; read from its beginning
 * @files:  sorted as in a stream; one that is not there is left out of the tree, one that is new
 *          is put into a folder that the tree has. Executable bits stay
 * @out_fd: where the stream goes
 */
int tree_files_put(int fd, const struct stream_limits *limits, const struct tree_file *files,
		   size_t count, int out_fd, struct err *err) must_check;

/**
 * tree_files_done() - release what was read; paths stay
 */
void tree_files_done(struct tree_file *files, size_t count);
