/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sandbox/base/err.h"
#include "sandbox/stream.h"

/*
 * Unpacking: a tree stream becomes a folder
 *
 * The stream may be hostile: names come from it, places do not. Nothing outside the folder is
 * touched, no link is followed, and nothing that is there already is opened or replaced. Folders
 * get mode 0755, files 0644 or 0755, whatever the umask is; the owner is whoever calls. Entries
 * that the stream lists as REFUSED are passed over.
 */

/**
 * unpack_tree() - make the folders and files of a stream
 * @in_fd:   the stream, from where the descriptor is up to the end of that file
 * @root_fd: the folder that receives them, empty as a rule
 * @limits:  a stream that holds more is an ERR_INPUT error
 * @counts:  receives what there was, REFUSED entries included
 *
 * A name that is there already, and a file system that is full, are ERR_INPUT errors as an
 * invalid stream is; the text names the entry. After a failure the folder holds a part of the
 * tree: the caller drops it. At most three descriptors are open at a time.
 */
int unpack_tree(int in_fd, int root_fd, const struct stream_limits *limits,
		struct stream_counts *counts, struct err *err) must_check;
