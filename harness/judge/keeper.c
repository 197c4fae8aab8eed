/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/keeper.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "harness/judge/keeper_process.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/str.h"

enum { REPLY_WAIT_MS = 10000 };

const struct name keeper_status_names[] = {
	{ "granted", KEEPER_GRANTED },
	{ "malformed", KEEPER_MALFORMED },
	{ "not frozen", KEEPER_NOT_FROZEN },
	{ "another candidate was frozen", KEEPER_OTHER_ROOT },
	{ "the journal does not verify", KEEPER_JOURNAL_OFF },
	{ "too many channels", KEEPER_FULL },
	{ NULL, 0 },
};

static void add_number(struct str *str, uint32_t number)
{
	const uint8_t bytes[] = { (uint8_t) (number >> 24), (uint8_t) (number >> 16),
				  (uint8_t) (number >> 8), (uint8_t) number };

	str_add(str, bytes, sizeof(bytes));
}

static void add_field(struct str *str, const void *bytes, size_t len)
{
	add_number(str, (uint32_t) len);
	str_add(str, bytes, len);
}

struct digest keeper_key(const uint8_t secret[KEEPER_SECRET_LEN], const char *run, const char *task,
			 uint32_t attempt, const struct digest *root)
{
	cleanup(str_done) struct str message = STR_INIT;

	add_field(&message, KEEPER_LABEL, strlen(KEEPER_LABEL));
	add_field(&message, run, strlen(run));
	add_field(&message, task, strlen(task));
	add_number(&message, sizeof(attempt));
	add_number(&message, attempt);
	add_field(&message, root->bytes, sizeof(root->bytes));
	return digest_hmac(secret, KEEPER_SECRET_LEN, message.text, message.len);
}

static int receive_reply(int fd, int64_t deadline, struct keeper_reply *out, struct err *err)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	struct keeper_reply reply = { 0 };
	ssize_t got;
	int count;

	do
		count = poll(&ready, 1, clock_poll_ms(deadline));
	while ((count < 0 && errno == EINTR) || (count == 0 && clock_now() < deadline));
	if (count < 0)
		return err_sys(err, "wait for the keeper");
	if (count == 0)
		return err_set(err, ERR_SYS, "the keeper does not answer");
	got = recv(fd, &reply, sizeof(reply), MSG_DONTWAIT | MSG_TRUNC);
	if (got == 0 || (got < 0 && errno == ECONNRESET))
		return err_set(err, ERR_SYS, "the keeper is gone");
	if (got < 0)
		return err_sys(err, "hear from the keeper");
	if (got != sizeof(reply) || reply.magic != KEEPER_MAGIC || reply.status < KEEPER_GRANTED ||
	    reply.status > KEEPER_FULL)
		return err_set(err, ERR_SYS, "the keeper's answer is malformed");
	*out = reply;
	return 0;
}

static int send_request(int fd, const struct keeper_request *request, int passed_fd,
			struct err *err)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .room = { 0 } };
	struct iovec data = { .iov_base = (void *) (uintptr_t) request,
			      .iov_len = sizeof(*request) };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 };

	if (passed_fd >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		control.header = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
						   .cmsg_type = SCM_RIGHTS,
						   .cmsg_len = CMSG_LEN(sizeof(int)) };
		memcpy(CMSG_DATA(&control.header), &passed_fd, sizeof(int));
	}
	if (sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(*request))
		return 0;
	if (errno == EPIPE || errno == ECONNRESET)
		return err_set(err, ERR_SYS, "the keeper is gone");
	return err_sys(err, "ask the keeper");
}

int keeper_start(struct keeper *out, const char *run, int journal_fd, int secret_fd,
		 struct err *err)
{
	cleanup(keeper_done) struct keeper made = KEEPER_INIT;
	auto_fd its_fd = -1;
	struct keeper_reply hello;
	int pair[2], side;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(err, "make the keeper's socket");
	made.control_fd = pair[0];
	its_fd = pair[1];
	side = process_fork(&made.process, err);
	if (side == 0)
		keeper_main(its_fd, journal_fd, run, secret_fd);
	if (side < 0)
		return err_wrap(err, "keeper");
	fd_close(&its_fd);
	if (receive_reply(made.control_fd, clock_after_ms(REPLY_WAIT_MS), &hello, err) < 0)
		return err_wrap(err, "start the keeper");
	made.commitment = hello.digest;
	*out = take(made, KEEPER_INIT);
	return 0;
}

int keeper_bind(const struct keeper *keeper, const char *task, uint32_t attempt, int *fd_out,
		struct err *err)
{
	struct keeper_request request = { .magic = KEEPER_MAGIC,
					  .kind = KEEPER_REQUEST_BIND,
					  .attempt = attempt };
	auto_fd judge_fd = -1, its_fd = -1;
	struct keeper_reply reply;
	int pair[2];

	if (task[0] == '\0' || strlen(task) > KEEPER_TASK_MAX)
		return err_set(err, ERR_INPUT, "a task's id has 1 to %d bytes",
			       (int) KEEPER_TASK_MAX);
	memcpy(request.task, task, strlen(task));
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(err, "make the judge's socket");
	judge_fd = pair[0];
	its_fd = pair[1];
	if (send_request(keeper->control_fd, &request, its_fd, err) < 0 ||
	    receive_reply(keeper->control_fd, clock_after_ms(REPLY_WAIT_MS), &reply, err) < 0)
		return -1;
	if (reply.status != KEEPER_GRANTED)
		return err_set(err, ERR_SYS, "the keeper refuses a channel: %s",
			       names_text(keeper_status_names, (int) reply.status));
	*fd_out = fd_take(&judge_fd);
	return 0;
}

int keeper_ask(int fd, const struct digest *root, int64_t deadline, struct keeper_answer *out,
	       struct err *err)
{
	const struct keeper_request request = { .magic = KEEPER_MAGIC,
						.kind = KEEPER_REQUEST_ASK,
						.root = *root };
	struct keeper_reply reply;

	if (send_request(fd, &request, -1, err) < 0 || receive_reply(fd, deadline, &reply, err) < 0)
		return -1;
	*out = (struct keeper_answer){ .status = (enum keeper_status) reply.status,
				       .committed_first = reply.committed_first != 0,
				       .key = reply.digest };
	return 0;
}

void keeper_done(struct keeper *keeper)
{
	struct err err = ERR_INIT;
	int status;

	fd_close(&keeper->control_fd);
	if (keeper->process.pid_fd >= 0 &&
	    process_wait(&keeper->process, clock_after_ms(REPLY_WAIT_MS), &status, &err) <= 0)
		process_kill(&keeper->process);
	*keeper = KEEPER_INIT;
}
