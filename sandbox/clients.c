/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/clients.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/mem.h"

/* Beside the leases of uid ranges; runs of root open the same files themselves. */
#define LOCK_FILE "timing"
#define TURN_FILE "timing-turn"

struct client *clients_add(struct clients *clients, int socket_fd, const struct peer *peer,
			   struct err *err)
{
	auto_fd gone = -1;
	struct client *client;
	int yes = 1;

	if (clients->count == CLIENTS_MAX) {
		err_set(err, ERR_HOST, "the launcher has %d clients already: end some, or wait",
			CLIENTS_MAX);
		return NULL;
	}
	if (setsockopt(socket_fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) < 0) {
		err_sys(err, "have a socket say who sends");
		return NULL;
	}
	gone = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (gone < 0) {
		err_sys(err, "make an eventfd");
		return NULL;
	}
	client = mem_alloc(1, sizeof(*client));
	client->id = ++clients->next_id;
	client->socket_fd = socket_fd;
	client->gone_fd = fd_take(&gone);
	client->peer = *peer;
	client->place = CGROUP_HOST_INIT;
	client->lock_fd = client->turn_fd = -1;
	clients->list[clients->count++] = client;
	return client;
}

size_t clients_count_of(const struct clients *clients, uid_t uid)
{
	size_t count = 0;

	for (size_t i = 0; i < clients->count; i++)
		count += clients->list[i]->peer.uid == uid &&
			 (clients->list[i]->socket_fd >= 0 || clients->list[i]->jails > 0);
	return count;
}

struct client *clients_find(const struct clients *clients, uint64_t id)
{
	for (size_t i = 0; i < clients->count; i++)
		if (clients->list[i]->id == id)
			return clients->list[i];
	return NULL;
}

/* Of the lock itself and not of a copy: one may be left in a child for a moment. */
static int unlock(int fd)
{
	if (fd >= 0)
		flock(fd, LOCK_UN);
	return 1;
}

static void give_back(struct client *client)
{
	unlock(client->lock_fd);
	unlock(client->turn_fd);
	fd_close(&client->lock_fd);
	fd_close(&client->turn_fd);
	client->is_alone = client->has_turn = false;
}

void clients_end(struct client *client)
{
	const uint64_t one = 1;

	fd_close(&client->socket_fd);
	/* The counter of an eventfd that nobody reads has room for this. */
	best_effort(write(client->gone_fd, &one, sizeof(one)));
	give_back(client);
}

static void free_client(struct client *client)
{
	if (client->has_place)
		cgroup_host_done(&client->place);
	peer_done(&client->peer);
	fd_close(&client->gone_fd);
	fd_close(&client->lock_fd);
	fd_close(&client->turn_fd);
	free(client);
}

void clients_sweep(struct clients *clients)
{
	for (size_t i = 0; i < clients->count;) {
		struct client *client = clients->list[i];

		if (client->socket_fd >= 0 || client->jails > 0) {
			i++;
			continue;
		}
		clients->list[i] = clients->list[--clients->count];
		free_client(client);
	}
}

/*
 * Copies of a lock would keep it, and copies of a connection its client from seeing its end.
 */
void clients_let_go(struct clients *clients, const struct client *keep)
{
	for (size_t i = 0; i < clients->count; i++) {
		struct client *client = clients->list[i];

		fd_close(&client->socket_fd);
		fd_close(&client->lock_fd);
		fd_close(&client->turn_fd);
		if (client == keep)
			continue;
		fd_close(&client->gone_fd);
		peer_done(&client->peer);
		if (client->has_place)
			cgroup_host_forget(&client->place);
	}
}

/* --- the timing lease --- */

static int open_file(int folder_fd, const char *name, int *fd, struct err *err)
{
	if (*fd >= 0)
		return 0;
	*fd = openat(folder_fd, name, O_RDONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	return *fd < 0 ? err_host(err, "open the timing lease '%s'", name) : 0;
}

static int leave_lock(struct client *client)
{
	client->is_alone = false;
	return unlock(client->lock_fd);
}

static int leave_turn(struct client *client)
{
	client->has_turn = false;
	return unlock(client->turn_fd);
}

static int take_turn(struct client *client, uint64_t most_ms)
{
	if (client->has_turn)
		return 1;
	client->has_turn = flock(client->turn_fd, LOCK_EX | LOCK_NB) == 0;
	client->turn_until = clock_after_ms(most_ms);
	return client->has_turn;
}

static int take_alone(struct client *client, uint64_t most_ms)
{
	if (client->is_alone)
		return 1;
	client->is_alone = flock(client->lock_fd, LOCK_EX | LOCK_NB) == 0;
	client->alone_until = clock_after_ms(most_ms);
	return client->is_alone;
}

int clients_timing(struct client *client, int folder_fd, enum timing_ask ask, uint64_t most_ms,
		   struct err *err)
{
	if (open_file(folder_fd, LOCK_FILE, &client->lock_fd, err) < 0 ||
	    open_file(folder_fd, TURN_FILE, &client->turn_fd, err) < 0)
		return -1;
	if (ask < TIMING_LEAVE_TURN && clock_now() < client->timing_closed)
		return 0;
	switch (ask) {
	case TIMING_ASK_TURN:
		return take_turn(client, most_ms);
	case TIMING_ASK_SHARED:
		client->is_alone = false;
		return flock(client->lock_fd, LOCK_SH | LOCK_NB) == 0;
	case TIMING_ASK_ALONE:
		return take_alone(client, most_ms);
	case TIMING_LEAVE_TURN:
		return leave_turn(client);
	case TIMING_LEAVE:
		return leave_lock(client);
	case TIMING_ASKS:
		break;
	}
	return err_set(err, ERR_INPUT, "the timing lease knows no %u", ask);
}

/* Who has waited at the turnstile for too long has done nothing wrong, and may come again. */
static void expire(struct client *client, int64_t now, uint64_t most_ms)
{
	if (client->has_turn && now >= client->turn_until)
		leave_turn(client);
	if (!client->is_alone || now < client->alone_until)
		return;
	leave_lock(client);
	leave_turn(client);
	client->timing_closed = clock_after_ms(most_ms);
}

int64_t clients_expire(struct clients *clients, uint64_t most_ms)
{
	const int64_t now = clock_now();
	int64_t next = CLOCK_NEVER;

	for (size_t i = 0; i < clients->count; i++) {
		struct client *client = clients->list[i];

		expire(client, now, most_ms);
		if (client->is_alone)
			next = MIN_OF(next, client->alone_until);
		if (client->has_turn)
			next = MIN_OF(next, client->turn_until);
	}
	return next;
}
