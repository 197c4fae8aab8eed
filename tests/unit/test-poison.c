/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/poison.h"

#include <math.h>
#include <string.h>

#include "harness/config/element.h"
#include "sandbox/base/compiler.h"
#include "tests/lib/check.h"

TEST(poison_is_not_a_number_in_either_precision)
{
	for (uint64_t i = 0; i < 100000; i++) {
		uint32_t words[2] = { poison_word(i * 77, i), poison_word(i * 77, i + 1) };
		float single;
		double both;

		memcpy(&single, words, sizeof(single));
		memcpy(&both, words, sizeof(both));
		CHECK(isnan(single));
		CHECK(isnan(both));
	}
}

TEST(so_is_each_half_of_it_in_both_formats_of_sixteen_bits)
{
	for (uint64_t i = 0; i < 100000; i++) {
		uint32_t word = poison_word(i * 77, i);
		double values[2];

		element_widen(ELEMENT_F16, &word, 0, 2, values);
		CHECK(isnan(values[0]) && isnan(values[1]));
		element_widen(ELEMENT_BF16, &word, 0, 2, values);
		CHECK(isnan(values[0]) && isnan(values[1]));
	}
}

TEST(bytes_of_poison_are_those_of_its_words)
{
	uint8_t bytes[16], odd[7];

	poison_fill(bytes, sizeof(bytes), 3);
	poison_fill_bytes(odd, sizeof(odd), 3);
	for (uint64_t i = 0; i < sizeof(bytes); i++)
		CHECK_INT(poison_byte(3, i), bytes[i]);
	CHECK(memcmp(odd, bytes, sizeof(odd)) == 0);
}

TEST(an_honest_nan_is_not_poison)
{
	static const uint32_t honest[] = { 0x7fc00000, 0xffc00000 };

	for (uint64_t i = 0; i < 100000; i++)
		CHECK(poison_word(i, i) != honest[0] && poison_word(i, i) != honest[1]);
	for (uint64_t i = 0; i < 100000; i++) {
		uint32_t word = poison_word(i, i) & 0x7fff7fff;

		CHECK(word >> 16 != 0x7e00 && (word & 0xffff) != 0x7e00);
		CHECK(word >> 16 != 0x7fc0 && (word & 0xffff) != 0x7fc0);
	}
}

TEST(every_damaged_redzone_byte_is_found)
{
	static uint8_t span[8 * PROTOCOL_PAGE];
	static const struct protocol_buffer sizes[] = { { 4095, 0 }, { 6, 2 } };
	struct protocol_layout layout;
	struct err err = ERR_INIT;
	uint64_t at, found;

	CHECK_OK(protocol_lay_out(sizes, 2, &layout, &err));
	poison_fill(span, layout.span, 99);
	CHECK(!poison_find_damage(span, &layout, 99, &found));
	for (at = 0; at < layout.span; at++) {
		bool inside = false;

		for (int i = 0; i < 2; i++)
			inside |= at >= layout.offset[i] && at < layout.offset[i] + sizes[i].bytes;
		span[at] ^= 0x10;
		CHECK_INT(poison_find_damage(span, &layout, 99, &found), !inside);
		if (!inside)
			CHECK_INT(found, at);
		span[at] ^= 0x10;
	}
}

TEST(filling_redzones_leaves_the_buffers_alone)
{
	static uint8_t whole[8 * PROTOCOL_PAGE], zones[8 * PROTOCOL_PAGE];
	static const struct protocol_buffer sizes[] = { { 4093, 0 }, { 7, 1 } };
	struct protocol_layout layout;
	struct err err = ERR_INIT;
	uint64_t found;

	CHECK_OK(protocol_lay_out(sizes, 2, &layout, &err));
	poison_fill(whole, layout.span, 5);
	poison_fill_redzones(zones, &layout, 5);
	CHECK(!poison_find_damage(zones, &layout, 5, &found));
	for (int i = 0; i < 2; i++) {
		CHECK_INT(zones[layout.offset[i]], 0);
		CHECK_INT(zones[layout.offset[i] + sizes[i].bytes - 1], 0);
		memcpy(zones + layout.offset[i], whole + layout.offset[i], sizes[i].bytes);
	}
	CHECK(memcmp(whole, zones, layout.span) == 0);
}

TEST(another_seed_is_another_pattern)
{
	int same = 0;

	for (uint64_t i = 0; i < 10000; i++)
		same += poison_word(1, i) == poison_word(2, i);
	CHECK_INT(same, 0);
}
