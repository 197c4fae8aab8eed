/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/errand.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/process.h"
#include "sandbox/monitor.h"

/* From a fork to the child's first call. */
enum { TAKE_MS = 10 * 1000 };

static void say_no(struct spec_fds *fds, const struct err *why)
{
	const struct event refusal = { .kind = EVENT_FAILED, .err = *why };
	struct err ignored = ERR_INIT;

	/* Who has not sent a socket can not be told, and who does not read is not waited for. */
	if (fds->fd[SPEC_FD_CONTROL] >= 0)
		best_effort(wire_tell(fds->fd[SPEC_FD_CONTROL], &refusal, NULL, &ignored));
}

/* The nodes that the site lists by these names, beside those of every jail. */
static int add_devices(const struct server *server, const struct jail_spec *spec,
		       struct device_slice *out, struct err *err)
{
	*out = *server->host.devices;
	for (size_t i = 0; i < spec->device_count; i++) {
		const struct site_device *listed = site_device(server->site, spec->devices[i].name);
		struct device device = { .type = DEVICE_CHAR,
					 .access = DEVICE_READ | DEVICE_WRITE };
		struct stat node;

		if (!listed)
			return err_set(err, ERR_SYS, "a device that is not listed came this far");
		if (lstat(listed->path, &node) < 0 || !S_ISCHR(node.st_mode))
			return err_set(err, ERR_HOST,
				       "device '%s': '%s' is no character device now; see %s",
				       listed->name, listed->path, server->site->file);
		if (strlen(listed->path) - 5 >= sizeof(device.name))
			return err_set(err, ERR_HOST, "device '%s': the name '%s' is too long",
				       listed->name, listed->path);
		snprintf(device.name, sizeof(device.name), "%.*s", (int) sizeof(device.name) - 1,
			 listed->path + 5);
		device.major = major(node.st_rdev);
		device.minor = minor(node.st_rdev);
		device.mode = node.st_mode & 0777;
		if (devices_add(out, &device, err) < 0)
			return -1;
	}
	return 0;
}

static int tie(const struct server *server, const struct client *client, int job_fd,
	       struct ties *out, struct err *err)
{
	if (ties_open(out, err) < 0 || ties_add(out, TIE_LAUNCHER, server->self_fd, err) < 0 ||
	    ties_add(out, TIE_CLIENT, client->gone_fd, err) < 0 ||
	    ties_add(out, TIE_CLIENT, client->peer.pid_fd, err) < 0 ||
	    ties_add(out, TIE_JOB, job_fd, err) < 0)
		return -1;
	return 0;
}

/* What this jail has beside that of all jails. @devices, @devices_fd: the caller's, for @host. */
static int equip(const struct server *server, const struct jail_spec *spec, struct jail_host *host,
		 struct device_slice *devices, int *devices_fd, struct err *err)
{
	if (spec->device_count == 0)
		return 0;
	if (add_devices(server, spec, devices, err) < 0)
		return err_wrap(err, "jail '%s'", spec->name);
	*devices_fd = devices_load(devices, err);
	if (*devices_fd < 0)
		return -1;
	host->devices = devices;
	host->devices_fd = *devices_fd;
	return 0;
}

/* The rest of this process is one jail's monitor. */
static int run_monitor(struct server *server, const struct client *client,
		       const struct errand *errand, struct spec_fds *fds, struct err *err)
{
	auto_fd job_fd = client->is_private ? -1 : cgroup_groups_events_fd(&client->groups);
	struct jail_host host = server->host;
	struct device_slice devices;
	struct monitor monitor;
	auto_fd devices_fd = -1;

	host.clamped = errand->clamped;
	if (!client->is_private)
		host.cgroups = &client->place;
	if (tie(server, client, job_fd, &host.ties, err) < 0)
		return -1;
	if (equip(server, errand->spec, &host, &devices, &devices_fd, err) < 0)
		return -1;
	monitor_init(&monitor, &host);
	monitor_run(&monitor, errand->spec, fds);
	return 0;
}

static void let_go(struct server *server, const struct client *client)
{
	clients_let_go(&server->clients, client);
	fd_close(&server->listener.fd);
	fd_close(&server->signals_fd);
	fd_close(&server->over_fd);
	fd_close(&server->spare.ask_fd);
}

no_return static void run_errand(struct server *server, const struct client *client,
				 const struct errand *errand, int taken_fd)
{
	struct err err = ERR_INIT;
	struct spec_fds fds;
	int taken = wire_take(client->socket_fd, errand->spec, &fds, &err);

	/* The launcher waits for this, or for our end. */
	best_effort(write(taken_fd, "x", 1));
	close(taken_fd);
	let_go(server, client);
	if (errand->refusal)
		say_no(&fds, errand->refusal);
	else if (taken < 0 || run_monitor(server, client, errand, &fds, &err) < 0)
		say_no(&fds, &err);
	_exit(0);
}

/* Return: has the child taken the request? */
static bool wait_until_taken(int taken_fd)
{
	struct pollfd ready = { .fd = taken_fd, .events = POLLIN };
	char byte;
	int got;

	do
		got = poll(&ready, 1, TAKE_MS);
	while (got < 0 && errno == EINTR);
	return got > 0 && read(taken_fd, &byte, 1) == 1;
}

/* -- the spare: a monitor that is there before the request is -- */

/* What it is told then; the client's connection comes with it. */
struct order {
	uint32_t clamped;
	struct jail_spec spec;
};

/* Return: 1 with an order, 0 if nobody needs us any more. */
static int await_order(int ask_fd, const struct ties *ties, struct order *out,
		       struct message_fds *fds)
{
	struct err ignored = ERR_INIT;
	struct pollfd ready[] = {
		{ .fd = ask_fd, .events = POLLIN },
		{ .fd = ties->fd, .events = POLLIN },
	};

	while (ready[0].revents == 0) {
		if (poll(ready, ARRAY_LEN(ready), -1) < 0 && errno != EINTR)
			return 0;
		if (ready[1].revents && ties_broken(ties) != TIE_NONE)
			return 0;
	}
	return message_receive(ask_fd, out, sizeof(*out), fds, &ignored) ==
		       (ssize_t) sizeof(*out) &&
	       fds->count == 1;
}

no_return static void run_spare(struct server *server, const struct client *client, int ask_fd)
{
	struct message_fds socket = MESSAGE_FDS_INIT;
	struct order *order = mem_alloc(1, sizeof(*order));
	struct jail_host host = server->host;
	struct err err = ERR_INIT;
	struct monitor monitor;
	struct spec_fds fds;
	int taken;

	let_go(server, client);
	if (tie(server, client, -1, &host.ties, &err) < 0)
		_exit(1);
	monitor_init(&monitor, &host);
	/* What fails now is tried again, and told, when somebody asks for a jail. */
	best_effort(monitor_prepare(&monitor, &err));
	if (await_order(ask_fd, &host.ties, order, &socket) == 0) {
		monitor_done(&monitor);
		_exit(0);
	}
	err = (struct err) ERR_INIT;
	taken = wire_take(socket.fd[0], &order->spec, &fds, &err);
	message_fds_done(&socket);
	best_effort(write(ask_fd, "x", 1));
	close(ask_fd);
	host.clamped = order->clamped;
	if (taken < 0) {
		say_no(&fds, &err);
		monitor_done(&monitor);
	} else {
		monitor_run(&monitor, &order->spec, &fds);
	}
	_exit(0);
}

/* Who has had two jails will ask for a third. Without a spare that one takes a little longer. */
void errand_make_spare(struct server *server, const struct client *client)
{
	struct err ignored = ERR_INIT;
	auto_fd ask_fd = -1, theirs = -1;
	int pair[2], forked;

	if (!client->is_private || client->socket_fd < 0 || server->spare.asked < 2 ||
	    server->spare.ask_fd >= 0 || message_pair(pair, &ignored) < 0)
		return;
	ask_fd = pair[0];
	theirs = pair[1];
	forked = process_fork(&server->spare.process, &ignored);
	if (forked == 0) {
		close(ask_fd);
		run_spare(server, client, theirs);
	}
	if (forked > 0)
		server->spare.ask_fd = fd_take(&ask_fd);
}

void errand_drop_spare(struct server *server)
{
	const size_t asked = server->spare.asked;

	fd_close(&server->spare.ask_fd);
	fd_close(&server->spare.process.pid_fd);
	server->spare = SPARE_INIT;
	server->spare.asked = asked;
}

/* One that has died meanwhile has not taken anything. */
static bool is_waiting(const struct spare *spare)
{
	struct pollfd ended = { .fd = spare->process.pid_fd, .events = POLLIN };

	return spare->ask_fd >= 0 && poll(&ended, 1, 0) == 0;
}

/*
 * It was made for a private client's jails, in the launcher's own groups, with the devices that all
 * of them have. What else a jail can have is listed here when there is such a thing.
 */
static bool fits_spare(const struct client *client, const struct errand *errand)
{
	return client->is_private && !errand->refusal && errand->spec->device_count == 0 &&
	       errand->spec->plan.root == PLAN_ROOT_HOST;
}

/* Return: 1 the spare has the request, 0 it is as it was, -1 nobody knows. */
static int give_to_spare(struct server *server, const struct client *client,
			 const struct errand *errand, pid_t *pid)
{
	cleanup(mem_free) struct order *order = NULL;
	const struct message_fds socket = { .count = 1, .fd = { client->socket_fd } };
	struct err ignored = ERR_INIT;
	int result;

	if (!fits_spare(client, errand) || !is_waiting(&server->spare))
		return 0;
	order = mem_alloc(1, sizeof(*order));
	order->clamped = errand->clamped;
	order->spec = *errand->spec;
	*pid = server->spare.process.pid;
	if (message_send(server->spare.ask_fd, order, sizeof(*order), &socket, &ignored) < 0)
		result = 0;
	else
		result = wait_until_taken(server->spare.ask_fd) ? 1 : -1;
	errand_drop_spare(server);
	return result;
}

/* -- both -- */

/* Return: 1 a child has taken the request, 0 there is no child, -1 one has not. */
static int give_to_child(struct server *server, const struct client *client,
			 const struct errand *errand, pid_t *pid)
{
	struct process child = PROCESS_INIT;
	struct err ignored = ERR_INIT;
	auto_fd read_fd = -1, write_fd = -1;
	int pair[2], forked;

	if (pipe2(pair, O_CLOEXEC) < 0)
		return 0;
	read_fd = pair[0];
	write_fd = pair[1];
	forked = process_fork(&child, &ignored);
	if (forked == 0)
		run_errand(server, client, errand, write_fd);
	if (forked < 0)
		return 0;
	fd_close(&write_fd);
	*pid = child.pid;
	fd_close(&child.pid_fd);
	return wait_until_taken(read_fd) ? 1 : -1;
}

/*
 * A request that nobody took would be the next one again, and descriptors of a client's are not for
 * this process: such a connection is over.
 */
void errand_send(struct server *server, struct client *client, const struct errand *errand)
{
	struct ledger_jail entry = { .client = client->id,
				     .uid = client->peer.uid,
				     .is_refusal = errand->refusal != NULL };
	int taken = give_to_spare(server, client, errand, &entry.monitor);

	if (taken == 0)
		taken = give_to_child(server, client, errand, &entry.monitor);
	if (taken != 0) {
		ledger_enter(&server->ledger, &entry, errand->spec ? &errand->spec->cgroup : NULL,
			     errand->bounds);
		client->jails++;
	}
	if (taken <= 0) {
		clients_end(client);
		return;
	}
	server->spare.asked += fits_spare(client, errand);
}
