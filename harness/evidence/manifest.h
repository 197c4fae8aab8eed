/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/evidence/digest.h"
#include "sandbox/base/arena.h"
#include "sandbox/stream.h"

/*
 * The manifest of a tree: what its stream holds, and the digest of all of it
 *
 * The root is the SHA-256 of
 *
 *	"proctor/tree/1\n" record* end
 *
 * where record is the entry's header and path as in the stream, for a FILE followed by the 32
 * bytes of the SHA-256 of its content; and end is the stream's end record. In other words: of the
 * stream's bytes without magic, each content replaced by its digest. A tree has one stream and
 * thereby one root, REFUSED entries included.
 */
struct manifest_entry {
	enum stream_kind kind;
	enum stream_reason reason;
	bool executable;
	uint64_t size;
	struct digest digest; /* of a FILE's content */
	const char *path;     /* in the manifest's arena */
	size_t path_len;
};

struct manifest {
	struct arena arena;
	struct manifest_entry *entries; /* owned; in the stream's order */
	size_t count;
	struct stream_counts counts;
	struct digest root;
};

#define MANIFEST_INIT ((struct manifest){ .entries = NULL })

/**
 * manifest_done() - release a manifest; it is MANIFEST_INIT again
 */
void manifest_done(struct manifest *manifest);

/**
 * manifest_read() - the manifest of a stream
 * @fd:     the stream, from where the descriptor is up to the end of that file
 * @limits: a stream that holds more is an ERR_INPUT error
 * @out:    receives the manifest; untouched on failure
 */
int manifest_read(int fd, const struct stream_limits *limits, struct manifest *out,
		  struct err *err) must_check;

/* builder */

/*
 * Makes the manifest of a stream that comes in pieces, for who receives it in a loop of his own.
 * Not to be moved once it is open.
 */
struct manifest_builder {
	struct stream_decoder decoder;
	struct digest_state tree, content;
	bool in_file, ended;
	size_t room; /* entries that made.entries has room for */
	struct manifest made;
};

/**
 * manifest_builder_open() - start to build a manifest
 * @builder: to be released with manifest_builder_done(), whatever comes of it
 */
void manifest_builder_open(struct manifest_builder *builder, const struct stream_limits *limits);

/**
 * manifest_builder_feed() - the next @len bytes of the stream
 *
 * Whatever is wrong with them is an ERR_INPUT error; the builder then only can be released.
 */
int manifest_builder_feed(struct manifest_builder *builder, const void *bytes, size_t len,
			  struct err *err) must_check;

/**
 * manifest_builder_close() - there are no more bytes: hand the manifest over
 * @out: receives the manifest; untouched on failure
 *
 * A stream that is cut off is an ERR_INPUT error.
 */
int manifest_builder_close(struct manifest_builder *builder, struct manifest *out,
			   struct err *err) must_check;

/**
 * manifest_builder_done() - release all that the builder still holds
 */
void manifest_builder_done(struct manifest_builder *builder);
