/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "harness/explain/explain.h"
#include "tests/lib/check.h"

static struct policy policy;
static struct arena arena;
static struct json json;
static struct err err;

static const struct json_value *explain(const char *text)
{
	cleanup(str_done) struct str out = STR_INIT;
	struct describe_host host;
	const struct explain_question question = { .policy = &policy, .host = &host };
	struct json_writer writer;
	struct explained jail;

	policy = policy_default();
	CHECK_OK(policy_parse("p.yaml", text, strlen(text), &policy, &err));
	CHECK_OK(explain_look(&arena, &host, &err));
	json_writer_init(&writer, &out);
	json_put_object(&writer, NULL);
	explain_put_policy(&policy, &writer);
	explain_put_host(&host, &writer);
	json_put_array(&writer, "jails");
	for (int role = 0; role < EXPLAIN_ROLES; role++) {
		CHECK_OK(explain_make(&question, (enum explain_role) role, &arena, &jail, &err));
		explain_put(&jail, &writer);
	}
	json_put_end(&writer);
	json_put_end(&writer);
	CHECK(json_writer_is_whole(&writer));
	CHECK_OK(json_parse(&json, out.text, out.len, STR_MAX, &err));
	return json_root(&json);
}

static void end(void)
{
	json_done(&json);
	policy_done(&policy);
	arena_done(&arena);
}

/* The item of a list whose member @key is @text. */
static const struct json_value *find(const struct json_value *list, const char *key,
				     const char *text)
{
	for (size_t i = 0; i < json_count(list); i++) {
		const char *is = json_as_text(json_member(json_item(list, i), key));

		if (is && strcmp(is, text) == 0)
			return json_item(list, i);
	}
	check_fail(__FILE__, __LINE__, "nothing has the %s '%s'", key, text);
}

TEST(the_whole_of_each_jail_is_in_one_object)
{
	static const char *const keys[] = {
		"command",    "environment", "ids",     "capabilities", "no_new_privs",
		"securebits", "output",      "endings", "tree",         "devices",
		"limits",     "landlock",    "calls",   "services",     "interfaces",
	};
	const struct json_value *root = explain("schema: 1\nname: mine\nagent: {pids: 77}\n");
	const struct json_value *agent = find(json_member(root, "jails"), "role", "agent");
	const struct json_value *limit, *call;
	const char *text = NULL;
	int64_t number = 0;

	CHECK_INT(json_count(json_member(root, "jails")), 4);
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		CHECK(json_member(agent, keys[i]) != NULL);
	CHECK_INT(json_count(json_member(agent, "capabilities")), 0);
	limit = find(json_member(agent, "limits"), "name", "pids");
	CHECK_OK(json_get_int(limit, "value", 0, 1000, &number, &err));
	CHECK_INT(number, 77);
	call = find(json_member(json_member(agent, "calls"), "refused"), "name", "ptrace");
	CHECK_OK(json_get_text(call, "list", 99, &text, &err));
	CHECK_STR(text, "refused");
	find(json_member(json_member(agent, "calls"), "allowed"), "name", "openat");
	find(json_member(json_member(agent, "calls"), "arguments"), "when",
	     "argument 1 is TIOCSTI");
	CHECK_STR(json_as_text(
			  json_item(json_member(json_member(agent, "calls"), "refused_ioctls"), 0)),
		  "TIOCSTI");
	find(json_member(agent, "tree"), "path", "/proc/kcore");
	end();
}

TEST(services_are_shown_with_where_they_lead_and_of_the_agent_alone)
{
	const struct json_value *root = explain("schema: 1\nname: mine\nservices: [{name: api, "
						"listen: 80, connect: 'unix:/run/a'}]\n");
	const struct json_value *jails = json_member(root, "jails");
	const struct json_value *services = json_member(find(jails, "role", "agent"), "services");
	const struct json_value *api = find(services, "name", "api");
	int64_t number = 0;

	CHECK_INT(json_count(services), 1);
	CHECK_STR(json_as_text(json_member(api, "connect")), "unix:/run/a");
	CHECK_OK(json_get_int(api, "listen", 0, 65535, &number, &err));
	CHECK_INT(number, 80);
	CHECK_INT(json_count(json_member(find(jails, "role", "build"), "services")), 0);
	CHECK_INT(json_count(json_member(find(jails, "role", "worker"), "services")), 0);
	CHECK_INT(json_count(json_member(find(jails, "role", "evaluator"), "services")), 0);
	CHECK_STR(json_as_text(json_item(json_member(root, "weaker"), 0)), "services:api");
	CHECK_OK(json_get_int(find(json_member(root, "changes"), "key", "services.api"), "line", 0,
			      99, &number, &err));
	CHECK_INT(number, 3);
	end();
}

TEST(what_the_policy_changes_is_there_with_its_file_and_line)
{
	const struct json_value *root =
		explain("schema: 1\nname: mine\nextends: profiler\nbuild: {pids: 99}\n");
	const struct json_value *changes = json_member(root, "changes");
	const char *text = NULL;
	int64_t line = 0;

	CHECK_STR(json_as_text(json_item(json_member(root, "weaker"), 0)),
		  "agent.syscalls:profiler");
	CHECK_INT(json_count(json_member(root, "files")), 3);
	CHECK_OK(json_get_text(find(changes, "key", "build.pids"), "change", 99, &text, &err));
	CHECK_STR(text, "smaller");
	CHECK_OK(json_get_int(find(changes, "key", "build.pids"), "line", 0, 99, &line, &err));
	CHECK_INT(line, 4);
	find(json_member(json_member(find(json_member(root, "jails"), "role", "agent"), "calls"),
			 "allowed"),
	     "name", "perf_event_open");
	find(json_member(json_member(find(json_member(root, "jails"), "role", "build"), "calls"),
			 "refused"),
	     "name", "perf_event_open");
	end();
}
