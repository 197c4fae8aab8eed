/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/base/err.h"

#include <errno.h>
#include <string.h>

#include "tests/lib/check.h"

TEST(an_error_says_what_was_tried_and_why_it_failed)
{
	struct err err = ERR_INIT;

	errno = ENOENT;
	CHECK_INT(err_sys(&err, "open '%s'", "x"), -1);
	CHECK_INT(err.kind, ERR_SYS);
	CHECK_INT(err.sys, ENOENT);
	CHECK_STR(err.text, "open 'x': No such file or directory");
}

TEST(an_error_of_the_host_is_told_apart)
{
	struct err err = ERR_INIT;

	errno = EPERM;
	CHECK_INT(err_host(&err, "load a filter"), -1);
	CHECK_INT(err.kind, ERR_HOST);
	CHECK_STR(err.text, "load a filter: Operation not permitted");
}

TEST(an_error_without_a_system_call_has_no_errno)
{
	struct err err = ERR_INIT;

	errno = EIO;
	CHECK_INT(err_set(&err, ERR_INPUT, "key '%s' is missing", "pids"), -1);
	CHECK_INT(err.sys, 0);
	CHECK_STR(err.text, "key 'pids' is missing");
}

TEST(a_new_error_leaves_nothing_of_the_old_one)
{
	struct err err = ERR_INIT;

	errno = EIO;
	err_sys(&err, "a rather long text that is about to go");
	err_set(&err, ERR_USAGE, "no");
	CHECK_STR(err.text, "no");
	CHECK_INT(err.text[3], 0);
	CHECK_INT(err.sys, 0);
}

TEST(context_goes_in_front_and_keeps_the_kind)
{
	struct err err = ERR_INIT;

	err_set(&err, ERR_INPUT, "line 3: no such key");
	CHECK_INT(err_wrap(&err, "task '%s'", "sort"), -1);
	CHECK_INT(err_wrap(&err, "run"), -1);
	CHECK_STR(err.text, "run: task 'sort': line 3: no such key");
	CHECK_INT(err.kind, ERR_INPUT);
}

TEST(a_text_too_long_loses_its_end_and_never_its_beginning)
{
	struct err err = ERR_INIT;
	char huge[2000];

	memset(huge, 'x', sizeof(huge) - 1);
	huge[sizeof(huge) - 1] = '\0';
	errno = EIO;
	err_sys(&err, "begin %s", huge);
	CHECK_INT(strlen(err.text), sizeof(err.text) - 1);
	CHECK(strncmp(err.text, "begin xxx", 9) == 0);
	err_wrap(&err, "outer");
	CHECK_INT(strlen(err.text), sizeof(err.text) - 1);
	CHECK(strncmp(err.text, "outer: begin xxx", 16) == 0);
	err_wrap(&err, "%s", huge);
	CHECK_INT(strlen(err.text), sizeof(err.text) - 1);
	CHECK(strncmp(err.text, "xxx", 3) == 0);
}

TEST(each_kind_has_its_exit_code)
{
	static const struct {
		enum err_kind kind;
		int code;
	} cases[] = {
		{ ERR_NONE, 0 }, { ERR_USAGE, 2 }, { ERR_INPUT, 3 },
		{ ERR_HOST, 4 }, { ERR_SYS, 5 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		CHECK_INT(err_exit_code(&(struct err){ .kind = cases[i].kind }), cases[i].code);
}

TEST(a_kind_that_does_not_exist_is_an_error_of_ours)
{
	/* An error crosses pipes as bytes: its kind may be anything. */
	CHECK_INT(err_exit_code(&(struct err){ .kind = (enum err_kind) 1000000 }), 5);
	CHECK_INT(err_exit_code(&(struct err){ .kind = (enum err_kind) - 1 }), 5);
}
