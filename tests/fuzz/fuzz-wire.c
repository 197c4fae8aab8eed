/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/message.h"
#include "sandbox/ledger.h"
#include "sandbox/plan.h"
#include "sandbox/site.h"
#include "sandbox/wire.h"

/*
 * What may come over a client's socket: whatever it is, it is refused in words, or it is a request
 * whose spec makes sense, and nothing that the launcher then does with it before it forks can fail
 * but in words. No descriptor is left, and none was received before it was asked for.
 *
 * An input is two bytes, and the rest: the first is what is sent, the second how many descriptors
 * come along. A whole request is 50 KiB, of which a fuzzer would change the wrong bytes: as PATCHED
 * the rest is changes to a good one, each an offset of two bytes (times 8), a length, and the
 * bytes.
 */
enum { RAW, PATCHED, PATCHED_HEAD, WISH, EVENT, WAYS };

static void must(bool holds)
{
	if (!holds)
		__builtin_trap();
}

static void make_good(struct wire_request *request)
{
	struct err err = ERR_INIT;

	request->head = (struct wire_head){ 0x70726f63, WIRE_VERSION, REQUEST_JAIL, 0 };
	spec_init(&request->spec, "fuzz");
	must(spec_add_arg(&request->spec, "/bin/true", &err) == 0 &&
	     spec_add_env(&request->spec, "A=b", &err) == 0);
}

static void patch(void *bytes, size_t room, const uint8_t *data, size_t size)
{
	while (size >= 3) {
		size_t at = (size_t) (data[0] | data[1] << 8) * 8, len = data[2];

		data += 3;
		size -= 3;
		len = MIN_OF(len, size);
		if (at < room)
			memcpy((char *) bytes + at, data, MIN_OF(len, room - at));
		data += len;
		size -= len;
	}
}

static void send_bytes(int fd, const void *bytes, size_t len, size_t fd_count)
{
	struct message_fds fds = { .count = MIN_OF(fd_count, MESSAGE_MAX_FDS) };
	struct err err = ERR_INIT;

	for (size_t i = 0; i < fds.count; i++)
		fds.fd[i] = fd;
	/* One that does not fit the socket's buffer is not sent. */
	best_effort(message_try_send(fd, bytes, len, &fds, &err));
}

/* What serve.c does with a spec before anybody is forked. */
static void admit(struct jail_spec *spec)
{
	cleanup(mem_free) struct site *site = mem_alloc(1, sizeof(*site));
	cleanup(mem_free) struct plan *plan = mem_alloc(1, sizeof(*plan));
	cleanup(ledger_done) struct ledger ledger = LEDGER_INIT;
	struct cgroup_bounds job = { .memory = GIB, .pids = 100, .cpu_milli = 1500, .cpus = "0-3" };
	struct err err = ERR_INIT;
	uint32_t clamped;

	site_default(site);
	plan_make(&spec->plan, plan);
	must(plan->count <= PLAN_ROWS_MAX);
	if (site_bound(site, spec, &err) < 0 ||
	    ledger_admit(&ledger, site, 1000, &spec->cgroup, &err) < 0 ||
	    ledger_clamp(&ledger, &job, "0-7", &spec->cgroup, &clamped, &err) < 0) {
		must(err.kind == ERR_INPUT || err.kind == ERR_HOST);
		must(err.text[0] != '\0');
		return;
	}
	must(spec->cgroup.memory <= GIB && spec->cgroup.pids <= 100);
	must(spec->cgroup.cpu_milli > 0 && spec->cgroup.cpu_milli <= 1500);
	must(spec->cgroup.cpus[0] != '\0');
}

static int take_request(int socket_fd, const struct jail_spec *taken, struct spec_fds *fds,
			struct err *why)
{
	cleanup(message_fds_done) struct message_fds got = MESSAGE_FDS_INIT;

	spec_fds_init(fds);
	return message_take_fds(socket_fd, &got, why) < 0 ? -1 : wire_sort(taken, &got, fds, why);
}

static void receive_request(int fd, size_t fd_count)
{
	cleanup(mem_free) struct wire_asked *asked = mem_alloc(1, sizeof(*asked));
	struct err err = ERR_INIT;
	struct spec_fds fds;
	int next = dup(fd), got;

	close(next);
	got = wire_peek(fd, asked, &err);
	if (got < 0 && err.sys == EAGAIN)
		return;
	must(got != 0 || fd_count == 0 || asked->has_fds);
	if (got < 0)
		must(err.kind == ERR_INPUT && err.text[0] != '\0');
	if (got <= 0 || asked->request.head.kind != REQUEST_JAIL) {
		struct spec_fds none;

		best_effort(take_request(fd, NULL, &none, &err));
		for (int role = SPEC_FD_CONTROL + 1; role < SPEC_FD_COUNT; role++)
			must(none.fd[role] < 0);
		spec_fds_done(&none);
		return;
	}
	must(spec_check(&asked->request.spec, &err) == 0);
	if (take_request(fd, &asked->request.spec, &fds, &err) == 0) {
		for (int role = 0; role < SPEC_FD_COUNT; role++)
			must((fds.fd[role] >= 0) ==
			     spec_fd_wanted(&asked->request.spec, (enum spec_fd) role));
		/* Sockets are what no role but the first takes. */
		must(wire_check_fds(&fds, &err) < 0);
	}
	spec_fds_done(&fds);
	admit(&asked->request.spec);
	got = dup(fd);
	must(got == next);
	close(got);
}

static void receive_wish(int fd)
{
	struct wish wish = { .ending = ENDING_EXITED };
	struct err err = ERR_INIT;

	if (wire_wish(fd, &wish, &err) > 0)
		must(wish.output_came || wish.ending == ENDING_OUTPUT ||
		     wish.ending == ENDING_STOPPED);
}

static void receive_event(int fd)
{
	struct jail_flag flags[JAIL_FLAGS_MAX];
	struct started_fds started = STARTED_FDS_INIT;
	struct err err = ERR_INIT;
	struct event event;

	if (wire_next(fd, &event, &started, &err) < 0)
		return;
	must(event.kind <= EVENT_LOST);
	must(jail_result_flags(&event.result, flags) <= JAIL_FLAGS_MAX);
	must(memchr(event.err.text, '\0', sizeof(event.err.text)) != NULL);
	started_fds_done(&started);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup(mem_free) struct wire_request *request = mem_alloc(1, sizeof(*request));
	auto_fd ours = -1, theirs = -1;
	struct err err = ERR_INIT;
	int pair[2], yes = 1, way;
	size_t fd_count;

	if (size < 2)
		return 0;
	must(message_pair(pair, &err) == 0);
	ours = pair[0];
	theirs = pair[1];
	way = data[0] % WAYS;
	fd_count = data[1] % 40;
	data += 2;
	size -= 2;
	if (way < WISH)
		must(setsockopt(ours, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) == 0);
	if (way == PATCHED || way == PATCHED_HEAD) {
		make_good(request);
		patch(request, sizeof(*request), data, size);
		send_bytes(theirs, request,
			   way == PATCHED ? sizeof(*request) : sizeof(request->head), fd_count);
	} else {
		send_bytes(theirs, data, size, fd_count);
	}
	fd_close(&theirs); /* so that nothing waits */
	if (way < WISH)
		receive_request(ours, fd_count);
	else if (way == WISH)
		receive_wish(ours);
	else
		receive_event(ours);
	return 0;
}
