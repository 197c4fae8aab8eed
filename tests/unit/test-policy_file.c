/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/policy_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "sandbox/base/io.h"
#include "tests/lib/check.h"

static struct policy policy;
static struct policy_file file;
static struct str text;
static struct err err;

static void begin(void)
{
	policy = policy_default();
	file = POLICY_FILE_INIT;
	text = STR_INIT;
}

static void end(void)
{
	policy_done(&policy);
	policy_file_done(&file);
	str_done(&text);
}

static void put(const char *path, const char *content)
{
	CHECK_OK(io_replace_file(check_folder(), path, content, strlen(content), 0644, &err));
}

TEST(what_is_not_named_is_the_default_policy_to_the_byte)
{
	size_t len;
	const char *built_in = policy_default_text(&len);

	begin();
	CHECK_OK(policy_file_read(&file, &policy, &text, &err));
	CHECK_STR(policy.name, "default");
	CHECK_INT(text.len, len);
	CHECK(memcmp(text.text, built_in, len) == 0);
	end();
}

TEST(a_policy_that_came_with_proctor_needs_no_file)
{
	begin();
	CHECK_OK(policy_file_open(&file, check_folder(), "profiler", &err));
	CHECK_INT(file.fd, -1);
	CHECK_OK(policy_file_read(&file, &policy, &text, &err));
	CHECK_STR(policy.name, "profiler");
	/* It extends another: what is kept says all of it. */
	CHECK(strstr(text.text, "\nname: profiler\n") && strstr(text.text, "\nretries: 2\n"));
	end();
}

TEST(a_file_that_extends_nothing_is_kept_as_it_is)
{
	static const char content[] = "# mine\nschema: 1\nname: mine\n";

	begin();
	put("mine.yaml", content);
	CHECK_OK(policy_file_open(&file, check_folder(), "mine.yaml", &err));
	CHECK_OK(policy_file_read(&file, &policy, &text, &err));
	CHECK_STR(text.text, content);
	end();
}

TEST(what_a_run_keeps_needs_no_other_file)
{
	struct policy kept = policy_default();

	begin();
	put("base.yaml", "schema: 1\nname: base\nbuild: {pids: 55}\n");
	put("mine.yaml", "schema: 1\nname: mine\nextends: ./base.yaml\nagent: {pids: 44}\n");
	CHECK_OK(policy_file_open(&file, check_folder(), "mine.yaml", &err));
	CHECK_OK(policy_file_read(&file, &policy, &text, &err));
	CHECK_OK(policy_parse("kept", text.text, text.len, &kept, &err));
	CHECK_INT(kept.agent.pids, 44);
	CHECK_INT(kept.build.pids, 55);
	CHECK_INT(kept.file_count, 1);
	policy_done(&kept);
	end();
}

TEST(what_is_no_file_is_refused_before_it_is_read)
{
	static const struct {
		const char *path, *error;
	} cases[] = {
		{ "none.yaml", "policy 'none.yaml': no such file, and none of those that "
			       "came with proctor: default, profiler, agentkernelarena" },
		{ "no/none.yaml", "policy 'no/none.yaml': No such file or directory" },
		{ "profile", "policy 'profile': no such file, and none of those that "
			     "came with proctor: default, profiler, agentkernelarena" },
		{ "folder", "policy 'folder': it is no regular file" },
		{ "fifo", "policy 'fifo': it is no regular file" },
	};

	begin();
	CHECK(mkdirat(check_folder(), "folder", 0700) == 0);
	CHECK(mkfifoat(check_folder(), "fifo", 0600) == 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CHECK_INT(policy_file_open(&file, check_folder(), cases[i].path, &err), -1);
		CHECK_STR(err.text, cases[i].error);
		CHECK_INT(err.kind, ERR_INPUT);
		CHECK_INT(file.fd, -1);
	}
	end();
}
