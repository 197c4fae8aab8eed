/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/evidence/journal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/path.h"

/*
 * Theory of operation
 *
 * Reading and writing share the form of a line (verify_line(), journal_begin(),
 * journal_commit()). Opening to write is: lock, read all lines, cut what is left behind them.
 * Only a missing newline makes a line torn. A line is appended by one write, and what a crash
 * leaves of one write is a beginning of it; so a line that has its newline and is off in any way
 * was damaged or changed, and is never cut off in silence.
 */

#define FIRST_EVENT "journal.opened"

/* The journal until its first line is whole: what has the name of one can be gone on with. */
#define DRAFT_FILE ".journal.jsonl.new"

enum {
	SUM_DIGITS = 16,
	/* ,"sum":"<digits>"} */
	SUM_LEN = 8 + SUM_DIGITS + 2,
	READ_AHEAD = 2 * JOURNAL_LINE_MAX,
	LOCKS_MAX = 1 << 20, /* of /proc/locks */
};

/* ---- the form of a line ---- */

static void line_sum(const char *line, size_t len, char text[SUM_DIGITS + 1])
{
	struct digest digest = digest_sha256(line, len);
	char hex[DIGEST_HEX];

	digest_hex(&digest, hex);
	memcpy(text, hex, SUM_DIGITS);
	text[SUM_DIGITS] = '\0';
}

static bool sum_is_right(const char *line, size_t len)
{
	char tail[SUM_LEN + 1], sum[SUM_DIGITS + 1];

	if (len <= SUM_LEN)
		return false;
	line_sum(line, len - SUM_LEN, sum);
	snprintf(tail, sizeof(tail), ",\"sum\":\"%s\"}", sum);
	return memcmp(line + len - SUM_LEN, tail, SUM_LEN) == 0;
}

static bool is_run_id(const char *run)
{
	static const char allowed[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
	size_t len = strlen(run);

	return len > 0 && len <= JOURNAL_RUN_MAX && strspn(run, allowed) == len;
}

/* ---- reading ---- */

int journal_open_read(int dir_fd, struct err *err)
{
	return path_open_file(dir_fd, JOURNAL_FILE, err);
}

void journal_reader_init(struct journal_reader *reader, int fd)
{
	*reader = (struct journal_reader){ .fd = fd, .json = JSON_INIT };
}

void journal_reader_done(struct journal_reader *reader)
{
	mem_free(&reader->buffer);
	json_done(&reader->json);
	journal_reader_init(reader, -1);
}

static int verify_first(struct journal_reader *reader, const struct journal_entry *entry,
			struct err *err)
{
	const char *format = NULL, *run = NULL;

	if (strcmp(entry->event, FIRST_EVENT) != 0)
		return err_set(err, ERR_INPUT, "it is no beginning of a journal");
	if (json_get_text(entry->fields, "format", JOURNAL_LINE_MAX, &format, err) < 0 ||
	    json_get_text(entry->fields, "run", JOURNAL_RUN_MAX, &run, err) < 0)
		return -1;
	if (strcmp(format, JOURNAL_FORMAT) != 0)
		return err_set(err, ERR_INPUT,
			       "the format '%.40s' is not '%s': another version "
			       "of proctor wrote it",
			       format, JOURNAL_FORMAT);
	if (!is_run_id(run))
		return err_set(err, ERR_INPUT, "the run's id is malformed");
	memcpy(reader->run, run, strlen(run) + 1);
	return 0;
}

static int verify_line(struct journal_reader *reader, const char *line, size_t len,
		       struct journal_entry *out, struct err *err)
{
	struct journal_entry entry = { .seq = reader->lines + 1 };
	struct digest last;
	int64_t seq = 0;
	const char *prev = NULL;

	if (!sum_is_right(line, len))
		return err_set(err, ERR_INPUT, "it was changed after it was written");
	if (json_parse(&reader->json, line, len, JOURNAL_LINE_MAX, err) < 0)
		return -1;
	entry.fields = json_root(&reader->json);
	if (json_get_int(entry.fields, "seq", 1, INT64_MAX, &seq, err) < 0 ||
	    json_get_text(entry.fields, "prev", 64, &prev, err) < 0 ||
	    json_get_int(entry.fields, "time_ns", 0, INT64_MAX, &entry.time_ns, err) < 0 ||
	    json_get_text(entry.fields, "event", JOURNAL_EVENT_MAX, &entry.event, err) < 0)
		return -1;
	if ((uint64_t) seq != entry.seq)
		return err_set(err, ERR_INPUT,
			       "it is the line that had number %lld: lines are "
			       "missing or were moved",
			       (long long) seq);
	if (digest_parse(&last, prev) < 0 || !digest_equal(&last, &reader->last))
		return err_set(err, ERR_INPUT,
			       "it was written after another line than the one "
			       "before it");
	if (seq == 1 && verify_first(reader, &entry, err) < 0)
		return -1;
	*out = entry;
	return 0;
}

/* The end of the file: anything but a torn line and less than was read before is a fault. */
static int at_the_end(struct journal_reader *reader, struct err *err)
{
	struct stat info;

	reader->torn = reader->end - reader->start;
	/* Read again next time: a torn line may be cut off and another take its place. */
	reader->start = reader->end = 0;
	if (fstat(reader->fd, &info) < 0)
		return err_sys(err, "look at the journal");
	if (info.st_size < reader->size)
		return err_set(err, ERR_INPUT,
			       "the journal has become shorter: lines that were "
			       "there are gone");
	return 0;
}

/* Return: 1 when there are more bytes than before, 0 at the end of the file. */
static int read_ahead(struct journal_reader *reader, struct err *err)
{
	size_t have = reader->end - reader->start;
	ssize_t got;

	if (!reader->buffer)
		reader->buffer = mem_alloc(READ_AHEAD, 1);
	memmove(reader->buffer, reader->buffer + reader->start, have);
	reader->start = 0;
	reader->end = have;
	do
		got = pread(reader->fd, reader->buffer + have, READ_AHEAD - have,
			    reader->size + (int64_t) have);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return err_sys(err, "read the journal");
	reader->end += (size_t) got;
	return got > 0;
}

int journal_read(struct journal_reader *reader, struct journal_entry *out, struct err *err)
{
	const char *line, *newline;
	size_t len;

	for (;;) {
		size_t have = reader->end - reader->start;
		int more;

		line = have > 0 ? reader->buffer + reader->start : NULL;
		newline = line ? memchr(line, '\n', have) : NULL;
		if (newline)
			break;
		if (have >= JOURNAL_LINE_MAX)
			return err_set(err, ERR_INPUT,
				       "journal line %llu: it is longer than %d "
				       "bytes",
				       (unsigned long long) reader->lines + 1,
				       (int) JOURNAL_LINE_MAX);
		more = read_ahead(reader, err);
		if (more <= 0)
			return more < 0 ? -1 : at_the_end(reader, err);
	}
	len = (size_t) (newline - line);
	if (verify_line(reader, line, len, out, err) < 0)
		return err_wrap(err, "journal line %llu", (unsigned long long) reader->lines + 1);
	reader->last = digest_sha256(line, len);
	reader->lines++;
	reader->size += (int64_t) len + 1;
	reader->start += len + 1;
	return 1;
}

/* ---- writing ---- */

/* The process that holds the lock, or 0 if the kernel does not show it to us. */
static int lock_holder(int fd)
{
	auto_fd locks_fd = open("/proc/locks", O_RDONLY | O_CLOEXEC);
	cleanup(str_done) struct str locks = STR_INIT;
	struct err err = ERR_INIT;
	struct stat info;

	if (locks_fd < 0 || fstat(fd, &info) < 0 ||
	    io_read_fd(locks_fd, LOCKS_MAX, "/proc/locks", &locks, &err) < 0)
		return 0;
	for (const char *line = locks.text; line; line = strchr(line, '\n')) {
		unsigned int major_number, minor_number;
		unsigned long long inode;
		int pid;

		line += *line == '\n';
		if (sscanf(line, "%*d: FLOCK %*s WRITE %d %x:%x:%llu", &pid, &major_number,
			   &minor_number, &inode) == 4 &&
		    major_number == major(info.st_dev) && minor_number == minor(info.st_dev) &&
		    inode == info.st_ino)
			return pid;
	}
	return 0;
}

static int lock(int fd, struct err *err)
{
	int pid;

	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return err_sys(err, "lock the journal");
	pid = lock_holder(fd);
	if (pid > 0)
		return err_set(err, ERR_INPUT,
			       "the run is being written by process %d: wait for "
			       "it, or end it first",
			       pid);
	return err_set(err, ERR_INPUT,
		       "the run is being written by another process: wait for it, "
		       "or end it first");
}

struct json_writer *journal_begin(struct journal *journal, const char *event)
{
	char prev[DIGEST_HEX];

	assert(strlen(event) <= JOURNAL_EVENT_MAX);
	str_clear(&journal->line);
	json_writer_init(&journal->json, &journal->line);
	json_put_object(&journal->json, NULL);
	json_put_int(&journal->json, "seq", (int64_t) journal->lines + 1);
	digest_hex(&journal->last, prev);
	json_put_text(&journal->json, "prev", prev);
	json_put_int(&journal->json, "time_ns", clock_wall_ns());
	json_put_text(&journal->json, "event", event);
	return &journal->json;
}

/* Takes back what a failed append may have left. */
static void undo(struct journal *journal)
{
	if (ftruncate(journal->fd, journal->size) < 0 || fdatasync(journal->fd) < 0)
		journal->is_broken = true;
}

static int append(struct journal *journal, struct err *err)
{
	const struct str *line = &journal->line;

	if (io_write_all(journal->fd, line->text, line->len, "the journal", err) < 0) {
		undo(journal);
		return -1;
	}
	if (fdatasync(journal->fd) < 0) {
		err_sys(err, "sync the journal");
		/* The kernel forgets what it could not write: only reading it anew will tell. */
		undo(journal);
		journal->is_broken = true;
		return -1;
	}
	return 0;
}

/* Nothing is written that could not be read again: a key given twice, say. */
static int check_readable(const struct str *line, struct err *err)
{
	cleanup(json_done) struct json again = JSON_INIT;

	if (line->truncated || line->len > JOURNAL_LINE_MAX)
		return err_set(err, ERR_INPUT, "a journal line of %zu bytes is longer than %d",
			       line->len, (int) JOURNAL_LINE_MAX);
	if (json_parse(&again, line->text, line->len, JOURNAL_LINE_MAX, err) < 0)
		return err_wrap(err, "a journal line of ours is malformed");
	return 0;
}

static int check_unchanged(const struct journal *journal, struct err *err)
{
	struct stat info;

	if (journal->is_broken)
		return err_set(err, ERR_SYS,
			       "the journal can not be written after an earlier "
			       "failure: `proctor resume` goes on");
	if (fstat(journal->fd, &info) < 0)
		return err_sys(err, "look at the journal");
	if (info.st_size != journal->size)
		return err_set(err, ERR_INPUT,
			       "the journal has %lld bytes, not %lld: something "
			       "else has written to it",
			       (long long) info.st_size, (long long) journal->size);
	return 0;
}

#ifdef PROCTOR_TEST_HOOKS
/* So that a test can end whom it likes at each line: we stop when it is on the disk. */
static void stop_for_test(uint64_t line)
{
	const char *wanted = getenv("PROCTOR_STOP_AT_LINE");

	if (wanted && strtoull(wanted, NULL, 10) == line)
		raise(SIGSTOP);
}
#endif

int journal_commit(struct journal *journal, struct err *err)
{
	struct str *line = &journal->line;
	char sum[SUM_DIGITS + 1];

	assert(journal->json.depth == 1); /* begun, and all that was opened is closed */
	line_sum(line->text, line->len, sum);
	json_put_text(&journal->json, "sum", sum);
	json_put_end(&journal->json);
	str_add(line, "\n", 1);
	if (check_readable(line, err) < 0 || check_unchanged(journal, err) < 0)
		return -1;
	if (append(journal, err) < 0) {
		if (err->sys == ENOSPC || err->sys == EDQUOT)
			err->kind = ERR_HOST;
		return -1;
	}
	journal->last = digest_sha256(line->text, line->len - 1);
	journal->size += (int64_t) line->len;
	journal->lines++;
#ifdef PROCTOR_TEST_HOOKS
	stop_for_test(journal->lines);
#endif
	return 0;
}

static int write_first(struct journal *journal, int dir_fd, const char *run, struct err *err)
{
	struct json_writer *json;

	/* A crash may have left a draft. */
	if (ftruncate(journal->fd, 0) < 0)
		return err_sys(err, "empty '%s'", DRAFT_FILE);
	memcpy(journal->run, run, strlen(run) + 1);
	json = journal_begin(journal, FIRST_EVENT);
	json_put_text(json, "format", JOURNAL_FORMAT);
	json_put_text(json, "run", run);
	if (journal_commit(journal, err) < 0)
		return -1;
	/* Whoever makes another one holds the lock of a draft meanwhile, or finds this. */
	if (faccessat(dir_fd, JOURNAL_FILE, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return err_set(err, ERR_INPUT,
			       "the folder has a journal already: `proctor resume` goes on with "
			       "it");
	if (renameat(dir_fd, DRAFT_FILE, dir_fd, JOURNAL_FILE) < 0)
		return err_sys(err, "rename '%s'", DRAFT_FILE);
	if (fsync(dir_fd) < 0)
		return err_sys(err, "sync the run's folder");
	return 0;
}

int journal_create(struct journal *out, int dir_fd, const char *run, struct err *err)
{
	cleanup(journal_done) struct journal made = JOURNAL_INIT;

	if (!is_run_id(run))
		return err_set(err, ERR_INPUT,
			       "a run's id is 1 to %d letters, digits, '.', '_' "
			       "or '-'",
			       (int) JOURNAL_RUN_MAX);
	made.fd = path_open(dir_fd, DRAFT_FILE, O_RDWR | O_APPEND | O_CREAT, 0644, err);
	if (made.fd < 0 || lock(made.fd, err) < 0)
		return err_wrap(err, "create the journal");
	if (write_first(&made, dir_fd, run, err) < 0) {
		unlinkat(dir_fd, DRAFT_FILE, 0);
		return err_wrap(err, "create the journal");
	}
	*out = take(made, JOURNAL_INIT);
	return 0;
}

static int cut_torn_line(struct journal *journal, size_t torn, struct err *err)
{
	if (torn == 0)
		return 0;
	if (ftruncate(journal->fd, journal->size) < 0 || fsync(journal->fd) < 0)
		return err_sys(err, "cut a torn line off the journal");
	journal->cut = (int64_t) torn;
	return 0;
}

int journal_open(struct journal *out, int dir_fd, struct err *err)
{
	cleanup(journal_done) struct journal made = JOURNAL_INIT;
	cleanup(journal_reader_done) struct journal_reader reader;
	struct journal_entry entry;
	int got;

	journal_reader_init(&reader, -1);
	made.fd = path_open(dir_fd, JOURNAL_FILE, O_RDWR | O_APPEND, 0, err);
	if (made.fd < 0 || lock(made.fd, err) < 0)
		return -1;
	reader.fd = made.fd;
	do
		got = journal_read(&reader, &entry, err);
	while (got > 0);
	if (got < 0)
		return -1;
	if (reader.lines == 0)
		return err_set(err, ERR_INPUT,
			       "the journal has no whole line: the run never "
			       "began; start it anew in another folder");
	made.size = reader.size;
	made.lines = reader.lines;
	made.last = reader.last;
	memcpy(made.run, reader.run, sizeof(made.run));
	if (cut_torn_line(&made, reader.torn, err) < 0)
		return -1;
	*out = take(made, JOURNAL_INIT);
	return 0;
}

void journal_done(struct journal *journal)
{
	fd_close(&journal->fd);
	str_done(&journal->line);
	*journal = JOURNAL_INIT;
}
