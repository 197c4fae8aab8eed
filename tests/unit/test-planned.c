/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/planned.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/run/run.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "tests/lib/check.h"

static struct err err;
static struct planned planned;
static struct planned_task tasks[2] = { { .name = "a" }, { .name = "b-2" } };
static struct planned_agent agents[2] = { { .name = "scripted:./it", .is_solution = false },
					  { .name = "scripted:good", .is_solution = true } };
static struct digest of_agents[2][2], written;

static void put_file(const char *path, const char *text)
{
	auto_fd fd = openat(check_folder(), path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	CHECK(fd >= 0);
	CHECK_INT(write(fd, text, strlen(text)), strlen(text));
}

static void make_folder(const char *path)
{
	CHECK(mkdirat(check_folder(), path, 0755) == 0);
}

/* Two tasks and two agents, each file with its own path in it. */
static void prepare(void)
{
	char path[PLANNED_PATH_MAX];

	planned = (struct planned){ .run = "run-1",
				    .tasks = tasks,
				    .agents = agents,
				    .task_count = 2,
				    .agent_count = 2,
				    .repeats = 3,
				    .retries = 0,
				    .seats = 4 };
	make_folder("agents");
	make_folder("tasks");
	put_file(PLANNED_POLICY, "a policy");
	CHECK_OK(planned_digest_file(check_folder(), PLANNED_POLICY, &planned.policy, &err));
	planned.judge = digest_sha256("judge", 5);
	for (size_t i = 0; i < 2; i++) {
		tasks[i].agents = of_agents[i];
		tasks[i].folder = tasks[i].name;
		tasks[i].tree = digest_sha256(&i, sizeof(i));
		tasks[i].built = digest_sha256("built", 5 - i);
		snprintf(path, sizeof(path), "tasks/%s", tasks[i].name);
		make_folder(path);
		for (size_t j = 0; j < PLANNED_FILES; j++) {
			snprintf(path, sizeof(path), "tasks/%s/%s", tasks[i].name,
				 planned_file_name(PLANNED_NATIVE, (enum planned_file) j));
			put_file(path, path);
			CHECK_OK(planned_digest_file(check_folder(), path, &tasks[i].files[j],
						     &err));
		}
		for (size_t j = 0; j < 2; j++) {
			planned_path(&planned, i, j, path);
			put_file(path, path);
			CHECK_OK(planned_digest_file(check_folder(), path, &of_agents[i][j], &err));
		}
	}
	CHECK_OK(planned_write(&planned, check_folder(), &written, &err));
}

static int read_it(struct planned *out)
{
	struct digest digest;
	int result;

	*out = PLANNED_INIT;
	err = (struct err) ERR_INIT;
	result = planned_read(check_folder(), NULL, out, &digest, &err);
	if (result == 0)
		CHECK(digest_equal(&digest, &written));
	return result;
}

static void check_refused(const char *text)
{
	struct planned got;

	CHECK_INT(read_it(&got), -1);
	CHECK_STR(err.text, text);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK(!got.arena.newest);
}

/* planned.json with @from in it as @to is refused with these words. */
static void check_damage(const char *from, const char *to, const char *why)
{
	cleanup(str_done) struct str text = STR_INIT, damaged = STR_INIT;
	const char *at;

	CHECK_OK(io_read_file(check_folder(), PLANNED_FILE, MIB, &text, &err));
	at = strstr(text.text, from);
	if (!at)
		check_fail(__FILE__, __LINE__, "there is no '%s' in %s", from, text.text);
	str_addf(&damaged, "%.*s%s%s", (int) (at - text.text), text.text, to, at + strlen(from));
	put_file(PLANNED_FILE, damaged.text);
	check_refused(why);
	put_file(PLANNED_FILE, text.text);
}

static bool are_equal(const struct digest *one, const struct digest *other, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!digest_equal(&one[i], &other[i]))
			return false;
	return true;
}

TEST(what_was_written_is_what_is_read)
{
	struct planned got;

	prepare();
	CHECK_OK(read_it(&got));
	CHECK_STR(got.run, "run-1");
	CHECK_INT(got.repeats, 3);
	CHECK_INT(got.retries, 0);
	CHECK_INT(got.seats, 4);
	CHECK_INT(got.task_count, 2);
	CHECK_INT(got.agent_count, 2);
	CHECK(digest_equal(&got.policy, &planned.policy));
	CHECK(digest_equal(&got.judge, &planned.judge));
	for (size_t i = 0; i < 2; i++) {
		CHECK_STR(got.tasks[i].name, tasks[i].name);
		CHECK(digest_equal(&got.tasks[i].tree, &tasks[i].tree));
		CHECK(digest_equal(&got.tasks[i].built, &tasks[i].built));
		CHECK(are_equal(got.tasks[i].files, tasks[i].files, PLANNED_FILES));
		CHECK(are_equal(got.tasks[i].agents, of_agents[i], 2));
		CHECK_STR(got.agents[i].name, agents[i].name);
		CHECK_INT(got.agents[i].is_solution, agents[i].is_solution);
	}
	/* Written again it is the same file. */
	written = (struct digest){ { 0 } };
	CHECK_OK(planned_write(&got, check_folder(), &written, &err));
	planned_done(&got);
	CHECK(!got.arena.newest && !got.tasks);
	CHECK_OK(read_it(&got));
	planned_done(&got);
}

TEST(a_program_is_one_tree_for_all_tasks_and_a_solution_one_for_each)
{
	char path[PLANNED_PATH_MAX];

	prepare();
	planned_path(&planned, 0, 0, path);
	CHECK_STR(path, "agents/1.tree");
	planned_path(&planned, 1, 0, path);
	CHECK_STR(path, "agents/1.tree");
	planned_path(&planned, 0, 1, path);
	CHECK_STR(path, "tasks/a/agent-2.tree");
	planned_path(&planned, 1, 1, path);
	CHECK_STR(path, "tasks/b-2/agent-2.tree");
}

TEST(each_file_that_was_changed_is_named)
{
	static const char *const files[] = {
		"policy.yaml",
		"agents/1.tree",
		"tasks/a/task.yaml",
		"tasks/a/pristine.tree",
		"tasks/a/baseline.tree",
		"tasks/b-2/oracle.tree",
		"tasks/b-2/agent-2.tree",
	};

	prepare();
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		cleanup(str_done) struct str was = STR_INIT;
		struct planned got;
		char text[256];

		CHECK_OK(io_read_file(check_folder(), files[i], MIB, &was, &err));
		snprintf(text, sizeof(text), "'%s' is not what was planned: it was changed",
			 files[i]);
		put_file(files[i], "");
		check_refused(text);
		CHECK_INT(unlinkat(check_folder(), files[i], 0), 0);
		snprintf(text, sizeof(text),
			 "what was planned is not there any more: open '%s': No such file or "
			 "directory",
			 files[i]);
		check_refused(text);
		CHECK_INT(err.sys, 0); /* it is not the plan that is missing */
		put_file(files[i], was.text);
		CHECK_OK(read_it(&got));
		planned_done(&got);
	}
}

TEST(a_link_is_not_followed)
{
	prepare();
	CHECK(renameat(check_folder(), "tasks/a", check_folder(), "elsewhere") == 0 &&
	      symlinkat("../elsewhere", check_folder(), "tasks/a") == 0);
	check_refused("what was planned is not there any more: open 'tasks/a/task.yaml': Too many "
		      "levels of symbolic links");
}

TEST(a_plan_that_is_not_there_is_told_apart)
{
	struct planned got;

	CHECK_INT(read_it(&got), -1);
	CHECK_INT(err.sys, ENOENT);
}

/* A number at both edges and beyond them. */
static void check_beyond(const char *key, int value, int min, int max)
{
	char from[64], to[64], why[128];

	snprintf(from, sizeof(from), "\"%s\":%d", key, value);
	for (int i = 0; i < 2; i++) {
		const int wrong = i == 0 ? min - 1 : max + 1;

		snprintf(to, sizeof(to), "\"%s\":%d", key, wrong);
		snprintf(why, sizeof(why), PLANNED_FILE ": key '%s': %d is not within %d..%d", key,
			 wrong, min, max);
		check_damage(from, to, why);
	}
}

TEST(a_key_that_is_there_twice_is_refused)
{
	cleanup(str_done) struct str text = STR_INIT;
	struct planned got;

	prepare();
	CHECK_OK(io_read_file(check_folder(), PLANNED_FILE, MIB, &text, &err));
	text.text[text.len - 2] = ',';
	str_addf(&text, "\"seats\":4}");
	put_file(PLANNED_FILE, text.text);
	CHECK_INT(read_it(&got), -1);
	CHECK(strstr(err.text, PLANNED_FILE ": not JSON at byte "));
	CHECK(strstr(err.text, "duplicate object key near '\"seats\"'"));
}

TEST(each_kind_of_damage_is_named)
{
	prepare();
	check_damage("{", "",
		     PLANNED_FILE ": not JSON at byte 8: '[' or '{' expected near "
				  "'\"schema\"'");
	check_damage("proctor/planned/1", "proctor/planned/2",
		     PLANNED_FILE ": its schema is 'proctor/planned/2', not 'proctor/planned/1'");
	check_damage("\"schema\"", "\"scheme\"", PLANNED_FILE ": key 'schema' is missing");
	check_damage("\"run\":\"run-1\"", "\"run\":1", PLANNED_FILE ": key 'run' is not a text");
	check_damage("\"policy\":\"", "\"policy\":\"x",
		     PLANNED_FILE ": key 'policy' is no SHA-256");
	check_damage("\"judge\"", "\"x\"", PLANNED_FILE ": key 'judge' is missing");
	check_beyond("repeats", 3, 1, RUN_ATTEMPTS_MAX);
	check_beyond("retries", 0, 0, 1000);
	check_beyond("seats", 4, 1, RUN_SEATS_MAX);
	check_damage("\"seats\":4", "\"seats\":4.0",
		     PLANNED_FILE ": key 'seats' is not an integer");
	check_damage("\"name\":\"a\"", "\"name\":\"..\"",
		     PLANNED_FILE ": task 1: a task's name is no name of a folder");
	check_damage("\"name\":\"b-2\"", "\"name\":\"a/../b-2\"",
		     PLANNED_FILE ": task 2: a task's name is no name of a folder");
	check_damage("\"name\":\"b-2\"", "\"name\":\"\"",
		     PLANNED_FILE ": task 2: a task's name is no name of a folder");
	check_damage("\"built\"", "\"build\"", PLANNED_FILE ": task 1: key 'built' is missing");
	check_damage("{\"name\":\"task.yaml\",\"sha256\"", "{\"name\":\"task.yaml\",\"sha\"",
		     PLANNED_FILE ": task 1: file 'task.yaml': key 'sha256' is missing");
	check_damage("\"files\"", "\"file\"",
		     PLANNED_FILE ": task 1: file 'task.yaml': key 'sha256' is missing");
	check_damage("\"agents\":[{\"sha256\"", "\"agents\":[{},{\"sha256\"",
		     PLANNED_FILE ": task 1: agent 1: key 'sha256' is missing");
	check_damage("\"solution\":false", "\"solution\":0",
		     PLANNED_FILE ": agent 1: key 'solution' is not true or false");
	check_damage("\"tasks\"", "\"task\"", PLANNED_FILE ": no tasks, no agents, or too many");
	check_damage("\"agents\":[{\"name\"", "\"agent\":[{\"name\"",
		     PLANNED_FILE ": no tasks, no agents, or too many");
}

/* One more agent than each task has a tree of. */
TEST(more_agents_than_trees_are_refused)
{
	prepare();
	check_damage("{\"name\":\"scripted:good\",\"solution\":true}",
		     "{\"name\":\"scripted:good\",\"solution\":true},{\"name\":\"x\",\"solution\":"
		     "true}",
		     PLANNED_FILE ": task 1: agent 3: key 'sha256' is missing");
}

TEST(an_agent_that_is_another_kind_has_its_files_elsewhere)
{
	prepare();
	check_damage(
		"\"scripted:good\",\"solution\":true", "\"scripted:good\",\"solution\":false",
		"what was planned is not there any more: open 'agents/2.tree': No such file or "
		"directory");
}

TEST(a_name_is_a_folder_that_the_plan_can_say)
{
	static const char *const none[] = { "a+b", "a\nb", "a\xff", "a\\b", "../a", "" };
	cleanup(arena_done) struct arena arena = ARENA_INIT;

	CHECK_STR(planned_folder(PLANNED_AKA, "a/b", &arena), "a+b");
	CHECK_STR(planned_folder(PLANNED_AKA, "\xc3\xa9", &arena), "\xc3\xa9");
	for (size_t i = 0; i < ARRAY_LEN(none); i++)
		CHECK(!planned_folder(PLANNED_AKA, none[i], &arena));
}

TEST(a_digest_is_of_all_bytes_from_where_the_file_stands)
{
	struct digest got, want = digest_sha256("de", 2);
	auto_fd fd = -1;

	put_file("file", "abcde");
	fd = openat(check_folder(), "file", O_RDONLY | O_CLOEXEC);
	CHECK_INT(lseek(fd, 3, SEEK_SET), 3);
	CHECK_OK(planned_digest_fd(fd, "file", &got, &err));
	CHECK(digest_equal(&got, &want));
	fd_close(&fd);
	fd = openat(check_folder(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK_INT(planned_digest_fd(fd, "a folder", &got, &err), -1);
	CHECK_STR(err.text, "read 'a folder': Is a directory");
}
