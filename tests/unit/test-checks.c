/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/report/checks.h"

#include <string.h>

#include "tests/lib/check.h"

static struct doctor doctor_of(enum doctor_verdict memory)
{
	return (struct doctor){
		.count = 3,
		.findings = {
			{ "kernel", "means kernel", "update", DOCTOR_OK, false, false, "6.1" },
			{ "seen", "means seen", "be root", DOCTOR_UNKNOWN, memory != DOCTOR_OK, false, "no" },
			{ "memory", "means memory", "do this", memory, true, true, "memory.max" },
		},
	};
}

TEST(a_host_that_is_good_enough_says_so_first)
{
	const struct doctor doctor = doctor_of(DOCTOR_OK);
	cleanup(str_done) struct str out = STR_INIT;

	CHECK(!checks_refuse(&doctor));
	checks_print(&doctor, &(struct table_style){ .width = 0 }, false, &out);
	CHECK_STR(out.text, "all that the default policy needs is there\n\n"
			    "CHECK   VERDICT  HOW    FOUND\n"
			    "kernel  ok       read   6.1\n"
			    "seen    unknown  read   no\n"
			    "memory  ok       tried  memory.max\n"
			    "\nseen (unknown): means seen\n  be root\n");
}

TEST(a_refused_run_is_told_first_with_what_is_missing_before_what_was_not_seen)
{
	const struct doctor doctor = doctor_of(DOCTOR_MISSING);
	cleanup(str_done) struct str out = STR_INIT;
	static const char want[] = "a run under the default policy would be refused:\n"
				   "  memory: memory.max\n  not seen: seen\n\nCHECK ";

	CHECK(checks_refuse(&doctor));
	checks_print(&doctor, &(struct table_style){ .width = 0 }, false, &out);
	CHECK(strncmp(out.text, want, strlen(want)) == 0);
	CHECK(strstr(out.text, "\nmemory (missing, needed): means memory\n  do this\n"));
	CHECK(!strstr(out.text, "means kernel"));
}

TEST(those_that_were_not_seen_for_one_reason_are_told_together)
{
	struct doctor doctor = doctor_of(DOCTOR_UNKNOWN);
	cleanup(str_done) struct str out = STR_INIT;

	doctor.findings[2].way_out = "be root";
	checks_print(&doctor, &(struct table_style){ .width = 0 }, false, &out);
	CHECK(strstr(out.text, "\n\nseen, memory (unknown): not seen\n  be root\n"));
	CHECK(!strstr(out.text, "means memory"));
	str_clear(&out);
	checks_print(&doctor, &(struct table_style){ .width = 0 }, true, &out);
	CHECK(strstr(out.text, "\nmemory (unknown, needed): means memory\n  be root\n"));
}

TEST(each_check_is_explained_where_that_is_asked_for)
{
	const struct doctor doctor = doctor_of(DOCTOR_OK);
	cleanup(str_done) struct str out = STR_INIT;

	checks_print(&doctor, &(struct table_style){ .width = 0 }, true, &out);
	CHECK(strstr(out.text, "\nkernel (ok): means kernel\n"));
	CHECK(!strstr(out.text, "update"));
	CHECK(!strchr(out.text, '\033'));
}

TEST(colour_is_only_there_where_it_is_wanted)
{
	const struct doctor doctor = doctor_of(DOCTOR_MISSING);
	cleanup(str_done) struct str out = STR_INIT;

	checks_print(&doctor, &(struct table_style){ .has_color = true }, false, &out);
	CHECK(strchr(out.text, '\033'));
}

TEST(what_was_found_can_not_disturb_a_terminal)
{
	struct doctor doctor = doctor_of(DOCTOR_MISSING);
	cleanup(str_done) struct str out = STR_INIT;

	doctor.findings[2].found = "a\033[2Jb\nc";
	checks_print(&doctor, &(struct table_style){ .width = 0 }, false, &out);
	CHECK(!strchr(out.text, '\033'));
	CHECK(strstr(out.text, "  memory: a\\x1b[2Jb\\x0ac\n"));
}

TEST(the_same_as_json)
{
	const struct doctor good = doctor_of(DOCTOR_OK), bad = doctor_of(DOCTOR_DEGRADED);
	cleanup(str_done) struct str out = STR_INIT;
	struct json_writer json;

	json_writer_init(&json, &out);
	checks_put(&good, &json);
	CHECK(json_writer_is_whole(&json));
	CHECK(strstr(out.text,
		     "{\"run\":\"possible\",\"why\":[],\"checks\":["
		     "{\"check\":\"kernel\",\"means\":\"means kernel\",\"verdict\":\"ok\","
		     "\"needed\":false,\"how\":\"read\",\"found\":\"6.1\","
		     "\"way_out\":null}"));
	str_clear(&out);
	json_writer_init(&json, &out);
	checks_put(&bad, &json);
	CHECK(strstr(out.text, "{\"run\":\"refused\",\"why\":[\"seen\"],"));
	CHECK(strstr(out.text, "\"verdict\":\"degraded\",\"needed\":true,\"how\":\"tried\","
			       "\"found\":\"memory.max\",\"way_out\":\"do this\"}"));
}
