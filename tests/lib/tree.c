/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/tree.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"
#include "tests/lib/check.h"

void raw_begin(struct raw *raw)
{
	raw->len = 0;
	raw->counts = (struct stream_counts){ .folders = 0 };
	raw_add(raw, STREAM_MAGIC, STREAM_HEADER);
}

void raw_add(struct raw *raw, const void *bytes, size_t len)
{
	CHECK(raw->len + len <= sizeof(raw->bytes));
	memcpy(raw->bytes + raw->len, bytes, len);
	raw->len += len;
}

void raw_entry(struct raw *raw, const struct stream_entry *entry, const char *content)
{
	uint8_t header[STREAM_HEADER];

	stream_encode_header(header, entry);
	raw_add(raw, header, sizeof(header));
	raw_add(raw, entry->path, entry->path_len);
	raw_add(raw, content, strlen(content));
	raw->counts.folders += entry->kind == STREAM_FOLDER;
	raw->counts.files += entry->kind == STREAM_FILE;
	raw->counts.refused += entry->kind == STREAM_REFUSED;
	raw->counts.bytes += entry->kind == STREAM_FILE ? entry->size : 0;
}

void raw_folder(struct raw *raw, const char *path)
{
	const struct stream_entry entry = {
		.kind = STREAM_FOLDER,
		.path = path,
		.path_len = strlen(path),
	};

	raw_entry(raw, &entry, "");
}

void raw_file(struct raw *raw, const char *path, const char *content)
{
	const struct stream_entry entry = {
		.kind = STREAM_FILE,
		.path = path,
		.path_len = strlen(path),
		.size = strlen(content),
	};

	raw_entry(raw, &entry, content);
}

void raw_end(struct raw *raw)
{
	uint8_t bytes[STREAM_END];

	stream_encode_end(bytes, &raw->counts);
	raw_add(raw, bytes, sizeof(bytes));
}

int tree_empty_fd(void)
{
	int fd = memfd_create("tree", MFD_CLOEXEC);

	CHECK(fd >= 0);
	return fd;
}

int raw_fd(const struct raw *raw)
{
	struct err err = ERR_INIT;
	int fd = tree_empty_fd();

	CHECK_OK(io_write_all(fd, raw->bytes, raw->len, "stream", &err));
	CHECK_INT(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static void raw_line(struct raw *raw, const char *line, size_t len)
{
	struct stream_entry entry = { .kind = STREAM_FOLDER };
	char *text = strndup(line, len), *path, *rest;

	CHECK(text);
	path = text + 2;
	rest = path + strcspn(path, text[0] == 'r' ? " " : "=");
	entry.path = path;
	if (text[0] == 'f' || text[0] == 'x') {
		*rest++ = '\0';
		entry.kind = STREAM_FILE;
		entry.executable = text[0] == 'x';
		entry.size = strlen(rest);
	} else if (text[0] == 'r') {
		char *size = strchr(rest + 1, ' ');
		int reason;

		CHECK(size);
		*size = *rest++ = '\0';
		CHECK_INT(names_find(stream_reason_names, rest, &reason), 0);
		entry.kind = STREAM_REFUSED;
		entry.reason = (enum stream_reason) reason;
		entry.size = strtoull(size + 1, NULL, 10);
		rest = size;
	}
	entry.path_len = strlen(path);
	raw_entry(raw, &entry, rest);
	free(text);
}

int tree_fd(const char *text)
{
	cleanup(mem_free) struct raw *raw = mem_alloc(1, sizeof(*raw));

	raw_begin(raw);
	while (*text == '\n') {
		size_t len = strcspn(++text, "\n");

		raw_line(raw, text, len);
		text += len;
	}
	raw_end(raw);
	return raw_fd(raw);
}

static void add_entry(struct str *out, const struct stream_entry *entry)
{
	static const char letters[] = "?dfr";

	str_addf(out, "\n%c ", entry->executable ? 'x' : letters[entry->kind]);
	str_add_shown(out, entry->path, entry->path_len);
	if (entry->kind == STREAM_FILE)
		str_addf(out, "=");
	if (entry->kind == STREAM_REFUSED)
		str_addf(out, " %s %llu", names_text(stream_reason_names, entry->reason),
			 (unsigned long long) entry->size);
}

static int text_of(struct stream_reader *reader, struct str *out, struct err *err)
{
	int event;

	while ((event = stream_reader_next(reader, err)) > 0 && event != STREAM_ENDED) {
		if (event == STREAM_CONTENT)
			str_add(out, reader->decoder.content, reader->decoder.content_len);
		else
			add_entry(out, &reader->decoder.entry);
	}
	return event < 0 ? -1 : 0;
}

int tree_text(const void *bytes, size_t len, const struct stream_limits *limits, struct str *out,
	      struct err *err)
{
	cleanup(mem_free) struct stream_reader *reader = mem_alloc(1, sizeof(*reader));

	stream_reader_open_memory(reader, bytes, len, limits);
	return text_of(reader, out, err);
}

int tree_text_fd(int fd, struct str *out, struct err *err)
{
	cleanup(mem_free) struct stream_reader *reader = mem_alloc(1, sizeof(*reader));

	CHECK_INT(lseek(fd, 0, SEEK_SET), 0);
	stream_reader_open(reader, fd, &STREAM_LIMITS_DEFAULT);
	return text_of(reader, out, err);
}

int tree_scratch(void)
{
	if (geteuid() != 0)
		SKIP("needs root, for devices and mounts");
	alarm(TREE_PATIENCE_S);
	CHECK_INT(unshare(CLONE_NEWNS), 0);
	CHECK_INT(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	CHECK_INT(mount("scratch", check_folder_path(), "tmpfs", 0, "size=1g,nr_inodes=2m"), 0);
	return open(check_folder_path(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

void tree_make_file(int dir_fd, const char *path, const char *content, mode_t mode)
{
	auto_fd fd = openat(dir_fd, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct err err = ERR_INIT;

	CHECK(fd >= 0);
	CHECK_OK(io_write_all(fd, content, strlen(content), path, &err));
	CHECK_INT(fchmod(fd, mode), 0);
}

int tree_collect(int dir_fd, const struct stream_limits *limits, struct collect_report *report)
{
	struct err err = ERR_INIT;
	int fd = tree_empty_fd();

	CHECK_OK(collect_tree(dir_fd, limits, fd, report, &err));
	return fd;
}
