/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/services.h"

#include <string.h>

#include "harness/config/policy.h"
#include "tests/lib/check.h"

static struct err err;

#define HEAD "schema: 1\nname: mine\n"

static void check_refused(const char *text, const char *message)
{
	struct policy policy = policy_default();

	err = ERR_INIT;
	CHECK_INT(policy_parse("p.yaml", text, strlen(text), &policy, &err), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK_STR(err.text, message);
}

TEST(a_list_of_services_is_read_with_the_caps_that_it_names_and_those_it_does_not)
{
	static const char text[] = HEAD
		"services:\n"
		"  - {name: api, listen: 8080, connect: '127.0.0.1:9000', sent: 1MiB, idle: 2s}\n"
		"  - {name: files, listen: 1, connect: 'unix:/run/files', connections: 3, total: "
		"9}\n";
	cleanup(policy_done) struct policy policy = policy_default();
	const struct service *service;

	CHECK_OK(policy_parse("p.yaml", text, strlen(text), &policy, &err));
	CHECK_INT(policy.services.count, 2);
	service = services_find(&policy.services, "api");
	CHECK_INT(service->listen, 8080);
	CHECK_STR(service->connect, "127.0.0.1:9000");
	CHECK_INT(service->connections, 16);
	CHECK_INT(service->total, 10000);
	CHECK_INT(service->sent, MIB);
	CHECK_INT(service->received, 256 * MIB);
	CHECK_INT(service->idle_ms, 2000);
	service = services_find(&policy.services, "files");
	CHECK_INT(service->connections, 3);
	CHECK_INT(service->total, 9);
	CHECK(!services_find(&policy.services, "others"));
}

TEST(what_is_printed_is_read_as_the_same)
{
	static const char text[] =
		HEAD "services: [{name: api, listen: 8080, connect: '[::1]:9000', sent: 3MiB}, "
		     "{name: odd, listen: 2, connect: 'unix:/run/a \"b\": {c}'}]\n";
	cleanup(policy_done) struct policy policy = policy_default(), again = policy_default();
	cleanup(str_done) struct str one = STR_INIT, two = STR_INIT;

	CHECK_OK(policy_parse("p.yaml", text, strlen(text), &policy, &err));
	policy_print(&policy, &one);
	CHECK_OK(policy_parse("q.yaml", one.text, one.len, &again, &err));
	CHECK_INT(again.services.count, 2);
	CHECK_STR(again.services.items[1].connect, "unix:/run/a \"b\": {c}");
	policy_print(&again, &two);
	CHECK_STR(one.text, two.text);
}

TEST(mistakes_are_told_with_their_line_and_what_is_possible)
{
	check_refused(HEAD "services: [{name: a, listen: 80, connect: 'localhost:80'}]\n",
		      "p.yaml:3: key 'connect': 'localhost:80' is not 127.0.0.1:PORT, [::1]:PORT "
		      "or unix:/PATH: names are not looked up; localhost is 127.0.0.1");
	check_refused(HEAD "services: [{name: a, listen: 80, connect: '192.0.2.1:443'}]\n",
		      "p.yaml:3: key 'connect': '192.0.2.1:443' is not 127.0.0.1:PORT, "
		      "[::1]:PORT or unix:/PATH: other hosts are not reached; have a program "
		      "here that leads there");
	check_refused(HEAD "services: [{name: a, listen: 0, connect: '127.0.0.1:80'}]\n",
		      "p.yaml:3: key 'listen': '0' is not within 1..65535");
	check_refused(HEAD "services: [{name: a, listen: 80}]\n",
		      "p.yaml:3: key 'services': a service lacks the key 'connect' (where it "
		      "leads, on this host: "
		      "`127.0.0.1:PORT, [::1]:PORT or unix:/PATH`)");
	check_refused(HEAD "services: api\n",
		      "p.yaml:3: key 'services': 'api' is not a list such as [{name: api, listen: "
		      "8080, connect: '127.0.0.1:9000'}], with 0..8 items");
}

TEST(no_name_and_no_port_is_there_twice)
{
#define ONE "services:\n  - {name: a, listen: 80, connect: '127.0.0.1:80'}\n"
	check_refused(HEAD ONE "  - {name: a, listen: 81, connect: '127.0.0.1:80'}\n",
		      "p.yaml:5: key 'services': there is a service 'a' already");
	check_refused(HEAD ONE "  - {name: b, listen: 80, connect: '127.0.0.1:81'}\n",
		      "p.yaml:5: key 'services': service 'b' listens at 80, as 'a' does");
}

TEST(all_services_together_have_no_more_connections_than_a_relay)
{
	check_refused(HEAD "services:\n"
			   "  - {name: a, listen: 80, connect: '127.0.0.1:80', connections: 200}\n"
			   "  - {name: b, listen: 81, connect: '127.0.0.1:80', connections: 57}\n",
		      "p.yaml:4: key 'services': 257 connections at a time, of all services "
		      "together; 256 are possible: allow fewer by 'connections'");
}

TEST(roles_that_have_none_are_told_where_they_belong)
{
	check_refused(HEAD "worker: {services: [{name: a, listen: 80, connect: '127.0.0.1:80'}]}\n",
		      "p.yaml:3: key 'services': a worker reaches nothing, and can not be given "
		      "services: the agent alone can, by the key 'services' beside 'worker'");
	check_refused(HEAD "build: {services: []}\n",
		      "p.yaml:3: key 'services': a build reaches nothing, and can not be given "
		      "services: the agent alone can, by the key 'services' beside 'build'");
	check_refused(HEAD "evaluator: {services: []}\n",
		      "p.yaml:3: key 'services': an evaluator reaches nothing, and can not be "
		      "given services: the agent alone can, by the key 'services' beside "
		      "'evaluator'");
	check_refused(HEAD "agent: {services: []}\n",
		      "p.yaml:3: key 'services': services stand beside 'agent' and not in it: put "
		      "the list one level further out");
}

TEST(a_list_replaces_the_whole_list_of_what_is_extended)
{
	static const char base[] =
		HEAD "services: [{name: a, listen: 80, connect: '127.0.0.1:80'}]\n";
	static const char none[] = HEAD "services: []\n";
	struct policy policy = policy_default();
	const struct yaml_node *trees[] = {
		yaml_parse(&policy.arena, "none", none, strlen(none), &err),
		yaml_parse(&policy.arena, "base", base, strlen(base), &err),
	};

	policy.files[0] = trees[0];
	policy.files[1] = trees[1];
	policy.file_count = 2;
	CHECK_OK(policy_bind(&policy, &err));
	CHECK_INT(policy.services.count, 0);
	policy.files[0] = trees[1];
	policy.files[1] = trees[0];
	CHECK_OK(policy_bind(&policy, &err));
	CHECK_INT(policy.services.count, 1);
	policy_done(&policy);
}

TEST(an_option_says_the_same_in_short)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct service items[NET_SERVICES_MAX];
	size_t count = 0;

	CHECK_OK(services_add_option("api=8080:127.0.0.1:9000", &arena, items, &count, &err));
	CHECK_OK(services_add_option("b=81:unix:/run/a=b:c", &arena, items, &count, &err));
	CHECK_INT(count, 2);
	CHECK_STR(items[0].name, "api");
	CHECK_INT(items[0].listen, 8080);
	CHECK_STR(items[0].connect, "127.0.0.1:9000");
	CHECK_INT(items[0].connections, service_default.connections);
	CHECK_STR(items[1].connect, "unix:/run/a=b:c");
}

TEST(an_option_that_is_none_is_refused)
{
	static const struct {
		const char *text, *message;
	} rows[] = {
		{ "", "option --service: '' is not NAME=PORT:ENDPOINT" },
		{ "api", "option --service: 'api' is not NAME=PORT:ENDPOINT" },
		{ "api=8080", "option --service: 'api=8080' is not NAME=PORT:ENDPOINT" },
		{ "a:b=80", "option --service: 'a:b=80' is not NAME=PORT:ENDPOINT" },
		{ "api=:127.0.0.1:1", "option --service: 'api=:127.0.0.1:1' is not "
				      "NAME=PORT:ENDPOINT" },
		{ "api=0:127.0.0.1:1", "option --service: 'api=0:127.0.0.1:1' is not "
				       "NAME=PORT:ENDPOINT" },
		{ "api=65536:127.0.0.1:1", "option --service: 'api=65536:127.0.0.1:1' is not "
					   "NAME=PORT:ENDPOINT" },
		{ "api=123456789:127.0.0.1:1", "option --service: 'api=123456789:127.0.0.1:1' is "
					       "not NAME=PORT:ENDPOINT" },
		{ "A=80:127.0.0.1:1", "option --service: 'A' is not a name of lower case letters, "
				      "digits and single hyphens, at most 63" },
		{ "=80:127.0.0.1:1", "option --service: '' is not a name of lower case letters, "
				     "digits and single hyphens, at most 63" },
		{ "api=80:db:1", "option --service: 'db:1' is not 127.0.0.1:PORT, [::1]:PORT or "
				 "unix:/PATH: names are not looked up; localhost is 127.0.0.1" },
		{ "one=80:127.0.0.1:1", "option --service: 'one=80:127.0.0.1:1': there is a "
					"service of this name or port already" },
		{ "two=81:127.0.0.1:1", "option --service: 'two=81:127.0.0.1:1': there is a "
					"service of this name or port already" },
	};
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct service items[NET_SERVICES_MAX];
	size_t count = 0;

	CHECK_OK(services_add_option("one=81:127.0.0.1:1", &arena, items, &count, &err));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		err = ERR_INIT;
		CHECK_INT(services_add_option(rows[i].text, &arena, items, &count, &err), -1);
		CHECK_INT(err.kind, ERR_USAGE);
		CHECK_STR(err.text, rows[i].message);
		CHECK_INT(count, 1);
	}
}
