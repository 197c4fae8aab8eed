/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sandbox/clients.h"
#include "sandbox/jail.h"
#include "sandbox/ledger.h"
#include "sandbox/listen.h"
#include "sandbox/site.h"

/*
 * The launcher's loop: who may have which jails
 *
 * One process, which nobody may hold up: it waits for no client, receives no descriptor of theirs,
 * and decides on a request from the spec alone. What it grants is a fork that takes the request's
 * descriptors and becomes the jail's monitor; what it refuses is a fork that says so.
 */

/* A monitor of the private client's next jail, which is prepared for any that it may ask for. */
struct spare {
	struct process process;
	int ask_fd;   /* owned: a socket; -1: there is none */
	size_t asked; /* jails so far that it would have been good for */
};

#define SPARE_INIT ((struct spare){ .process = PROCESS_INIT, .ask_fd = -1 })

struct server {
	struct jail_host host; /* what all jails share */
	const struct site *site;
	struct cgroup_groups groups; /* where this launcher is */
	struct cgroup_bounds own; /* what these allow: a private client's, and all CPUs there are */
	struct listener listener; /* of the service; else none */
	int signals_fd;           /* owned: a signalfd of SIGCHLD and SIGTERM */
	int self_fd;              /* owned: this process, for monitors to be tied to */
	int over_fd;              /* owned: where monitors say that their jails are gone */
	struct clients clients;
	struct spare spare;
	struct ledger ledger;
};

/**
 * serve_add_private() - whoever has started this launcher is its client
 * @socket_fd: taken on success
 */
int serve_add_private(struct server *server, int socket_fd, struct err *err) must_check;

/**
 * serve_run() - serve until the private client has gone, or until SIGTERM; then end all jails and
 * wait until nothing of them is left
 */
void serve_run(struct server *server);
