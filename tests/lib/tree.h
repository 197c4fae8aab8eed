/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sandbox/base/str.h"
#include "sandbox/collect.h"
#include "sandbox/stream.h"

/*
 * Tree streams for tests: put together by hand, so that they can be wrong, and written down as
 * text, an entry a line behind a newline:
 *
 *	"\nd folder\nf folder/file=content\nx program=\nr link symlink 0"
 *
 * Paths are shown as by str_add_shown().
 */
struct raw {
	uint8_t bytes[128 * 1024];
	size_t len;
	struct stream_counts counts;
};

void raw_begin(struct raw *raw);
void raw_add(struct raw *raw, const void *bytes, size_t len);
void raw_entry(struct raw *raw, const struct stream_entry *entry, const char *content);
void raw_folder(struct raw *raw, const char *path);
void raw_file(struct raw *raw, const char *path, const char *content);
void raw_end(struct raw *raw);

/* A memfd with the bytes, at its beginning. */
int raw_fd(const struct raw *raw);

/* A memfd with the stream of a text, at its beginning; the text's paths need no escapes. */
int tree_fd(const char *text);

/* The text of a stream in memory, or in a descriptor from its beginning on. */
int tree_text(const void *bytes, size_t len, const struct stream_limits *limits, struct str *out,
	      struct err *err);
int tree_text_fd(int fd, struct str *out, struct err *err);

/* A memfd for the stream that is under test. */
int tree_empty_fd(void);

/* Whatever hangs is ended, which fails its test. */
enum { TREE_PATIENCE_S = 20 };

/*
 * An empty tmpfs in a mount namespace of the test's own, mounted on check_folder_path(); whatever
 * is in it goes away with the test, which is ended after TREE_PATIENCE_S.
 */
int tree_scratch(void);
void tree_make_file(int dir_fd, const char *path, const char *content, mode_t mode);

/* Collects a folder, which must work, into a memfd. */
int tree_collect(int dir_fd, const struct stream_limits *limits, struct collect_report *report);

/* The tree behind `fd` has this text. */
#define CHECK_TREE(fd, want)                                             \
	do {                                                             \
		cleanup(str_done) struct str text_ = STR_INIT;           \
		struct err err_ = ERR_INIT;                              \
                                                                         \
		if (tree_text_fd(fd, &text_, &err_) < 0)                 \
			check_fail(__FILE__, __LINE__, "%s", err_.text); \
		CHECK_STR(text_.text, want);                             \
	} while (0)
