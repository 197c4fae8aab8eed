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

/* More than two looks of whoever waits for the timing lease are apart. */
#define TIMING_LOOKS_NS (100 * NS_PER_MS)

static int64_t last_seen(const struct timing_account *account)
{
	return MAX_OF(account->closed,
		      MAX_OF(account->left[TIMING_LOCK], account->left[TIMING_TURN]));
}

/* There are more places than clients, so one that nobody uses is found; the oldest goes. */
static struct timing_account *account_of(struct clients *clients, uid_t uid)
{
	struct timing_account *oldest = &clients->accounts[0];

	for (size_t i = 0; i < ARRAY_LEN(clients->accounts); i++) {
		struct timing_account *account = &clients->accounts[i];

		if (account->uid == uid && (account->clients > 0 || last_seen(account) > 0))
			return account;
		if (account->clients == 0 &&
		    (oldest->clients > 0 || last_seen(account) < last_seen(oldest)))
			oldest = account;
	}
	*oldest = (struct timing_account){ .uid = uid };
	return oldest;
}

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
	client->account = account_of(clients, peer->uid);
	client->account->clients++;
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

static int leave_lock(struct client *client)
{
	if (client->is_alone || client->is_shared)
		client->account->left[TIMING_LOCK] = clock_now();
	client->is_alone = client->is_shared = false;
	return unlock(client->lock_fd);
}

static int leave_turn(struct client *client)
{
	if (client->has_turn)
		client->account->left[TIMING_TURN] = clock_now();
	client->has_turn = false;
	return unlock(client->turn_fd);
}

static void give_back(struct client *client)
{
	leave_lock(client);
	leave_turn(client);
	fd_close(&client->lock_fd);
	fd_close(&client->turn_fd);
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
	client->account->clients--;
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

/* Whoever wants it looks again within this time, and those that have had it longer ago first. */
static bool is_for_others(const struct clients *clients, const struct timing_account *own,
			  enum timing_part part)
{
	const int64_t now = clock_now();

	for (size_t i = 0; i < ARRAY_LEN(clients->accounts); i++) {
		const struct timing_account *other = &clients->accounts[i];

		if (other != own && other->clients > 0 && other->asked[part] > 0 &&
		    now - other->asked[part] < TIMING_LOOKS_NS &&
		    other->left[part] < own->left[part])
			return true;
	}
	return false;
}

/* Runs of root look at the files themselves, and are not seen: for them it is free for a while. */
static bool may_try(const struct clients *clients, const struct client *client,
		    enum timing_part part)
{
	struct timing_account *account = client->account;
	const int64_t now = clock_now();

	if (now < account->closed)
		return false;
	if (account->uid == 0)
		return true;
	if (account->left[part] > 0 && now - account->left[part] < TIMING_LOOKS_NS)
		return false;
	account->asked[part] = now;
	return !is_for_others(clients, account, part);
}

static int take_turn(const struct clients *clients, struct client *client, uint64_t most_ms)
{
	if (client->has_turn)
		return 1;
	if (!may_try(clients, client, TIMING_TURN) || flock(client->turn_fd, LOCK_EX | LOCK_NB) < 0)
		return 0;
	client->account->asked[TIMING_TURN] = 0;
	client->has_turn = true;
	/* Longer than the lock, which whoever had it before then has given back. */
	client->turn_until = clock_after_ms(most_ms) + 2 * TIMING_LOOKS_NS;
	return 1;
}

/* A change that is not granted loses what there was: flock(2). */
static int take_lock(const struct clients *clients, struct client *client, int how,
		     uint64_t most_ms)
{
	const bool had = client->is_alone || client->is_shared;

	if (how == LOCK_EX ? client->is_alone : client->is_shared)
		return 1;
	if (!had && !may_try(clients, client, TIMING_LOCK))
		return 0;
	if (flock(client->lock_fd, how | LOCK_NB) < 0) {
		leave_lock(client);
		return 0;
	}
	client->account->asked[TIMING_LOCK] = 0;
	client->is_alone = how == LOCK_EX;
	client->is_shared = how == LOCK_SH;
	if (!had)
		client->lock_until = clock_after_ms(most_ms);
	return 1;
}

int clients_timing(struct clients *clients, struct client *client, int folder_fd,
		   enum timing_ask ask, uint64_t most_ms, struct err *err)
{
	if (open_file(folder_fd, LOCK_FILE, &client->lock_fd, err) < 0 ||
	    open_file(folder_fd, TURN_FILE, &client->turn_fd, err) < 0)
		return -1;
	switch (ask) {
	case TIMING_ASK_TURN:
		return take_turn(clients, client, most_ms);
	case TIMING_ASK_SHARED:
		return take_lock(clients, client, LOCK_SH, most_ms);
	case TIMING_ASK_ALONE:
		return take_lock(clients, client, LOCK_EX, most_ms);
	case TIMING_LEAVE_TURN:
		return leave_turn(client);
	case TIMING_LEAVE:
		return leave_lock(client);
	case TIMING_ASKS:
		break;
	}
	return err_set(err, ERR_INPUT, "the timing lease knows no %u", ask);
}

/*
 * Who has waited at the turnstile for too long, or let agents run that long, has done nothing
 * wrong, and may come again after others.
 */
static void expire(struct client *client, int64_t now, uint64_t most_ms)
{
	const bool was_alone = client->is_alone;

	if (client->has_turn && now >= client->turn_until)
		leave_turn(client);
	if ((!client->is_alone && !client->is_shared) || now < client->lock_until)
		return;
	leave_lock(client);
	if (!was_alone)
		return;
	leave_turn(client);
	client->account->closed = clock_after_ms(most_ms);
}

int64_t clients_expire(struct clients *clients, uint64_t most_ms)
{
	const int64_t now = clock_now();
	int64_t next = CLOCK_NEVER;

	for (size_t i = 0; i < clients->count; i++) {
		struct client *client = clients->list[i];

		expire(client, now, most_ms);
		if (client->is_alone || client->is_shared)
			next = MIN_OF(next, client->lock_until);
		if (client->has_turn)
			next = MIN_OF(next, client->turn_until);
	}
	return next;
}
