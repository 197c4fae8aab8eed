/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/evidence/manifest.h"

#include <stdlib.h>
#include <string.h>

#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"

void manifest_done(struct manifest *manifest)
{
	arena_done(&manifest->arena);
	free(manifest->entries);
	*manifest = MANIFEST_INIT;
}

void manifest_builder_open(struct manifest_builder *builder, const struct stream_limits *limits)
{
	static const char domain[] = "proctor/tree/1\n";

	stream_decoder_open(&builder->decoder, limits);
	builder->tree = DIGEST_STATE_INIT;
	builder->content = DIGEST_STATE_INIT;
	builder->in_file = false;
	builder->ended = false;
	builder->room = 0;
	builder->made = MANIFEST_INIT;
	digest_begin(&builder->tree);
	digest_add(&builder->tree, domain, sizeof(domain) - 1);
}

void manifest_builder_done(struct manifest_builder *builder)
{
	digest_done(&builder->tree);
	digest_done(&builder->content);
	manifest_done(&builder->made);
}

/* The content of the file that came last is complete. */
static void end_file(struct manifest_builder *builder)
{
	struct manifest_entry *entry;

	if (!builder->in_file)
		return;
	builder->in_file = false;
	entry = &builder->made.entries[builder->made.count - 1];
	entry->digest = digest_end(&builder->content);
	digest_add(&builder->tree, entry->digest.bytes, sizeof(entry->digest.bytes));
}

static void add_entry(struct manifest_builder *builder, const struct stream_entry *entry)
{
	struct manifest *made = &builder->made;
	uint8_t header[STREAM_HEADER];

	if (made->count == builder->room) {
		builder->room = MAX_OF(2 * builder->room, (size_t) 64);
		made->entries = mem_resize(made->entries, builder->room, sizeof(made->entries[0]));
	}
	made->entries[made->count++] = (struct manifest_entry){
		.kind = entry->kind,
		.reason = entry->reason,
		.executable = entry->executable,
		.size = entry->size,
		.path = arena_copy(&made->arena, entry->path, entry->path_len),
		.path_len = entry->path_len,
	};
	stream_encode_header(header, entry);
	digest_add(&builder->tree, header, sizeof(header));
	digest_add(&builder->tree, entry->path, entry->path_len);
	builder->in_file = entry->kind == STREAM_FILE;
	if (builder->in_file)
		digest_begin(&builder->content);
}

int manifest_builder_feed(struct manifest_builder *builder, const void *bytes, size_t len,
			  struct err *err)
{
	struct stream_decoder *decoder = &builder->decoder;

	stream_decoder_feed(decoder, bytes, len);
	while (true) {
		int event = stream_decoder_next(decoder, err);

		switch (event) {
		case STREAM_GOT_ENTRY:
			end_file(builder);
			add_entry(builder, &decoder->entry);
			break;
		case STREAM_CONTENT:
			digest_add(&builder->content, decoder->content, decoder->content_len);
			break;
		case STREAM_ENDED:
			builder->ended = true;
			return 0;
		case STREAM_WANT:
			return 0;
		default:
			return -1;
		}
	}
}

int manifest_builder_close(struct manifest_builder *builder, struct manifest *out, struct err *err)
{
	uint8_t end[STREAM_END];

	if (!builder->ended)
		return stream_decoder_cut(&builder->decoder, err);
	end_file(builder);
	builder->made.counts = builder->decoder.cursor.counts;
	stream_encode_end(end, &builder->made.counts);
	digest_add(&builder->tree, end, sizeof(end));
	builder->made.root = digest_end(&builder->tree);
	builder->ended = false;
	*out = take(builder->made, MANIFEST_INIT);
	return 0;
}

int manifest_read(int fd, const struct stream_limits *limits, struct manifest *out, struct err *err)
{
	const size_t step = 128 * KIB;
	cleanup(manifest_builder_done) struct manifest_builder builder;
	cleanup(mem_free) uint8_t *bytes = mem_alloc(1, step);
	ssize_t got;

	manifest_builder_open(&builder, limits);
	while ((got = io_read_some(fd, bytes, step)) > 0)
		if (manifest_builder_feed(&builder, bytes, (size_t) got, err) < 0)
			return -1;
	if (got < 0)
		return err_sys(err, "read the tree stream");
	return manifest_builder_close(&builder, out, err);
}
