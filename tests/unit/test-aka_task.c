/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_task.h"

#include <string.h>
#include <unistd.h>

#include "harness/config/yaml.h"
#include "sandbox/base/str.h"
#include "tests/lib/check.h"
#include "tests/lib/hosts.h"

static const char text[] = "task_type: hip2hip\nsource_file_path: [a.hip, b.hip]\n"
			   "compile_command: [make]\ncorrectness_command: [make test]\n"
			   "performance_command: [make bench]\n";
static struct aka_task task = AKA_TASK_INIT;
static struct err err;

static const char *load(const char *name)
{
	aka_task_done(&task);
	return aka_task_load(check_folder(), name, &task, &err) < 0 ? err.text : "";
}

TEST(a_task_is_read_from_its_folder_and_a_file_that_is_missing_told)
{
	hosts_put("hip2hip/one/config.yaml", text);
	hosts_put("hip2hip/one/a.hip", "");
	CHECK_STR(load("hip2hip/one"), "");
	CHECK_STR(task.name, "hip2hip/one");
	CHECK_INT(task.remark_count, 1);
	CHECK_STR(task.remarks[0], "'b.hip', which may be edited, is not in the folder");
	aka_task_done(&task);
	CHECK_INT(task.remark_count, 0);
	CHECK(!task.name);
}

TEST(what_is_no_task_is_an_error_of_the_input)
{
	hosts_put("one/README.md", "");
	CHECK_STR(load("one"), "tasks/one: open 'config.yaml': No such file or directory");
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK_STR(load("two"), "tasks/two: open 'two': No such file or directory");
	CHECK(strstr(load("../one"), "tasks/../one: "));
}

TEST(a_config_that_is_a_link_is_not_followed)
{
	hosts_put("one/config.yaml", text);
	hosts_link("two/config.yaml", "../one/config.yaml");
	CHECK(strstr(load("two"), "tasks/two: open 'config.yaml'"));
	CHECK_INT(err.kind, ERR_INPUT);
}

TEST(a_config_that_is_too_large_is_refused)
{
	cleanup(str_done) struct str large = STR_INIT;

	str_addf(&large, "%s# ", text);
	while (large.len <= yaml_limits.bytes)
		str_addf(&large, "all work and no play ");
	hosts_put("one/config.yaml", large.text);
	CHECK(strstr(load("one"), "tasks/one: "));
	CHECK_INT(err.kind, ERR_INPUT);
}

TEST(remarks_have_an_end)
{
	struct aka_task odd = AKA_TASK_INIT;

	for (int i = 0; i < AKA_REMARKS_MAX + 3; i++)
		aka_task_remark(&odd, "%d", i);
	CHECK_INT(odd.remark_count, AKA_REMARKS_MAX);
	CHECK_STR(odd.remarks[AKA_REMARKS_MAX - 1], "15");
	aka_task_done(&odd);
}
