/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/given_limits.h"

#include <string.h>

#include "tests/lib/check.h"

static struct err err;

TEST(what_is_written_of_a_policy_is_read_again)
{
	cleanup(str_done) struct str text = STR_INIT;
	const struct policy policy = policy_default();
	const struct given_limits limits = given_limits_of(&policy);
	struct given_limits read;

	given_limits_text(&limits, &text);
	CHECK(text.len < GIVEN_LIMITS_MAX);
	CHECK_OK(given_limits_parse("limits.yaml", text.text, text.len, &read, &err));
	CHECK(memcmp(&read, &limits, sizeof(read)) == 0);
	CHECK_INT(read.product_bytes, 32 * MIB);
	CHECK_INT(read.product_entries, 512);
	CHECK_INT(read.candidate_bytes, 256 * MIB);
	CHECK_INT(read.worker_memory, GIB);
	CHECK_INT(read.worker_pids, 64);
	CHECK_INT(read.worker_nofile, 256);
	CHECK_INT(given_limits_products(&read).file, 32 * MIB);
	CHECK_INT(given_limits_candidate(&read).total, 256 * MIB);
}

TEST(what_is_not_this_file_is_refused_by_key)
{
	static const char text[] = "product_bytes: 0\n";
	struct given_limits read = { .product_bytes = 7 };

	CHECK_INT(given_limits_parse("limits.yaml", text, strlen(text), &read, &err), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK_INT(read.product_bytes, 7);
	CHECK_INT(given_limits_parse("limits.yaml", "x: 1\n", 5, &read, &err), -1);
	CHECK(strstr(err.text, "there is no key 'x' here"));
}
