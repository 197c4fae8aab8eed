/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "harness/explain/explain.h"
#include "harness/run/record.h"
#include "sandbox/wire.h"

void explain_put_policy(const struct policy *policy, struct json_writer *json)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	cleanup(table_done) struct table changes = TABLE_INIT;
	const struct policy shipped = policy_default();
	size_t count;
	const char *const *weaker = policy_weaker(policy, &arena, &count);

	json_put_text(json, "policy", policy->name);
	json_put_array(json, "files");
	for (size_t i = 0; i < policy->file_count; i++)
		json_put_text(json, NULL, policy->files[i]->file);
	json_put_end(json);
	record_put_texts(json, "weaker", weaker, count);
	explain_changes(&shipped, policy, true, &arena, &changes);
	table_put(&changes, json, "changes");
}

void explain_put_host(const struct describe_host *host, struct json_writer *json)
{
	json_put_object(json, "host");
	json_put_object(json, "controllers");
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		json_put_text(json, cgroup_controller_names[i],
			      host->v1 & CGROUP_BIT(i)        ? "v1"
			      : host->unified & CGROUP_BIT(i) ? "v2"
							      : NULL);
	json_put_end(json);
	json_put_bool(json, "has_swap", host->has_swap);
	json_put_int(json, "landlock_abi", host->landlock_abi);
	json_put_end(json);
}

static void put_tree(const struct jail_description *jail, struct json_writer *json)
{
	json_put_array(json, "tree");
	for (size_t i = 0; i < jail->tree_count; i++) {
		const struct described_entry *entry = &jail->tree[i];

		json_put_object(json, NULL);
		json_put_text(json, "path", entry->path);
		json_put_text(json, "kind", entry->kind);
		json_put_text(json, "source", entry->source);
		json_put_text(json, "type", entry->type);
		json_put_text(json, "attributes", entry->attributes);
		json_put_text(json, "options", entry->options);
		json_put_bool(json, "on_this_host", entry->is_there);
		json_put_end(json);
	}
	json_put_end(json);
}

static void put_devices(const struct jail_description *jail, struct json_writer *json)
{
	json_put_array(json, "devices");
	for (size_t i = 0; i < jail->device_count; i++) {
		const struct described_device *device = &jail->devices[i];

		json_put_object(json, NULL);
		json_put_text(json, "name", device->name);
		json_put_text(json, "link", device->link);
		json_put_text(json, "device", device->number);
		json_put_text(json, "access", device->access);
		if (device->name && !device->link)
			json_put_int(json, "mode", device->mode);
		else
			json_put_null(json, "mode");
		json_put_end(json);
	}
	json_put_end(json);
}

static void put_value(const char *value, struct json_writer *json)
{
	if (value[0] != '\0' && value[strspn(value, "0123456789")] == '\0')
		json_put_int(json, "value", strtoll(value, NULL, 10));
	else
		json_put_text(json, "value", value);
}

static void put_limits(const struct jail_description *jail, struct json_writer *json)
{
	json_put_array(json, "limits");
	for (size_t i = 0; i < jail->limit_count; i++) {
		const struct described_limit *limit = &jail->limits[i];

		json_put_object(json, NULL);
		json_put_text(json, "name", limit->name);
		put_value(limit->value, json);
		json_put_text(json, "unit", limit->unit);
		json_put_text(json, "by", limit->by);
		json_put_text(json, "file", limit->file);
		json_put_bool(json, "holds", limit->holds);
		json_put_end(json);
	}
	json_put_end(json);
}

static void put_some_calls(const struct jail_description *jail, const char *key, bool is_refused,
			   struct json_writer *json)
{
	json_put_array(json, key);
	for (size_t i = 0; i < jail->call_count; i++) {
		const struct seccomp_call *call = &jail->calls[i];

		if (call->is_refused != is_refused || call->number < 0)
			continue;
		json_put_object(json, NULL);
		json_put_text(json, "name", call->name);
		json_put_int(json, "number", call->number);
		json_put_text(json, "list", call->list);
		json_put_text(json, "reason", call->reason);
		json_put_end(json);
	}
	json_put_end(json);
}

static void put_calls(const struct jail_description *jail, struct json_writer *json)
{
	json_put_object(json, "calls");
	put_some_calls(jail, "allowed", false, json);
	put_some_calls(jail, "refused", true, json);
	json_put_bool(json, "refusals_are_counted", jail->refusals_are_counted);
	json_put_text(json, "others", "ENOSYS");
	json_put_text(json, "other_abi", "killed");
	json_put_array(json, "arguments");
	for (size_t i = 0; i < jail->call_rule_count; i++) {
		const struct seccomp_rule *rule = &jail->call_rules[i];

		json_put_object(json, NULL);
		json_put_text(json, "call", rule->call);
		json_put_text(json, "when", rule->when);
		json_put_text(json, "error",
			      rule->error == 0 ? NULL : strerrorname_np(rule->error));
		json_put_end(json);
	}
	json_put_end(json);
	json_put_array(json, "refused_ioctls");
	for (size_t i = 0; i < jail->call_rule_count; i++)
		if (strcmp(jail->call_rules[i].call, "ioctl") == 0 &&
		    jail->call_rules[i].error != 0)
			json_put_text(json, NULL, jail->call_rules[i].refused);
	json_put_end(json);
	json_put_end(json);
}

static void put_landlock(const struct jail_description *jail, struct json_writer *json)
{
	json_put_object(json, "landlock");
	json_put_array(json, "rules");
	for (size_t i = 0; i < jail->landlock_count; i++) {
		json_put_object(json, NULL);
		json_put_text(json, "path", jail->landlock[i].path);
		json_put_text(json, "rights", jail->landlock[i].rights);
		json_put_end(json);
	}
	json_put_end(json);
	record_put_texts(json, "scopes", jail->scopes, jail->scope_count);
	json_put_end(json);
}

static void put_privileges(const struct jail_description *jail, struct json_writer *json)
{
	json_put_object(json, "ids");
	json_put_int(json, "inside", jail->inside_id);
	json_put_int(json, "range_base", jail->range_base);
	json_put_int(json, "range_size", jail->range_size);
	json_put_int(json, "range_count", jail->range_count);
	json_put_end(json);
	record_put_texts(json, "capabilities", NULL, 0);
	json_put_bool(json, "no_new_privs", true);
	record_put_texts(json, "securebits", jail->securebits, jail->securebit_count);
	json_put_array(json, "interfaces");
	json_put_text(json, NULL, "lo");
	json_put_end(json);
}

static void put_services(const struct services *services, struct json_writer *json)
{
	json_put_array(json, "services");
	for (size_t i = 0; services && i < services->count; i++) {
		const struct service *service = &services->items[i];

		json_put_object(json, NULL);
		json_put_text(json, "name", service->name);
		json_put_int(json, "listen", (int64_t) service->listen);
		json_put_text(json, "connect", service->connect);
		json_put_int(json, "connections", (int64_t) service->connections);
		json_put_int(json, "total", (int64_t) service->total);
		json_put_int(json, "sent", (int64_t) service->sent);
		json_put_int(json, "received", (int64_t) service->received);
		json_put_int(json, "idle_ms", (int64_t) service->idle_ms);
		json_put_end(json);
	}
	json_put_end(json);
}

static size_t count_of(const char *const *texts)
{
	size_t count = 0;

	while (texts[count])
		count++;
	return count;
}

void explain_put(const struct explained *jail, struct json_writer *json)
{
	json_put_object(json, NULL);
	json_put_text(json, "role", names_text(explain_role_names, (int) jail->role));
	record_put_texts(json, "command", jail->argv, count_of(jail->argv));
	json_put_text(json, "folder", jail->spec->command.folder);
	record_put_texts(json, "environment", jail->envp, count_of(jail->envp));
	put_privileges(&jail->jail, json);
	put_services(jail->services, json);
	json_put_int(json, "output", (int64_t) jail->output);
	json_put_array(json, "endings");
	for (const struct name *name = ending_names; name->text; name++)
		json_put_text(json, NULL, name->text);
	json_put_end(json);
	put_tree(&jail->jail, json);
	put_devices(&jail->jail, json);
	put_limits(&jail->jail, json);
	put_landlock(&jail->jail, json);
	put_calls(&jail->jail, json);
	json_put_end(json);
}
