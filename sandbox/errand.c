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
#include "sandbox/gpu_seat.h"
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

/* What the site gives every jail, and this one's devices and GPUs. */
static int give(const struct server *server, const struct jail_spec *spec, struct jail_host *host,
		struct gpu_seat *seat, struct device_slice *devices, struct err *err)
{
	for (uint32_t i = 0; i < server->site->folder_count; i++)
		if (plan_add_extra(&host->extras, PLAN_EXTRA_FOLDER, server->site->folders[i] + 1,
				   err) < 0)
			return -1;
	if (spec->device_count == 0 && spec->gpu_count == 0)
		return 0;
	*devices = *server->host.devices;
	if (add_devices(server, spec, devices, err) < 0)
		return -1;
	host->gpus = seat;
	if (spec->gpu_count > 0 && take_gpus(server, spec, seat, devices, &host->extras, err) < 0)
		return -1;
	host->devices = devices;
	host->devices_fd = devices_load(devices, err);
	return host->devices_fd < 0 ? -1 : 0;
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

/* The rest of this process is one jail's monitor. */
static int run_monitor(struct server *server, const struct client *client,
		       const struct errand *errand, struct spec_fds *fds, struct err *err)
{
	auto_fd job_fd = client->is_private ? -1 : cgroup_groups_events_fd(&client->groups);
	cleanup(mem_free) struct gpu_seat *seat = mem_alloc(1, sizeof(*seat));
	struct jail_host host = server->host;
	struct device_slice devices;

	host.clamped = errand->clamped;
	if (!client->is_private)
		host.cgroups = &client->place;
	if (tie(server, client, job_fd, &host.ties, err) < 0)
		return -1;
	if (give(server, errand->spec, &host, seat, &devices, err) < 0)
		return err_wrap(err, "jail '%s'", errand->spec->name);
	/* This process then ends, and with it the leases. */
	monitor_run(&host, errand->spec, fds);
	return 0;
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
	clients_let_go(&server->clients, client);
	fd_close(&server->listener.fd);
	fd_close(&server->signals_fd);
	fd_close(&server->over_fd);
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

/*
 * A request that nobody took would be the next one again, and descriptors of a client's are not for
 * this process: such a connection is over.
 */
void errand_send(struct server *server, struct client *client, const struct errand *errand)
{
	struct ledger_jail entry = { .client = client->id,
				     .uid = client->peer.uid,
				     .is_refusal = errand->refusal != NULL };
	struct process child = PROCESS_INIT;
	struct err ignored = ERR_INIT;
	auto_fd read_fd = -1, write_fd = -1;
	int pair[2], forked;

	if (pipe2(pair, O_CLOEXEC) < 0) {
		clients_end(client);
		return;
	}
	read_fd = pair[0];
	write_fd = pair[1];
	forked = process_fork(&child, &ignored);
	if (forked == 0)
		run_errand(server, client, errand, write_fd);
	fd_close(&write_fd);
	if (forked > 0) {
		entry.monitor = child.pid;
		ledger_enter(&server->ledger, &entry, errand->spec ? &errand->spec->cgroup : NULL,
			     errand->bounds);
		client->jails++;
	}
	fd_close(&child.pid_fd);
	if (forked < 0 || !wait_until_taken(read_fd))
		clients_end(client);
}
