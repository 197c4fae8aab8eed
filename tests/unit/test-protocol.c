/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/protocol.h"

#include <string.h>

#include "sandbox/base/compiler.h"
#include "tests/lib/check.h"

TEST(buffers_begin_pages_and_lie_between_redzones)
{
	static const struct protocol_buffer sizes[] = { { 1, 0 },
							{ PROTOCOL_PAGE, 0 },
							{ PROTOCOL_PAGE + 1, 0 } };
	struct protocol_layout layout;
	struct err err = ERR_INIT;

	CHECK_OK(protocol_lay_out(sizes, ARRAY_LEN(sizes), &layout, &err));
	CHECK_INT(layout.offset[0], 1 * PROTOCOL_PAGE);
	CHECK_INT(layout.offset[1], 3 * PROTOCOL_PAGE);
	CHECK_INT(layout.offset[2], 5 * PROTOCOL_PAGE);
	CHECK_INT(layout.span, 8 * PROTOCOL_PAGE);
}

TEST(a_buffer_is_aligned_as_it_asks_and_not_more)
{
	static const struct protocol_buffer buffers[] = {
		{ 1, 1 }, { PROTOCOL_PAGE - 8, 8 }, { PROTOCOL_PAGE - 8, 16 }, { 5, PROTOCOL_PAGE }
	};
	struct protocol_layout layout;
	struct err err = ERR_INIT;

	CHECK_OK(protocol_lay_out(buffers, ARRAY_LEN(buffers), &layout, &err));
	CHECK_INT(layout.offset[0], 1 * PROTOCOL_PAGE + 1);
	CHECK_INT(layout.offset[1], 3 * PROTOCOL_PAGE + 8);
	CHECK_INT(layout.offset[2], 5 * PROTOCOL_PAGE + 16);
	CHECK_INT(layout.offset[3], 8 * PROTOCOL_PAGE);
	CHECK_INT(layout.span, 10 * PROTOCOL_PAGE);
}

TEST(no_buffer_is_a_page)
{
	struct protocol_layout layout;
	struct err err = ERR_INIT;

	CHECK_OK(protocol_lay_out(NULL, 0, &layout, &err));
	CHECK_INT(layout.span, PROTOCOL_PAGE);
}

TEST(a_layout_over_a_limit_is_refused)
{
	static const struct {
		struct protocol_buffer buffer;
		uint32_t count;
		const char *error;
	} cases[] = {
		{ { 0, 0 }, 1, "buffer 0 is empty" },
		{ { 1, 3 }, 1, "buffer 0: an alignment of 3 is no power of two up to 4096" },
		{ { 1, 8192 }, 1, "buffer 0: an alignment of 8192 is no power of two up to 4096" },
		{ { PROTOCOL_BUFFER_MAX + 1, 0 },
		  1,
		  "buffer 0 has 1073741825 bytes, more than 1073741824" },
		{ { UINT64_MAX, 0 },
		  1,
		  "buffer 0 has 18446744073709551615 bytes, more than 1073741824" },
		{ { 1, 0 }, 25, "25 buffers are more than 24" },
		{ { PROTOCOL_BUFFER_MAX, 0 },
		  24,
		  "the buffers need 25769906176 bytes, more than 4294967296" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct protocol_layout layout = { .span = 77 };
		struct err err = ERR_INIT;
		struct protocol_buffer sizes[25];

		for (size_t j = 0; j < ARRAY_LEN(sizes); j++)
			sizes[j] = cases[i].buffer;
		CHECK_INT(protocol_lay_out(sizes, cases[i].count, &layout, &err), -1);
		CHECK_STR(err.text, cases[i].error);
		CHECK_INT(err.kind, ERR_INPUT);
		CHECK_INT(layout.span, 77);
	}
}

TEST(a_worker_refuses_a_call_that_leaves_its_memory)
{
	static const struct {
		struct protocol_arg arg;
		enum protocol_status status;
	} cases[] = {
		{ { .kind = PROTOCOL_INPUT, .offset = 4096, .bytes = 4096 }, PROTOCOL_OK },
		{ { .kind = PROTOCOL_INPUT, .offset = 4096, .bytes = 4097 }, PROTOCOL_BAD_CALL },
		{ { .kind = PROTOCOL_INPUT, .offset = 64, .bytes = 1 }, PROTOCOL_OK },
		{ { .kind = PROTOCOL_INOUT, .offset = 12288, .bytes = 1 }, PROTOCOL_BAD_CALL },
		{ { .kind = PROTOCOL_SCRATCH, .offset = 12288, .bytes = 1 }, PROTOCOL_BAD_CALL },
		{ { .kind = PROTOCOL_NOTHING, .offset = 12288, .bytes = 1 }, PROTOCOL_OK },
		{ { .kind = PROTOCOL_OUTPUT, .offset = 12288, .bytes = 1 }, PROTOCOL_BAD_CALL },
		{ { .kind = PROTOCOL_OUTPUT, .offset = 4096, .bytes = UINT64_MAX },
		  PROTOCOL_BAD_CALL },
		{ { .kind = PROTOCOL_OUTPUT, .offset = UINT64_MAX - 4095 }, PROTOCOL_BAD_CALL },
		{ { .kind = PROTOCOL_F64, .f64 = 1e300 }, PROTOCOL_OK },
		{ { .kind = PROTOCOL_F64 + 1 }, PROTOCOL_BAD_CALL },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct protocol_call call = { .arg_count = 1, .args = { cases[i].arg } };

		CHECK_INT(protocol_call_check(&call, 8192, 12288), cases[i].status);
	}
}

TEST(a_worker_refuses_too_many_arguments_and_unknown_entries)
{
	struct protocol_call many = { .arg_count = PROTOCOL_ARGS_MAX + 1 };
	struct protocol_call unknown = { .entry = PROTOCOL_STORE + 1 };

	CHECK_INT(protocol_call_check(&many, 4096, 4096), PROTOCOL_BAD_CALL);
	CHECK_INT(protocol_call_check(&unknown, 4096, 4096), PROTOCOL_BAD_CALL);
}
