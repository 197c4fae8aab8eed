/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/tensor.h"

#include <string.h>

#include "sandbox/base/compiler.h"
#include "tests/lib/check.h"

static struct tensor make(uint32_t element, uint32_t rank, const uint64_t *extents,
			  const uint64_t *strides)
{
	struct tensor made = { .element = element, .rank = rank, .count = 1 };

	for (uint32_t i = 0; i < rank; i++) {
		made.extents[i] = extents[i];
		made.strides[i] = strides ? strides[i] : 0;
		made.count *= extents[i];
	}
	if (!strides)
		tensor_set_dense(&made, 0);
	return made;
}

#define LIST(...)                              ((const uint64_t[]){ __VA_ARGS__ })
#define SHAPE(element, rank, extents, strides) make(ELEMENT_##element, rank, extents, strides)

TEST(a_dense_tensor_has_no_padding)
{
	struct tensor cube = SHAPE(F32, 3, LIST(2, 3, 5), NULL);
	struct tensor single = SHAPE(F64, 0, NULL, NULL);
	struct tensor row = tensor_of_row(ELEMENT_I4, 9);

	CHECK(!tensor_fault(&cube, 1000) && tensor_is_dense(&cube));
	CHECK_INT(tensor_bytes(&cube), 120);
	CHECK_INT(tensor_plain_bytes(&cube), 120);
	CHECK_INT(tensor_row(&cube), 5);
	CHECK_INT(tensor_group(&cube), 15);
	CHECK_INT(tensor_offset(&cube, 29), 116);
	CHECK(!tensor_fault(&single, 1000) && tensor_is_dense(&single));
	CHECK_INT(tensor_bytes(&single), 8);
	CHECK(!tensor_fault(&row, 1000) && tensor_is_dense(&row));
	CHECK_INT(tensor_bytes(&row), 5);
}

TEST(elements_go_where_the_strides_say_and_come_back)
{
	static const struct {
		uint64_t extents[3], strides[3], bytes;
		bool is_dense;
	} rows[] = {
		{ { 2, 3, 4 }, { 12, 4, 1 }, 48, true },
		{ { 2, 3, 4 }, { 20, 5, 1 }, 68, false }, /* padded rows */
		{ { 2, 3, 4 }, { 1, 2, 6 }, 48, false },  /* the first index runs fastest */
		{ { 2, 3, 4 }, { 3, 1, 7 }, 54, false },  /* some order, with gaps */
		{ { 1, 3, 4 }, { 9, 4, 1 }, 24, true },   /* an extent of 1 goes nowhere */
		{ { 3, 1, 2 }, { 4, 1, 2 }, 22, false },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct tensor tensor = SHAPE(F16, 3, rows[i].extents, rows[i].strides);
		uint16_t plain[24], back[24], buffer[64];
		bool hit[64] = { false };

		CHECK(!tensor_fault(&tensor, 1000));
		CHECK_INT(tensor_is_dense(&tensor), rows[i].is_dense);
		CHECK_INT(tensor_bytes(&tensor), rows[i].bytes);
		memset(buffer, 0xee, sizeof(buffer));
		for (uint64_t k = 0; k < tensor.count; k++)
			plain[k] = (uint16_t) k;
		tensor_scatter(&tensor, plain, NULL, buffer);
		tensor_gather(&tensor, buffer, back);
		CHECK(memcmp(plain, back, 2 * tensor.count) == 0);
		for (uint64_t k = 0; k < tensor.count; k++) {
			uint64_t at = tensor_offset(&tensor, k) / 2;

			CHECK(at < rows[i].bytes / 2 && !hit[at]);
			hit[at] = true;
			CHECK_INT(buffer[at], k);
		}
		for (size_t k = 0; k < 64; k++)
			CHECK(hit[k] || buffer[k] == 0xeeee);
	}
}

TEST(packed_rows_have_padding_in_whole_bytes)
{
	struct tensor tensor = SHAPE(I4, 2, LIST(3, 4), LIST(10, 1));
	uint8_t plain[6] = { 0x10, 0x32, 0x54, 0x76, 0x98, 0xba }, back[6];
	uint8_t buffer[12];

	CHECK(!tensor_fault(&tensor, 1000));
	CHECK_INT(tensor_bytes(&tensor), 12);
	memset(buffer, 0xee, sizeof(buffer));
	tensor_scatter(&tensor, plain, NULL, buffer);
	CHECK(memcmp(buffer, "\x10\x32\xee\xee\xee\x54\x76\xee\xee\xee\x98\xba", 12) == 0);
	tensor_gather(&tensor, buffer, back);
	CHECK(memcmp(plain, back, 6) == 0);
}

TEST(only_the_chosen_groups_are_scattered)
{
	static const bool groups[] = { true, false, true };
	struct tensor matrix = SHAPE(U8, 2, LIST(3, 2), NULL);
	struct tensor vector = SHAPE(U8, 1, LIST(3), NULL);
	char buffer[7] = "......";

	tensor_scatter(&matrix, "abcdef", groups, buffer);
	CHECK_STR(buffer, "ab..ef");
	memcpy(buffer, "......", 7);
	tensor_scatter(&vector, "abc", groups, buffer);
	CHECK_STR(buffer, "a.c...");
}

TEST(a_tensor_that_can_not_be_is_refused)
{
	static const char packed[] =
		"its rows are not whole bytes: packed elements need an even last extent, 1 as its "
		"stride and even strides before it";
	const struct {
		struct tensor tensor;
		const char *fault;
	} rows[] = {
		{ SHAPE(COUNT, 0, NULL, NULL), "its type is unknown" },
		{ { .rank = 9, .count = 1 }, "it has more than 8 extents" },
		{ { .count = 0 }, "it is empty" },
		{ SHAPE(F32, 2, LIST(2, 0), NULL), "it is empty" },
		{ { .rank = 1, .count = 3, .extents = { 2 }, .strides = { 1 } },
		  "its extents are not those of its elements" },
		{ SHAPE(F32, 1, LIST(2), LIST(0)), "a stride is 0" },
		{ SHAPE(F32, 1, LIST(251), NULL), "it is too large" },
		{ SHAPE(F32, 2, LIST(2, 2), LIST(250, 1)), "it is too large" },
		{ SHAPE(F32, 2, LIST(3, 2), LIST(UINT64_MAX / 2 + 1, 1)), "it is too large" },
		{ SHAPE(F32, 2, LIST(UINT64_MAX, 3), LIST(3, 1)), "it is too large" },
		{ { .count = UINT64_MAX, .element = ELEMENT_I64 }, "it is too large" },
		{ SHAPE(F32, 2, LIST(3, 4), LIST(3, 1)), "its strides make elements overlap" },
		{ SHAPE(F32, 2, LIST(3, 4), LIST(1, 1)), "its strides make elements overlap" },
		{ SHAPE(F32, 3, LIST(2, 2, 3), LIST(1, 2, 3)),
		  "its strides make elements overlap" },
		{ SHAPE(I4, 2, LIST(3, 4), LIST(5, 1)), packed },
		{ SHAPE(I4, 2, LIST(3, 3), LIST(6, 1)), packed },
		{ SHAPE(U4, 1, LIST(4), LIST(2)), packed },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *fault = tensor_fault(&rows[i].tensor, 1000);

		CHECK_STR(fault ? fault : "", rows[i].fault);
	}
}
