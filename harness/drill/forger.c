/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/drill/forger.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/drill/scene.h"
#include "harness/run/compose.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"

/*
 * Theory of operation
 *
 * A client of ours refuses to send what the launcher would refuse. So a request that is in order
 * goes to a socket of our own, is changed there byte by byte, and then to the launcher, with its
 * descriptors.
 */

enum { ANSWER_MS = 30 * 1000 };

/* A request on its way; the spec is its last part. */
struct request {
	unsigned char *bytes;
	size_t len;
	struct jail_spec *spec; /* a copy, written back before it goes */
};

static void send_less(struct request *request)
{
	request->len -= 1;
}

static void other_version(struct request *request)
{
	/* Magic and version come before the spec. */
	for (size_t i = 0; i < request->len - sizeof(*request->spec); i++)
		request->bytes[i] ^= 0x20;
}

static void empty_root(struct request *request)
{
	request->spec->plan.root = PLAN_ROOT_EMPTY;
}

static void own_mask(struct request *request)
{
	snprintf(request->spec->plan.masks[0], sizeof(request->spec->plan.masks[0]), "/usr/bin");
}

static void cover_usr(struct request *request)
{
	snprintf(request->spec->plan.tmpfs[1].path, sizeof(request->spec->plan.tmpfs[1].path),
		 "/usr");
}

static void no_limit(struct request *request)
{
	request->spec->cgroup.memory = 0;
}

static void nothing(struct request *request)
{
	(void) request;
}

/* clang-format off */
static const struct {
	const char *id;
	void (*change)(struct request *request);
	bool has_tree; /* one that goes up */
} changes[] = {
	{ "client-nonsense", send_less,     false },
	{ "client-version",  other_version, false },
	{ "client-root",     empty_root,    false },
	{ "client-masks",    own_mask,      false },
	{ "client-cover",    cover_usr,     false },
	{ "client-no-limit", no_limit,      false },
	{ "client-tree-up",  nothing,       true },
};
/* clang-format on */

static void say(struct testimony *out, enum drill_seen seen, const char *text)
{
	testimony_say(out, seen, text);
}

/* A file above the folder that it is unpacked in: no writer of ours would write it. */
static int make_tree(struct err *err)
{
	static const char path[] = "../tmp/drill-was-here", content[] = "here\n";
	const struct stream_entry entry = {
		.kind = STREAM_FILE, .size = strlen(content), .path = path, .path_len = strlen(path)
	};
	const struct stream_counts counts = { .files = 1, .bytes = strlen(content) };
	uint8_t header[STREAM_HEADER], end[STREAM_END];
	cleanup(str_done) struct str tree = STR_INIT;

	stream_encode_header(header, &entry);
	stream_encode_end(end, &counts);
	str_add(&tree, STREAM_MAGIC, 16);
	str_add(&tree, header, sizeof(header));
	str_add(&tree, path, strlen(path));
	str_add(&tree, content, strlen(content));
	str_add(&tree, end, sizeof(end));
	return io_memfd("proctor-drill", tree.text, tree.len, err);
}

static int make_spec(const struct drill *drill, const struct drill_attack *attack, bool has_tree,
		     struct jail_spec *spec, struct err *err)
{
	const struct policy_role role = scene_limits(drill->policy, attack);

	spec_init(spec, "drill");
	compose_role(drill->policy, &role, spec);
	if (has_tree) {
		spec->tree_count = 1;
		snprintf(spec->trees[0].path, sizeof(spec->trees[0].path), COMPOSE_WORK);
		spec->trees[0].limits = STREAM_LIMITS_DEFAULT;
	}
	return spec_add_arg(spec, "/bin/true", err);
}

/* Sends the request, changed. Return: the jail's socket, owned by the caller, or -1. */
static int send_changed(const struct drill *drill, void (*change)(struct request *request),
			struct jail_spec *spec, const struct spec_fds *fds, struct err *err)
{
	cleanup(message_fds_done) struct message_fds got = MESSAGE_FDS_INIT;
	const size_t room = sizeof(*spec) + 4096;
	cleanup(mem_free) unsigned char *bytes = mem_alloc(1, room);
	struct request request = { .bytes = bytes, .spec = spec };
	auto_fd ours = -1, theirs = -1, jail_fd = -1;
	int pair[2];
	ssize_t len;

	if (message_pair(pair, err) < 0)
		return -1;
	ours = pair[0];
	theirs = pair[1];
	jail_fd = wire_request(ours, spec, fds, err);
	if (jail_fd < 0)
		return -1;
	len = message_receive(theirs, bytes, room, &got, err);
	if (len < (ssize_t) sizeof(*spec))
		return err_set(err, ERR_SYS, "a request of %zd bytes", len);
	request.len = (size_t) len;
	change(&request);
	memcpy(bytes + len - sizeof(*spec), spec, sizeof(*spec));
	if (message_send(drill->launcher_fd, bytes, request.len, &got, err) < 0)
		return -1;
	return fd_take(&jail_fd);
}

static void hear_answer(int jail_fd, struct testimony *out)
{
	struct pollfd ready = { .fd = jail_fd, .events = POLLIN };
	struct err err = ERR_INIT;
	struct event event;

	if (poll(&ready, 1, ANSWER_MS) <= 0)
		say(out, DRILL_BROKEN, "the launcher does not answer");
	else if (wire_next(jail_fd, &event, NULL, &err) < 0)
		say(out, DRILL_BROKEN, err.text);
	else if (event.kind == EVENT_FAILED)
		say(out, DRILL_HELD, event.err.text);
	else if (event.kind == EVENT_LOST)
		say(out, DRILL_BROKEN, "the launcher has gone");
	else
		say(out, DRILL_GOT, "the launcher has made a jail of it");
}

void forger_try(const struct drill *drill, const struct drill_attack *attack, struct testimony *out)
{
	cleanup(mem_free) struct jail_spec *spec = mem_alloc(1, sizeof(*spec));
	auto_fd null = open("/dev/null", O_WRONLY | O_CLOEXEC), tree = -1, jail_fd = -1;
	struct err err = ERR_INIT;
	struct spec_fds fds;
	size_t which = 0;

	while (which < ARRAY_LEN(changes) && strcmp(changes[which].id, attack->id) != 0)
		which++;
	if (which == ARRAY_LEN(changes)) {
		say(out, DRILL_BROKEN, "there is no such request");
		return;
	}
	spec_fds_init(&fds);
	fds.fd[SPEC_FD_STDOUT] = fds.fd[SPEC_FD_STDERR] = null;
	if (changes[which].has_tree)
		fds.fd[SPEC_FD_TREES] = tree = make_tree(&err);
	if (make_spec(drill, attack, changes[which].has_tree, spec, &err) == 0)
		jail_fd = send_changed(drill, changes[which].change, spec, &fds, &err);
	if (jail_fd < 0)
		say(out, DRILL_BROKEN, err.text);
	else
		hear_answer(jail_fd, out);
}
