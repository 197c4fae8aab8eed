/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/seat.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/message.h"

/* --- in the seat --- */

void seat_init(struct seat *seat, int fd, int stop_fd)
{
	*seat = (struct seat){ .fd = fd, .stop_fd = stop_fd, .text = STR_INIT };
}

static int send_ask(const struct seat *seat, struct seat_ask *ask, const char *text, size_t len,
		    struct err *err)
{
	if (len > sizeof(ask->text))
		return err_set(err, ERR_SYS, "a line of %zu bytes is too long for the journal",
			       len);
	ask->magic = SEAT_MAGIC;
	ask->len = (uint32_t) len;
	if (len > 0)
		memcpy(ask->text, text, len);
	if (message_send(seat->fd, ask, offsetof(struct seat_ask, text) + len, NULL, err) < 0)
		return err_wrap(err, "ask proctor");
	return 0;
}

static int receive_answer(const struct seat *seat, int *passed_fd, struct err *err)
{
	cleanup(message_fds_done) struct message_fds fds = MESSAGE_FDS_INIT;
	struct seat_answer answer;
	ssize_t len = message_receive(seat->fd, &answer, sizeof(answer), &fds, err);

	if (len < 0)
		return err_wrap(err, "hear from proctor");
	if (len != (ssize_t) sizeof(answer) || answer.magic != SEAT_MAGIC)
		return err_set(err, ERR_SYS, "proctor is gone");
	if (answer.refused) {
		*err = answer.err;
		return -1;
	}
	if (passed_fd && fds.count == 1) {
		*passed_fd = fds.fd[0];
		fds.fd[0] = -1;
	}
	return 0;
}

struct json_writer *seat_begin(struct seat *seat, const char *event)
{
	str_clear(&seat->text);
	snprintf(seat->event, sizeof(seat->event), "%s", event);
	json_writer_init(&seat->json, &seat->text);
	json_put_object(&seat->json, NULL);
	return &seat->json;
}

int seat_commit(struct seat *seat, struct err *err)
{
	cleanup(mem_free) struct seat_ask *ask = mem_alloc(1, sizeof(*ask));

	json_put_end(&seat->json);
	ask->kind = SEAT_LINE;
	memcpy(ask->event, seat->event, sizeof(ask->event));
	if (send_ask(seat, ask, seat->text.text, seat->text.len, err) < 0)
		return -1;
	return receive_answer(seat, NULL, err);
}

bool seat_wants_to_stop(const struct seat *seat)
{
	struct pollfd ready = { .fd = seat->stop_fd, .events = POLLIN };

	return ready.fd >= 0 && poll(&ready, 1, 0) > 0;
}

int seat_use(struct seat *seat, enum timing_use use, struct err *err)
{
	cleanup(mem_free) struct seat_ask *ask = mem_alloc(1, sizeof(*ask));
	struct pollfd ready[] = { { .fd = seat->fd, .events = POLLIN },
				  { .fd = seat->stop_fd, .events = POLLIN } };

	ask->kind = SEAT_USE;
	ask->use = use;
	if (send_ask(seat, ask, NULL, 0, err) < 0)
		return -1;
	while (poll(ready, ARRAY_LEN(ready), -1) < 0)
		if (errno != EINTR)
			return err_sys(err, "wait for proctor");
	if (!ready[0].revents)
		return err_set(err, ERR_SYS, "stopped by the operator");
	return receive_answer(seat, NULL, err);
}

int seat_bind(struct seat *seat, int *keeper_fd, struct err *err)
{
	cleanup(mem_free) struct seat_ask *ask = mem_alloc(1, sizeof(*ask));

	ask->kind = SEAT_BIND;
	if (send_ask(seat, ask, NULL, 0, err) < 0 || receive_answer(seat, keeper_fd, err) < 0)
		return -1;
	if (*keeper_fd < 0)
		return err_set(err, ERR_SYS, "proctor sent no socket of the keeper");
	return 0;
}

static void tell(struct seat *seat, enum seat_ask_kind kind, const char *text)
{
	cleanup(mem_free) struct seat_ask *ask = mem_alloc(1, sizeof(*ask));
	struct err err = ERR_INIT;

	ask->kind = kind;
	best_effort(send_ask(seat, ask, text, strlen(text), &err));
}

void seat_say(struct seat *seat, const char *text)
{
	tell(seat, SEAT_SAY, text);
}

void seat_fail(struct seat *seat, const struct err *why)
{
	tell(seat, SEAT_FAIL, why->text);
}

void seat_done(struct seat *seat)
{
	str_done(&seat->text);
}

/* --- in proctor --- */

int seat_receive(int fd, struct seat_ask *out, struct err *err)
{
	ssize_t len = message_receive(fd, out, sizeof(*out), NULL, err);
	size_t head = offsetof(struct seat_ask, text);

	/* A seat that was killed with something unread resets the socket. */
	if (len == 0 || (len < 0 && err->sys == ECONNRESET))
		return 0;
	if (len < 0)
		return -1;
	if ((size_t) len < head || out->magic != SEAT_MAGIC || out->len != (size_t) len - head ||
	    out->event[sizeof(out->event) - 1] != '\0')
		return err_set(err, ERR_SYS, "a seat sent nonsense");
	return 1;
}

int seat_answer(int fd, const struct err *why, int passed_fd)
{
	struct seat_answer answer = { .magic = SEAT_MAGIC,
				      .refused = why->kind != ERR_NONE,
				      .err = *why };
	struct message_fds fds = MESSAGE_FDS_INIT;
	struct err err = ERR_INIT;

	if (passed_fd >= 0)
		fds.fd[fds.count++] = passed_fd;
	if (message_send(fd, &answer, sizeof(answer), &fds, &err) == 0)
		return 0;
	return err.sys == EAGAIN ? -1 : 0;
}
