/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/drill/jailed.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/drill/scene.h"
#include "harness/run/compose.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"

enum { COLLECT_MS = 60 * 1000, FIRST_FOLDER_FD = 3 };

/* What is named by the drill and is root's: opened with no more right than to say its name. */
struct lent {
	int fds[3];
	size_t count;
};

static void lent_done(struct lent *lent)
{
	for (size_t i = 0; i < lent->count; i++)
		fd_close(&lent->fds[i]);
}

static int lend(struct lent *lent, int folder_fd, const char *path, struct err *err)
{
	int fd = openat(folder_fd, path, O_PATH | O_CLOEXEC);

	if (fd < 0)
		return err_sys(err, "name '%s'", path);
	lent->fds[lent->count++] = fd;
	return fd;
}

static int set_words(const struct drill *drill, const struct drill_order *order,
		     const struct policy_role *role, struct jail_spec *spec, struct err *err)
{
	cleanup(mem_free) struct scene_words *words = mem_alloc(1, sizeof(*words));

	scene_words(drill->bait, order->attack, role, order->round, false, words);
	if (spec_add_arg(spec, "proctor-attack", err) < 0 ||
	    spec_add_arg(spec, order->attack->id, err) < 0)
		return -1;
	for (size_t i = 0; i < words->count; i++)
		if (spec_add_arg(spec, words->text[i], err) < 0)
			return -1;
	for (size_t i = 0; compose_environment[i]; i++)
		if (spec_add_env(spec, compose_environment[i], err) < 0)
			return -1;
	return 0;
}

static void set_trees(const struct drill_order *order, const struct policy_role *role, int tree_fd,
		      struct jail_spec *spec, struct spec_fds *fds)
{
	struct stream_limits limits = STREAM_LIMITS_DEFAULT;

	limits.total = limits.file = MIN_OF(role->workspace.size, STREAM_BYTES_MAX);
	if (tree_fd >= 0) {
		spec->tree_count = 1;
		snprintf(spec->trees[0].path, sizeof(spec->trees[0].path), COMPOSE_WORK);
		spec->trees[0].limits = limits;
		fds->fd[SPEC_FD_TREES] = tree_fd;
	}
	if (order->archive_fd < 0)
		return;
	spec->collect.wanted = 1;
	spec->collect.wall_ms = COLLECT_MS;
	spec->collect.limits = limits;
	fds->fd[SPEC_FD_COLLECT] = order->archive_fd;
}

static int lend_archive(const struct bait *bait, struct lent *lent, struct jail_spec *spec,
			struct spec_fds *fds, struct err *err)
{
	int fd = lend(lent, bait->folder_fd, "root-only", err);

	spec->collect.wanted = 1;
	spec->collect.wall_ms = COLLECT_MS;
	spec->collect.limits = STREAM_LIMITS_DEFAULT;
	fds->fd[SPEC_FD_COLLECT] = fd;
	return fd < 0 ? -1 : 0;
}

static int lend_program(const struct bait *bait, struct lent *lent, struct spec_fds *fds,
			struct err *err)
{
	fds->fd[SPEC_FD_PROGRAM] = lend(lent, bait->folder_fd, "closed-program", err);
	return fds->fd[SPEC_FD_PROGRAM] < 0 ? -1 : 0;
}

static int give(int folder_fd, const char *name, struct lent *lent, struct jail_spec *spec,
		struct spec_fds *fds, struct err *err)
{
	int fd = lend(lent, folder_fd, name, err);

	fds->fd[SPEC_FD_PASS + spec->pass_count++] = fd;
	return fd < 0 ? -1 : 0;
}

/* What the attack wants to be handed: root's, by name. */
static int set_lent(const struct drill *drill, unsigned int flags, struct lent *lent,
		    struct jail_spec *spec, struct spec_fds *fds, struct err *err)
{
	const struct bait *bait = drill->bait;

	if (flags & DRILL_GIVES_CLOSED)
		return give(bait->folder_fd, "closed", lent, spec, fds, err);
	if (flags & DRILL_GIVES_OUTSIDE)
		return give(bait->outside_fd, ".", lent, spec, fds, err);
	if (flags & DRILL_LENDS_ARCHIVE)
		return lend_archive(bait, lent, spec, fds, err);
	if (flags & DRILL_LENDS_PROGRAM)
		return lend_program(bait, lent, fds, err);
	return 0;
}

/* A service of an attack, and a process that it leads to. */
struct offer {
	struct process endpoint;
	char connect[32];
	struct service service;
	struct services services;
};

static void offer_done(struct offer *offer)
{
	process_kill(&offer->endpoint);
}

/* It hears whoever comes, says nothing, and ends what the other side has ended. */
no_return static void be_endpoint(int listen_fd)
{
	enum { GUESTS = 64 };
	struct pollfd ready[1 + GUESTS] = { { .fd = listen_fd, .events = POLLIN } };
	char bytes[4096];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 1; i <= GUESTS; i++)
		ready[i] = (struct pollfd){ .fd = -1, .events = POLLIN };
	for (;;) {
		size_t free_at = 1;

		if (poll(ready, ARRAY_LEN(ready), -1) < 0)
			continue;
		for (size_t i = 1; i <= GUESTS; i++)
			if (ready[i].fd >= 0 && ready[i].revents &&
			    io_read_some(ready[i].fd, bytes, sizeof(bytes)) <= 0)
				fd_close(&ready[i].fd);
		while (free_at < GUESTS && ready[free_at].fd >= 0)
			free_at++;
		if (ready[0].revents)
			ready[free_at].fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
	}
}

static int offer_service(struct offer *offer, struct jail_spec *spec, struct err *err)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr = { htonl(INADDR_LOOPBACK) } };
	auto_fd listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(address);
	int forked;

	if (listen_fd < 0 ||
	    bind(listen_fd, (const struct sockaddr *) &address, sizeof(address)) < 0 ||
	    listen(listen_fd, NET_BACKLOG) < 0 ||
	    getsockname(listen_fd, (struct sockaddr *) &address, &len) < 0)
		return err_sys(err, "make an endpoint");
	forked = process_fork(&offer->endpoint, err);
	if (forked == 0)
		be_endpoint(listen_fd);
	if (forked < 0)
		return -1;
	snprintf(offer->connect, sizeof(offer->connect), "127.0.0.1:%u", ntohs(address.sin_port));
	offer->service = service_default;
	offer->service.name = "endpoint";
	offer->service.listen = SCENE_SERVICE;
	offer->service.connect = offer->connect;
	offer->services = (struct services){ &offer->service, 1 };
	spec->net = (struct net_slice){ 1, { SCENE_SERVICE } };
	return 0;
}

int jailed_run(const struct drill *drill, const struct drill_order *order, struct jail_outcome *out,
	       struct err *err)
{
	const unsigned int flags = order->attack->flags;
	const struct policy_role role = scene_limits(drill->policy, order->attack);
	struct jail_io io = { .folder_fd = -1,
			      .show_out_fd = MAX_OF(order->terminal_fd, 0),
			      .show_err_fd = MAX_OF(order->terminal_fd, 0),
			      .output_max = role.output,
			      .stop_fd = drill->stop_fd };
	cleanup(mem_free) struct jail_spec *spec = mem_alloc(1, sizeof(*spec));
	cleanup(lent_done) struct lent lent = { .count = 0 };
	cleanup(offer_done) struct offer offer = { .endpoint = PROCESS_INIT };
	struct spec_fds fds;
	int tree_fd = order->tree_fd;

	spec_init(spec, "drill");
	compose_role(drill->policy, &role, spec);
	spec_fds_init(&fds);
	spec->has_program = 1;
	fds.fd[SPEC_FD_PROGRAM] = drill->bait->program_fd;
	spec->pass_count = 1;
	fds.fd[SPEC_FD_PASS] = order->word_fd;
	if (flags & DRILL_LENDS_TREE)
		tree_fd = lend(&lent, drill->bait->folder_fd, "closed-tree", err);
	if (flags & DRILL_LENDS_TREE && tree_fd < 0)
		return -1;
	set_trees(order, &role, tree_fd, spec, &fds);
	if (flags & DRILL_FOLDERS)
		snprintf(spec->command.folder, sizeof(spec->command.folder), "/proc/self/fd/%d",
			 FIRST_FOLDER_FD + order->round - 1);
	io.services = &offer.services;
	if (flags & DRILL_SERVICE && offer_service(&offer, spec, err) < 0)
		return -1;
	if (set_lent(drill, flags, &lent, spec, &fds, err) < 0 ||
	    set_words(drill, order, &role, spec, err) < 0)
		return -1;
	return jail_run(drill->launcher_fd, spec, &fds, &io, out, err);
}
