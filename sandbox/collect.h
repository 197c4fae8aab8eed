/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "sandbox/base/err.h"
#include "sandbox/stream.h"

/*
 * Collecting: a folder becomes a tree stream
 *
 * The folder may be hostile. Only regular files are opened for reading, beneath the folder and on
 * its own file system, through no link of any kind, and without ever waiting for somebody else;
 * what is anything else is listed as REFUSED. The result depends on the tree alone, not on the
 * order in which a file system gives names.
 *
 * Memory: at most COLLECT_NAMES_MAX bytes for the names of all folders on the way, 4 bytes for
 * each of those names, and 1.5 MiB. Descriptors: one for each level, at most limits.depth + 4.
 *
 * The archive holds files as they were at one moment only if nobody writes meanwhile; the caller
 * sees to that, by ending all writers first. What is caught nevertheless: a file whose size is not
 * what it was, or whose times changed, or that became something else, is REFUSED as CHANGED; a
 * file over COLLECT_WHOLE_MAX is already half written by then, so that there the whole call fails.
 */
#define COLLECT_NAMES_MAX (64 * MIB)
#define COLLECT_WHOLE_MAX (1 * MIB)

struct collect_report {
	struct stream_counts counts;
	uint64_t refused[STREAM_REASONS]; /* how many for which reason */
	enum stream_reason first_reason;  /* of the first refused entry, if there is one */
	char first_refused[256];          /* its path, for messages */
};

/**
 * collect_tree() - write the stream of all that is in a folder
 * @root_fd: the folder; may be O_PATH, may be on a read-only mount
 * @limits:  what is more than this is left out and listed
 * @out_fd:  where the stream goes; a pipe will do
 * @report:  receives what was collected; a root that alone holds more entries than @limits gives an
 *           empty tree and is counted as refused here, as "."
 *
 * Needs the right to read: CAP_DAC_READ_SEARCH where the owner took it away, else such entries
 * are REFUSED as UNREADABLE. After a failure what was written is no valid stream.
 */
int collect_tree(int root_fd, const struct stream_limits *limits, int out_fd,
		 struct collect_report *report, struct err *err) must_check;
