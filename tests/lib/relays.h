/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/types.h>

#include "sandbox/relay.h"

/*
 * A relay as a child of the test, which is the jail's side and the endpoint in one
 *
 * Ports are the host's own loopback: a relay does not know where its sockets listen. Each function
 * ends the test where something else comes than what is expected.
 */
extern struct relay relays_relay;
extern int relays_endpoints[NET_SERVICES_MAX]; /* they listen */
extern int relays_lines_fd, relays_payload_fd, relays_parent_fd;
extern pid_t relays_child;

/**
 * relays_add_service() - one more, with caps that no test meets by itself
 */
void relays_add_service(void);

/**
 * relays_start() - begin to relay
 */
void relays_start(void);

/**
 * relays_next_line() - what the relay says next of a connection
 */
struct relay_line relays_next_line(void);

/**
 * relays_expect_line() - the same, of one that has ended so
 */
struct relay_line relays_expect_line(enum relay_how how);

/**
 * relays_finish() - the jail is over: what the relay has to say of its services
 */
void relays_finish(struct relay_counts counts[NET_SERVICES_MAX]);

/**
 * relays_knock() - connect from the jail's side; -1 with errno
 */
int relays_knock(uint32_t service);

/**
 * relays_answer() - take a connection at the endpoint
 */
int relays_answer(uint32_t service);

/**
 * relays_hear() - wait for bytes; 0 for an end, -1 for a reset
 */
ssize_t relays_hear(int fd, char *text, size_t room);

/**
 * relays_expect() - hear exactly this
 */
void relays_expect(int fd, const char *text);

/**
 * relays_say() - send this
 */
void relays_say(int fd, const char *text);

/**
 * relays_expect_reset() - hear a reset
 */
void relays_expect_reset(int fd);

/**
 * relays_count_fds() - descriptors of the relay
 */
int relays_count_fds(void);

/**
 * relays_check_rests() - that it computes nothing, for a while: who waits for nothing in particular
 * waits all the time
 */
void relays_check_rests(const char *when);
