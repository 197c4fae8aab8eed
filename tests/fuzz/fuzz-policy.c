/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "harness/config/policy_diff.h"
#include "harness/run/compose.h"
#include "sandbox/base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_failure(const struct err *err)
{
	if (err->kind != ERR_INPUT || !*err->text)
		__builtin_trap();
	for (const char *at = err->text; *at; at++)
		if ((unsigned char) *at < ' ' || *at == 0x7f)
			__builtin_trap();
}

/* All of it in one file is the same policy, and says so again. */
static void check_print(const struct policy *policy)
{
	cleanup(str_done) struct str once = STR_INIT, twice = STR_INIT;
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct policy again = policy_default();
	struct err err = ERR_INIT;
	size_t count;

	policy_print(policy, &once);
	if (policy_parse("again", once.text, once.len, &again, &err) < 0)
		__builtin_trap();
	policy_diff(policy, &again, &arena, &count);
	if (count != 0)
		__builtin_trap();
	policy_print(&again, &twice);
	if (strcmp(once.text, twice.text) != 0)
		__builtin_trap();
	policy_done(&again);
}

/* A jail can be made of what was read, unless its environment is too long. */
static void check_jails(const struct policy *policy)
{
	static const char *const argv[] = { "true", NULL };
	cleanup(mem_free) struct jail_spec *spec = mem_alloc(1, sizeof(*spec));
	struct err err = ERR_INIT;

	if (compose_agent(policy, NULL, NULL, argv, spec, &err) < 0 &&
	    !strstr(err.text, "environment"))
		__builtin_trap();
	if (compose_worker(policy, NULL, NULL, 0, spec, &err) < 0 &&
	    !strstr(err.text, "environment"))
		__builtin_trap();
	if (compose_evaluator(policy, 0, argv, NULL, spec, &err) < 0 &&
	    !strstr(err.text, "environment"))
		__builtin_trap();
}

static int add(struct policy *policy, const char *file, const uint8_t *data, size_t size,
	       struct err *err)
{
	const struct yaml_node *root =
		yaml_parse(&policy->arena, file, (const char *) data, size, err);

	if (!root)
		return -1;
	policy->files[policy->file_count++] = root;
	return 0;
}

/* Texts with a byte 0xff between them: each extends the next, whatever it says; no file is opened.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup(policy_done) struct policy policy = policy_default();
	struct err err = ERR_INIT;
	int result = 0;

	do {
		const uint8_t *cut = size > 0 ? memchr(data, 0xff, size) : NULL;
		const size_t len = cut ? (size_t) (cut - data) : size;

		result = add(&policy, "policy.yaml", data, len, &err);
		size -= len + (cut != NULL);
		data = cut ? cut + 1 : NULL;
	} while (result == 0 && data && policy.file_count < POLICY_CHAIN_MAX);
	if (result < 0 || policy_bind(&policy, &err) < 0) {
		check_failure(&err);
		return 0;
	}
	check_print(&policy);
	check_jails(&policy);
	return 0;
}
