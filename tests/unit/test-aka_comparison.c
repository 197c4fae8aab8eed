/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_comparison.h"

#include <string.h>

#include "tests/lib/check.h"

/* The whole report: tests/data/aka, by tests/aka/recorded.sh. */
static void has_line(const char *first_text, const char *second_text, const char *line)
{
	cleanup(aka_summary_done) struct aka_summary first = AKA_SUMMARY_INIT;
	cleanup(aka_summary_done) struct aka_summary second = AKA_SUMMARY_INIT;
	cleanup(str_done) struct str text = STR_INIT;
	struct err err = ERR_INIT;

	CHECK_OK(aka_summary_read(&first, first_text, strlen(first_text), &err));
	CHECK_OK(aka_summary_read(&second, second_text, strlen(second_text), &err));
	aka_comparison(&text, &first, &second);
	if (strstr(text.text, line) == NULL)
		check_fail(__FILE__, __LINE__, "no '%s' in: %s", line, text.text);
}

TEST(changes_have_a_sign_and_a_direction)
{
	const char *one = "{\"overall\":{\"average_speedup\":2,\"std_dev_speedup\":1,"
			  "\"total_score\":10,\"correctness_pass_rate\":50}}";
	const char *two = "{\"overall\":{\"average_speedup\":3,\"std_dev_speedup\":2,"
			  "\"total_score\":5,\"correctness_pass_rate\":75}}";

	has_line(one, two,
		 "\nAverage Speedup                          2.000           3.000           "
		 "+1.000 (+50.0%)      ↑\n");
	has_line(one, two,
		 "\nStd Dev Speedup                          1.000           2.000           "
		 "+1.000 (+100.0%)     ↓\n");
	has_line(one, two,
		 "\nTotal Score                              10.00           5.00            "
		 "-5.000 (-50.0%)      \n");
	has_line(one, two,
		 "\nCorrectness Pass Rate                    50.0%           75.0%           "
		 "+25.0pp (+50.0%)     ↑\n");
	has_line(one, one, "50.0%           50.0%           +0.0pp (+0.0%)       =\n");
}

TEST(a_change_from_zero_has_no_percentage)
{
	has_line("{}", "{\"overall\":{\"correctness_pass_rate\":5,\"average_speedup\":1}}",
		 "0.0%            5.0%            +5.0pp               ↑\n");
	has_line("{}", "{\"overall\":{\"average_speedup\":1}}",
		 "0.000           1.000           +1.000 (+0.0%)       ↑\n");
	has_line("{}", "{}", "0.0%            0.0%            0.0pp                =\n");
	has_line("{}", "{}", "No task type data available for comparison.\n");
}

TEST(types_of_one_run_alone_are_said_to_be_new_or_gone)
{
	const char *hip = "{\"task_types\":{\"hip2hip\":{\"count\":2,\"average_speedup\":1.5}}}";

	has_line("{}", hip, "\nHIP2HIP (0 tasks → 2 tasks):\n");
	has_line(
		"{}", hip,
		"\n  Average Speedup                     N/A             1.500           N/A (new) "
		"           \n");
	has_line(hip, "{}",
		 "\n  Average Speedup                     1.500           N/A             N/A "
		 "(removed)        \n");
	has_line(hip, hip,
		 "\n  Average Speedup                     1.500           1.500           +0.000 "
		 "(+0.0%)       = (same)\n");
	has_line("{\"task_types\":{\"a\":{}}}", "{}", "A (0 tasks → 0 tasks):\n-----");
	has_line("{\"task_types\":{\"a\":{}}}", "{}", "\n  No tasks in either run\n");
}
