/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbox/cgroup.h"
#include "sandbox/peer.h"
#include "sandbox/wire.h"

/*
 * The clients of a launcher
 *
 * A private launcher has one, from its birth; the service has one for each connection. What a
 * client holds beside its jails is its part of the timing lease: locks that the launcher keeps for
 * it, so that they end with its connection, whoever has a copy of that. A client whose connection
 * is over stays in the table until its last jail is gone.
 */
enum { CLIENTS_MAX = 512, CLIENTS_OF_ONE_MAX = 32 };

/* What can be had of the timing lease: its lock, alone or shared, and its turnstile. */
enum timing_part { TIMING_LOCK, TIMING_TURN, TIMING_PARTS };

/*
 * What an account has had of the timing lease, by all its connections and those that are over: of
 * those that want the same, the one that has had it least recently comes first.
 */
struct timing_account {
	uid_t uid;
	size_t clients; /* that are this account's */
	int64_t closed; /* on clock_now(): it has had the lock for too long, and nothing before this
			 */
	int64_t asked[TIMING_PARTS]; /* when it was last told that it can not have it now; 0: never
				      */
	int64_t left[TIMING_PARTS];  /* when it last gave it back; 0: never */
};

struct client {
	uint64_t id;
	bool is_private; /* whoever started this launcher, as root */
	bool is_hasty;   /* it spoke before it was spoken to: see wire.h */
	bool has_greeted;
	int socket_fd; /* owned; -1: the connection is over */
	int gone_fd;   /* owned: an eventfd that is readable once it is */
	struct peer peer;
	size_t jails;

	struct cgroup_groups groups; /* where it is */
	struct cgroup_host place; /* where its jails are; a private client's are its launcher's */
	bool has_place;

	int lock_fd, turn_fd; /* owned: the files of the timing lease, opened for this client */
	struct timing_account *account;
	bool is_alone, is_shared; /* it has the lock, */
	int64_t lock_until;       /* on clock_now(): but no longer than this */
	bool has_turn;            /* it has the turnstile, */
	int64_t turn_until;       /* but no longer than this */
};

struct clients {
	uint64_t next_id;
	size_t count;
	struct client *list[CLIENTS_MAX];
	struct timing_account accounts[2 * CLIENTS_MAX];
};

/**
 * clients_add() - a new client
 * @socket_fd, @peer: taken on success
 */
struct client *clients_add(struct clients *clients, int socket_fd, const struct peer *peer,
			   struct err *err) must_check;

/**
 * clients_count_of() - the connections of an account, those that are over and have jails included
 */
size_t clients_count_of(const struct clients *clients, uid_t uid);

/**
 * clients_find() - the client with this id; NULL: it is gone
 */
struct client *clients_find(const struct clients *clients, uint64_t id);

/**
 * clients_end() - its connection is over: its jails are told, and what it holds is given back
 */
void clients_end(struct client *client);

/**
 * clients_sweep() - forget those whose connection is over and that have no jail any more
 */
void clients_sweep(struct clients *clients);

/**
 * clients_let_go() - in a child of the launcher: close what is others' or the launcher's alone
 * @keep: its own client, of which gone_fd and peer stay open
 */
void clients_let_go(struct clients *clients, const struct client *keep);

/**
 * clients_timing() - give a client its part of the timing lease, or take it back
 * @folder_fd: of the leases
 * @most_ms:   how long it may have the lock
 *
 * Return: 1 granted, 0 not now, -1.
 */
int clients_timing(struct clients *clients, struct client *client, int folder_fd,
		   enum timing_ask ask, uint64_t most_ms, struct err *err) must_check;

/**
 * clients_expire() - take the lock and the turnstile from those that have had them for too long
 *
 * Return: when the next one will have, on clock_now(); CLOCK_NEVER.
 */
int64_t clients_expire(struct clients *clients, uint64_t most_ms);
