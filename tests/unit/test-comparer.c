/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/comparer.h"

#include <math.h>
#include <stdio.h>

#include "harness/config/element.h"
#include "tests/lib/check.h"

static int read_comparer(const char *text, uint32_t element, struct comparer *out, struct err *err)
{
	const struct yaml_node node = {
		.kind = YAML_TEXT, .line = 3, .file = "t.yaml", .key = "compare", .text = text
	};

	return comparer_read(&node, element, out, err);
}

TEST(each_comparer_is_read)
{
	struct comparer made;
	struct err err = ERR_INIT;

	CHECK_OK(read_comparer("close(  rel=1e-5 , abs=0)", ELEMENT_F16, &made, &err));
	CHECK_INT(made.kind, COMPARER_CLOSE);
	CHECK(made.rel == 1e-5 && made.abs == 0);
	CHECK_OK(read_comparer("close(rel=0, abs=1)", ELEMENT_I8, &made, &err));
	CHECK(made.rel == 0 && made.abs == 1);
	CHECK_OK(read_comparer("ulp(2)", ELEMENT_F64, &made, &err));
	CHECK_INT(made.kind, COMPARER_ULP);
	CHECK_INT(made.ulps, 2);
	CHECK_OK(read_comparer("ulp( 0 )", ELEMENT_BF16, &made, &err));
	CHECK_INT(made.ulps, 0);
	CHECK_OK(read_comparer("exact", ELEMENT_F32, &made, &err));
	CHECK_INT(made.kind, COMPARER_EXACT);
}

#define FORMS "is not of the form close(rel=1e-5, abs=1e-6), ulp(2) or exact"

TEST(a_mistake_in_a_comparer_is_named)
{
	static const struct {
		const char *text;
		uint32_t element;
		const char *error;
	} rows[] = {
		{ "close", ELEMENT_F32, "'close' " FORMS },
		{ "close(abs=0,rel=0)", ELEMENT_F32, "'close(abs=0,rel=0)' " FORMS },
		{ "close(rel=0,abs=0", ELEMENT_F32, "'close(rel=0,abs=0' " FORMS },
		{ "close(rel=0,abs=0) ", ELEMENT_F32, "'close(rel=0,abs=0) ' " FORMS },
		{ "close(rel=0,abs=0,x=0)", ELEMENT_F32, "'close(rel=0,abs=0,x=0)' " FORMS },
		{ "close(rel=nan,abs=0)", ELEMENT_F32, "'close(rel=nan,abs=0)' " FORMS },
		{ "closer(rel=0,abs=0)", ELEMENT_F32, "'closer(rel=0,abs=0)' " FORMS },
		{ "exactly", ELEMENT_F32, "'exactly' " FORMS },
		{ "ulp()", ELEMENT_F32, "'ulp()' " FORMS },
		{ "ulp(1,2)", ELEMENT_F32, "'ulp(1,2)' " FORMS },
		{ "close(rel=1,abs=0)", ELEMENT_F32,
		  "'close(rel=1,abs=0)': rel has to be within 0..1, abs not below 0" },
		{ "close(rel=0,abs=-1)", ELEMENT_F32,
		  "'close(rel=0,abs=-1)': rel has to be within 0..1, abs not below 0" },
		{ "ulp(1.5)", ELEMENT_F32,
		  "'ulp(1.5)': ulp has to be a whole number within 0..1048576" },
		{ "ulp(-1)", ELEMENT_F32,
		  "'ulp(-1)': ulp has to be a whole number within 0..1048576" },
		{ "ulp(1048577)", ELEMENT_F32,
		  "'ulp(1048577)': ulp has to be a whole number within 0..1048576" },
		{ "ulp(1)", ELEMENT_I32,
		  "'ulp(1)': ulp is for real types; whole numbers have close and exact" },
		{ "set", ELEMENT_F32,
		  "'set' is not supported yet by this version; write close(rel=1e-5, abs=1e-6), "
		  "ulp(2) or exact" },
		{ "ties(values=y, rel=0)", ELEMENT_I32,
		  "'ties' is not supported yet by this version; write close(rel=1e-5, abs=1e-6), "
		  "ulp(2) or exact" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct comparer made = { .kind = 77 };
		struct err err = ERR_INIT;
		char want[300];

		CHECK_INT(read_comparer(rows[i].text, rows[i].element, &made, &err), -1);
		snprintf(want, sizeof(want), "t.yaml:3: key 'compare': %s", rows[i].error);
		CHECK_STR(err.text, want);
		CHECK_INT(made.kind, 77);
	}
}

TEST(a_comparer_from_elsewhere_is_checked_as_well)
{
	CHECK(!comparer_fault(&(struct comparer){ .kind = COMPARER_EXACT }, ELEMENT_I4));
	CHECK(comparer_fault(&(struct comparer){ .kind = 3 }, ELEMENT_F32));
	CHECK(comparer_fault(&(struct comparer){ .kind = COMPARER_CLOSE, .rel = NAN },
			     ELEMENT_F32));
	CHECK(comparer_fault(&(struct comparer){ .kind = COMPARER_CLOSE, .abs = INFINITY },
			     ELEMENT_F32));
	CHECK(comparer_fault(&(struct comparer){ .kind = COMPARER_ULP, .ulps = 1 << 21 },
			     ELEMENT_F32));
	CHECK(comparer_fault(&(struct comparer){ .kind = COMPARER_ULP }, ELEMENT_U8));
}
