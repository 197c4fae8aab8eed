/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "sandbox/relay.h"
#include "tests/lib/check.h"

static struct relay_endpoint out;

TEST(addresses_of_this_host_are_read)
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;

	CHECK(!relay_endpoint_parse("127.0.0.1:8080", &out));
	memcpy(&v4, &out.address, sizeof(v4));
	CHECK_INT(out.len, sizeof(v4));
	CHECK_INT(v4.sin_family, AF_INET);
	CHECK_INT(ntohs(v4.sin_port), 8080);
	CHECK_INT(ntohl(v4.sin_addr.s_addr), INADDR_LOOPBACK);
	CHECK(!relay_endpoint_parse("127.1.2.3:65535", &out));
	CHECK(!relay_endpoint_parse("[::1]:1", &out));
	memcpy(&v6, &out.address, sizeof(v6));
	CHECK_INT(out.len, sizeof(v6));
	CHECK_INT(v6.sin6_family, AF_INET6);
	CHECK_INT(ntohs(v6.sin6_port), 1);
	CHECK(IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr));
}

TEST(paths_of_sockets_are_read_up_to_what_the_kernel_takes)
{
	struct sockaddr_un address;
	char text[160];

	CHECK(!relay_endpoint_parse("unix:/run/a b:c", &out));
	memcpy(&address, &out.address, sizeof(address));
	CHECK_INT(address.sun_family, AF_UNIX);
	CHECK_STR(address.sun_path, "/run/a b:c");
	CHECK_INT(out.len, offsetof(struct sockaddr_un, sun_path) + 11);
	snprintf(text, sizeof(text), "unix:/%0106d", 0);
	CHECK(!relay_endpoint_parse(text, &out));
	snprintf(text, sizeof(text), "unix:/%0107d", 0);
	CHECK(relay_endpoint_parse(text, &out));
}

TEST(what_is_none_is_refused_and_changes_nothing)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ "", "a port is 1 to 65535, behind a colon" },
		{ "8080", "a port is 1 to 65535, behind a colon" },
		{ ":8080", "there is no address before the port" },
		{ "127.0.0.1", "a port is 1 to 65535, behind a colon" },
		{ "127.0.0.1:", "a port is 1 to 65535, behind a colon" },
		{ "127.0.0.1:0", "a port is 1 to 65535, behind a colon" },
		{ "127.0.0.1:080", "a port is 1 to 65535, behind a colon" },
		{ "127.0.0.1:65536", "a port is 1 to 65535, behind a colon" },
		{ "127.0.0.1:4294967297", "a port is 1 to 65535, behind a colon" },
		{ "127.0.0.1:80 ", "a port is 1 to 65535, behind a colon" },
		{ "127.0.0.1:-80", "a port is 1 to 65535, behind a colon" },
		{ "127.1:80", "names are not looked up; localhost is 127.0.0.1" },
		{ "localhost:80", "names are not looked up; localhost is 127.0.0.1" },
		{ "api.example.com:443", "names are not looked up; localhost is 127.0.0.1" },
		{ "http://127.0.0.1:80", "names are not looked up; localhost is 127.0.0.1" },
		{ "0.0.0.0:80",
		  "other hosts are not reached; have a program here that leads there" },
		{ "192.0.2.1:80",
		  "other hosts are not reached; have a program here that leads there" },
		{ "169.254.169.254:80",
		  "other hosts are not reached; have a program here that leads there" },
		{ "[::]:80", "other hosts are not reached; have a program here that leads there" },
		{ "[2001:db8::1]:80",
		  "other hosts are not reached; have a program here that leads there" },
		{ "[::ffff:192.0.2.1]:80",
		  "other hosts are not reached; have a program here that leads there" },
		{ "[localhost]:80", "what stands in brackets is no address" },
		{ "[]:80", "what stands in brackets is no address" },
		{ "[:80", "names are not looked up; localhost is 127.0.0.1" },
		{ "::1:80", "names are not looked up; localhost is 127.0.0.1" },
		{ "unix:", "the path of a socket is absolute and has at most 107 bytes" },
		{ "unix:run/a", "the path of a socket is absolute and has at most 107 bytes" },
		{ "unix:@abstract", "the path of a socket is absolute and has at most 107 bytes" },
		{ "/run/a", "a port is 1 to 65535, behind a colon" },
	};
	char text[400];

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *why;

		memset(&out, 7, sizeof(out));
		why = relay_endpoint_parse(rows[i].text, &out);
		if (!why)
			check_fail(__FILE__, __LINE__, "'%s' is read", rows[i].text);
		CHECK_STR(why, rows[i].why);
		CHECK_INT(out.len, 0x07070707);
	}
	snprintf(text, sizeof(text), "[%0300d]:80", 0);
	CHECK(relay_endpoint_parse(text, &out));
	snprintf(text, sizeof(text), "%0300d:80", 0);
	CHECK(relay_endpoint_parse(text, &out));
}
