/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_scalar.h"

#include "tests/lib/check.h"

static const char *kind_of(const char *text)
{
	const struct yaml_node node = { .kind = YAML_TEXT, .text = text };

	return names_text(aka_scalar_names, (int) aka_scalar_kind(&node));
}

/* Each was asked of PyYAML 6.0. */
TEST(plain_texts_are_what_pyyaml_makes_of_them)
{
	static const struct {
		const char *text, *kind;
	} rows[] = {
		{ "null", "null" },
		{ "~", "null" },
		{ "", "null" },
		{ "Null", "null" },
		{ "nULL", "text" },
		{ "true", "bool" },
		{ "No", "bool" },
		{ "off", "bool" },
		{ "tRUE", "text" },
		{ "y", "text" },
		{ "0", "int" },
		{ "3600", "int" },
		{ "-12", "int" },
		{ "+1_000", "int" },
		{ "0x1F", "int" },
		{ "0b101", "int" },
		{ "017", "int" },
		{ "019", "text" },
		{ "08.5", "float" },
		{ "1:30", "int" },
		{ "1:75", "text" },
		{ "1:30.5", "float" },
		{ "1.5", "float" },
		{ "-1.", "float" },
		{ ".5", "float" },
		{ "-.5", "text" },
		{ "1e5", "text" },
		{ "1.0e5", "text" },
		{ "1.0e+5", "float" },
		{ ".inf", "float" },
		{ "-.INF", "float" },
		{ ".NaN", "float" },
		{ "-.nan", "text" },
		{ "2026-06-01", "date" },
		{ "2026-6-1", "text" },
		{ "2026-6-1 1:02:03", "date" },
		{ "2026-06-01T01:02:03.5Z", "date" },
		{ "2026-06-01 01:02:03 +5:30", "date" },
		{ "2026-06-01T01:02", "text" },
		{ "gfx942", "text" },
		{ "22122345c03991cb8026947b8df05e02f50d1f88", "text" },
		{ "0x", "text" },
		{ "-", "text" },
		{ "1__", "int" },
		{ "0_", "int" },
		{ ".", "text" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		check_note("'%s'", rows[i].text);
		CHECK_STR(kind_of(rows[i].text), rows[i].kind);
	}
}

TEST(what_is_quoted_is_a_text)
{
	const struct yaml_node node = { .kind = YAML_TEXT, .text = "null", .quoted = true };

	CHECK_INT(aka_scalar_kind(&node), AKA_SCALAR_TEXT);
	CHECK(!aka_scalar_is_null(&node));
	CHECK(aka_scalar_is_null(NULL));
}
