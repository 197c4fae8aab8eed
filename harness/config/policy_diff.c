/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/policy_diff.h"

#include <string.h>

#include "harness/config/schema_write.h"

const struct name policy_change_names[] = {
	{ "weaker", POLICY_WEAKER },   { "stronger", POLICY_STRONGER }, { "larger", POLICY_LARGER },
	{ "smaller", POLICY_SMALLER }, { "other", POLICY_OTHER },       { NULL, 0 },
};

/* Keys of words: each word gives something up. */
static const char *const walls[] = { "accept", "syscalls" };

/* Numbers of which 0 is no limit of ours, and so neither smaller nor larger than others. */
static const char *const open_at_0[] = { "idle",      "stack",    "memlock",
					 "file_size", "msgqueue", "sigpending" };

static bool is_among(const char *key, const char *const *keys, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(keys[i], key) == 0)
			return true;
	return false;
}

bool policy_is_wall(const struct field *field)
{
	return is_among(field->key, walls, ARRAY_LEN(walls));
}

/* --- what differs --- */

struct differences {
	struct arena *arena;
	struct policy_difference *list;
	size_t count, room;
};

static void add(struct differences *out, struct policy_difference difference)
{
	if (out->count == out->room) {
		const struct policy_difference *old = out->list;

		out->room = MAX_OF(2 * out->room, (size_t) 16);
		out->list = arena_alloc(out->arena, out->room, sizeof(*out->list));
		for (size_t i = 0; i < out->count; i++)
			out->list[i] = old[i];
	}
	out->list[out->count++] = difference;
}

static enum policy_change judge(const struct schema_pair *pair)
{
	uint64_t before, after;

	if (pair->field->type->holds != HOLDS_U64)
		return POLICY_OTHER;
	before = *(const uint64_t *) pair->members[0];
	after = *(const uint64_t *) pair->members[1];
	if (policy_is_wall(pair->field))
		return (after & ~before) != 0 ? POLICY_WEAKER : POLICY_STRONGER;
	if ((before == 0 || after == 0) &&
	    is_among(pair->field->key, open_at_0, ARRAY_LEN(open_at_0)))
		return POLICY_OTHER;
	return after > before ? POLICY_LARGER : POLICY_SMALLER;
}

static const char *value_of(const struct policy_environment *environment, const char *name)
{
	for (size_t i = 0; i < environment->count; i++)
		if (strcmp(environment->items[i].name, name) == 0)
			return environment->items[i].value;
	return NULL;
}

static void compare_variable(struct differences *out, const struct schema_pair *pair,
			     const char *name)
{
	const char *before = value_of(pair->members[0], name);
	const char *after = value_of(pair->members[1], name);

	if (before && after && strcmp(before, after) == 0)
		return;
	add(out, (struct policy_difference){
			 .key = arena_printf(out->arena, "%s.%s", pair->key, name),
			 .before = before,
			 .after = after,
			 .change = POLICY_OTHER,
		 });
}

static void compare_variables(struct differences *out, const struct schema_pair *pair)
{
	const struct policy_environment *before = pair->members[0], *after = pair->members[1];

	for (size_t i = 0; i < before->count; i++)
		compare_variable(out, pair, before->items[i].name);
	for (size_t i = 0; i < after->count; i++)
		if (!value_of(before, after->items[i].name))
			compare_variable(out, pair, after->items[i].name);
}

static const char *print_service(struct arena *arena, const struct service *service)
{
	cleanup(str_done) struct str text = STR_INIT;

	if (!service)
		return NULL;
	services_print(service, &text);
	return arena_copy(arena, text.text, text.len);
}

/* Where one leads is the wall; what it carries is a number, and larger if any of them is. */
static enum policy_change judge_service(const struct service *before, const struct service *after)
{
	if (!before)
		return POLICY_WEAKER;
	if (!after)
		return POLICY_STRONGER;
	if (strcmp(before->connect, after->connect) != 0 || before->listen != after->listen)
		return POLICY_WEAKER;
	if (after->connections > before->connections || after->total > before->total ||
	    after->sent > before->sent || after->received > before->received ||
	    after->idle_ms > before->idle_ms)
		return POLICY_LARGER;
	return POLICY_SMALLER;
}

static void compare_service(struct differences *out, const char *name, const struct service *before,
			    const struct service *after)
{
	const struct policy_difference difference = {
		.key = arena_printf(out->arena, "services.%s", name),
		.before = print_service(out->arena, before),
		.after = print_service(out->arena, after),
		.change = judge_service(before, after),
	};

	if (!before || !after || strcmp(difference.before, difference.after) != 0)
		add(out, difference);
}

static void compare_services(struct differences *out, const struct services *before,
			     const struct services *after)
{
	for (size_t i = 0; i < before->count; i++)
		compare_service(out, before->items[i].name, &before->items[i],
				services_find(after, before->items[i].name));
	for (size_t i = 0; i < after->count; i++)
		if (!services_find(before, after->items[i].name))
			compare_service(out, after->items[i].name, NULL, &after->items[i]);
}

static const char *print(struct arena *arena, const struct field *field, const void *member)
{
	cleanup(str_done) struct str text = STR_INIT;

	field->type->print(field, member, &text);
	return arena_copy(arena, text.text, text.len);
}

static void compare(void *user, const struct schema_pair *pair)
{
	struct differences *out = user;
	const char *before, *after;

	/* What identifies a policy is no part of what it says. */
	if (pair->field->need == REQUIRED || strcmp(pair->key, "extends") == 0)
		return;
	if (strcmp(pair->field->key, "environment") == 0) {
		compare_variables(out, pair);
		return;
	}
	if (pair->field->type == &type_services) {
		compare_services(out, pair->members[0], pair->members[1]);
		return;
	}
	before = print(out->arena, pair->field, pair->members[0]);
	after = print(out->arena, pair->field, pair->members[1]);
	if (strcmp(before, after) != 0)
		add(out, (struct policy_difference){
				 .key = arena_copy(out->arena, pair->key, strlen(pair->key)),
				 .before = before,
				 .after = after,
				 .change = judge(pair),
			 });
}

const struct policy_difference *policy_diff(const struct policy *before, const struct policy *after,
					    struct arena *arena, size_t *count)
{
	struct differences out = { .arena = arena };

	schema_each(&policy_schema, before, after, compare, &out);
	*count = out.count;
	return out.list;
}

/* --- what is given up --- */

struct given_up {
	struct arena *arena;
	const char **names;
	size_t count;
};

enum { GIVEN_UP_MAX = 64 };

static void look_at_services(struct given_up *out, const struct services *shipped,
			     const struct services *services)
{
	for (size_t i = 0; i < services->count && out->count < GIVEN_UP_MAX; i++)
		if (!services_find(shipped, services->items[i].name))
			out->names[out->count++] =
				arena_printf(out->arena, "services:%s", services->items[i].name);
}

static void look_at_wall(void *user, const struct schema_pair *pair)
{
	struct given_up *out = user;
	uint64_t more;

	if (pair->field->type == &type_services)
		look_at_services(out, pair->members[0], pair->members[1]);
	if (!policy_is_wall(pair->field))
		return;
	more = *(const uint64_t *) pair->members[1] & ~*(const uint64_t *) pair->members[0];
	for (const struct name *word = pair->field->details; word->text; word++)
		if (word->value >= 0 && (more >> word->value & 1) != 0 && out->count < GIVEN_UP_MAX)
			out->names[out->count++] =
				arena_printf(out->arena, "%s:%s", pair->key, word->text);
}

const char *const *policy_weaker(const struct policy *policy, struct arena *arena, size_t *count)
{
	struct policy shipped = policy_default();
	struct given_up out = {
		.arena = arena,
		.names = arena_alloc(arena, GIVEN_UP_MAX, sizeof(*out.names)),
	};

	schema_each(&policy_schema, &shipped, policy, look_at_wall, &out);
	*count = out.count;
	return out.names;
}
