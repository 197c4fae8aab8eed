/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_list.h"

#include <stdio.h>
#include <string.h>

#include "tests/lib/check.h"

static struct aka_task task = AKA_TASK_INIT;
static struct err err;
static struct str out = STR_INIT;

static void parse(const char *text)
{
	aka_task_done(&task);
	CHECK_OK(aka_task_parse("torch2hip/x", text, strlen(text), &task, &err));
}

static const char torch[] = "task_type: torch2hip\nsource_file_path: [m.py]\n"
			    "target_file_path: hip/a.hip\ntarget_kernel_functions: [forward]\n"
			    "compile_command: [make]\ncorrectness_command: [python3 c.py]\n"
			    "performance_command: [python3 p.py 'a b']\n"
			    "platform_support: {required_arch: gfx950}\n";

TEST(a_row_tells_what_a_task_is)
{
	struct table table = TABLE_INIT;

	parse(torch);
	aka_list_table(&table);
	aka_list_add(&table, &task);
	str_clear(&out);
	table_add_csv(&table, &out);
	CHECK_STR(out.text,
		  "task,type,from,language,commands,source,platform,editable,remarks\n"
		  "torch2hip/x,torch2hip,torch,hip,python c.py,folder,gfx950,hip/a.hip,\n");
	table_done(&table);
}

TEST(a_shell_an_image_and_functions_are_told_in_a_row)
{
	struct table table = TABLE_INIT;

	aka_list_table(&table);
	parse("task_type: image_kernel\nrepository_language: hip\nimage_repo_path: /opt/x\n"
	      "compile_command: [a]\ncorrectness_command: [a | b]\nperformance_command: [a]\n"
	      "platform_support: {status: skip}\n");
	aka_list_add(&table, &task);
	parse("task_type: triton2triton\nsource_file_path: [k.py]\ntarget_kernel_functions: [f, "
	      "g]\n"
	      "compile_command: [a]\ncorrectness_command: [pytest k.py]\n"
	      "performance_command: [a]\n");
	aka_list_add(&table, &task);
	str_clear(&out);
	table_add_csv(&table, &out);
	CHECK(strstr(out.text, ",image_kernel,hip,hip,shell,image,skip,x/,"));
	CHECK(strstr(out.text, ",pytest k.py,folder,,\"k.py:f,g\","));
	table_done(&table);
}

TEST(types_are_counted_in_the_order_of_their_names)
{
	struct aka_counts counts = { .types = 0 };
	struct table table = TABLE_INIT;

	aka_counts_add(&counts, "b");
	aka_counts_add(&counts, "a");
	aka_counts_add(&counts, "b");
	aka_counts_table(&counts, &table);
	str_clear(&out);
	table_add_csv(&table, &out);
	CHECK_STR(out.text, "type,tasks\na,1\nb,2\n");
	CHECK_INT(counts.total, 3);
	table_done(&table);
}

TEST(types_without_end_are_counted_in_the_last_row)
{
	struct aka_counts counts = { .types = 0 };
	char type[8];

	for (int i = 0; i < AKA_TYPES_MAX + 10; i++) {
		snprintf(type, sizeof(type), "t%04d", i);
		aka_counts_add(&counts, type);
	}
	CHECK_INT(counts.types, AKA_TYPES_MAX);
	CHECK_INT(counts.total, AKA_TYPES_MAX + 10);
	CHECK_INT(counts.items[AKA_TYPES_MAX - 1].count, 11);
}

TEST(all_of_a_task_is_shown_as_it_is_planned)
{
	parse(torch);
	str_clear(&out);
	aka_list_print(&task, AKA_PYTHON, &out);
	CHECK(strstr(out.text, "\neditable             hip/a.hip\n"));
	CHECK(strstr(out.text,
		     "\nbaseline performance python3 p.py \"a b\" --baseline_only (at most "
		     "3600 s)\n"));
	CHECK(strstr(out.text, "\nplatform             gfx950\n"));
	CHECK(!strstr(out.text, "baseline compile"));
	str_clear(&out);
	parse("schema_version: 2\ncandidate: {language: hip, editable: [a.hip]}\n"
	      "evaluation: {runner: [./r]}\n");
	aka_list_print(&task, AKA_PYTHON, &out);
	CHECK(strstr(out.text, "\nvalidate-task        ./r validate-task (at most 3600 s)\n"));
	CHECK(strstr(out.text, "\nbaseline             initial_candidate\n"));
}

TEST(the_same_in_json)
{
	struct json_writer json;

	parse(torch);
	str_clear(&out);
	json_writer_init(&json, &out);
	aka_list_put(&task, AKA_PYTHON, &json);
	CHECK(json_writer_is_whole(&json));
	CHECK(strstr(out.text,
		     "\"editable\":[{\"path\":\"hip/a.hip\",\"scope\":\"file\",\"symbols\":[],"
		     "\"allow_new_helpers\":false}]"));
	CHECK(strstr(out.text, "{\"step\":\"baseline performance\",\"argv\":[\"python3\",\"p.py\","
			       "\"a b\",\"--baseline_only\"],\"shell\":false,\"wall_s\":3600}"));
	CHECK(strstr(out.text, "\"required_arch\":\"gfx950\""));
}
