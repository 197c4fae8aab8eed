/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/evidence/journal.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "tests/lib/check.h"

/* A folder that is gone when the test ends. */
static int scratch_folder(void)
{
	char path[] = "/tmp/proctor-journal-XXXXXX";
	int fd;

	CHECK(mkdtemp(path) != NULL);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(fd >= 0);
	return fd;
}

static void remove_folder(int *fd)
{
	char link[32], path[128];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", *fd);
	len = readlink(link, path, sizeof(path) - 1);
	unlinkat(*fd, JOURNAL_FILE, 0);
	fd_close(fd);
	CHECK(len > 0);
	path[len] = '\0';
	rmdir(path);
}

#define auto_folder cleanup(remove_folder) int

static void add_event(struct journal *journal, const char *event, const char *text)
{
	struct err err = ERR_INIT;
	struct json_writer *json = journal_begin(journal, event);

	json_put_text(json, "text", text);
	CHECK_OK(journal_commit(journal, &err));
}

/* Three lines. */
static void make_journal(int folder)
{
	cleanup(journal_done) struct journal journal = JOURNAL_INIT;
	struct err err = ERR_INIT;

	CHECK_OK(journal_create(&journal, folder, "run-1", &err));
	add_event(&journal, "run.planned", "a");
	add_event(&journal, "run.ended", "b");
}

static void load(int folder, struct str *out)
{
	struct err err = ERR_INIT;

	str_clear(out);
	CHECK_OK(io_read_file(folder, JOURNAL_FILE, 1 << 20, out, &err));
}

static void store(int folder, const void *bytes, size_t len)
{
	auto_fd fd = openat(folder, JOURNAL_FILE, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	struct err err = ERR_INIT;

	CHECK(fd >= 0);
	CHECK_OK(io_write_all(fd, bytes, len, "a journal", &err));
}

/* The error of opening, "" if there is none. */
static const char *open_error(int folder, int64_t *cut, uint64_t *lines)
{
	static struct err err;
	cleanup(journal_done) struct journal journal = JOURNAL_INIT;

	err = ERR_INIT;
	if (journal_open(&journal, folder, &err) < 0)
		return err.text;
	*cut = journal.cut;
	*lines = journal.lines;
	return "";
}

TEST(what_was_written_is_read_back_in_order_and_goes_on)
{
	auto_folder folder = scratch_folder();
	cleanup(journal_done) struct journal journal = JOURNAL_INIT;
	cleanup(journal_reader_done) struct journal_reader reader;
	struct journal_entry entry;
	struct err err = ERR_INIT;
	const char *text = NULL;

	make_journal(folder);
	CHECK_OK(journal_open(&journal, folder, &err));
	CHECK_STR(journal.run, "run-1");
	CHECK_INT(journal.lines, 3);
	CHECK_INT(journal.cut, 0);
	add_event(&journal, "run.resumed", "c \xff\n");

	journal_reader_init(&reader, journal.fd);
	CHECK_INT(journal_read(&reader, &entry, &err), 1);
	CHECK_STR(entry.event, "journal.opened");
	CHECK_INT(journal_read(&reader, &entry, &err), 1);
	CHECK_INT(journal_read(&reader, &entry, &err), 1);
	CHECK_INT(journal_read(&reader, &entry, &err), 1);
	CHECK_STR(entry.event, "run.resumed");
	CHECK_INT(entry.seq, 4);
	CHECK(entry.time_ns > 0);
	CHECK_OK(json_get_text(entry.fields, "text", 100, &text, &err));
	CHECK_STR(text, "c \xc3\xbf\n");
	CHECK_INT(journal_read(&reader, &entry, &err), 0);

	/* A reader at the end goes on when there is more. */
	add_event(&journal, "later", "d");
	CHECK_INT(journal_read(&reader, &entry, &err), 1);
	CHECK_STR(entry.event, "later");
	CHECK_INT(journal_read(&reader, &entry, &err), 0);
}

TEST(the_form_of_a_line_is_as_documented)
{
	auto_folder folder = scratch_folder();
	cleanup(str_done) struct str text = STR_INIT, want = STR_INIT;
	char hex[DIGEST_HEX];
	struct digest first;
	const char *second, *sum;

	make_journal(folder);
	load(folder, &text);
	str_addf(&want, "{\"seq\":1,\"prev\":\"%064d\",\"time_ns\":", 0);
	CHECK(strncmp(text.text, want.text, want.len) == 0);
	str_clear(&want);
	CHECK(strstr(text.text, ",\"event\":\"journal.opened\",\"format\":\"proctor/journal/1\","
				"\"run\":\"run-1\",\"sum\":\"") != NULL);
	second = strchr(text.text, '\n') + 1;
	first = digest_sha256(text.text, (size_t) (second - 1 - text.text));
	digest_hex(&first, hex);
	str_addf(&want, "{\"seq\":2,\"prev\":\"%s\",\"time_ns\":", hex);
	CHECK(strncmp(second, want.text, want.len) == 0);
	sum = strstr(second, ",\"sum\":\"");
	CHECK(sum != NULL);
	first = digest_sha256(second, (size_t) (sum - second));
	digest_hex(&first, hex);
	CHECK(strncmp(sum + 8, hex, 16) == 0);
	CHECK(strncmp(sum + 24, "\"}\n", 3) == 0);
}

TEST(each_flipped_byte_is_found_in_its_own_line)
{
	auto_folder folder = scratch_folder();
	cleanup(str_done) struct str text = STR_INIT;
	int64_t cut = 0;
	uint64_t lines = 0;
	int line = 1;

	make_journal(folder);
	load(folder, &text);
	for (size_t i = 0; i < text.len; i++) {
		const char old = text.text[i];
		char want[32];

		snprintf(want, sizeof(want), "journal line %d: ", line);
		for (int bit = 0; bit < 8; bit++) {
			const char *got;

			text.text[i] = (char) (old ^ 1 << bit);
			store(folder, text.text, text.len);
			got = open_error(folder, &cut, &lines);
			if (i + 1 == text.len) {
				/* Without its newline the last line is as if torn. */
				CHECK_STR(got, "");
				CHECK_INT(lines, 2);
				CHECK(cut > 0);
			} else if (strncmp(got, want, strlen(want)) != 0) {
				check_fail(__FILE__, __LINE__, "byte %zu bit %d: '%s'", i, bit,
					   got);
			}
		}
		text.text[i] = old;
		line += old == '\n';
	}
}

TEST(a_line_that_is_missing_moved_or_doubled_is_found)
{
	auto_folder folder = scratch_folder();
	cleanup(str_done) struct str text = STR_INIT, other = STR_INIT;
	char *line[4];
	size_t len[3];
	int64_t cut;
	uint64_t lines;

	make_journal(folder);
	load(folder, &text);
	line[0] = text.text;
	for (int i = 0; i < 3; i++) {
		line[i + 1] = strchr(line[i], '\n') + 1;
		len[i] = (size_t) (line[i + 1] - line[i]);
	}
	str_add(&other, line[0], len[0]);
	str_add(&other, line[2], len[2]);
	store(folder, other.text, other.len);
	CHECK_STR(open_error(folder, &cut, &lines), "journal line 2: it is the line that had "
						    "number 3: lines are missing or were moved");
	str_clear(&other);
	str_add(&other, line[1], len[1]);
	str_add(&other, line[0], len[0]);
	store(folder, other.text, other.len);
	CHECK(strncmp(open_error(folder, &cut, &lines), "journal line 1: ", 16) == 0);
	str_clear(&other);
	str_add(&other, text.text, text.len);
	str_add(&other, line[2], len[2]);
	store(folder, other.text, other.len);
	CHECK(strncmp(open_error(folder, &cut, &lines), "journal line 4: ", 16) == 0);
}

TEST(a_line_of_another_journal_does_not_fit)
{
	auto_folder folder = scratch_folder();
	auto_folder twin = scratch_folder();
	cleanup(str_done) struct str text = STR_INIT, other = STR_INIT;
	size_t len;
	int64_t cut;
	uint64_t lines;

	make_journal(folder);
	make_journal(twin);
	load(folder, &text);
	load(twin, &other);
	len = (size_t) (strchr(text.text, '\n') + 1 - text.text);
	text.len = len;
	str_add(&text, strchr(other.text, '\n') + 1,
		other.len - (size_t) (strchr(other.text, '\n') + 1 - other.text));
	store(folder, text.text, text.len);
	CHECK_STR(open_error(folder, &cut, &lines),
		  "journal line 2: it was written after another line than the one before it");
}

TEST(a_torn_tail_of_every_length_is_cut_and_writing_goes_on)
{
	auto_folder folder = scratch_folder();
	cleanup(str_done) struct str text = STR_INIT, after = STR_INIT;
	size_t whole;

	make_journal(folder);
	load(folder, &text);
	whole = text.len - 1;
	while (text.text[whole - 1] != '\n')
		whole--;
	for (size_t len = whole; len < text.len; len++) {
		cleanup(journal_done) struct journal journal = JOURNAL_INIT;
		struct err err = ERR_INIT;
		int64_t cut = -1;
		uint64_t lines = 0;

		store(folder, text.text, len);
		CHECK_OK(journal_open(&journal, folder, &err));
		CHECK_INT(journal.cut, len - whole);
		CHECK_INT(journal.lines, 2);
		add_event(&journal, "after", "x");
		journal_done(&journal);
		CHECK_STR(open_error(folder, &cut, &lines), "");
		CHECK_INT(cut, 0);
		CHECK_INT(lines, 3);
		load(folder, &after);
		CHECK(memcmp(after.text, text.text, whole) == 0);
	}
}

TEST(a_journal_without_a_whole_line_says_so)
{
	auto_folder folder = scratch_folder();
	int64_t cut;
	uint64_t lines;

	store(folder, "", 0);
	CHECK(strstr(open_error(folder, &cut, &lines), "the run never began") != NULL);
	store(folder, "{\"seq\":1", 8);
	CHECK(strstr(open_error(folder, &cut, &lines), "the run never began") != NULL);
	unlinkat(folder, JOURNAL_FILE, 0);
	CHECK(strstr(open_error(folder, &cut, &lines), "open 'journal.jsonl': No such") != NULL);
	CHECK_INT(symlinkat("/etc/passwd", folder, JOURNAL_FILE), 0);
	CHECK(strstr(open_error(folder, &cut, &lines), "Too many levels") != NULL);
}

TEST(garbage_without_end_is_refused_in_bounded_memory)
{
	auto_folder folder = scratch_folder();
	auto_fd fd = -1;
	int64_t cut;
	uint64_t lines;

	make_journal(folder);
	fd = openat(folder, JOURNAL_FILE, O_WRONLY | O_CLOEXEC);
	CHECK_INT(ftruncate(fd, INT64_C(1) << 33), 0); /* a hole of zeros */
	CHECK_STR(open_error(folder, &cut, &lines),
		  "journal line 4: it is longer than 65536 bytes");
}

TEST(a_second_writer_is_refused_and_told_who_the_first_is)
{
	auto_folder folder = scratch_folder();
	cleanup(journal_done) struct journal journal = JOURNAL_INIT;
	struct err err = ERR_INIT;
	char want[128];
	int64_t cut;
	uint64_t lines = 0;

	make_journal(folder);
	CHECK_OK(journal_open(&journal, folder, &err));
	snprintf(want, sizeof(want),
		 "the run is being written by process %d: wait for it, or end it first",
		 (int) getpid());
	CHECK_STR(open_error(folder, &cut, &lines), want);
	CHECK_INT(journal_create(&(struct journal){ .fd = -1, .line = STR_INIT }, folder, "run-2",
				 &err),
		  -1);
	CHECK(strstr(err.text, "the folder has a journal already") != NULL);
	/* The first goes on, and the lock ends with it. */
	add_event(&journal, "still", "here");
	journal_done(&journal);
	CHECK_STR(open_error(folder, &cut, &lines), "");
	CHECK_INT(lines, 4);
}

TEST(a_journal_that_something_else_wrote_to_is_not_appended_to)
{
	auto_folder folder = scratch_folder();
	cleanup(journal_done) struct journal journal = JOURNAL_INIT;
	struct err err = ERR_INIT;
	auto_fd fd = -1;

	make_journal(folder);
	CHECK_OK(journal_open(&journal, folder, &err));
	fd = openat(folder, JOURNAL_FILE, O_WRONLY | O_APPEND | O_CLOEXEC);
	CHECK_INT(write(fd, "x", 1), 1);
	journal_begin(&journal, "more");
	CHECK_INT(journal_commit(&journal, &err), -1);
	CHECK(strstr(err.text, "something else has written to it") != NULL);
}

TEST(a_reader_notices_that_the_journal_became_shorter)
{
	auto_folder folder = scratch_folder();
	cleanup(journal_reader_done) struct journal_reader reader;
	struct journal_entry entry;
	struct err err = ERR_INIT;
	auto_fd fd = -1, writer_fd = -1;

	make_journal(folder);
	fd = journal_open_read(folder, &err);
	CHECK_OK(fd);
	journal_reader_init(&reader, fd);
	while (journal_read(&reader, &entry, &err) > 0)
		;
	writer_fd = openat(folder, JOURNAL_FILE, O_WRONLY | O_CLOEXEC);
	CHECK_INT(ftruncate(writer_fd, 200), 0);
	CHECK_INT(journal_read(&reader, &entry, &err), -1);
	CHECK(strstr(err.text, "has become shorter") != NULL);
	CHECK_INT(journal_read(&reader, &entry, &err), -1);
}

TEST(a_line_that_can_not_be_read_again_is_not_written)
{
	auto_folder folder = scratch_folder();
	cleanup(journal_done) struct journal journal = JOURNAL_INIT;
	cleanup(str_done) struct str long_text = STR_INIT;
	struct json_writer *json;
	struct err err = ERR_INIT;

	make_journal(folder);
	CHECK_OK(journal_open(&journal, folder, &err));
	for (int i = 0; i < JOURNAL_LINE_MAX; i++)
		str_add(&long_text, "x", 1);
	json = journal_begin(&journal, "long");
	json_put_text(json, "text", long_text.text);
	CHECK_INT(journal_commit(&journal, &err), -1);
	CHECK(strstr(err.text, "is longer than 65536") != NULL);
	json = journal_begin(&journal, "twice");
	json_put_int(json, "seq", 1);
	CHECK_INT(journal_commit(&journal, &err), -1);
	CHECK(strstr(err.text, "malformed") != NULL);
	add_event(&journal, "good", "x");
	CHECK_INT(journal.lines, 4);
}

TEST(a_run_id_is_checked)
{
	static const char *const bad[] = { "", "a b", "a/b", "\xc3\xbc", "a\n" };
	auto_folder folder = scratch_folder();
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		cleanup(journal_done) struct journal journal = JOURNAL_INIT;

		CHECK_INT(journal_create(&journal, folder, bad[i], &err), -1);
		CHECK_INT(err.kind, ERR_INPUT);
	}
	CHECK_INT(faccessat(folder, JOURNAL_FILE, F_OK, 0), -1);
}

/* A tmpfs of 64 KiB that only this process sees. */
static int small_disk(void)
{
	if (unshare(CLONE_NEWNS) < 0)
		SKIP("a mount namespace needs root");
	CHECK_INT(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	CHECK_INT(mount("small", "/mnt", "tmpfs", 0, "size=64k"), 0);
	return open("/mnt", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

TEST(a_full_disk_is_an_error_of_the_host_and_leaves_whole_lines)
{
	auto_fd folder = small_disk();
	cleanup(journal_done) struct journal journal = JOURNAL_INIT;
	cleanup(str_done) struct str text = STR_INIT;
	struct err err = ERR_INIT;
	auto_fd filler = -1;
	int64_t size, cut = -1;
	uint64_t lines = 0;
	int wrote = 0;

	CHECK_OK(journal_create(&journal, folder, "run-1", &err));
	filler = openat(folder, "filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	CHECK_INT(posix_fallocate(filler, 0, 48 << 10), 0);
	for (int i = 0; i < 3000; i++)
		str_add(&text, "y", 1);
	for (; wrote < 100; wrote++) {
		struct json_writer *json = journal_begin(&journal, "fill");

		json_put_text(json, "text", text.text);
		if (journal_commit(&journal, &err) < 0)
			break;
	}
	CHECK(wrote > 0 && wrote < 100);
	CHECK_INT(err.kind, ERR_HOST);
	CHECK_STR(err.text, "write the journal: No space left on device");
	size = journal.size;
	str_clear(&text);
	load(folder, &text);
	CHECK_INT(text.len, size);
	CHECK_INT(text.text[text.len - 1], '\n');

	/* With room again the same journal goes on. */
	CHECK_INT(ftruncate(filler, 0), 0);
	add_event(&journal, "after", "x");
	journal_done(&journal);
	CHECK_STR(open_error(folder, &cut, &lines), "");
	CHECK_INT(cut, 0);
	CHECK_INT(lines, wrote + 2);
}

TEST(a_journal_that_can_not_be_made_leaves_none)
{
	auto_fd folder = small_disk();
	cleanup(journal_done) struct journal journal = JOURNAL_INIT;
	struct err err = ERR_INIT;
	auto_fd filler = openat(folder, "filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	CHECK_INT(posix_fallocate(filler, 0, 64 << 10), 0);
	CHECK_INT(journal_create(&journal, folder, "run-1", &err), -1);
	CHECK_STR(err.text, "create the journal: write the journal: No space left on device");
	CHECK_INT(faccessat(folder, JOURNAL_FILE, F_OK, 0), -1);
}

TEST(whatever_kill_interrupts_the_journal_opens_again)
{
	auto_folder folder = scratch_folder();
	uint64_t before = 1;

	make_journal(folder);
	for (int round = 0; round < 20; round++) {
		int64_t cut = 0;
		uint64_t lines = 0;
		pid_t pid = fork();

		if (pid == 0) {
			cleanup(journal_done) struct journal journal = JOURNAL_INIT;
			struct err err = ERR_INIT;

			CHECK_OK(journal_open(&journal, folder, &err));
			for (;;)
				add_event(&journal, "loop", "some text that takes a while");
		}
		usleep((useconds_t) (500 + round * 397));
		kill(pid, SIGKILL);
		CHECK_INT(waitpid(pid, NULL, 0), pid);
		CHECK_STR(open_error(folder, &cut, &lines), "");
		CHECK(lines >= before);
		before = lines;
	}
	check_note("%llu lines in 20 rounds", (unsigned long long) before);
}
