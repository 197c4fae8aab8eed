/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/relay.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <string.h>
#include <sys/un.h>

/* Bytes of an address in text, with its brackets. */
enum { HOST_MAX = 64 };

static const char *parse_path(const char *path, struct relay_endpoint *out)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t len = strlen(path);

	if (path[0] != '/' || len >= sizeof(address.sun_path))
		return "the path of a socket is absolute and has at most 107 bytes";
	memcpy(address.sun_path, path, len);
	out->len = (uint32_t) (offsetof(struct sockaddr_un, sun_path) + len + 1);
	memcpy(&out->address, &address, sizeof(address));
	return NULL;
}

/* 0: it is none. */
static uint32_t parse_port(const char *text)
{
	uint32_t port = 0;

	if (text[0] == '0')
		return 0;
	for (; *text >= '0' && *text <= '9' && port <= UINT16_MAX; text++)
		port = port * 10 + (uint32_t) (*text - '0');
	return *text == '\0' && port <= UINT16_MAX ? port : 0;
}

static const char *parse_v4(const char *host, uint16_t port, struct relay_endpoint *out)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };

	if (inet_pton(AF_INET, host, &address.sin_addr) != 1)
		return "names are not looked up; localhost is 127.0.0.1";
	if (ntohl(address.sin_addr.s_addr) >> 24 != IN_LOOPBACKNET)
		return "other hosts are not reached; have a program here that leads there";
	out->len = sizeof(address);
	memcpy(&out->address, &address, sizeof(address));
	return NULL;
}

/* @host: what is between the brackets */
static const char *parse_v6(const char *host, uint16_t port, struct relay_endpoint *out)
{
	struct sockaddr_in6 address = { .sin6_family = AF_INET6, .sin6_port = htons(port) };

	if (inet_pton(AF_INET6, host, &address.sin6_addr) != 1)
		return "what stands in brackets is no address";
	if (!IN6_IS_ADDR_LOOPBACK(&address.sin6_addr))
		return "other hosts are not reached; have a program here that leads there";
	out->len = sizeof(address);
	memcpy(&out->address, &address, sizeof(address));
	return NULL;
}

const char *relay_endpoint_parse(const char *text, struct relay_endpoint *out)
{
	struct relay_endpoint made = { .len = 0 };
	const char *colon = strrchr(text, ':'), *why;
	char host[HOST_MAX] = "";
	uint32_t port;
	size_t len;

	if (strncmp(text, "unix:", 5) == 0) {
		why = parse_path(text + 5, &made);
	} else {
		len = colon ? (size_t) (colon - text) : 0;
		port = colon ? parse_port(colon + 1) : 0;
		if (port == 0)
			return "a port is 1 to 65535, behind a colon";
		if (len == 0 || len >= sizeof(host))
			return "there is no address before the port";
		memcpy(host, text, len);
		if (host[0] == '[' && host[len - 1] == ']') {
			host[len - 1] = '\0';
			why = parse_v6(host + 1, (uint16_t) port, &made);
		} else {
			why = parse_v4(host, (uint16_t) port, &made);
		}
	}
	if (!why)
		*out = made;
	return why;
}
