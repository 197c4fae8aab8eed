/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/services.h"

#include <inttypes.h>
#include <string.h>

#include "harness/config/types.h"

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };

#define EXAMPLE "a list such as [{name: api, listen: 8080, connect: '127.0.0.1:9000'}]"

const struct service service_default = {
	.connections = 16,
	.total = 10000,
	.sent = 256 * MIB,
	.received = 256 * MIB,
	.idle_ms = 5 * MINUTE,
};

static int parse_endpoint(const struct field *field, const struct yaml_node *node,
			  struct arena *arena, void *member, struct err *err)
{
	struct relay_endpoint endpoint;
	char room[YAML_SHOWN];
	const char *why;

	(void) arena;
	if (node->kind != YAML_TEXT)
		return schema_expected(field, node, RELAY_ENDPOINT_FORMS, err);
	why = relay_endpoint_parse(node->text, &endpoint);
	if (why)
		return yaml_err(node, err, "'%s' is not " RELAY_ENDPOINT_FORMS ": %s",
				yaml_shown(node->text, room), why);
	*(const char **) member = node->text;
	return 0;
}

static void print_endpoint(const struct field *field, const void *member, struct str *out)
{
	const char *text = *(const char *const *) member;

	(void) field;
	if (text)
		str_add_json(out, text, strlen(text));
}

const struct schema_type type_endpoint = { "endpoint", HOLDS_TEXT, parse_endpoint, print_endpoint,
					   "bytes" };

/* clang-format off */
static const struct field service_fields[] = {
	{ "name",        &type_name,     TEXT_AT(struct service, name),       REQUIRED, 0, 0, NULL,
	  "its name in logs and records" },
	{ "listen",      &type_count,    U64_AT(struct service, listen),      REQUIRED, 1, 65535, NULL,
	  "the port of 127.0.0.1 in the jail" },
	{ "connect",     &type_endpoint, TEXT_AT(struct service, connect),    REQUIRED, 0, 0, NULL,
	  "where it leads, on this host: `" RELAY_ENDPOINT_FORMS "`" },
	{ "connections", &type_count,    U64_AT(struct service, connections), OPTIONAL, 1, RELAY_CONNECTIONS_MAX, NULL,
	  "connections at a time; of all services together at most 256" },
	{ "total",       &type_count,    U64_AT(struct service, total),       OPTIONAL, 1, 1000000, NULL,
	  "connections in all" },
	{ "sent",        &type_size,     U64_AT(struct service, sent),        OPTIONAL, 1, TIB, NULL,
	  "bytes from the jail to the endpoint, of all connections" },
	{ "received",    &type_size,     U64_AT(struct service, received),    OPTIONAL, 1, TIB, NULL,
	  "bytes from the endpoint to the jail" },
	{ "idle",        &type_duration, U64_AT(struct service, idle_ms),     OPTIONAL, SECOND, 24 * (uint64_t) HOUR, NULL,
	  "time in which a connection carries no byte" },
};
/* clang-format on */
const struct schema service_schema = { "a service", service_fields, ARRAY_LEN(service_fields),
				       false };
const struct collection services_collection = { EXAMPLE, &service_schema };

const struct service *services_find(const struct services *services, const char *name)
{
	for (size_t i = 0; i < services->count; i++)
		if (strcmp(services->items[i].name, name) == 0)
			return &services->items[i];
	return NULL;
}

static int check_unique(const struct services *before, const struct service *service,
			const struct yaml_node *node, struct err *err)
{
	if (services_find(before, service->name))
		return yaml_err(node, err, "there is a service '%s' already", service->name);
	for (size_t i = 0; i < before->count; i++)
		if (before->items[i].listen == service->listen)
			return yaml_err(node, err,
					"service '%s' listens at %" PRIu64 ", as '%s' does",
					service->name, service->listen, before->items[i].name);
	return 0;
}

/* More services than there may be are refused by their number. */
static int check_sum(const struct services *services, const struct yaml_node *node, struct err *err)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < services->count; i++)
		sum += services->items[i].connections;
	if (services->count <= NET_SERVICES_MAX && sum > RELAY_CONNECTIONS_MAX)
		return yaml_err(node, err,
				"%" PRIu64 " connections at a time, of all services together; %d "
				"are possible: allow fewer by 'connections'",
				sum, (int) RELAY_CONNECTIONS_MAX);
	return 0;
}

static int parse_services(const struct field *field, const struct yaml_node *node,
			  struct arena *arena, void *member, struct err *err)
{
	struct services made = { NULL, 0 };
	struct service *items;

	if (node->kind != YAML_LIST)
		return schema_expected(field, node, EXAMPLE, err);
	items = arena_alloc(arena, node->count + 1, sizeof(*items));
	made.items = items;
	for (const struct yaml_node *item = node->first; item; item = item->next) {
		struct service *service = &items[made.count];

		*service = service_default;
		if (schema_bind(&service_schema, item, arena, service, err) < 0 ||
		    check_unique(&made, service, item, err) < 0)
			return -1;
		made.count++;
	}
	if (check_sum(&made, node, err) < 0)
		return -1;
	*(struct services *) member = made;
	return 0;
}

void services_print(const struct service *service, struct str *out)
{
	for (size_t i = 0; i < ARRAY_LEN(service_fields); i++) {
		const struct field *field = &service_fields[i];

		str_addf(out, "%s%s: ", i == 0 ? "{" : ", ", field->key);
		field->type->print(field, (const char *) service + field->at.offset, out);
	}
	str_addf(out, "}");
}

static void print_services(const struct field *field, const void *member, struct str *out)
{
	const struct services *services = member;

	(void) field;
	str_addf(out, "[");
	for (size_t i = 0; i < services->count; i++) {
		str_addf(out, "%s", i > 0 ? ", " : "");
		services_print(&services->items[i], out);
	}
	str_addf(out, "]");
}

const struct schema_type type_services = { "services", HOLDS_STRUCT, parse_services, print_services,
					   "items" };

static int take_port(const char *text, size_t len, uint64_t *out)
{
	char port[8] = "";

	if (len == 0 || len >= sizeof(port))
		return -1;
	memcpy(port, text, len);
	return types_parse_count(port, out) < 0 || *out < 1 || *out > 65535 ? -1 : 0;
}

int services_add_option(const char *text, struct arena *arena, struct service *items, size_t *count,
			struct err *err)
{
	const char *equals = strchr(text, '='), *colon = equals ? strchr(equals, ':') : NULL;
	const struct services before = { items, *count };
	struct service made = service_default;
	struct relay_endpoint endpoint;
	const char *why;

	if (!colon || take_port(equals + 1, (size_t) (colon - equals) - 1, &made.listen) < 0)
		return err_set(err, ERR_USAGE, "option --service: '%s' is not NAME=PORT:ENDPOINT",
			       text);
	made.name = arena_copy(arena, text, (size_t) (equals - text));
	made.connect = colon + 1;
	if (!types_is_name(made.name))
		return err_set(err, ERR_USAGE,
			       "option --service: '%s' is not a name of lower case letters, digits "
			       "and single hyphens, at most 63",
			       made.name);
	why = relay_endpoint_parse(made.connect, &endpoint);
	if (why)
		return err_set(err, ERR_USAGE,
			       "option --service: '%s' is not " RELAY_ENDPOINT_FORMS ": %s",
			       made.connect, why);
	if (*count == NET_SERVICES_MAX)
		return err_set(err, ERR_USAGE, "option --service: at most %d are possible",
			       (int) NET_SERVICES_MAX);
	for (size_t i = 0; i < *count; i++)
		if (items[i].listen == made.listen || services_find(&before, made.name))
			return err_set(err, ERR_USAGE,
				       "option --service: '%s': there is a service of this name or "
				       "port already",
				       text);
	items[(*count)++] = made;
	return 0;
}
