/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_verdict.h"

#include <string.h>

#include "tests/lib/check.h"

static void read_said(struct aka_said *said, const char *out, const char *err, bool has_succeeded)
{
	aka_said_read(said,
		      &(struct aka_streams){
			      .out = out,
			      .out_len = strlen(out),
			      .err = err,
			      .err_len = strlen(err),
		      },
		      has_succeeded);
}

static void check_verdict(const char *out, const char *err, bool passes, const char *doubt)
{
	cleanup(aka_said_done) struct aka_said said = AKA_SAID_INIT;
	cleanup(arena_done) struct arena arena = ARENA_INIT;

	read_said(&said, out, err, true);
	CHECK_INT(aka_verdict_correct(&arena, &said) == NULL, passes);
	if (doubt == NULL)
		CHECK(aka_verdict_doubt(&said) == NULL);
	else
		CHECK_STR(aka_verdict_doubt(&said), doubt);
}

TEST(fail_counts_only_where_no_pass_is_near)
{
	const char *fail = "the correctness command says FAIL and ends with status 0";

	check_verdict("ok", "", true, NULL);
	check_verdict("1 failed", "", false, NULL);
	check_verdict("FAIL", "", false, fail);
	check_verdict("FAIL shape 3\nAll correctness checks passed.", "", true, fail);
	check_verdict("fa", "il", false, NULL);
	check_verdict("3 passed, 0 failed", "", true, NULL);
	check_verdict("FAILED: 0, PASSED: 3", "", true, NULL);
	check_verdict("FAILSAFE passed", "", true, NULL);
}

TEST(a_run_that_skips_everything_is_doubted)
{
	check_verdict("5 skipped in 0.02s", "", true,
		      "the correctness command has skipped tests and none that passed");
	check_verdict("4 passed, 1 skipped", "", true, NULL);
}

TEST(errors_hold_the_whole_output)
{
	cleanup(aka_said_done) struct aka_said said = AKA_SAID_INIT;
	cleanup(arena_done) struct arena arena = ARENA_INIT;

	read_said(&said, "a\r\n", "b", false);
	CHECK_STR(aka_verdict_compile(&arena, &said)->text,
		  "Compilation failed\nSTDOUT:\na\n\nSTDERR:\nb");
	CHECK_STR(aka_verdict_correct(&arena, &said)->text,
		  "Correctness test failed\nSTDOUT:\na\n\nSTDERR:\nb");
}

TEST(errors_hold_the_beginning_of_an_output_that_is_too_long)
{
	enum { MOST = 4 << 20 };
	cleanup(aka_said_done) struct aka_said said = AKA_SAID_INIT;
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	const struct pyvalue *error;
	const char *end;

	read_said(&said, "", "b", false);
	for (int i = 0; i < MOST - 1; i++)
		str_add(&said.out, "a", 1);
	str_addf(&said.out, "\xc3\xa9x");
	error = aka_verdict_compile(&arena, &said);
	end = error->text + strlen("Compilation failed\nSTDOUT:\n") + MOST - 1;
	CHECK_STR(end, "\n... and 3 bytes more\nSTDERR:\nb");
}

TEST(output_that_is_not_utf8_is_a_failure)
{
	cleanup(aka_said_done) struct aka_said said = AKA_SAID_INIT;

	read_said(&said, "fine", "\xff", true);
	CHECK(!said.is_success);
	CHECK_STR(said.out.text, "");
	CHECK_STR(said.err.text,
		  "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte");
}

TEST(a_command_out_of_time_has_said_nothing)
{
	cleanup(aka_said_done) struct aka_said said = AKA_SAID_INIT;
	cleanup(str_done) struct str all = STR_INIT;

	aka_said_timed_out(&said, 3600);
	aka_said_all(&all, &said);
	CHECK(!said.is_success);
	CHECK_STR(all.text, "Command timed out after 3600 seconds");
}
