/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/config/policy.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "tests/lib/check.h"

static struct policy policy;
static struct err err;

static void put(const char *path, const char *text)
{
	CHECK_OK(io_replace_file(check_folder(), path, text, strlen(text), 0644, &err));
}

static void put_in(const char *folder, const char *name, const char *text)
{
	auto_fd fd = -1;

	CHECK(mkdirat(check_folder(), folder, 0755) == 0);
	fd = openat(check_folder(), folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(fd >= 0);
	CHECK_OK(io_replace_file(fd, name, text, strlen(text), 0644, &err));
}

/* A file of the test's folder, by way of what a command line would call it. */
static int load(const char *file)
{
	cleanup(str_done) struct str text = STR_INIT;

	policy = policy_default();
	err = ERR_INIT;
	CHECK_OK(io_read_file(check_folder(), file, POLICY_FILE_MAX, &text, &err));
	return policy_parse_in(check_folder(), file, text.text, text.len, &policy, &err);
}

static void check_refused(const char *file, const char *text)
{
	CHECK_INT(load(file), -1);
	CHECK_STR(err.text, text);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK_STR(policy.name, "default");
}

TEST(what_a_policy_says_holds_over_what_it_extends)
{
	int line = 0;

	put("base.yaml", "schema: 1\nname: base\naccept: [swap, pids]\nretries: 5\n"
			 "agent:\n  pids: 100\n  memory: 3GiB\n  environment: {A: one, B: two}\n");
	put("mine.yaml", "schema: 1\nname: mine\nextends: base.yaml\naccept: [cpus]\n"
			 "agent: {pids: 200, environment: {B: three, C: four}}\n");
	CHECK_INT(load("mine.yaml"), 0);
	CHECK_STR(policy.name, "mine");
	CHECK_INT(policy.file_count, 2);
	CHECK_INT(policy.agent.pids, 200);
	CHECK_INT(policy.agent.memory, 3 * GIB);
	CHECK_INT(policy.retries, 5);
	/* A list is replaced, variables are joined. */
	CHECK_INT(policy.accept, 1U << ACCEPT_CPUS);
	CHECK_INT(policy.agent.environment.count, 3);
	CHECK_STR(policy.agent.environment.items[0].value, "one");
	CHECK_STR(policy.agent.environment.items[1].value, "three");
	CHECK_STR(policy.agent.environment.items[2].name, "C");
	CHECK_INT(policy.build.pids, policy_default().build.pids);

	CHECK_STR(policy_origin(&policy, "agent.pids", &line), "mine.yaml");
	CHECK_INT(line, 5);
	CHECK_STR(policy_origin(&policy, "agent.memory", &line), "base.yaml");
	CHECK_INT(line, 7);
	CHECK_STR(policy_origin(&policy, "agent.environment.A", &line), "base.yaml");
	CHECK(!policy_origin(&policy, "agent.wall", &line));
	CHECK(!policy_origin(&policy, "agent.pids.more", &line));
	policy_done(&policy);
}

TEST(a_file_is_looked_for_in_the_folder_of_the_one_that_names_it)
{
	put_in("shared", "base.yaml", "schema: 1\nname: base\nextends: ../root.yaml\n");
	put("root.yaml", "schema: 1\nname: root\nbuild: {pids: 77}\n");
	put("mine.yaml", "schema: 1\nname: mine\nextends: shared/base.yaml\n");
	CHECK_INT(load("mine.yaml"), 0);
	CHECK_INT(policy.file_count, 3);
	CHECK_INT(policy.build.pids, 77);
	CHECK_STR(policy.files[1]->file, "shared/base.yaml");
	CHECK_STR(policy.files[2]->file, "shared/../root.yaml");
	policy_done(&policy);
}

TEST(a_policy_that_came_with_proctor_is_extended_by_its_name)
{
	put("mine.yaml", "schema: 1\nname: mine\nextends: profiler\nagent: {pids: 99}\n");
	CHECK_INT(load("mine.yaml"), 0);
	CHECK_INT(policy.file_count, 3);
	CHECK_INT(policy.agent.syscalls, 1U << SYSCALLS_PROFILER);
	CHECK_INT(policy.agent.pids, 99);
	policy_done(&policy);
	put("none.yaml", "schema: 1\nname: mine\nextends: profile\n");
	check_refused("none.yaml", "none.yaml:3: key 'extends': 'profile' is not one of the "
				   "policies that came with proctor: default, profiler, "
				   "agentkernelarena; a file "
				   "here is './profile'");
}

TEST(every_policy_that_came_with_proctor_can_be_read)
{
	cleanup(str_done) struct str names = STR_INIT;
	char *rest, *name;

	policy_shipped_names(&names);
	rest = names.text;
	while ((name = strsep(&rest, ", "))) {
		size_t len;
		const char *text;

		if (*name == '\0')
			continue;
		text = policy_shipped(name, &len);
		policy = policy_default();
		CHECK(text);
		CHECK_OK(policy_parse(name, text, len, &policy, &err));
		CHECK_STR(policy.name, name);
		policy_done(&policy);
	}
}

TEST(a_chain_that_comes_back_or_has_no_end_is_refused)
{
	char name[32], text[128];

	put("self.yaml", "schema: 1\nname: self\nextends: ./self.yaml\n");
	check_refused("self.yaml",
		      "self.yaml:3: key 'extends': './self.yaml' extends itself in the end");
	put("a.yaml", "schema: 1\nname: a\nextends: b.yaml\n");
	put("b.yaml", "schema: 1\nname: b\nextends: ./a.yaml\n");
	check_refused("a.yaml", "b.yaml:3: key 'extends': './a.yaml' extends itself in the end");
	for (int i = 0; i <= POLICY_CHAIN_MAX; i++) {
		snprintf(name, sizeof(name), "deep-%d.yaml", i);
		snprintf(text, sizeof(text), "schema: 1\nname: deep\nextends: deep-%d.yaml\n",
			 i + 1);
		put(name, i < POLICY_CHAIN_MAX ? text : "schema: 1\nname: last\n");
	}
	check_refused("deep-0.yaml", "deep-7.yaml:3: key 'extends': more than 8 policies, each of "
				     "which extends the next");
	CHECK_INT(load("deep-1.yaml"), 0);
	policy_done(&policy);
}

TEST(what_can_not_be_extended_is_named_where_it_is_asked_for)
{
	static const struct {
		const char *extends, *error;
	} cases[] = {
		{ "none.yaml", "open 'none.yaml': No such file or directory" },
		{ "no/where.yaml", "open the folder 'no/': No such file or directory" },
		{ "./folder", "'./folder' is no regular file" },
		{ "./fifo", "'./fifo' is no regular file" },
		{ "./huge", "./huge is larger than 65536 bytes" },
		{ "/dev/null", "'/dev/null' is no regular file" },
	};
	auto_fd huge = openat(check_folder(), "huge", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	char text[128], want[256];

	CHECK(mkdirat(check_folder(), "folder", 0700) == 0);
	CHECK(mkfifoat(check_folder(), "fifo", 0600) == 0);
	CHECK(ftruncate(huge, POLICY_FILE_MAX + 1) == 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		snprintf(text, sizeof(text), "schema: 1\nname: mine\nextends: %s\n",
			 cases[i].extends);
		put("mine.yaml", text);
		snprintf(want, sizeof(want), "mine.yaml:3: key 'extends': %s", cases[i].error);
		check_refused("mine.yaml", want);
	}
	put("mine.yaml", "schema: 1\nname: mine\nextends: [a]\n");
	CHECK_INT(load("mine.yaml"), -1);
	CHECK(strstr(err.text, "mine.yaml:3: key 'extends': a list is not a path"));
}

TEST(a_mistake_is_told_of_the_file_that_makes_it)
{
	put("base.yaml", "schema: 1\nname: base\nagent:\n  pids: 9\n");
	put("mine.yaml", "schema: 1\nname: mine\nextends: base.yaml\nagent: {pids: 99}\n");
	check_refused("mine.yaml", "base.yaml:4: key 'pids': '9' is not within 16..32768");
	put("base.yaml", "schema: 1\nname: base\nagent: {workspace: {size: 4GiB}, memory: 6GiB}\n");
	put("mine.yaml", "schema: 1\nname: mine\nextends: base.yaml\nagent:\n  memory: 4GiB\n");
	CHECK_INT(load("mine.yaml"), -1);
	CHECK(strstr(err.text, "mine.yaml:4: key 'agent': memory of 4096MiB is less than "));
	put("base.yaml", "schema: 1\nname: base\nagent:\n  stack: 64KiB\n");
	put("mine.yaml", "schema: 1\nname: mine\nextends: base.yaml\n");
	CHECK_INT(load("mine.yaml"), -1);
	CHECK(strstr(err.text, "base.yaml:4: key 'stack': no program starts with less than"));
}

TEST(a_text_without_a_folder_extends_no_file)
{
	static const char text[] = "schema: 1\nname: mine\nextends: /etc/passwd\n";

	policy = policy_default();
	CHECK_INT(policy_parse("p.yaml", text, strlen(text), &policy, &err), -1);
	CHECK(strstr(err.text, "p.yaml:3: key 'extends': a file can only be extended from a file"));
	CHECK_OK(policy_check_keys("p.yaml", text, strlen(text), &err));
}

/* Of an account that may not look into the folder, whoever has opened it. */
TEST(files_are_opened_with_the_rights_of_who_reads)
{
	cleanup(str_done) struct str text = STR_INIT;
	auto_fd folder = -1;

	if (geteuid() != 0)
		SKIP("needs root");
	put_in("closed", "base.yaml", "schema: 1\nname: base\n");
	put("mine.yaml", "schema: 1\nname: mine\nextends: closed/base.yaml\n");
	CHECK(fchmodat(check_folder(), "closed", 0700, 0) == 0);
	CHECK(fchmod(check_folder(), 0755) == 0);
	folder = openat(check_folder(), ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	CHECK_OK(io_read_file(check_folder(), "mine.yaml", POLICY_FILE_MAX, &text, &err));
	CHECK(setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
	policy = policy_default();
	CHECK_INT(policy_parse_in(folder, "mine.yaml", text.text, text.len, &policy, &err), -1);
	CHECK(strstr(err.text, "Permission denied"));
}

TEST(a_variable_has_a_name_and_a_text)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "{1A: b}", "key '1A': '1A' is not the name of a variable" },
		{ "{A=B: c}", "key 'A=B': 'A=B' is not the name of a variable" },
		{ "{A: [b]}", "key 'A': a list is not a text, the value of a variable" },
		{ "{A: b, A: c}", "'A' is there twice" },
	};
	char text[256], long_value[POLICY_VALUE_MAX + 64];

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		snprintf(text, sizeof(text), "schema: 1\nname: mine\nagent: {environment: %s}\n",
			 cases[i].text);
		put("mine.yaml", text);
		CHECK_INT(load("mine.yaml"), -1);
		if (!strstr(err.text, cases[i].error) && i + 1 < ARRAY_LEN(cases))
			check_fail(__FILE__, __LINE__, "%s", err.text);
	}
	snprintf(long_value, sizeof(long_value),
		 "schema: 1\nname: mine\nagent: {environment: {A: %0*d}}\n", POLICY_VALUE_MAX, 0);
	put("mine.yaml", long_value);
	CHECK_INT(load("mine.yaml"), 0);
	policy_done(&policy);
	snprintf(long_value, sizeof(long_value),
		 "schema: 1\nname: mine\nagent: {environment: {A: %0*d}}\n", POLICY_VALUE_MAX + 1,
		 0);
	put("mine.yaml", long_value);
	CHECK_INT(load("mine.yaml"), -1);
	CHECK(strstr(err.text, "a value of 4097 bytes; at most 4096 are possible"));
}

static void put_variables(const char *file, const char *more, const char *letter)
{
	cleanup(str_done) struct str text = STR_INIT;

	str_addf(&text, "schema: 1\nname: many\n%sagent:\n  environment:\n", more);
	for (int i = 0; i < 40; i++)
		str_addf(&text, "    %s%d: x\n", letter, i);
	put(file, text.text);
}

TEST(more_variables_than_fit_are_refused_in_all_files_together)
{
	put_variables("base.yaml", "", "A");
	put_variables("mine.yaml", "extends: base.yaml\n", "B");
	CHECK_INT(load("mine.yaml"), -1);
	CHECK(strstr(err.text, "mine.yaml:6: key 'environment': with those of the policy that is "
			       "extended 80 variables, of which 64 are possible"));
	put_variables("mine.yaml", "extends: base.yaml\n", "A");
	CHECK_INT(load("mine.yaml"), 0);
	CHECK_INT(policy.agent.environment.count, 40);
	policy_done(&policy);
}

TEST(a_policy_printed_as_one_file_is_the_same_policy)
{
	cleanup(str_done) struct str once = STR_INIT, twice = STR_INIT;
	struct policy again = policy_default();

	put("base.yaml",
	    "schema: 1\nname: base\nagent: {cpus: 1.5, environment: {A: 'x\"\\y', B: ''}}\n");
	put("mine.yaml", "schema: 1\nname: mine\nextends: base.yaml\naccept: [swap]\n"
			 "worker: {wall: 90s, on_full: end}\nagent: {syscalls: [profiler]}\n");
	CHECK_INT(load("mine.yaml"), 0);
	policy_print(&policy, &once);
	CHECK(strstr(once.text, "  cpus: 1.5\n"));
	CHECK(strstr(once.text, "\n  syscalls: [profiler]\n"));
	CHECK(!strstr(once.text, "extends:"));
	CHECK_OK(policy_parse("p.yaml", once.text, once.len, &again, &err));
	CHECK_INT(again.worker.wall_ms, 90000);
	CHECK_STR(again.agent.environment.items[0].value, "x\"\\y");
	CHECK_STR(again.agent.environment.items[1].value, "");
	policy_print(&again, &twice);
	CHECK_STR(twice.text, once.text);
	policy_done(&policy);
	policy_done(&again);
}
