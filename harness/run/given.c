/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/given.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/config/task.h"
#include "harness/config/task_given.h"
#include "harness/run/given_limits.h"
#include "harness/run/launcher.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/path.h"
#include "sandbox/stream.h"

struct packing {
	const struct given *what;
	struct stream_limits limits;
	struct stream_writer writer;
	struct stream_reader reader;
	char bytes[64 * 1024];
};

static void packing_free(struct packing **packing)
{
	mem_free(packing);
}

static int add_entry(struct packing *packing, enum stream_kind kind, const char *path,
		     uint64_t size, bool executable, struct err *err)
{
	const struct stream_entry entry = {
		.kind = kind,
		.executable = executable,
		.size = size,
		.path = path,
		.path_len = strlen(path),
	};

	return stream_writer_entry(&packing->writer, &entry, err);
}

static int add_folder(struct packing *packing, const char *path, const char *source,
		      struct err *err)
{
	(void) source;
	return add_entry(packing, STREAM_FOLDER, path, 0, false, err);
}

static int add_text(struct packing *packing, const char *path, const struct str *text,
		    bool executable, struct err *err)
{
	if (add_entry(packing, STREAM_FILE, path, text->len, executable, err) < 0)
		return -1;
	return stream_writer_content(&packing->writer, text->text, text->len, err);
}

static int add_readme(struct packing *packing, const char *path, const char *source,
		      struct err *err)
{
	cleanup(str_done) struct str text = STR_INIT;

	if (io_read_file(packing->what->task_fd, source, STR_MAX - 1, &text, err) < 0)
		return -1;
	return add_text(packing, path, &text, false, err);
}

static int add_task(struct packing *packing, const char *path, const char *source, struct err *err)
{
	cleanup(str_done) struct str text = STR_INIT, reduced = STR_INIT;

	if (io_read_file(packing->what->task_fd, source, TASK_FILE_MAX, &text, err) < 0 ||
	    task_given_text(source, text.text, text.len, &reduced, err) < 0)
		return -1;
	return add_text(packing, path, &reduced, false, err);
}

static int add_limits(struct packing *packing, const char *path, const char *source,
		      struct err *err)
{
	const struct given_limits limits = given_limits_of(packing->what->policy);
	cleanup(str_done) struct str text = STR_INIT;

	(void) source;
	given_limits_text(&limits, &text);
	return add_text(packing, path, &text, false, err);
}

static int add_program(struct packing *packing, const char *path, const char *source,
		       struct err *err)
{
	cleanup(str_done) struct str text = STR_INIT;
	auto_fd fd = launcher_open_program(packing->what->programs, source, err);

	if (fd < 0 || io_read_fd(fd, STR_MAX - 1, source, &text, err) < 0)
		return -1;
	return add_text(packing, path, &text, true, err);
}

static int copy_content(struct packing *packing, struct err *err)
{
	ssize_t got;

	while ((got = stream_reader_content(&packing->reader, packing->bytes,
					    sizeof(packing->bytes), err)) > 0)
		if (stream_writer_content(&packing->writer, packing->bytes, (size_t) got, err) < 0)
			return -1;
	return (int) got;
}

/* A tree below a folder of ours; what it lacks, ours lacks too. */
static int add_tree(struct packing *packing, const char *path, const char *source, struct err *err)
{
	const struct stream_entry *entry = &packing->reader.decoder.entry;
	auto_fd fd = path_open(packing->what->trees_fd, source, O_RDONLY, 0, err);
	char below[STREAM_PATH_MAX + 64];
	int more;

	if (fd < 0 || add_folder(packing, path, NULL, err) < 0)
		return -1;
	stream_reader_open(&packing->reader, fd, &packing->limits);
	while ((more = stream_reader_entry(&packing->reader, err)) > 0) {
		if (entry->kind == STREAM_REFUSED)
			continue;
		snprintf(below, sizeof(below), "%s/%s", path, entry->path);
		if (add_entry(packing, entry->kind, below, entry->size, entry->executable, err) <
			    0 ||
		    (entry->kind == STREAM_FILE && copy_content(packing, err) < 0))
			return -1;
	}
	return more;
}

/* clang-format off */
/* In the order of a stream. */
static const struct {
	const char *path;
	int (*add)(struct packing *packing, const char *path, const char *source, struct err *err);
	const char *source;
} rows[] = {
	{ "README.md",          add_readme,  "README.md" },
	{ "baseline",           add_tree,    "baseline.tree" },
	{ "bin",                add_folder,  NULL },
	{ "bin/proctor-check",  add_program, "proctor-check" },
	{ "bin/proctor-worker", add_program, "proctor-worker" },
	{ "evaluate",           add_tree,    "evaluate.tree" },
	{ GIVEN_LIMITS_FILE,    add_limits,  NULL },
	{ "oracle",             add_tree,    "oracle.tree" },
	{ "task.yaml",          add_task,    "task.yaml" },
	{ "workspace",          add_tree,    "pristine.tree" },
};
/* clang-format on */

int given_pack(const struct given *what, int out_fd, struct err *err)
{
	cleanup(packing_free) struct packing *packing = mem_alloc(1, sizeof(*packing));

	packing->what = what;
	packing->limits = STREAM_LIMITS_DEFAULT;
	stream_writer_open(&packing->writer, out_fd, &packing->limits);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].add(packing, rows[i].path, rows[i].source, err) < 0)
			return err_wrap(err, "what the agent is given: '%s'", rows[i].path);
	return stream_writer_close(&packing->writer, err);
}
