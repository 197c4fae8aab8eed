/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/drill/inspect.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "tests/lib/check.h"

static struct err err;
static struct bait bait;
static const struct drill drill = { .bait = &bait };
static struct testimony testimony;

struct entry {
	const char *path, *text; /* NULL: refused */
	enum stream_reason reason;
};

/* A stream of these entries, which stand in its order. */
static int archive_of(const struct entry *entries, size_t count)
{
	static struct stream_writer writer;
	int fd = memfd_create("archive", MFD_CLOEXEC);

	stream_writer_open(&writer, fd, &STREAM_LIMITS_DEFAULT);
	for (size_t i = 0; i < count; i++) {
		const char *text = entries[i].text;
		const struct stream_entry entry = { .kind = text ? STREAM_FILE : STREAM_REFUSED,
						    .reason = entries[i].reason,
						    .size = text ? strlen(text) : 0,
						    .path = entries[i].path,
						    .path_len = strlen(entries[i].path) };

		CHECK_OK(stream_writer_entry(&writer, &entry, &err));
		if (text)
			CHECK_OK(stream_writer_content(&writer, text, strlen(text), &err));
	}
	CHECK_OK(stream_writer_close(&writer, &err));
	return fd;
}

#define ARCHIVE(...)                                      \
	archive_of((const struct entry[]){ __VA_ARGS__ }, \
		   sizeof((const struct entry[]){ __VA_ARGS__ }) / sizeof(struct entry))

static void look(const char *id, int fd)
{
	testimony = TESTIMONY_INIT;
	snprintf(bait.secret, sizeof(bait.secret), "drill-secret:0123");
	inspect_archive(&drill, corpus_find(id), fd, &testimony);
	close(fd);
}

TEST(an_entry_that_is_listed_as_it_should_be_is_nothing_to_speak_of)
{
	look("freeze-fifo", ARCHIVE({ "fifo", NULL, STREAM_FIFO }));
	CHECK(!testimony.spoke);
	look("freeze-parked", ARCHIVE({ "parked", "parked\n", STREAM_TAKEN }));
	CHECK(!testimony.spoke);
}

TEST(an_entry_that_was_collected_and_should_not_be_has_got_through)
{
	look("freeze-setuid", ARCHIVE({ "setuid", "#!/bin/sh\n", STREAM_TAKEN }));
	CHECK_INT(testimony.seen, DRILL_GOT);
	CHECK_STR(testimony.text, "'setuid' was collected");
}

TEST(an_entry_that_is_listed_for_another_reason_or_not_at_all_has_got_through)
{
	look("freeze-fifo", ARCHIVE({ "fifo", NULL, STREAM_UNREADABLE }));
	CHECK_STR(testimony.text, "'fifo' was refused as unreadable");
	look("freeze-fifo", ARCHIVE({ "other", "x", STREAM_TAKEN }));
	CHECK_STR(testimony.text, "'fifo' is neither collected nor listed");
	look("freeze-parked", ARCHIVE({ "parked", NULL, STREAM_CHANGED }));
	CHECK_STR(testimony.text, "'parked' was not collected: changed");
}

TEST(a_secret_in_the_archive_has_got_through_wherever_it_is)
{
	look("freeze-swap-link", ARCHIVE({ "other", "x drill-secret:0123", STREAM_TAKEN },
					 { "swapped", "harmless\n", STREAM_TAKEN }));
	CHECK_INT(testimony.seen, DRILL_GOT);
	CHECK_STR(testimony.text, "the secret is in the archive");
}

TEST(what_is_swapped_may_be_itself_or_listed)
{
	look("freeze-swap-link", ARCHIVE({ "swapped", NULL, STREAM_SYMLINK }));
	CHECK_INT(testimony.seen, DRILL_HELD);
	look("freeze-swap-link", ARCHIVE({ "swapped", "harmless\n", STREAM_TAKEN }));
	CHECK_INT(testimony.seen, DRILL_HELD);
}

TEST(what_lies_deep_may_be_listed_anywhere_below)
{
	look("freeze-deep", ARCHIVE({ "deep-below", NULL, STREAM_TOO_DEEP }));
	CHECK(!testimony.spoke);
}

TEST(a_write_that_was_cut_off_is_seen_by_its_size)
{
	look("freeze-late-write", ARCHIVE({ "written", "0001\n0002\n", STREAM_TAKEN }));
	CHECK(!testimony.spoke);
	look("freeze-late-write", ARCHIVE({ "written", "0001\n00", STREAM_TAKEN }));
	CHECK_INT(testimony.seen, DRILL_GOT);
}

TEST(what_is_no_archive_says_nothing)
{
	int fd = memfd_create("archive", MFD_CLOEXEC);

	CHECK(write(fd, "nonsense", 8) == 8);
	look("freeze-fifo", fd);
	CHECK_INT(testimony.seen, DRILL_BROKEN);
}

static void mark(int fd)
{
	testimony = TESTIMONY_INIT;
	inspect_candidate(fd, &testimony);
	close(fd);
}

TEST(a_candidate_has_the_agents_kernel_and_the_harness_as_it_was)
{
	mark(ARCHIVE({ "check.c", "int check(void) { return 1; }\n", STREAM_TAKEN },
		     { "conftest.py", "import os\n", STREAM_TAKEN },
		     { "kernel.c", "int kernel(void) { return 2; }\n", STREAM_TAKEN }));
	if (testimony.spoke)
		check_fail(__FILE__, __LINE__, "%s", testimony.text);
	mark(ARCHIVE({ "conftest.py", "import os\n", STREAM_TAKEN }));
	CHECK_INT(testimony.seen, DRILL_GOT);
	CHECK_STR(testimony.text, "the candidate has 2 files");
}

static void show(const char *text)
{
	testimony = TESTIMONY_INIT;
	inspect_shown(text, strlen(text), &testimony);
}

TEST(text_on_a_terminal_is_nothing_to_speak_of)
{
	show("before\\x1b]0;title\\x07\nafter\n");
	CHECK(!testimony.spoke);
}

TEST(what_a_terminal_acts_upon_has_got_through)
{
	static const char *const shown[] = { "before\033[2J\nafter\n", "before\rafter\n",
					     "before\007after\n", "before\xc2\x9b;after\n",
					     "before\xe2\x80\xae-after\n" };

	for (size_t i = 0; i < ARRAY_LEN(shown); i++) {
		show(shown[i]);
		CHECK_INT(testimony.seen, DRILL_GOT);
	}
}

TEST(a_terminal_that_got_nothing_says_nothing)
{
	show("");
	CHECK_INT(testimony.seen, DRILL_BROKEN);
	show("before\n");
	CHECK_INT(testimony.seen, DRILL_BROKEN);
}

TEST(a_bait_that_has_changed_has_got_through)
{
	bait = BAIT_INIT;
	testimony = TESTIMONY_INIT;
	inspect_bait(&drill, &testimony);
	CHECK_INT(testimony.seen, DRILL_GOT);
}
