/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/given_limits.h"

#include <inttypes.h>
#include <string.h>

#include "harness/config/schema.h"
#include "harness/config/types.h"
#include "harness/run/compose.h"

/* clang-format off */
static const struct field fields[] = {
	{ "candidate_bytes",   &type_count, U64_AT(struct given_limits, candidate_bytes),   REQUIRED, 1, STREAM_BYTES_MAX, NULL,
	  "all files of what is built together" },
	{ "candidate_entries", &type_count, U64_AT(struct given_limits, candidate_entries), REQUIRED, 1, STREAM_ENTRIES_MAX, NULL,
	  "their number, folders included" },
	{ "product_bytes",     &type_count, U64_AT(struct given_limits, product_bytes),     REQUIRED, 1, STREAM_BYTES_MAX, NULL,
	  "all files that a build leaves together" },
	{ "product_entries",   &type_count, U64_AT(struct given_limits, product_entries),   REQUIRED, 1, STREAM_ENTRIES_MAX, NULL,
	  "their number, folders included" },
	{ "worker_memory",     &type_count, U64_AT(struct given_limits, worker_memory),     REQUIRED, 1, 0, NULL,
	  "bytes of memory where what is built runs" },
	{ "worker_pids",       &type_count, U64_AT(struct given_limits, worker_pids),       REQUIRED, 1, 0, NULL,
	  "processes and threads at a time there" },
	{ "worker_nofile",     &type_count, U64_AT(struct given_limits, worker_nofile),     REQUIRED, 1, 0, NULL,
	  "open descriptors of a process there" },
};
/* clang-format on */
static const struct schema schema = { "the judge's limits", fields, ARRAY_LEN(fields), false };

struct given_limits given_limits_of(const struct policy *policy)
{
	const struct stream_limits candidate = compose_candidate_limits(policy);
	const struct stream_limits products = compose_product_limits(policy);

	return (struct given_limits){
		.candidate_bytes = candidate.total,
		.candidate_entries = candidate.entries,
		.product_bytes = products.total,
		.product_entries = products.entries,
		.worker_memory = policy->worker.memory,
		.worker_pids = policy->worker.pids,
		.worker_nofile = policy->worker.nofile,
	};
}

void given_limits_text(const struct given_limits *limits, struct str *out)
{
	str_addf(out, "# What the judge allows; proctor-check holds to it as far as it can.\n");
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		uint64_t value;

		memcpy(&value, (const char *) limits + fields[i].at.offset, sizeof(value));
		str_addf(out, "%s: %" PRIu64 " # %s\n", fields[i].key, value, fields[i].doc);
	}
}

int given_limits_parse(const char *file, const char *text, size_t len, struct given_limits *out,
		       struct err *err)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	const struct yaml_node *root = yaml_parse(&arena, file, text, len, err);
	struct given_limits made = { 0 };

	if (!root || schema_bind(&schema, root, &arena, &made, err) < 0)
		return -1;
	*out = made;
	return 0;
}

static struct stream_limits limits_of(uint64_t bytes, uint64_t entries)
{
	struct stream_limits limits = STREAM_LIMITS_DEFAULT;

	limits.total = limits.file = bytes;
	limits.entries = (uint32_t) MIN_OF(entries, (uint64_t) STREAM_ENTRIES_MAX);
	return limits;
}

struct stream_limits given_limits_candidate(const struct given_limits *limits)
{
	return limits_of(limits->candidate_bytes, limits->candidate_entries);
}

struct stream_limits given_limits_products(const struct given_limits *limits)
{
	return limits_of(limits->product_bytes, limits->product_entries);
}
