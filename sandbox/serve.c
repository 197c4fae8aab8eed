/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/serve.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/message.h"
#include "sandbox/base/syscalls.h"
#include "sandbox/errand.h"

/*
 * Children of an account beyond its jails: refusals under way, and monitors on their way out, which
 * take as long as closing what they were given does. What else it wants waits in its sockets.
 */
enum { LEAVING_MAX = 16 };

/* By then all jails have ended, and who is left has nothing but descriptors of a client's. */
enum { END_MS = 30 * 1000 };

/* What the service before this one left may not have been dead when this one started. */
enum { SECOND_LOOK_MS = 2 * 1000 };

/* --- requests --- */

static void answer(const struct client *client, enum event_kind kind, const struct err *why)
{
	struct event event = { .kind = (uint32_t) kind };
	struct err ignored = ERR_INIT;

	if (why)
		event.err = *why;
	/* Who does not read is not waited for; who has gone is seen at the next look. */
	best_effort(wire_tell(client->socket_fd, &event, NULL, &ignored));
}

/* Whoever sent descriptors along is told over the jail's socket, which is one of them. */
static void refuse(struct server *server, struct client *client, const struct wire_asked *asked,
		   const struct jail_spec *spec, const struct err *why)
{
	const struct errand errand = { .spec = spec, .refusal = why };

	if (asked->has_fds) {
		errand_send(server, client, &errand);
		return;
	}
	message_drop(client->socket_fd);
	answer(client, EVENT_FAILED, why);
}

static void greet(struct server *server, struct client *client, const struct wire_asked *asked)
{
	struct err why = ERR_INIT;

	message_drop(client->socket_fd);
	if (!client->is_private && !peer_is_sender(&client->peer, asked->sender)) {
		err_set(&why, ERR_INPUT, "it is not the process that has connected who speaks");
		answer(client, EVENT_FAILED, &why);
		errand_end(server, client);
		return;
	}
	client->has_greeted = true;
	answer(client, EVENT_READY, NULL);
}

static void lease_timing(struct server *server, struct client *client,
			 const struct wire_asked *asked)
{
	struct err why = ERR_INIT;
	int got;

	message_drop(client->socket_fd);
	got = clients_timing(&server->clients, client, server->host.state_fd,
			     (enum timing_ask) asked->request.head.what,
			     server->site->client.timing_ms, &why);
	if (got < 0)
		answer(client, EVENT_FAILED, &why);
	else
		answer(client, got > 0 ? EVENT_READY : EVENT_BUSY, NULL);
}

/* Looks where the client is now, and makes a place for its jails there. */
static int find_place(const struct server *server, struct client *client, struct err *err)
{
	int got = cgroup_groups_of(client->peer.pid, &client->groups, err);

	/* The number was that process's all the time if it is its still. */
	if (got >= 0 && !peer_is_alive(&client->peer))
		return err_set(err, ERR_INPUT, "the process that has connected has ended");
	if (got < 0 || (got == 0 && client->has_place))
		return got;
	if (client->has_place && client->jails > 0) {
		client->groups.text[0] = '\0';
		return err_set(err, ERR_HOST,
			       "the client was moved to another control group while it has jails: "
			       "end those first");
	}
	if (client->has_place)
		cgroup_host_done(&client->place);
	client->has_place = false;
	if (cgroup_host_open_for(&client->groups, client->peer.pid, client->peer.uid,
				 server->host.cgroups, &client->place, err) < 0)
		return -1;
	client->has_place = true;
	/* It may have been moved, down by one group, to make room. */
	return cgroup_groups_of(client->peer.pid, &client->groups, err) < 0 ? -1 : 0;
}

/* Return: whose it was; NULL: that one is gone. */
static struct client *take_back(struct server *server, const struct ledger_jail *jail)
{
	struct client *client = clients_find(&server->clients, jail->client);

	if (client)
		client->jails--;
	return client;
}

static void strike(struct server *server, pid_t child)
{
	struct ledger_jail jail;

	if (ledger_leave(&server->ledger, child, &jail) > 0)
		take_back(server, &jail);
}

/* Jails that are gone, though their monitors may still be on their way out. */
static void strike_over(struct server *server)
{
	struct err ignored = ERR_INIT;
	pid_t monitor = -1;
	struct message_in in = { .bytes = &monitor, .room = sizeof(monitor) };
	struct ledger_jail jail;

	while (message_try_receive(server->over_fd, &in, &ignored) == (ssize_t) sizeof(monitor)) {
		const struct client *client = NULL;

		if (ledger_end(&server->ledger, monitor, &jail) > 0)
			client = take_back(server, &jail);
		if (client)
			errand_make_spare(server, client);
	}
}

/* Lowers the spec to what is allowed, or says why there can be no such jail. */
static int admit(struct server *server, struct client *client, struct jail_spec *spec,
		 struct cgroup_bounds *bounds, uint32_t *clamped, struct err *err)
{
	struct err tight = ERR_INIT;

	if (site_bound(server->site, spec, err) < 0 ||
	    ledger_admit(&server->ledger, server->site, client->peer.uid, &spec->cgroup, err) < 0)
		return -1;
	if (client->is_private) {
		*bounds = server->own;
	} else if (find_place(server, client, err) < 0 ||
		   cgroup_bounds_read(&client->groups, &client->place, bounds, err) < 0) {
		return err_wrap(err, "jail '%s'", spec->name);
	}
	if (ledger_clamp(&server->ledger, bounds, server->own.cpus, &spec->cgroup, clamped, err) <
	    0)
		return err_wrap(err, "jail '%s'", spec->name);
	if (*clamped == 0 || spec_check(spec, &tight) == 0)
		return 0;
	*err = tight;
	err->kind = ERR_HOST;
	return err_wrap(err, "jail '%s': the client's own control groups allow no more",
			spec->name);
}

static void start_jail(struct server *server, struct client *client, struct wire_asked *asked)
{
	struct jail_spec *spec = &asked->request.spec;
	struct cgroup_bounds bounds;
	struct errand errand = { .spec = spec, .bounds = &bounds };
	struct err why = ERR_INIT;

	strike_over(server);
	if (admit(server, client, spec, &bounds, &errand.clamped, &why) < 0)
		errand.refusal = &why;
	errand_send(server, client, &errand);
}

static void on_request(struct server *server, struct client *client, struct wire_asked *asked)
{
	struct err why = ERR_INIT;
	int got;

	if (client->is_hasty) {
		err_set(&why, ERR_INPUT,
			"a client of the service waits until it is spoken to; is this proctor "
			"of another version?");
		answer(client, EVENT_FAILED, &why);
		errand_end(server, client);
		return;
	}
	got = wire_peek(client->socket_fd, asked, &why);
	if (got < 0 && why.sys == EAGAIN)
		return;
	if (got == 0 || why.sys != 0) {
		errand_end(server, client);
		return;
	}
	if (got < 0) {
		refuse(server, client, asked, NULL, &why);
		return;
	}
	if (asked->request.head.kind == REQUEST_HELLO) {
		greet(server, client, asked);
		return;
	}
	if (!client->has_greeted) {
		err_set(&why, ERR_INPUT, "a client of the service greets first");
		refuse(server, client, asked, NULL, &why);
		return;
	}
	if (asked->request.head.kind == REQUEST_TIMING)
		lease_timing(server, client, asked);
	else
		start_jail(server, client, asked);
}

/* --- connections --- */

/* What was sent before we had hold of the sender may be of one whose number is another's now. */
static bool has_spoken(int socket_fd)
{
	struct pollfd ready = { .fd = socket_fd, .events = POLLIN };

	return poll(&ready, 1, 0) != 0;
}

static int check_peer(const struct server *server, int socket_fd, const struct peer *peer,
		      struct err *err)
{
	const struct site *site = server->site;
	const uint64_t end = site->uid_base + site->uid_ranges * IDS_RANGE;

	if (peer->uid >= site->uid_base && peer->uid < end)
		return err_set(err, ERR_INPUT, "account %u is that of a jail", peer->uid);
	if (!peer_is_in(socket_fd, server->listener.group))
		return err_set(err, ERR_INPUT,
			       "account %u is not in the group %u, whose members may use the "
			       "launcher",
			       peer->uid, server->listener.group);
	if (peer->uid != 0 && clients_count_of(&server->clients, peer->uid) >= CLIENTS_OF_ONE_MAX)
		return err_set(err, ERR_HOST,
			       "account %u has %d connections to the launcher already: end some",
			       peer->uid, CLIENTS_OF_ONE_MAX);
	return 0;
}

static void on_connection(struct server *server)
{
	auto_fd fd = accept4(server->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct client unknown = { .socket_fd = fd }, *client = NULL;
	struct peer peer = PEER_INIT;
	struct err why = ERR_INIT;
	int result;

	if (fd < 0)
		return;
	result = peer_open(fd, &peer, &why);
	if (result == 0)
		result = check_peer(server, fd, &peer, &why);
	if (result == 0)
		client = clients_add(&server->clients, fd, &peer, &why);
	if (client) {
		client->is_hasty = has_spoken(fd);
		if (!client->is_hasty)
			answer(client, EVENT_READY, NULL);
		fd_take(&fd);
		return;
	}
	answer(&unknown, EVENT_FAILED, &why);
	errand_close(server, peer.uid, &fd);
	peer_done(&peer);
}

int serve_add_private(struct server *server, int socket_fd, struct err *err)
{
	struct peer peer = { .pid = getppid(), .uid = 0, .pid_fd = -1 };
	struct client *client;

	/* One that has gone meanwhile is seen by its socket. */
	peer.pid_fd = sys_pidfd_open(peer.pid, 0);
	client = clients_add(&server->clients, socket_fd, &peer, err);
	if (!client) {
		peer_done(&peer);
		return -1;
	}
	client->is_private = client->has_greeted = true;
	return 0;
}

/* --- children --- */

/* In a process of its own: what resists takes seconds, and requests do not wait. */
static void reap_jails(struct server *server)
{
	struct process reaper = PROCESS_INIT;
	struct err ignored = ERR_INIT;

	if (process_fork(&reaper, &ignored) == 0) {
		clients_let_go(&server->clients, NULL);
		fd_close(&server->listener.fd);
		jail_reap(&server->host);
		_exit(0);
	}
	fd_close(&reaper.pid_fd);
}

/*
 * A monitor that ends by itself leaves nothing; behind one that was killed others clear up.
 * Return: false once SIGTERM has come.
 */
static bool on_signals(struct server *server)
{
	struct signalfd_siginfo info;
	bool killed = false, goes_on = true;
	int status;
	pid_t child;

	while (read(server->signals_fd, &info, sizeof(info)) > 0)
		if (info.ssi_signo == SIGTERM)
			goes_on = false;
	while ((child = waitpid(-1, &status, WNOHANG)) > 0) {
		killed |= WIFSIGNALED(status);
		if (child == server->spare.process.pid)
			errand_drop_spare(server);
		strike(server, child);
	}
	if (killed)
		reap_jails(server);
	return goes_on;
}

/* --- the loop --- */

enum { LISTENER, SIGNALS, OVER, FIRST };

static bool is_held(const struct server *server, const struct client *client)
{
	return client->peer.uid != 0 && server->ledger.count >= LEAVING_MAX &&
	       ledger_leaving(&server->ledger, client->peer.uid) >= LEAVING_MAX;
}

static size_t fill(const struct server *server, struct pollfd *ready)
{
	size_t count = FIRST;

	ready[LISTENER] = (struct pollfd){ .fd = server->listener.fd, .events = POLLIN };
	ready[SIGNALS] = (struct pollfd){ .fd = server->signals_fd, .events = POLLIN };
	ready[OVER] = (struct pollfd){ .fd = server->over_fd, .events = POLLIN };
	for (size_t i = 0; i < server->clients.count; i++) {
		const struct client *client = server->clients.list[i];
		const bool is_over = client->socket_fd < 0;

		ready[count++] = (struct pollfd){ .fd = client->socket_fd,
						  .events = is_held(server, client) ? 0 : POLLIN };
		ready[count++] = (struct pollfd){ .fd = is_over ? -1 : client->peer.pid_fd,
						  .events = POLLIN };
	}
	return count;
}

/* A connection outlives its process where that has given copies away; a client does not. */
static void serve_clients(struct server *server, const struct pollfd *ready, size_t count,
			  struct wire_asked *asked)
{
	for (size_t i = FIRST; i < count; i += 2) {
		struct client *client = server->clients.list[(i - FIRST) / 2];

		if (ready[i + 1].revents)
			errand_end(server, client);
		else if (ready[i].revents & POLLIN)
			on_request(server, client, asked);
		else if (ready[i].revents)
			errand_end(server, client);
	}
}

static bool is_private_gone(const struct server *server)
{
	const struct clients *clients = &server->clients;

	for (size_t i = 0; i < clients->count; i++)
		if (clients->list[i]->is_private)
			return clients->list[i]->socket_fd < 0;
	return server->listener.fd < 0;
}

static void wait_for_children(struct server *server)
{
	const int64_t deadline = clock_after_ms(END_MS);
	struct pollfd ready = { .fd = server->signals_fd, .events = POLLIN };
	struct signalfd_siginfo info;
	pid_t child;

	for (;;) {
		while ((child = waitpid(-1, NULL, WNOHANG)) > 0)
			strike(server, child);
		if (child < 0 || clock_now() >= deadline)
			return;
		poll(&ready, 1, clock_poll_ms(deadline));
		while (read(server->signals_fd, &info, sizeof(info)) > 0)
			;
	}
}

static void end_all(struct server *server)
{
	for (size_t i = 0; i < server->clients.count; i++)
		errand_end(server, server->clients.list[i]);
	/* Each monitor ends by itself: its client has gone. */
	errand_drop_spare(server);
	wait_for_children(server);
	clients_sweep(&server->clients);
	/* Of others, too: what was not dead enough when this one started. */
	jail_reap(&server->host);
	ledger_done(&server->ledger);
}

void serve_run(struct server *server)
{
	cleanup(mem_free) struct wire_asked *asked = mem_alloc(1, sizeof(*asked));
	cleanup(mem_free) struct pollfd *ready =
		mem_alloc(FIRST + 2 * (size_t) CLIENTS_MAX, sizeof(*ready));
	const uint64_t most_ms = server->site->client.timing_ms;
	int64_t look_again = server->listener.fd < 0 ? CLOCK_NEVER : clock_after_ms(SECOND_LOOK_MS);
	bool goes_on = true;

	while (goes_on && !is_private_gone(server)) {
		int64_t next = clients_expire(&server->clients, most_ms);
		size_t count = fill(server, ready);

		if (clock_now() >= look_again) {
			look_again = CLOCK_NEVER;
			reap_jails(server);
		}
		next = MIN_OF(next, look_again);
		if (poll(ready, count, clock_poll_ms(next)) < 0)
			continue;
		if (ready[OVER].revents)
			strike_over(server);
		serve_clients(server, ready, count, asked);
		if (ready[SIGNALS].revents)
			goes_on = on_signals(server);
		if (ready[LISTENER].revents)
			on_connection(server);
		clients_sweep(&server->clients);
	}
	end_all(server);
}
