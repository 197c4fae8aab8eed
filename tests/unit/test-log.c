/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/base/log.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/lib/check.h"

/* Standard error goes to a memfd while a test runs. */
static int capture_stderr(void)
{
	int fd = memfd_create("stderr", MFD_CLOEXEC);

	CHECK(fd >= 0);
	CHECK(dup2(fd, STDERR_FILENO) == STDERR_FILENO);
	return fd;
}

static const char *content(int fd)
{
	static char text[8192];
	ssize_t len = pread(fd, text, sizeof(text) - 1, 0);

	CHECK(len >= 0);
	text[len] = '\0';
	return text;
}

TEST(an_event_is_one_line_of_text)
{
	const struct log_field fields[] = { LOG_TEXT("task", "sort"), LOG_NUMBER("files", -3) };
	int fd = capture_stderr();

	log_open("proctor", LOG_NOTICE, -1);
	log_event(LOG_NOTICE, "run.frozen", "the workspace is frozen", fields, ARRAY_LEN(fields));
	log_event(LOG_ERROR, "run.failed", NULL, NULL, 0);
	CHECK_STR(content(fd), "proctor: the workspace is frozen  task=sort  files=-3\n"
			       "proctor: error: run.failed\n");
}

TEST(only_levels_that_were_asked_for_are_shown)
{
	int fd = capture_stderr();

	log_open("p", LOG_WARNING, -1);
	log_say(LOG_NOTICE, "x", "hidden");
	log_say(LOG_DEBUG, "x", "hidden");
	log_say(LOG_WARNING, "x", "shown %d", 1);
	CHECK_STR(content(fd), "p: warning: shown 1\n");
}

TEST(text_of_an_outsider_can_not_reach_the_terminal)
{
	const struct log_field fields[] = { LOG_TEXT("name", "a\nproctor: forged\x9b") };
	int fd = capture_stderr();

	log_open("p", LOG_NOTICE, -1);
	log_event(LOG_NOTICE, "x", "\x1b[31mred", fields, ARRAY_LEN(fields));
	CHECK_STR(content(fd), "p: \\x1b[31mred  name=a\\x0aproctor: forged\\x9b\n");
}

TEST(the_json_sink_gets_every_level_as_one_object_a_line)
{
	const struct log_field fields[] = { LOG_TEXT("name", "\"\xff\n"), LOG_NUMBER("n", 5) };
	int text = capture_stderr(), json = memfd_create("json", MFD_CLOEXEC);
	const char *line, *rest;

	log_open("p", LOG_ERROR, json);
	log_event(LOG_DEBUG, "run.step", NULL, fields, ARRAY_LEN(fields));
	CHECK_STR(content(text), "");
	line = content(json);
	CHECK(strncmp(line, "{\"time_ns\":1", 12) == 0);
	rest = strchr(line, ',');
	CHECK(rest);
	CHECK_STR(rest, ",\"level\":\"debug\",\"event\":\"run.step\","
			"\"name\":\"\\\"\\u00ff\\u000a\",\"n\":5}\n");
}

TEST(a_sink_that_is_gone_does_no_harm)
{
	close(STDERR_FILENO);
	log_open("p", LOG_NOTICE, 1000);
	log_say(LOG_ERROR, "x", "nobody hears this");
}

TEST(a_message_too_long_is_cut)
{
	int fd = capture_stderr();
	char huge[4000];

	memset(huge, 'x', sizeof(huge) - 1);
	huge[sizeof(huge) - 1] = '\0';
	log_open("p", LOG_NOTICE, -1);
	log_say(LOG_NOTICE, "x", "%s", huge);
	CHECK_INT(strlen(content(fd)), strlen("p: ") + 1023 + 1);
}
