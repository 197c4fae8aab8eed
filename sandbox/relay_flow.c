/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/relay.h"

#include <errno.h>

/* Buffers that one flow carries before others have their turn. */
enum { ROUNDS = 4 };

static bool must_wait(void)
{
	return errno == EAGAIN || errno == EINTR;
}

/* Is there a byte more than may be carried, or the end, or neither yet? */
static enum relay_moved look(struct relay_flow *flow, int source_fd)
{
	uint8_t byte;
	ssize_t got = recv(source_fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

	if (got > 0)
		return RELAY_CAPPED;
	if (got < 0)
		return must_wait() ? RELAY_WAITS : RELAY_SOURCE;
	flow->is_over = true;
	return RELAY_WAITS;
}

static enum relay_moved fill(struct relay_flow *flow, int source_fd, uint64_t *left)
{
	ssize_t got;

	if (*left == 0)
		return look(flow, source_fd);
	got = recv(source_fd, flow->bytes, MIN_OF((uint64_t) RELAY_BUFFER, *left), MSG_DONTWAIT);
	if (got < 0)
		return must_wait() ? RELAY_WAITS : RELAY_SOURCE;
	flow->is_over = got == 0;
	flow->from = 0;
	flow->len = (uint32_t) got;
	*left -= (uint64_t) got;
	return RELAY_WAITS;
}

static enum relay_moved empty(struct relay_flow *flow, int target_fd)
{
	ssize_t put =
		send(target_fd, flow->bytes + flow->from, flow->len, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (put < 0)
		return must_wait() ? RELAY_WAITS : RELAY_TARGET;
	flow->from += (uint32_t) put;
	flow->len -= (uint32_t) put;
	flow->passed += (uint64_t) put;
	return RELAY_WAITS;
}

enum relay_moved relay_flow_move(struct relay_flow *flow, int source_fd, int target_fd,
				 uint64_t *left)
{
	enum relay_moved moved = RELAY_WAITS;

	for (int round = 0; round < ROUNDS && !flow->is_shut; round++) {
		if (flow->len == 0 && !flow->is_over)
			moved = fill(flow, source_fd, left);
		if (moved == RELAY_WAITS && flow->len > 0)
			moved = empty(flow, target_fd);
		if (moved != RELAY_WAITS)
			return moved;
		if (flow->len > 0 || flow->is_over)
			break;
	}
	if (flow->is_over && flow->len == 0 && !flow->is_shut) {
		/* One that was reset meanwhile says so when it is used next. */
		shutdown(target_fd, SHUT_WR);
		flow->is_shut = true;
	}
	return flow->is_shut ? RELAY_DONE : RELAY_WAITS;
}
