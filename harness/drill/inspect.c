/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/drill/inspect.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/evidence/manifest.h"
#include "harness/evidence/tree.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"

/* The pristine tree of the drill's task, in the order of a stream. */
static const struct {
	const char *path, *text;
} pristine[] = {
	{ "check.c", "int check(void) { return 0; }\n" },
	{ "kernel.c", "int kernel(void) { return 1; }\n" },
	{ "task.yaml", "tolerance: 1e-4\niterations: 100\n" },
};

static const char editable[] = "kernel.c";

static void say(struct testimony *out, enum drill_seen seen, const char *format, ...)
	printf_like(3, 4);

static void say(struct testimony *out, enum drill_seen seen, const char *format, ...)
{
	char text[TESTIMONY_TEXT_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	testimony_say(out, seen, text);
}

static void look_for_secret(const struct drill *drill, int fd, struct testimony *out)
{
	cleanup(str_done) struct str bytes = STR_INIT;
	struct err err = ERR_INIT;

	if (lseek(fd, 0, SEEK_SET) < 0 ||
	    io_read_fd(fd, STR_MAX - 1, "the archive", &bytes, &err) < 0)
		say(out, DRILL_BROKEN, "%s", err.text);
	else if (memmem(bytes.text, bytes.len, drill->bait->secret, strlen(drill->bait->secret)))
		say(out, DRILL_GOT, "the secret is in the archive");
}

/* "deep*" is any entry below. */
static bool names(const char *pattern, const struct manifest_entry *entry)
{
	size_t len = strlen(pattern);

	if (len > 0 && pattern[len - 1] == '*')
		return entry->kind == STREAM_REFUSED && entry->path_len >= len - 1 &&
		       memcmp(entry->path, pattern, len - 1) == 0;
	return entry->path_len == len && memcmp(entry->path, pattern, len) == 0;
}

static const struct manifest_entry *find(const struct manifest *manifest, const char *pattern)
{
	for (size_t i = 0; i < manifest->count; i++)
		if (names(pattern, &manifest->entries[i]))
			return &manifest->entries[i];
	return NULL;
}

static void judge_entry(const struct drill_attack *attack, const struct manifest_entry *entry,
			struct testimony *out)
{
	const char *reason = names_text(stream_reason_names, (int) entry->reason);

	if (attack->judge == JUDGE_ANY_ARCHIVE)
		say(out, DRILL_HELD, "'%s' is %s", attack->entry,
		    entry->kind == STREAM_REFUSED ? reason : "itself");
	else if (attack->want == STREAM_TAKEN && entry->kind != STREAM_FILE)
		say(out, DRILL_GOT, "'%s' was not collected: %s", attack->entry, reason);
	else if (attack->want != STREAM_TAKEN && entry->kind != STREAM_REFUSED)
		say(out, DRILL_GOT, "'%s' was collected", attack->entry);
	else if ((int) entry->reason != attack->want)
		say(out, DRILL_GOT, "'%s' was refused as %s", attack->entry, reason);
}

/* What is written five bytes at a time has not been cut off in the middle of it. */
static void judge_size(const struct drill_attack *attack, const struct manifest_entry *entry,
		       struct testimony *out)
{
	if (strcmp(attack->entry, "written") == 0 && entry->size % 5 != 0)
		say(out, DRILL_GOT, "'%s' was cut off while it was written", attack->entry);
}

void inspect_archive(const struct drill *drill, const struct drill_attack *attack, int archive_fd,
		     struct testimony *out)
{
	cleanup(manifest_done) struct manifest manifest = MANIFEST_INIT;
	const struct stream_limits limits = STREAM_LIMITS_DEFAULT;
	const struct manifest_entry *entry;
	struct err err = ERR_INIT;

	look_for_secret(drill, archive_fd, out);
	if (lseek(archive_fd, 0, SEEK_SET) < 0 ||
	    manifest_read(archive_fd, &limits, &manifest, &err) < 0) {
		say(out, DRILL_BROKEN, "the archive is none: %s", err.text);
		return;
	}
	entry = find(&manifest, attack->entry);
	if (!entry) {
		say(out, DRILL_GOT, "'%s' is neither collected nor listed", attack->entry);
		return;
	}
	judge_entry(attack, entry, out);
	judge_size(attack, entry, out);
}

static int write_pristine(struct stream_writer *writer, int fd, struct err *err)
{
	stream_writer_open(writer, fd, &STREAM_LIMITS_DEFAULT);
	for (size_t i = 0; i < ARRAY_LEN(pristine); i++) {
		const struct stream_entry entry = { .kind = STREAM_FILE,
						    .size = strlen(pristine[i].text),
						    .path = pristine[i].path,
						    .path_len = strlen(pristine[i].path) };

		if (stream_writer_entry(writer, &entry, err) < 0 ||
		    stream_writer_content(writer, pristine[i].text, entry.size, err) < 0)
			return -1;
	}
	return stream_writer_close(writer, err);
}

int inspect_pristine(struct err *err)
{
	cleanup(mem_free) struct stream_writer *writer = mem_alloc(1, sizeof(*writer));
	auto_fd fd = memfd_create("proctor-drill", MFD_CLOEXEC);

	if (fd < 0)
		return err_sys(err, "make a memfd");
	if (write_pristine(writer, fd, err) < 0)
		return -1;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return err_sys(err, "go back to the beginning of a tree");
	return fd_take(&fd);
}

static struct digest digest_of(const char *text)
{
	cleanup(digest_done) struct digest_state state = DIGEST_STATE_INIT;

	digest_begin(&state);
	digest_add(&state, text, strlen(text));
	return digest_end(&state);
}

static bool is_pristine(const struct manifest_entry *entry)
{
	for (size_t i = 0; i < ARRAY_LEN(pristine); i++) {
		const struct digest digest = digest_of(pristine[i].text);

		if (strcmp(entry->path, pristine[i].path) == 0)
			return digest_equal(&digest, &entry->digest);
	}
	return false;
}

static int merge(int archive_fd, int out_fd, struct err *err)
{
	static const char *const edits[] = { editable };
	auto_fd pristine_fd = inspect_pristine(err);
	cleanup(tree_report_done) struct tree_report report = TREE_REPORT_INIT;
	const struct tree_edit edit = { .pristine_fd = pristine_fd,
					.frozen_fd = archive_fd,
					.editable = edits,
					.editable_count = ARRAY_LEN(edits),
					.limits = STREAM_LIMITS_DEFAULT };

	if (pristine_fd < 0)
		return -1;
	if (lseek(archive_fd, 0, SEEK_SET) < 0)
		return err_sys(err, "go back to the beginning of a tree");
	if (tree_merge(&edit, out_fd, &report, err) < 0)
		return -1;
	return lseek(out_fd, 0, SEEK_SET) < 0 ? err_sys(err, "go back in the candidate") : 0;
}

void inspect_candidate(int archive_fd, struct testimony *out)
{
	cleanup(manifest_done) struct manifest manifest = MANIFEST_INIT;
	const struct stream_limits limits = STREAM_LIMITS_DEFAULT;
	auto_fd fd = memfd_create("proctor-candidate", MFD_CLOEXEC);
	struct err err = ERR_INIT;

	if (fd < 0 || merge(archive_fd, fd, &err) < 0 ||
	    manifest_read(fd, &limits, &manifest, &err) < 0) {
		say(out, DRILL_BROKEN, "there is no candidate: %s", err.text);
		return;
	}
	for (size_t i = 0; i < manifest.count; i++)
		if (strcmp(manifest.entries[i].path, editable) != 0 &&
		    !is_pristine(&manifest.entries[i]))
			say(out, DRILL_GOT, "'%s' of the agent is in the candidate",
			    manifest.entries[i].path);
	if (manifest.count != ARRAY_LEN(pristine))
		say(out, DRILL_GOT, "the candidate has %zu files", manifest.count);
}

void inspect_shown(const char *bytes, size_t len, struct testimony *out)
{
	static const char from_right[] = { '\xe2', '\x80', '\xae' };
	bool before = memmem(bytes, len, "before", 6), after = memmem(bytes, len, "after", 5);

	for (size_t i = 0; i < len; i++) {
		const unsigned char byte = (unsigned char) bytes[i];

		if ((byte < ' ' && byte != '\n' && byte != '\t') || byte == 0x7f)
			say(out, DRILL_GOT, "the terminal got a byte %#x", byte);
		if (byte == 0xc2 && i + 1 < len && (unsigned char) bytes[i + 1] < 0xa0)
			say(out, DRILL_GOT, "the terminal got a control character");
		if (len - i >= sizeof(from_right) &&
		    memcmp(bytes + i, from_right, sizeof(from_right)) == 0)
			say(out, DRILL_GOT, "the terminal was told to write from the right");
	}
	if (!before || !after)
		say(out, DRILL_BROKEN, "the terminal got %zu bytes without the text", len);
}

void inspect_bait(const struct drill *drill, struct testimony *out)
{
	const char *what;

	if (!bait_is_whole(drill->bait, &what))
		say(out, DRILL_GOT, "%s", what);
}
