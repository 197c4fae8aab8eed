/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/format.h"

#include <fcntl.h>
#include <string.h>

#include "harness/config/types.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "tests/lib/check.h"

TEST(formats_are_found_by_name)
{
	CHECK_STR(format_find("task", 4)->name, "task");
	CHECK_STR(format_find("policy:", 6)->name, "policy");
	CHECK(!format_find("tas", 3));
	CHECK(!format_find("", 0));
}

/* Calls @check for every schema that a file of the format can be read with. */
static void for_each_schema(const struct format *format, const struct schema *schema,
			    void (*check)(const struct format *format, const struct schema *schema))
{
	check(format, schema);
	for (size_t i = 0; i < schema->count; i++) {
		const struct field *field = &schema->fields[i];
		const struct collection *collection = field->details;

		if (field->type == &type_map)
			for_each_schema(format, field->details, check);
		if ((field->type == &type_items || field->type == &type_entries) &&
		    collection->each)
			for_each_schema(format, collection->each, check);
	}
}

static void check_rows(const struct format *format, const struct schema *schema)
{
	(void) format;
	for (size_t i = 0; i < schema->count; i++) {
		const struct field *field = &schema->fields[i];

		CHECK(schema_find(schema, field->key) == field); /* and not another with that key */
		CHECK_INT(field->type->holds, field->at.holds);
		CHECK(field->min <= field->max);
		CHECK(*field->doc);
		CHECK((field->type == &type_later) == (field->need == LATER));
		if (field->type == &type_map || field->type == &type_items ||
		    field->type == &type_entries || field->type == &type_words ||
		    field->type->holds == HOLDS_INT)
			CHECK(field->details);
	}
}

TEST(every_row_of_every_format_is_consistent)
{
	for (size_t i = 0; i < format_count; i++)
		for_each_schema(&formats[i], formats[i].schema, check_rows);
}

static void check_table(const struct format *format, const struct schema *schema)
{
	for (size_t i = 0; i < format->tables->count; i++)
		if (format->tables->items[i].schema == schema)
			return;
	check_fail(__FILE__, __LINE__, "format '%s': there is no table of %s", format->name,
		   schema->name);
}

TEST(every_schema_of_a_format_has_its_table)
{
	for (size_t i = 0; i < format_count; i++)
		for_each_schema(&formats[i], formats[i].schema, check_table);
}

/* schema-doc --check holds what is between the markers. */
TEST(every_format_stands_in_a_manual_page)
{
	auto_fd folder_fd = open(SOURCE_ROOT "/harness", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	static const char *const pages[] = { "proctor-policy.5.scd", "proctor-run-plan.5.scd",
					     "proctor-task.5.scd" };
	cleanup(str_done) struct str all = STR_INIT;
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(pages); i++)
		CHECK_OK(io_read_file(folder_fd, pages[i], MIB, &all, &err));
	for (size_t i = 0; i < format_count; i++) {
		cleanup(str_done) struct str marker = STR_INIT;

		str_addf(&marker, "\n; keys: %s\n", formats[i].name);
		if (!strstr(all.text, marker.text))
			check_fail(__FILE__, __LINE__, "no manual page has the keys of '%s'",
				   formats[i].name);
	}
}

TEST(a_check_reads_as_proctor_does)
{
	static const struct {
		const char *format, *text, *error;
	} cases[] = {
		{ "policy", "schema: 1\nname: a\n", "" },
		{ "policy", "schema: 1\n",
		  "x:1: the policy lacks the key 'name' (the policy's name "
		  "in records)" },
		{ "run-plan", "schema: proctor/run/1\nset: s\nagents: [{name: a, program: b}]\n",
		  "" },
		{ "set", "schema: proctor/set/1\ntasks: [a]\n", "" },
		{ "set", "schema: proctor/run/1\ntasks: [a]\n",
		  "x:1: key 'schema': 'proctor/run/1' is not one of: proctor/set/1" },
		{ "task", "[]\n",
		  "x:1: the task has to be a mapping of keys such as 'schema', not "
		  "a list" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct format *format = format_find(cases[i].format, strlen(cases[i].format));
		struct err err = ERR_INIT;

		CHECK_INT(format->check("x", cases[i].text, strlen(cases[i].text), &err),
			  *cases[i].error ? -1 : 0);
		CHECK_STR(err.text, cases[i].error);
	}
}
