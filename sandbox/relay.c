/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/relay.h"

#include <assert.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/mem.h"

/*
 * Theory of operation
 *
 * One loop over epoll, level-triggered. Of each socket only that is waited for which its connection
 * can use now: a source while its buffer is empty, a target while it is not. One that nothing can
 * be used of is not waited for at all, since the kernel would say again and again that it has been
 * shut down. So every connection has a socket that is waited for, or is over, or becomes idle.
 *
 * All memory is there before the first connection: a slot for each that may be open at a time.
 */

enum { INSIDE, OUTSIDE, SIDES }; /* and the flows away from there */

enum {
	EVENTS = 64,
	ACCEPTS = 64, /* of one listener, before connections have their turn */
	DRAIN_MS = 250,
	PAUSE_NS = 10 * 1000 * 1000, /* where the kernel is short of something */
};

/* What an event is about; slots follow, two numbers each. */
enum { AT_PAYLOAD, AT_PARENT, AT_LISTENERS, AT_SLOTS = AT_LISTENERS + NET_SERVICES_MAX };

struct slot {
	bool is_used, is_connecting;
	uint32_t service;
	uint64_t number;
	int fd[SIDES];
	uint32_t waits[SIDES]; /* events that epoll knows; 0: it does not know the socket */
	struct relay_flow flow[SIDES];
	int64_t opened, active;
};

struct service {
	int listen_fd; /* -1: it takes no more */
	uint32_t open;
	uint64_t accepted; /* refused ones as well */
	uint64_t left[SIDES];
};

struct loop {
	const struct relay *relay;
	struct relay_counts *counts;
	struct service services[NET_SERVICES_MAX];
	int epoll_fd;
	struct slot *slots;
	uint8_t *buffers;
	uint32_t slot_count, open;
	int64_t next_idle; /* no connection is idle before that */
	int64_t deadline;  /* CLOCK_NEVER: the jail is not over */
	struct err *err;
	bool failed;
};

const struct name relay_how_names[] = {
	{ "closed", RELAY_CLOSED },
	{ "reset", RELAY_RESET },
	{ "endpoint", RELAY_ENDPOINT },
	{ "unreachable", RELAY_UNREACHABLE },
	{ "idle", RELAY_IDLE },
	{ "connections", RELAY_CONNECTIONS },
	{ "total", RELAY_TOTAL },
	{ "sent", RELAY_SENT },
	{ "received", RELAY_RECEIVED },
	{ "ended", RELAY_ENDED },
	{ NULL, 0 },
};

static void loop_done(struct loop *loop)
{
	for (uint32_t i = 0; loop->slots && i < loop->slot_count; i++)
		for (int side = INSIDE; loop->slots[i].is_used && side < SIDES; side++)
			fd_close(&loop->slots[i].fd[side]);
	fd_close(&loop->epoll_fd);
	mem_free(&loop->slots);
	mem_free(&loop->buffers);
}

static void fail(struct loop *loop, const char *what)
{
	if (!loop->failed)
		(void) err_sys(loop->err, "relay: %s", what);
	loop->failed = true;
}

static void tell(struct loop *loop, const struct relay_line *line)
{
	if (!loop->failed && loop->relay->tell(loop->relay->user, line, loop->err) < 0)
		loop->failed = true;
}

/* The other side sees a reset, not an end: what it has was not all. */
static void drop(int *fd)
{
	static const struct linger at_once = { .l_onoff = 1, .l_linger = 0 };

	setsockopt(*fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	fd_close(fd);
}

static bool is_cap(enum relay_how how)
{
	return how == RELAY_CONNECTIONS || how == RELAY_TOTAL || how == RELAY_SENT ||
	       how == RELAY_RECEIVED;
}

/*
 * It takes no more connections, and the kernel refuses them from now on without our help. The port
 * stays taken: the socket is still there.
 */
static void shut_listener(struct loop *loop, uint32_t number)
{
	struct service *service = &loop->services[number];

	if (service->listen_fd < 0)
		return;
	epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, service->listen_fd, NULL);
	shutdown(service->listen_fd, SHUT_RDWR);
	service->listen_fd = -1;
}

static void count_end(struct loop *loop, const struct relay_line *line)
{
	struct relay_counts *counts = &loop->counts[line->service];

	counts->sent += line->sent;
	counts->received += line->received;
	if (line->how == RELAY_UNREACHABLE)
		counts->unreachable++;
	else if (line->how == RELAY_CONNECTIONS || line->how == RELAY_TOTAL)
		counts->refused++;
	else
		counts->connections++;
	if (!is_cap(line->how))
		return;
	counts->capped |= 1U << line->how;
	if (line->how != RELAY_CONNECTIONS)
		shut_listener(loop, line->service);
}

static void finish(struct loop *loop, struct slot *slot, enum relay_how how, int error)
{
	const struct relay_line line = {
		.service = slot->service,
		.number = slot->number,
		.opened_ns = slot->opened - loop->relay->begun,
		.closed_ns = clock_now() - loop->relay->begun,
		.sent = slot->flow[INSIDE].passed,
		.received = slot->flow[OUTSIDE].passed,
		.how = how,
		.error = error,
	};

	for (int side = INSIDE; side < SIDES; side++) {
		if (how == RELAY_CLOSED || how == RELAY_ENDED)
			fd_close(&slot->fd[side]);
		else
			drop(&slot->fd[side]);
	}
	slot->is_used = false;
	loop->open--;
	loop->services[slot->service].open--;
	count_end(loop, &line);
	tell(loop, &line);
}

/* --- waiting --- */

static void watch(struct loop *loop, struct slot *slot, int side, uint32_t events)
{
	const uint32_t number =
		AT_SLOTS + SIDES * (uint32_t) (slot - loop->slots) + (uint32_t) side;
	struct epoll_event event = { .events = events, .data = { .u32 = number } };
	int what = EPOLL_CTL_MOD;

	if (events == slot->waits[side])
		return;
	if (slot->waits[side] == 0)
		what = EPOLL_CTL_ADD;
	else if (events == 0)
		what = EPOLL_CTL_DEL;
	if (epoll_ctl(loop->epoll_fd, what, slot->fd[side], &event) < 0)
		fail(loop, "wait for a socket");
	slot->waits[side] = events;
}

/* Of a jail that is over only what it has sent matters. */
static int flows_of(const struct loop *loop)
{
	return loop->deadline == CLOCK_NEVER ? SIDES : OUTSIDE;
}

/* What can be used of a socket now. */
static uint32_t wanted(const struct loop *loop, const struct slot *slot, int side)
{
	const struct relay_flow *from = &slot->flow[side], *to = &slot->flow[!side];
	const int flows = flows_of(loop);
	uint32_t events = 0;

	if (slot->is_connecting)
		return side == OUTSIDE ? EPOLLOUT : 0;
	if (side < flows && from->len == 0 && !from->is_over)
		events |= EPOLLIN;
	if ((side == OUTSIDE || flows == SIDES) && to->len > 0)
		events |= EPOLLOUT;
	return events;
}

static void watch_both(struct loop *loop, struct slot *slot)
{
	for (int side = INSIDE; side < SIDES; side++)
		watch(loop, slot, side, wanted(loop, slot, side));
}

/* --- connections --- */

static enum relay_how how_of(enum relay_moved moved, int side)
{
	const int failed = moved == RELAY_SOURCE ? side : !side;

	if (moved == RELAY_CAPPED)
		return side == INSIDE ? RELAY_SENT : RELAY_RECEIVED;
	return failed == INSIDE ? RELAY_RESET : RELAY_ENDPOINT;
}

static void move(struct loop *loop, struct slot *slot)
{
	struct service *service = &loop->services[slot->service];
	const int flows = flows_of(loop);
	bool are_done = true;

	for (int side = INSIDE; side < flows; side++) {
		struct relay_flow *flow = &slot->flow[side];
		const uint64_t before = flow->passed;
		enum relay_moved moved = relay_flow_move(flow, slot->fd[side], slot->fd[!side],
							 &service->left[side]);
		const int error = errno;

		if (flow->passed != before)
			slot->active = clock_now();
		if (moved != RELAY_WAITS && moved != RELAY_DONE) {
			finish(loop, slot, how_of(moved, side), moved == RELAY_CAPPED ? 0 : error);
			return;
		}
		are_done = are_done && moved == RELAY_DONE;
	}
	if (are_done)
		finish(loop, slot, flows == SIDES ? RELAY_CLOSED : RELAY_ENDED, 0);
	else
		watch_both(loop, slot);
}

/*
 * Where nobody listens at a port that the kernel hands out itself, a socket that connects to it may
 * be given that very port; TCP then connects it to itself, and whoever wants to listen there can
 * not.
 */
static bool is_itself(int fd, const struct relay_endpoint *endpoint)
{
	struct sockaddr_storage own = { .ss_family = AF_UNSPEC };
	socklen_t len = sizeof(own);

	return endpoint->address.ss_family != AF_UNIX &&
	       getsockname(fd, (struct sockaddr *) &own, &len) == 0 && len == endpoint->len &&
	       memcmp(&own, &endpoint->address, len) == 0;
}

static void on_connected(struct loop *loop, struct slot *slot)
{
	const struct relay_service *service = &loop->relay->services[slot->service];
	int error = 0;
	socklen_t len = sizeof(error);

	if (getsockopt(slot->fd[OUTSIDE], SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		error = errno;
	else if (error == 0 && is_itself(slot->fd[OUTSIDE], &service->endpoint))
		error = ECONNREFUSED;
	if (error != 0) {
		/* One that has reset the connection before we looked was there. */
		finish(loop, slot, error == ECONNRESET ? RELAY_ENDPOINT : RELAY_UNREACHABLE, error);
		return;
	}
	slot->is_connecting = false;
	slot->active = clock_now();
	move(loop, slot);
}

/* Return: errno of what failed, or 0. */
static int reach(const struct relay_endpoint *endpoint, struct slot *slot)
{
	static const int yes = 1;
	const int family = endpoint->address.ss_family;
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	slot->fd[OUTSIDE] = fd;
	if (fd < 0)
		return errno;
	if (family != AF_UNIX && setsockopt(fd, SOL_TCP, TCP_NODELAY, &yes, sizeof(yes)) < 0)
		return errno;
	slot->is_connecting =
		connect(fd, (const struct sockaddr *) &endpoint->address, endpoint->len) < 0;
	return slot->is_connecting && errno != EINPROGRESS ? errno : 0;
}

static void take_in(struct loop *loop, uint32_t number, int fd)
{
	struct service *service = &loop->services[number];
	const int64_t now = clock_now();
	uint32_t at = 0;
	struct slot *slot;
	int error;

	while (loop->slots[at].is_used)
		at++;
	assert(at < loop->slot_count);
	slot = &loop->slots[at];
	*slot = (struct slot){ .is_used = true,
			       .service = number,
			       .number = service->accepted,
			       .fd = { fd, -1 },
			       .opened = now,
			       .active = now };
	for (int side = INSIDE; side < SIDES; side++)
		slot->flow[side].bytes =
			loop->buffers + ((size_t) at * SIDES + (size_t) side) * RELAY_BUFFER;
	service->open++;
	loop->open++;
	loop->next_idle = MIN_OF(loop->next_idle, now);
	error = reach(&loop->relay->services[number].endpoint, slot);
	if (error != 0)
		finish(loop, slot, RELAY_UNREACHABLE, error);
	else if (slot->is_connecting)
		watch_both(loop, slot);
	else
		move(loop, slot);
}

static void refuse(struct loop *loop, uint32_t number, int fd, enum relay_how how)
{
	const int64_t now = clock_now() - loop->relay->begun;
	const struct relay_line line = { .service = number,
					 .number = loop->services[number].accepted,
					 .opened_ns = now,
					 .closed_ns = now,
					 .how = how };

	drop(&fd);
	count_end(loop, &line);
	tell(loop, &line);
}

/* All else that accept4() says is about a connection that is gone already. */
static bool is_short(int error)
{
	return error == ENOMEM || error == ENOBUFS || error == ENFILE || error == EMFILE;
}

static void on_listener(struct loop *loop, uint32_t number)
{
	const struct relay_service *limits = &loop->relay->services[number];
	struct service *service = &loop->services[number];

	for (int i = 0; i < ACCEPTS && service->listen_fd >= 0 && !loop->failed; i++) {
		int fd = accept4(service->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0) {
			if (is_short(errno))
				nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
			return;
		}
		service->accepted++;
		if (service->accepted > limits->total)
			refuse(loop, number, fd, RELAY_TOTAL);
		else if (service->open >= limits->connections)
			refuse(loop, number, fd, RELAY_CONNECTIONS);
		else
			take_in(loop, number, fd);
	}
}

/* --- the loop --- */

static void look_for_idle(struct loop *loop, int64_t now)
{
	if (now < loop->next_idle)
		return;
	loop->next_idle = CLOCK_NEVER;
	for (uint32_t i = 0; i < loop->slot_count; i++) {
		struct slot *slot = &loop->slots[i];
		int64_t until;

		if (!slot->is_used)
			continue;
		until = slot->active +
			(int64_t) loop->relay->services[slot->service].idle_ms * NS_PER_MS;
		if (now >= until)
			finish(loop, slot, slot->is_connecting ? RELAY_UNREACHABLE : RELAY_IDLE,
			       slot->is_connecting ? ETIMEDOUT : 0);
		else
			loop->next_idle = MIN_OF(loop->next_idle, until);
	}
}

/* What waits to be accepted was sent by the jail as well. */
static void begin_end(struct loop *loop)
{
	if (loop->deadline != CLOCK_NEVER)
		return;
	epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, loop->relay->payload_fd, NULL);
	epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, loop->relay->parent_fd, NULL);
	loop->deadline = clock_after_ms(DRAIN_MS);
	for (uint32_t i = 0; i < loop->relay->count; i++) {
		for (int round = 0; round < NET_BACKLOG / ACCEPTS; round++)
			on_listener(loop, i);
		shut_listener(loop, i);
	}
	for (uint32_t i = 0; i < loop->slot_count; i++)
		if (loop->slots[i].is_used && !loop->slots[i].is_connecting)
			move(loop, &loop->slots[i]);
}

static void on_slot(struct loop *loop, uint32_t number)
{
	struct slot *slot = &loop->slots[number / SIDES];

	if (!slot->is_used)
		return;
	if (slot->is_connecting)
		on_connected(loop, slot);
	else
		move(loop, slot);
}

/* Connections first: a slot is not given to another one while there are events of the old. */
static void on_events(struct loop *loop, const struct epoll_event *events, int count)
{
	for (int i = 0; i < count; i++)
		if (events[i].data.u32 >= AT_SLOTS)
			on_slot(loop, events[i].data.u32 - AT_SLOTS);
	for (int i = 0; i < count; i++)
		if (events[i].data.u32 >= AT_LISTENERS && events[i].data.u32 < AT_SLOTS)
			on_listener(loop, events[i].data.u32 - AT_LISTENERS);
	for (int i = 0; i < count; i++)
		if (events[i].data.u32 < AT_LISTENERS)
			begin_end(loop);
}

static int add(struct loop *loop, int fd, uint32_t number, struct err *err)
{
	struct epoll_event event = { .events = EPOLLIN, .data = { .u32 = number } };

	if (epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
		return err_sys(err, "relay: wait for descriptor %d", fd);
	return 0;
}

static int open_loop(struct loop *loop, struct err *err)
{
	const struct relay *relay = loop->relay;

	for (uint32_t i = 0; i < relay->count; i++) {
		const struct relay_service *service = &relay->services[i];

		loop->services[i] =
			(struct service){ .listen_fd = service->listen_fd,
					  .left = { service->sent, service->received } };
		loop->slot_count += service->connections;
	}
	if (loop->slot_count > RELAY_CONNECTIONS_MAX)
		return err_set(err, ERR_INPUT, "relay: %u connections at a time; %u at most",
			       loop->slot_count, (unsigned) RELAY_CONNECTIONS_MAX);
	loop->slots = mem_alloc(loop->slot_count + 1, sizeof(*loop->slots));
	loop->buffers = mem_alloc((size_t) loop->slot_count + 1, (size_t) SIDES * RELAY_BUFFER);
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epoll_fd < 0)
		return err_sys(err, "relay: make an epoll");
	if (add(loop, relay->payload_fd, AT_PAYLOAD, err) < 0 ||
	    add(loop, relay->parent_fd, AT_PARENT, err) < 0)
		return -1;
	for (uint32_t i = 0; i < relay->count; i++)
		if (add(loop, relay->services[i].listen_fd, AT_LISTENERS + i, err) < 0)
			return -1;
	return 0;
}

int relay_run(const struct relay *relay, struct relay_counts out[NET_SERVICES_MAX], struct err *err)
{
	cleanup(loop_done) struct loop loop = { .relay = relay,
						.counts = out,
						.epoll_fd = -1,
						.next_idle = CLOCK_NEVER,
						.deadline = CLOCK_NEVER,
						.err = err };

	memset(out, 0, NET_SERVICES_MAX * sizeof(*out));
	if (open_loop(&loop, err) < 0)
		return -1;
	while (!loop.failed && (loop.deadline == CLOCK_NEVER || loop.open > 0)) {
		struct epoll_event events[EVENTS];
		int count = epoll_wait(loop.epoll_fd, events, EVENTS,
				       clock_poll_ms(MIN_OF(loop.next_idle, loop.deadline)));

		if (count < 0 && errno != EINTR)
			return err_sys(err, "relay: wait");
		on_events(&loop, events, MAX_OF(count, 0));
		look_for_idle(&loop, clock_now());
		if (clock_now() < loop.deadline)
			continue;
		for (uint32_t i = 0; i < loop.slot_count; i++)
			if (loop.slots[i].is_used)
				finish(&loop, &loop.slots[i], RELAY_ENDED, 0);
	}
	return loop.failed ? -1 : 0;
}
