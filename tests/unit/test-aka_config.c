/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_config.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "tests/lib/check.h"

static struct aka_config config = AKA_CONFIG_INIT;
static struct err err;

#define WHOLE                               \
	"agent:\n  template: claude_code\n" \
	"tasks:\n- hip2hip/gpumode/GELU\n"  \
	"target_gpu_model: MI300\n"         \
	"log_directory: logs\n"             \
	"workspace_directory_prefix: workspace\n"

static int parse(const char *text)
{
	err = ERR_INIT;
	return aka_config_parse("my.yaml", text, strlen(text), &config, &err);
}

static void check_refused(const char *text, const char *want)
{
	CHECK_INT(parse(text), -1);
	CHECK_STR(err.text, want);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK(!config.agent);
}

/* WHOLE with another line in the place of the one that begins so. */
static const char *with(const char *begin, const char *line)
{
	static struct str text = STR_INIT;
	const char *at = strstr(WHOLE, begin), *behind = strchr(at, '\n') + 1;

	str_clear(&text);
	str_add(&text, WHOLE, (size_t) (at - WHOLE));
	str_addf(&text, "%s%s", line, behind);
	return text.text;
}

static bool is(const char *text)
{
	return aka_config_is(text, strlen(text));
}

TEST(a_run_configuration_is_known_by_its_agent)
{
	CHECK(is(WHOLE));
	CHECK(is("agent: {template: x}\n"));
	CHECK(!is("schema: proctor/run/1\n" WHOLE));
	CHECK(!is("agent: cursor\ntasks: [all]\n"));
	CHECK(!is("agent: {name: x}\n"));
	CHECK(!is("agents:\n- {name: a, program: b}\n"));
	CHECK(!is("- agent\n") && !is("") && !is("a: [") && !is("\xff"));
}

TEST(a_whole_one_is_read)
{
	CHECK_OK(parse(WHOLE "gpu_ids: [0, 2]\nnum_parallel: 3\nrun_mode: ' Full '\n"));
	CHECK_STR(config.agent, "claude_code");
	CHECK_INT(config.selectors.count, 1);
	CHECK_STR(config.selectors.items[0], "hip2hip/gpumode/GELU");
	CHECK(!config.selectors.items[1]);
	CHECK_STR(config.gpu, "MI300");
	CHECK_STR(config.log_folder, "logs");
	CHECK_STR(config.prefix, "workspace");
	CHECK_STR(config.gpu_ids, "0,2");
	CHECK_INT(config.parallel, 3);
	CHECK_STR(config.mode, "full");
	CHECK_INT(config.remark_count, 0);
	aka_config_done(&config);
	CHECK_OK(parse(WHOLE));
	CHECK(!config.gpu_ids && !config.mode && config.parallel == 0);
}

TEST(agents_are_named_in_any_case_and_with_either_stroke)
{
	CHECK_OK(parse(with("  template", "  template: Geak-V3_triton\n")));
	CHECK_STR(config.agent, "geak_v3_triton");
	aka_config_done(&config);
	check_refused(with("  template", "  template: claude\n"),
		      "my.yaml:2: key 'template': 'claude' is none of cursor, claude_code, codex, "
		      "task_validator, geak_v4, geak_v3, geak_v3_triton, mini_swe_triton, forge");
	check_refused(with("  template", "  template: [cursor]\n"),
		      "my.yaml:2: key 'template': a text is meant, not a list");
	check_refused(with("  template", "  template: cursors\n"),
		      "my.yaml:2: key 'template': 'cursors' is none of cursor, claude_code, codex, "
		      "task_validator, geak_v4, geak_v3, geak_v3_triton, mini_swe_triton, forge");
}

TEST(what_main_py_would_miss_is_an_error)
{
	static const char *const missing[] = { "target_gpu_model", "log_directory",
					       "workspace_directory_prefix" };

	for (size_t i = 0; i < ARRAY_LEN(missing); i++) {
		char want[200];

		snprintf(
			want, sizeof(want),
			"my.yaml:1: the key '%s' is missing; AgentKernelArena ends with a KeyError",
			missing[i]);
		check_refused(with(missing[i], ""), want);
	}
	check_refused(
		"agent: {template: cursor}\n",
		"my.yaml:1: the key 'tasks' is missing; AgentKernelArena ends with a KeyError");
	check_refused(
		"tasks: [all]\n",
		"my.yaml:1: the key 'agent' is missing; AgentKernelArena ends with a KeyError");
	check_refused("tasks: [all]\nagent: {}\n",
		      "my.yaml:2: key 'agent': the key 'template' is "
		      "missing; AgentKernelArena ends with a KeyError");
	check_refused("tasks: [all]\nagent: cursor\n",
		      "my.yaml:2: key 'agent': a mapping with the key 'template' is meant, not a "
		      "text");
}

TEST(there_are_selectors_and_each_can_match_something)
{
	check_refused("tasks: []\n", "my.yaml:1: key 'tasks': it has no selector, such as - all or "
				     "- hip2hip");
	check_refused("tasks:\n", "my.yaml:1: key 'tasks': it has no selector, such as - all or - "
				  "hip2hip");
	check_refused("tasks: all\n",
		      "my.yaml:1: key 'tasks': 'all' is a plain text; write a list: - all");
	check_refused("tasks: {all: 1}\n",
		      "my.yaml:1: key 'tasks': a list of tasks is meant, not a mapping");
	check_refused("tasks:\n- a\n- 12\n",
		      "my.yaml:3: key 'tasks': '12' is a number and no text; "
		      "quote it");
	check_refused("tasks:\n- a\n- ../b\n",
		      "my.yaml:3: key 'tasks': the selector '../b' is no path below tasks/: "
		      "relative, without . and .. and empty names");
}

TEST(more_selectors_than_the_limit_are_refused)
{
	struct str text = STR_INIT;

	str_addf(&text, "tasks:\n");
	for (int i = 0; i <= AKA_CONFIG_SELECTORS_MAX; i++)
		str_addf(&text, "- a\n");
	check_refused(text.text, "my.yaml:2: key 'tasks': it has more than 1024 items");
	str_done(&text);
}

TEST(parts_of_folder_names_lead_nowhere)
{
	check_refused(
		with("target_gpu", "target_gpu_model: ../MI300\n"),
		"my.yaml:5: key 'target_gpu_model': '../MI300' is no part of a folder's name: "
		"letters, digits and ._-+ alone. Where runs are put is said on the command "
		"line");
	check_refused(
		with("workspace_dir", "workspace_directory_prefix: ''\n"),
		"my.yaml:7: key 'workspace_directory_prefix': it has to be a text that is not "
		"empty");
	check_refused(with("target_gpu", "target_gpu_model: 300\n"),
		      "my.yaml:5: key 'target_gpu_model': '300' is a number and no text; quote it");
	CHECK_INT(
		parse(with("workspace_dir",
			   "workspace_directory_prefix: "
			   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n")),
		-1);
}

TEST(gpus_are_numbers)
{
	CHECK_OK(parse(WHOLE "gpu_ids: 0,1,10\n"));
	CHECK_STR(config.gpu_ids, "0,1,10");
	aka_config_done(&config);
	CHECK_OK(parse(WHOLE "gpu_ids: 3\n"));
	CHECK_STR(config.gpu_ids, "3");
	aka_config_done(&config);
	check_refused(WHOLE "gpu_ids: 0,,1\n",
		      "my.yaml:8: key 'gpu_ids': '0,,1' is no list of GPU numbers, such as 0,1");
	check_refused(WHOLE "gpu_ids: [0, all]\n",
		      "my.yaml:8: key 'gpu_ids': 'all' is no list of GPU numbers, such as 0,1");
	check_refused(WHOLE "gpu_ids: {a: 1}\n",
		      "my.yaml:8: key 'gpu_ids': numbers of GPUs are meant, not a mapping");
}

TEST(what_has_no_effect_is_remarked)
{
	CHECK_OK(parse("max_iterations: 3\nnum_parallel: many\n" WHOLE));
	CHECK_INT(config.remark_count, 2);
	CHECK_STR(config.remarks[0],
		  "my.yaml:2: key 'num_parallel': 'many' is no number: it has no effect");
	CHECK_STR(config.remarks[1], "my.yaml:1: key 'max_iterations': it has no effect: nothing "
				     "reads it in such a file");
	CHECK_INT(config.parallel, 0);
	aka_config_done(&config);
	CHECK_OK(parse(with("  template", "  template: cursor\n  model: x\n")));
	CHECK_INT(config.remark_count, 1);
	CHECK_STR(config.remarks[0],
		  "my.yaml:3: key 'model': it has no effect: nothing reads it in such a file");
	aka_config_done(&config);
	CHECK_OK(parse(with("workspace_dir", "workspace_directory_prefix: ws\n")));
	CHECK_STR(
		config.remarks[0],
		"my.yaml:7: key 'workspace_directory_prefix': reports say 'unknown' for agent and "
		"GPU where it is not 'workspace'");
}

TEST(remarks_without_end_are_cut)
{
	struct str text = STR_INIT;

	str_addf(&text, WHOLE);
	for (int i = 0; i < 2 * AKA_CONFIG_REMARKS_MAX; i++)
		str_addf(&text, "k%d: 1\n", i);
	CHECK_OK(parse(text.text));
	CHECK_INT(config.remark_count, AKA_CONFIG_REMARKS_MAX);
	str_done(&text);
}

TEST(folders_are_named_as_there)
{
	const struct tm time = {
		.tm_year = 126, .tm_mon = 3, .tm_mday = 7, .tm_hour = 9, .tm_sec = 5
	};
	struct str name = STR_INIT;

	CHECK_OK(parse(WHOLE));
	aka_config_workspace(&config, &name);
	CHECK_STR(name.text, "workspace_MI300_claude_code");
	str_clear(&name);
	aka_config_run(&time, NULL, &name);
	CHECK_STR(name.text, "run_20260407_090005");
	str_clear(&name);
	aka_config_run(&time, "two", &name);
	CHECK_STR(name.text, "run_20260407_090005_two");
	str_clear(&name);
	aka_config_task("hip2hip/gpumode/Si_LU", &time, &name);
	CHECK_STR(name.text, "hip2hip_gpumode_Si_LU_20260407_090005");
	str_done(&name);
}

/* AgentKernelArena's own, where AKA_ROOT is a checkout of it. */
TEST(its_example_configurations_are_read)
{
	const char *root = getenv("AKA_ROOT");
	auto_fd root_fd = root ? open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	auto_fd folder_fd = -1;
	struct dirent *entry;
	int count = 0;
	DIR *folder;

	if (!root)
		SKIP("AKA_ROOT is no checkout of AgentKernelArena");
	folder_fd = openat(root_fd, "example_configs", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	folder = fdopendir(dup(folder_fd));
	CHECK(folder);
	while ((entry = readdir(folder))) {
		struct str text = STR_INIT;

		if (entry->d_name[0] == '.')
			continue;
		CHECK_OK(io_read_file(folder_fd, entry->d_name, 1 << 20, &text, &err));
		CHECK(aka_config_is(text.text, text.len));
		CHECK_OK(aka_config_parse(entry->d_name, text.text, text.len, &config, &err));
		check_note("%s: %s, %zu selectors, %s, %zu remarks", entry->d_name, config.agent,
			   (size_t) config.selectors.count, config.gpu, config.remark_count);
		CHECK_STR(config.prefix, "workspace");
		CHECK_INT(config.remark_count, 0);
		aka_config_done(&config);
		str_done(&text);
		count++;
	}
	closedir(folder);
	CHECK_INT(count, 6);
}
