/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "harness/config/types.h"
#include "harness/explain/explain.h"
#include "harness/run/compose.h"
#include "sandbox/wire.h"

/* --- what a policy changes --- */

/* clang-format off */
static const struct table_column change_columns[] = {
	{ "key",    "KEY",    TABLE_LEFT },
	{ "before", "BEFORE", TABLE_LEFT },
	{ "after",  "AFTER",  TABLE_LEFT },
	{ "change", "CHANGE", TABLE_LEFT },
	{ "file",   "FILE",   TABLE_LEFT },
	{ "line",   "LINE",   TABLE_RIGHT },
};
/* clang-format on */

enum { ORIGIN_COLUMNS = 2 };

static enum table_tone tone_of(enum policy_change change)
{
	if (change == POLICY_WEAKER)
		return TABLE_BAD;
	return change == POLICY_STRONGER ? TABLE_GOOD : TABLE_PLAIN;
}

void explain_changes(const struct policy *before, const struct policy *after, bool has_origin,
		     struct arena *arena, struct table *out)
{
	size_t count;
	const struct policy_difference *list = policy_diff(before, after, arena, &count);

	table_init(out, change_columns,
		   ARRAY_LEN(change_columns) - (has_origin ? 0 : ORIGIN_COLUMNS));
	for (size_t i = 0; i < count; i++) {
		const char *file;
		int line = 0;

		table_text(out, list[i].key);
		table_text(out, list[i].before);
		table_text(out, list[i].after);
		table_text(out, names_text(policy_change_names, (int) list[i].change));
		table_tone(out, tone_of(list[i].change));
		if (!has_origin)
			continue;
		file = policy_origin(after, list[i].key, &line);
		table_text(out, file);
		if (file)
			table_int(out, line);
		else
			table_text(out, NULL);
	}
}

static void add_shown(struct str *out, const char *text)
{
	str_add_shown(out, text, strlen(text));
}

void explain_print_policy(const struct policy *policy, const struct table_style *style,
			  struct str *out)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	cleanup(table_done) struct table changes = TABLE_INIT;
	const struct policy shipped = policy_default();
	size_t count;
	const char *const *weaker = policy_weaker(policy, &arena, &count);

	str_addf(out, "policy   %s", policy->name);
	for (size_t i = 0; i < policy->file_count; i++) {
		str_addf(out, "%s", i == 0 ? " (" : ", extends ");
		add_shown(out, policy->files[i]->file);
	}
	str_addf(out, "%s\nweaker   %s", policy->file_count > 0 ? ")" : "",
		 count == 0 ? "no wall than in the shipped default" : "");
	for (size_t i = 0; i < count; i++)
		str_addf(out, "%s%s", i > 0 ? ", " : "", weaker[i]);
	explain_changes(&shipped, policy, true, &arena, &changes);
	str_addf(out, "\nchanges  %s\n\n",
		 changes.cell_count > 0 ? "to the shipped default:"
					: "none to the shipped default");
	if (changes.cell_count > 0) {
		table_print(&changes, style, out);
		str_addf(out, "\n");
	}
}

/* --- one jail --- */

static void heading(struct str *out, const char *text)
{
	str_addf(out, "\n-- %s --\n", text);
}

static void add_list(struct str *out, const char *title, const char *const *items)
{
	str_addf(out, "%s", title);
	for (size_t i = 0; items[i]; i++) {
		str_addf(out, "%s", i > 0 ? "\n            " : "");
		add_shown(out, items[i]);
	}
	str_addf(out, "\n");
}

static void print_tree(const struct jail_description *jail, const struct table_style *style,
		       struct str *out)
{
	/* clang-format off */
	static const struct table_column columns[] = {
		{ "path", "PATH", TABLE_LEFT },             { "kind", "KIND", TABLE_LEFT },
		{ "source", "SOURCE", TABLE_LEFT },         { "type", "TYPE", TABLE_LEFT },
		{ "attributes", "ATTRIBUTES", TABLE_LEFT }, { "options", "OPTIONS", TABLE_LEFT },
	};
	/* clang-format on */
	cleanup(table_done) struct table table = TABLE_INIT;

	table_init(&table, columns, ARRAY_LEN(columns));
	for (size_t i = 0; i < jail->tree_count; i++) {
		const struct described_entry *entry = &jail->tree[i];

		table_text(&table, entry->path);
		table_text(&table, entry->is_there ? entry->kind : "not on this host");
		table_tone(&table, entry->is_there ? TABLE_PLAIN : TABLE_DIM);
		table_text(&table, entry->source);
		table_text(&table, entry->type);
		table_text(&table, entry->attributes);
		table_text(&table, entry->options);
	}
	table_print(&table, style, out);
}

static void print_devices(const struct jail_description *jail, const struct table_style *style,
			  struct str *out)
{
	static const struct table_column columns[] = {
		{ "name", "NODE", TABLE_LEFT },
		{ "device", "DEVICE", TABLE_LEFT },
		{ "access", "ACCESS", TABLE_LEFT },
		{ "mode", "MODE", TABLE_LEFT },
	};
	cleanup(table_done) struct table table = TABLE_INIT;

	table_init(&table, columns, ARRAY_LEN(columns));
	for (size_t i = 0; i < jail->device_count; i++) {
		const struct described_device *device = &jail->devices[i];
		cleanup(str_done) struct str text = STR_INIT;

		table_text(&table, device->name ? device->name : "(of devpts)");
		str_addf(&text, "%s%s", device->link ? "-> " : "",
			 device->link ? device->link : device->number);
		table_text(&table, text.text);
		table_text(&table, device->access);
		str_clear(&text);
		str_addf(&text, "%04o", device->mode);
		table_text(&table, device->link || !device->name ? NULL : text.text);
	}
	table_print(&table, style, out);
}

/* "4GiB" of "4294967296" bytes with swap: value, and what is left of its unit. */
static void add_value(struct table *table, const struct described_limit *limit)
{
	cleanup(str_done) struct str text = STR_INIT;
	const bool is_number = limit->value[strspn(limit->value, "0123456789")] == '\0';
	const uint64_t value = strtoull(limit->value, NULL, 10);
	const size_t unit = strcspn(limit->unit, " ");
	const char *rest = limit->unit + unit + (limit->unit[unit] == ' ');

	if (is_number && strncmp(limit->unit, "bytes", unit) == 0) {
		type_size.print(NULL, &value, &text);
	} else if (is_number && strncmp(limit->unit, "ms", unit) == 0) {
		type_duration.print(NULL, &value, &text);
	} else {
		str_addf(&text, "%s", limit->value);
		rest = limit->unit;
	}
	table_text(table, text.text);
	table_text(table, rest[0] != '\0' ? rest : NULL);
}

static void print_limits(const struct jail_description *jail, const struct table_style *style,
			 struct str *out)
{
	static const struct table_column columns[] = {
		{ "name", "LIMIT", TABLE_LEFT }, { "value", "VALUE", TABLE_RIGHT },
		{ "unit", "UNIT", TABLE_LEFT },  { "by", "BY", TABLE_LEFT },
		{ "file", "FILE", TABLE_LEFT },
	};
	cleanup(table_done) struct table table = TABLE_INIT;

	table_init(&table, columns, ARRAY_LEN(columns));
	for (size_t i = 0; i < jail->limit_count; i++) {
		const struct described_limit *limit = &jail->limits[i];

		table_text(&table, limit->name);
		add_value(&table, limit);
		table_text(&table, limit->holds ? limit->by : "NOTHING on this host");
		table_tone(&table, limit->holds ? TABLE_PLAIN : TABLE_BAD);
		table_text(&table, limit->file);
	}
	table_print(&table, style, out);
}

static void print_some_calls(const struct jail_description *jail, bool is_refused,
			     const struct table_style *style, struct str *out)
{
	static const struct table_column columns[] = {
		{ "name", "CALL", TABLE_LEFT },
		{ "list", "LIST", TABLE_LEFT },
		{ "reason", "REASON", TABLE_LEFT },
	};
	cleanup(table_done) struct table table = TABLE_INIT;

	table_init(&table, columns, ARRAY_LEN(columns));
	for (size_t i = 0; i < jail->call_count; i++) {
		if (jail->calls[i].is_refused != is_refused || jail->calls[i].number < 0)
			continue;
		table_text(&table, jail->calls[i].name);
		table_text(&table, jail->calls[i].list);
		table_text(&table, jail->calls[i].reason);
	}
	table_print(&table, style, out);
}

static void print_arguments(const struct jail_description *jail, const struct table_style *style,
			    struct str *out)
{
	static const struct table_column columns[] = {
		{ "call", "CALL", TABLE_LEFT },
		{ "when", "WHEN", TABLE_LEFT },
		{ "answer", "ANSWER", TABLE_LEFT },
	};
	cleanup(table_done) struct table table = TABLE_INIT;

	table_init(&table, columns, ARRAY_LEN(columns));
	for (size_t i = 0; i < jail->call_rule_count; i++) {
		const struct seccomp_rule *rule = &jail->call_rules[i];

		table_text(&table, rule->call);
		table_text(&table, rule->when);
		table_text(&table, rule->error == 0 ? "passes" : strerrorname_np(rule->error));
	}
	table_print(&table, style, out);
}

static void print_calls(const struct explained *jail, const struct explained *same,
			const struct table_style *style, struct str *out)
{
	const char *before = "";

	if (same && same->jail.profile == jail->jail.profile &&
	    same->spec->extra_calls == jail->spec->extra_calls &&
	    (same->spec->gpu_count > 0) == (jail->spec->gpu_count > 0)) {
		str_addf(out, "the same as in the %s's jail\n",
			 names_text(explain_role_names, (int) same->role));
		return;
	}
	str_addf(out, "allowed, once their arguments pass:\n");
	print_some_calls(&jail->jail, false, style, out);
	str_addf(out, "\nrefused with EPERM%s:\n",
		 jail->jail.refusals_are_counted ? ", counted and named in the record" : "");
	print_some_calls(&jail->jail, true, style, out);
	str_addf(out, "\nall others: ENOSYS; calls of another ABI end the process\n"
		      "\narguments, of each call the first line that fits:\n");
	print_arguments(&jail->jail, style, out);
	str_addf(out, "\nrefused ioctls: ");
	for (size_t i = 0; i < jail->jail.call_rule_count; i++) {
		const struct seccomp_rule *rule = &jail->jail.call_rules[i];

		if (strcmp(rule->call, "ioctl") != 0 || rule->error == 0)
			continue;
		str_addf(out, "%s%s", before, rule->refused);
		before = ", ";
	}
	str_addf(out, "\n");
}

static void print_landlock(const struct jail_description *jail, const struct table_style *style,
			   struct str *out)
{
	static const struct table_column columns[] = {
		{ "path", "BENEATH", TABLE_LEFT },
		{ "rights", "RIGHTS", TABLE_LEFT },
	};
	cleanup(table_done) struct table table = TABLE_INIT;

	if (jail->landlock_count == 0) {
		str_addf(out, "this kernel has none\n");
		return;
	}
	table_init(&table, columns, ARRAY_LEN(columns));
	for (size_t i = 0; i < jail->landlock_count; i++) {
		table_text(&table, jail->landlock[i].path);
		table_text(&table, jail->landlock[i].rights);
	}
	table_print(&table, style, out);
	for (size_t i = 0; i < jail->scope_count; i++)
		str_addf(out, "%s%s%s", i == 0 ? "nothing outside is reached by: " : ", ",
			 jail->scopes[i], i + 1 == jail->scope_count ? "\n" : "");
}

static void print_privileges(const struct jail_description *jail, struct str *out)
{
	str_addf(out,
		 "user        %" PRIu32 " inside; outside an id of one of %" PRIu32
		 " ranges of %" PRIu32 " from %" PRIu32 "\n"
		 "privileges  no capability in any set, no_new_privs\n"
		 "securebits  ",
		 jail->inside_id, jail->range_count, jail->range_size, jail->range_base);
	for (size_t i = 0; i < jail->securebit_count; i++)
		str_addf(out, "%s%s", i > 0 ? " " : "", jail->securebits[i]);
	str_addf(out, "\nnetwork     a namespace of its own with lo alone\n");
}

/* "api: 127.0.0.1:8080 in the jail leads to …" and its caps. */
static void print_services(const struct services *services, struct str *out)
{
	str_addf(out, "services    ");
	for (size_t i = 0; services && i < services->count; i++) {
		const struct service *service = &services->items[i];

		str_addf(out, "%s%s: 127.0.0.1:%" PRIu64 " in the jail leads to ",
			 i > 0 ? "            " : "", service->name, service->listen);
		add_shown(out, service->connect);
		str_addf(out,
			 "\n              %" PRIu64 " connections at a time, %" PRIu64
			 " in all; bytes: ",
			 service->connections, service->total);
		type_size.print(NULL, &service->sent, out);
		str_addf(out, " out, ");
		type_size.print(NULL, &service->received, out);
		str_addf(out, " in; idle: ");
		type_duration.print(NULL, &service->idle_ms, out);
		str_addf(out, "\n");
	}
	if (!services || services->count == 0)
		str_addf(out, "none\n");
}

static void print_endings(const struct explained *jail, struct str *out)
{
	if (jail->output > 0) {
		str_addf(out, "output      ");
		type_size.print(NULL, &jail->output, out);
		str_addf(out, " on stdout and stderr together, kept as files; more ends it\n");
	} else {
		str_addf(out, "output      to /dev/null\n");
	}
	str_addf(out, "endings     ");
	for (const struct name *name = ending_names; name->text; name++)
		str_addf(out, "%s%s", name == ending_names ? "" : " ", name->text);
	str_addf(out, "\n");
}

void explain_print(const struct explained *jail, const struct explained *same,
		   const struct table_style *style, struct str *out)
{
	str_addf(out, "==== the %s's jail ====\n",
		 names_text(explain_role_names, (int) jail->role));
	add_list(out, "command     ", jail->argv);
	str_addf(out, "folder      %s\n", jail->spec->command.folder);
	add_list(out, "environment ", jail->envp);
	print_privileges(&jail->jail, out);
	print_services(jail->services, out);
	print_endings(jail, out);
	heading(out, "file tree");
	print_tree(&jail->jail, style, out);
	heading(out, "/dev");
	print_devices(&jail->jail, style, out);
	heading(out, "limits");
	print_limits(&jail->jail, style, out);
	if (jail->role == EXPLAIN_AGENT)
		str_addf(out, "the memory is the policy's, and on top what " COMPOSE_AGENT
			      " and " COMPOSE_TASK " can take; " COMPOSE_TASK
			      " is as large as what the task gives, here is its least\n");
	if (jail->role == EXPLAIN_BUILD)
		str_addf(out,
			 "the memory is the policy's, and on top what " COMPOSE_OUT " can take\n");
	heading(out, "Landlock");
	print_landlock(&jail->jail, style, out);
	heading(out, "system calls");
	print_calls(jail, same, style, out);
}
