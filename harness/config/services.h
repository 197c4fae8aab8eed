/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/config/schema.h"
#include "sandbox/relay.h"

/*
 * Services: what an agent may reach, each a port of its loopback that leads to one endpoint of this
 * host, with caps
 */
struct service {
	const char *name;
	uint64_t listen;     /* port of 127.0.0.1 in the jail */
	const char *connect; /* RELAY_ENDPOINT_FORMS */
	/* Per jail; see struct relay_service. */
	uint64_t connections, total, sent, received, idle_ms;
};

struct services {
	const struct service *items; /* no name and no port twice */
	size_t count;
};

/**
 * services_add_option() - "NAME=PORT:ENDPOINT" of a command line, with the caps that a policy has
 * where it says none
 * @items: those before it; room for one more, up to NET_SERVICES_MAX
 *
 * @text stays borrowed. Return: 0, or -1 with an ERR_USAGE error.
 */
int services_add_option(const char *text, struct arena *arena, struct service *items, size_t *count,
			struct err *err) must_check;

/**
 * services_find() - the service of this name, or NULL
 */
const struct service *services_find(const struct services *services, const char *name);

/**
 * services_print() - append one as a file would say it
 */
void services_print(const struct service *service, struct str *out);

/* Member: struct services; a list that replaces a whole list. Details: struct collection. */
extern const struct schema_type type_services;
/* Member: const char *; one of RELAY_ENDPOINT_FORMS */
extern const struct schema_type type_endpoint;

extern const struct collection services_collection;
extern const struct schema service_schema;
/* What a service has that says nothing else. */
extern const struct service service_default;
