/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/console/progress.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "tests/lib/check.h"

static int pipe_out[2];

static const char *written(void)
{
	static char text[65536];
	ssize_t got = read(pipe_out[0], text, sizeof(text) - 1);

	text[got > 0 ? got : 0] = '\0';
	return text;
}

static struct progress start(bool is_terminal, size_t width, uint64_t total)
{
	struct progress progress = PROGRESS_INIT;

	CHECK_INT(pipe2(pipe_out, O_CLOEXEC | O_NONBLOCK), 0);
	progress_start(&progress, pipe_out[1], is_terminal, width, total, 0);
	return progress;
}

TEST(remaining_time_follows_from_what_is_done)
{
	cleanup(progress_done) struct progress progress = start(false, 0, 12);
	cleanup(str_done) struct str line = STR_INIT;

	progress_line(&progress, 5 * NS_PER_S, &line);
	CHECK_STR(line.text, "0/12  5.00 s elapsed");
	progress_add(&progress, 3, 67 * NS_PER_S);
	progress_say(&progress, "saxpy: build", 67 * NS_PER_S);
	str_clear(&line);
	progress_line(&progress, 67 * NS_PER_S, &line);
	CHECK_STR(line.text, "3/12  saxpy: build  1:07 elapsed, about 3:21 left");
	progress_add(&progress, 9, 70 * NS_PER_S);
	str_clear(&line);
	progress_line(&progress, 70 * NS_PER_S, &line);
	CHECK_STR(line.text, "12/12  saxpy: build  1:10 elapsed");
}

TEST(plain_lines_are_few_and_whole)
{
	cleanup(progress_done) struct progress progress = start(false, 0, 3);

	progress_say(&progress, "a", 0);
	CHECK_STR(written(), "0/3  a  0.00 s elapsed\n");
	for (int64_t ms = 1; ms < PROGRESS_PLAIN_MS; ms += 100)
		progress_say(&progress, "b", ms * NS_PER_MS);
	CHECK_STR(written(), "");
	progress_tick(&progress, 10 * NS_PER_S);
	CHECK_STR(written(), "0/3  b  10 s elapsed\n");
	/* A unit that is done is always worth a line. */
	progress_add(&progress, 1, 11 * NS_PER_S);
	CHECK_STR(written(), "1/3  b  11 s elapsed, about 22 s left\n");
	progress_clear(&progress);
	CHECK_STR(written(), "");
}

TEST(a_terminal_has_one_line_that_is_written_over)
{
	cleanup(progress_done) struct progress progress = start(true, 20, 2);

	progress_say(&progress, "something long", 0);
	CHECK_STR(written(), "\r\033[K0/2  something lon\xe2\x80\xa6");
	progress_tick(&progress, 50 * NS_PER_MS);
	CHECK_STR(written(), "");
	progress_tick(&progress, 100 * NS_PER_MS);
	CHECK(strncmp(written(), "\r\033[K0/2", 7) == 0);
	progress_clear(&progress);
	CHECK_STR(written(), "\r\033[K");
	progress_clear(&progress);
	CHECK_STR(written(), "");
	progress_tick(&progress, 101 * NS_PER_MS); /* back at once after something else */
	CHECK(strncmp(written(), "\r\033[K0/2", 7) == 0);
}

TEST(a_status_can_not_disturb_the_terminal)
{
	cleanup(progress_done) struct progress progress = start(true, 80, 2);

	progress_say(&progress, "a\033[2J\nb", 0);
	CHECK_STR(written(), "\r\033[K0/2  a\\x1b[2J\\x0ab  0.00 s elapsed");
}

TEST(without_a_place_to_go_nothing_happens)
{
	cleanup(progress_done) struct progress progress = PROGRESS_INIT;

	progress_start(&progress, -1, true, 80, 2, 0);
	progress_say(&progress, "x", 0);
	progress_add(&progress, 2, 1);
	progress_clear(&progress);
	CHECK_INT(progress.done, 2);
}

TEST(a_closed_or_full_place_is_no_error_and_no_wait)
{
	cleanup(progress_done) struct progress progress = start(false, 0, 100000);

	for (uint64_t i = 0; i < 20000; i++)
		progress_add(&progress, 1, (int64_t) i);
	CHECK_INT(progress.done, 20000);
}
