/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/errand.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/message.h"
#include "sandbox/base/process.h"
#include "sandbox/base/syscalls.h"
#include "sandbox/gpu_seat.h"
#include "sandbox/monitor.h"

/* From a fork to the child's first call; and what the spare, which is there, is given. */
enum { TAKE_MS = 10 * 1000, SPARE_MS = 2000 };

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

/* The file system that the site lists by the spec's name. */
static int find_image(const struct server *server, const struct jail_spec *spec,
		      struct image_source *out, struct err *err)
{
	static const enum image_kind kinds[] = {
		[SITE_FOLDER] = IMAGE_FOLDER,
		[SITE_SQUASHFS] = IMAGE_SQUASHFS,
		[SITE_EROFS] = IMAGE_EROFS,
	};
	const struct site_source *listed = site_source(server->site, spec->plan.image);

	if (!listed)
		return err_set(err, ERR_SYS, "an image that is not listed came this far");
	*out = (struct image_source){ .kind = kinds[listed->kind] };
	snprintf(out->name, sizeof(out->name), "%s", listed->name);
	snprintf(out->path, sizeof(out->path), "%s", listed->path);
	return 0;
}

/* Nodes and paths of the GPUs that were leased. */
static int add_gpus(const struct gpu_host *where, const struct gpu_seat *seat,
		    struct device_slice *devices, struct plan_extras *extras, struct err *err)
{
	for (uint32_t i = 0; i < seat->count; i++) {
		struct gpu_node nodes[GPU_NODES_MAX];
		uint32_t count;

		if (gpu_nodes(where, &seat->own[i], nodes, &count, err) < 0 ||
		    gpu_seat_devices(nodes, count, devices, err) < 0)
			return -1;
	}
	return gpu_seat_tree(&seat->all, seat->own, seat->count, extras, err);
}

static int take_gpus(const struct server *server, const struct jail_spec *spec,
		     struct gpu_seat *seat, struct device_slice *devices,
		     struct plan_extras *extras, struct err *err)
{
	auto_fd proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	auto_fd sys_fd = open("/sys", O_PATH | O_DIRECTORY | O_CLOEXEC);
	auto_fd dev_fd = open("/dev", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const struct gpu_host where = { proc_fd, sys_fd, dev_fd };

	if (gpu_seat_take(server->site, spec, &where, server->host.state_fd, seat, err) < 0)
		return -1;
	return add_gpus(&where, seat, devices, extras, err);
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

/* What one jail has beside that of all jails; a jail_host refers to it. */
struct equipment {
	struct image_source image;
	struct gpu_seat gpus; /* leased until the end of this process, if not given back before */
	struct device_slice devices;
};

/* What the site gives every jail that has the host's /usr. */
static int add_folders(const struct site *site, struct plan_extras *extras, struct err *err)
{
	for (uint32_t i = 0; i < site->folder_count; i++)
		if (plan_add_extra(extras, PLAN_EXTRA_FOLDER, site->folders[i] + 1, err) < 0)
			return -1;
	return 0;
}

static int add_nodes(const struct server *server, const struct jail_spec *spec,
		     struct jail_host *host, struct equipment *had, struct err *err)
{
	had->devices = *server->host.devices;
	if (add_devices(server, spec, &had->devices, err) < 0)
		return -1;
	host->gpus = &had->gpus;
	if (spec->gpu_count > 0 &&
	    take_gpus(server, spec, &had->gpus, &had->devices, &host->extras, err) < 0)
		return -1;
	host->devices = &had->devices;
	host->devices_fd = devices_load(&had->devices, err);
	return host->devices_fd < 0 ? -1 : 0;
}

static int equip(const struct server *server, const struct jail_spec *spec, struct jail_host *host,
		 struct equipment *had, struct err *err)
{
	if (spec->plan.root == PLAN_ROOT_HOST && add_folders(server->site, &host->extras, err) < 0)
		return -1;
	if (spec->plan.root == PLAN_ROOT_IMAGE) {
		if (find_image(server, spec, &had->image, err) < 0)
			return -1;
		host->image = &had->image;
	}
	if (spec->device_count == 0 && spec->gpu_count == 0)
		return 0;
	return add_nodes(server, spec, host, had, err);
}

/* The rest of this process is one jail's monitor. */
static int run_monitor(struct server *server, const struct client *client,
		       const struct errand *errand, struct spec_fds *fds, struct err *err)
{
	auto_fd job_fd = client->is_private ? -1 : cgroup_groups_events_fd(&client->groups);
	cleanup(mem_free) struct equipment *had = mem_alloc(1, sizeof(*had));
	struct jail_host host = server->host;
	struct monitor monitor;

	host.clamped = errand->clamped;
	host.client = client->peer.uid;
	if (!client->is_private)
		host.cgroups = &client->place;
	if (tie(server, client, job_fd, &host.ties, err) < 0)
		return -1;
	if (equip(server, errand->spec, &host, had, err) < 0)
		return err_wrap(err, "jail '%s'", errand->spec->name);
	monitor_init(&monitor, &host);
	monitor_run(&monitor, errand->spec, fds);
	return 0;
}

/* What only the launcher has a use for; a copy that is closed while the launcher waits is no last
   one. */
static void let_go(struct server *server, const struct client *keep)
{
	clients_let_go(&server->clients, keep);
	fd_close(&server->listener.fd);
	fd_close(&server->signals_fd);
	fd_close(&server->over_fd);
	fd_close(&server->spare.ask_fd);
}

no_return static void run_errand(struct server *server, const struct client *client,
				 const struct errand *errand, int taken_fd)
{
	struct message_fds got = MESSAGE_FDS_INIT;
	struct err err = ERR_INIT, none = ERR_INIT;
	struct spec_fds fds;
	int taken = message_take_fds(client->socket_fd, &got, &err);

	/* The launcher waits for this, or for our end: up to here no descriptor of the client's may
	   have been closed, what is not wanted included. */
	let_go(server, client);
	best_effort(write(taken_fd, "x", 1));
	close(taken_fd);
	if (taken < 0) {
		best_effort(wire_sort(NULL, &got, &fds, &none));
		say_no(&fds, errand->refusal ? errand->refusal : &err);
		_exit(0);
	}
	taken = wire_sort(errand->spec, &got, &fds, &err);
	if (errand->refusal)
		say_no(&fds, errand->refusal);
	else if (taken < 0 || run_monitor(server, client, errand, &fds, &err) < 0)
		say_no(&fds, &err);
	_exit(0);
}

/* Return: has the child written its byte? */
static bool wait_for_byte(int taken_fd, int ms)
{
	struct pollfd ready = { .fd = taken_fd, .events = POLLIN };
	char byte;
	int got;

	do
		got = poll(&ready, 1, ms);
	while (got < 0 && errno == EINTR);
	return got > 0 && read(taken_fd, &byte, 1) == 1;
}

/* -- the spare: a monitor that is there before the request is -- */

/* What it is told then; the client's connection comes with it. */
struct order {
	uint32_t clamped;
	struct jail_spec spec;
};

/*
 * Without pid 1, which somebody has killed, no more orders are taken, though one may have come
 * before. Return: 1 with an order, 0 if nobody needs us any more.
 */
static int await_order(int ask_fd, const struct monitor *monitor, struct order *out,
		       struct message_fds *fds)
{
	const struct ties *ties = &monitor->host->ties;
	struct err ignored = ERR_INIT;
	struct pollfd ready[] = {
		{ .fd = ask_fd, .events = POLLIN },
		{ .fd = ties->fd, .events = POLLIN },
		{ .fd = monitor_pid_1(monitor), .events = POLLIN },
	};

	while (ready[0].revents == 0) {
		if (poll(ready, ARRAY_LEN(ready), -1) < 0 && errno != EINTR)
			return 0;
		if (ready[1].revents && ties_broken(ties) != TIE_NONE)
			return 0;
		if (ready[2].revents && shutdown(ask_fd, SHUT_RD) == 0)
			break;
	}
	return message_receive(ask_fd, out, sizeof(*out), fds, &ignored) ==
		       (ssize_t) sizeof(*out) &&
	       fds->count == 1;
}

no_return static void run_spare(struct server *server, const struct client *client, int ask_fd)
{
	struct message_fds socket = MESSAGE_FDS_INIT, got = MESSAGE_FDS_INIT;
	struct order *order = mem_alloc(1, sizeof(*order));
	struct jail_host host = server->host;
	struct err err = ERR_INIT, none = ERR_INIT;
	struct monitor monitor;
	struct spec_fds fds;
	int taken;

	let_go(server, client);
	if (tie(server, client, -1, &host.ties, &err) < 0 ||
	    add_folders(server->site, &host.extras, &err) < 0)
		_exit(1);
	monitor_init(&monitor, &host);
	/* What fails now is tried again, and told, when somebody asks for a jail. */
	best_effort(monitor_prepare(&monitor, &err));
	if (await_order(ask_fd, &monitor, order, &socket) == 0) {
		monitor_done(&monitor);
		_exit(0);
	}
	err = (struct err) ERR_INIT;
	taken = message_take_fds(socket.fd[0], &got, &err);
	best_effort(write(ask_fd, "x", 1));
	close(ask_fd);
	message_fds_done(&socket);
	if (taken < 0)
		best_effort(wire_sort(NULL, &got, &fds, &none));
	else
		taken = wire_sort(&order->spec, &got, &fds, &err);
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
	       errand->spec->gpu_count == 0 && errand->spec->plan.root == PLAN_ROOT_HOST;
}

/*
 * One that does not take its order, be it that it still clears up what resists or that somebody has
 * stopped it, has to have ended before another process can. Return: 1 it had taken it all the same,
 * 0 it has ended, -1 it has not.
 */
static int end_spare(const struct spare *spare)
{
	struct pollfd ended = { .fd = spare->process.pid_fd, .events = POLLIN };
	char byte;

	sys_pidfd_send_signal(spare->process.pid_fd, SIGKILL);
	if (poll(&ended, 1, SPARE_MS) <= 0)
		return -1;
	return read(spare->ask_fd, &byte, 1) == 1;
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
	else if (wait_for_byte(server->spare.ask_fd, SPARE_MS))
		result = 1;
	else
		result = end_spare(&server->spare);
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
	return wait_for_byte(read_fd, TAKE_MS) ? 1 : -1;
}

/*
 * A request that nobody took would be the next one again, and descriptors of a client's are not for
 * this process: such a connection is over.
 */
void errand_send(struct server *server, struct client *client, const struct errand *errand)
{
	struct ledger_jail entry = { .client = client->id,
				     .uid = client->peer.uid,
				     .is_over = errand->refusal != NULL };
	int taken = give_to_spare(server, client, errand, &entry.monitor);

	if (taken == 0)
		taken = give_to_child(server, client, errand, &entry.monitor);
	if (taken != 0) {
		ledger_enter(&server->ledger, &entry, errand->spec ? &errand->spec->cgroup : NULL,
			     errand->bounds);
		client->jails++;
	}
	if (taken <= 0) {
		errand_end(server, client);
		return;
	}
	server->spare.asked += fits_spare(client, errand);
}

/* --- connections that are over --- */

no_return static void bury(struct server *server, int socket_fd, int pair_fd)
{
	char byte;

	let_go(server, NULL);
	best_effort(write(pair_fd, "x", 1));
	/* Until the launcher has closed its own. */
	best_effort(read(pair_fd, &byte, 1));
	close(socket_fd);
	_exit(0);
}

void errand_close(struct server *server, uid_t uid, int *socket_fd)
{
	struct ledger_jail entry = { .uid = uid, .is_over = true };
	struct process child = PROCESS_INIT;
	struct err ignored = ERR_INIT;
	auto_fd ours = -1, theirs = -1;
	int pair[2], copy, forked;

	if (*socket_fd < 0 || !message_hang_up(*socket_fd)) {
		fd_close(socket_fd);
		return;
	}
	copy = fcntl(*socket_fd, F_DUPFD_CLOEXEC, 0);
	if (copy < 0 || message_pair(pair, &ignored) < 0) {
		*socket_fd = -1; /* better a descriptor less than a launcher that waits */
		return;
	}
	ours = pair[0];
	theirs = pair[1];
	forked = process_fork(&child, &ignored);
	if (forked == 0) {
		fd_close(&ours);
		bury(server, copy, theirs);
	}
	fd_close(&theirs);
	if (forked > 0) {
		entry.monitor = child.pid;
		ledger_enter(&server->ledger, &entry, NULL, NULL);
		best_effort(wait_for_byte(ours, TAKE_MS));
		fd_close(socket_fd);
		close(copy);
	}
	*socket_fd = -1;
	fd_close(&child.pid_fd);
}

void errand_end(struct server *server, struct client *client)
{
	if (!client->is_private)
		errand_close(server, client->peer.uid, &client->socket_fd);
	clients_end(client);
}
