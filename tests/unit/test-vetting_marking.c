/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/run/hidden.h"
#include "harness/run/vetting_state.h"
#include "tests/lib/check.h"
#include "tests/lib/tree.h"

/* What needs no jail; the rest is in test-vetting. */
static struct err err;
static struct vetting vetting;
static struct vetting_state state;
static struct vetting_mark mark;
static char text[VETTING_WHY_MAX];

TEST(the_author_is_told_the_dimensions_of_a_hidden_case)
{
	int folder = open(SOURCE_ROOT "/tasks/c2c/row-softmax", O_RDONLY | O_DIRECTORY);
	char name[VETTING_NAME_MAX];

	CHECK_OK(task_load(folder, &state.task, &err));
	CHECK_OK(hidden_plan(&state.task, mark.key, &mark.plan, &err));
	CHECK_OK(hidden_dims(&state.task, mark.key, mark.dims, &err));
	vetting_case_name(&state, &mark, 0, name);
	CHECK_STR(name, "rows=256 cols=128");
	vetting_case_name(&state, &mark, 3, name);
	CHECK(strncmp(name, "odd 1 (rows=", 12) == 0 && strstr(name, " cols="));
}

static const char *said(const char *content)
{
	unlinkat(check_folder(), "x.stderr", 0);
	tree_make_file(check_folder(), "x.stderr", content, 0644);
	vetting.folder_fd = check_folder();
	state.vetting = &vetting;
	vetting_said(&state, "x", text);
	return text;
}

TEST(the_end_of_what_a_jail_printed_is_one_line_that_a_terminal_can_show)
{
	CHECK_STR(said("a.c:1: odd\x1b[31m\nstop\n"), "it says: a.c:1: odd\\x1b[31m stop");
}

TEST(of_errors_the_first_is_told_whole)
{
	char line[VETTING_WHY_MAX];

	said("a.c: In function 'f':\na.c:2:1: error: unknown type name 'strange'\n    2 | strange "
	     "f\n"
	     "      | ^~~~\na.c:9:1: error: and so on\ncompilation terminated\n");
	CHECK_STR(text, "it says: \xe2\x80\xa6 a.c:2:1: error: unknown type name 'strange'");
	CHECK_STR(said("a.c:2: error: x\n^\n"), "it says: a.c:2: error: x");
	said("/usr/bin/ld: a.o: in function `f':\na.c:(.text+0x5): undefined reference to `g'\n"
	     "collect2: error: ld returned 1 exit status\n");
	CHECK_STR(text, "it says: \xe2\x80\xa6 a.c:(.text+0x5): undefined reference to `g'");
	/* None ends in the middle because others follow. */
	snprintf(line, sizeof(line), "a.c:1: error: %0280d\nmore\n", 0);
	said(line);
	CHECK_INT(strlen(text), strlen("it says: a.c:1: error: ") + 280);
	snprintf(line, sizeof(line), "a.c:1: error: %0380d\n", 0);
	CHECK(strlen(said(line)) < 320);
}

TEST(of_much_that_it_printed_the_last_lines_are_told)
{
	char many[4096] = "";

	for (int i = 0; i < 100; i++)
		memccpy(many + strlen(many), i < 99 ? "a line of the compiler\n" : "the last\n", 0,
			64);
	said(many);
	CHECK(strncmp(text, "it says: \xe2\x80\xa6 a line of", 20) == 0);
	CHECK(strlen(text) < 330);
	CHECK_STR(text + strlen(text) - 8, "the last");
}

TEST(silence_is_told_as_well)
{
	CHECK_STR(said("\n\n"), "it says nothing");
	vetting_said(&state, "never-was", text);
	CHECK_STR(text, "");
}
