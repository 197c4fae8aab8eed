/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/wire.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/mem.h"

#define MAGIC UINT32_C(0x70726f63)

struct request {
	uint32_t magic, version;
	struct jail_spec spec;
};

struct wish_message {
	uint32_t magic, ending;
};

/* In the place of an ending. */
#define OUTPUT_CAME UINT32_MAX

const struct name ending_names[] = {
	{ "exited", ENDING_EXITED },
	{ "signaled", ENDING_SIGNALED },
	{ "timeout", ENDING_TIMEOUT },
	{ "cpu", ENDING_CPU },
	{ "idle", ENDING_IDLE },
	{ "oom", ENDING_OOM },
	{ "output", ENDING_OUTPUT },
	{ "full", ENDING_FULL },
	{ "stopped", ENDING_STOPPED },
	{ "launcher_lost", ENDING_LAUNCHER_LOST },
	{ NULL, 0 },
};

static const struct name flag_names[] = {
	{ "pids_hit", JAIL_PIDS_HIT },
	{ "disk_full", JAIL_DISK_FULL },
	{ "inodes_full", JAIL_INODES_FULL },
	{ NULL, 0 },
};

static const char *const denied_names[] = {
#include "sandbox/refused_names.h"
};

_Static_assert(ARRAY_LEN(denied_names) <= JAIL_DENIED_MAX, "each call has a counter");

const char *jail_denied_name(size_t index)
{
	return index < ARRAY_LEN(denied_names) ? denied_names[index] : NULL;
}

size_t jail_result_flags(const struct jail_result *result, struct jail_flag out[JAIL_FLAGS_MAX])
{
	size_t count = 0;

	_Static_assert(ARRAY_LEN(flag_names) + SPEC_LIMITS + ARRAY_LEN(denied_names) <=
			       JAIL_FLAGS_MAX,
		       "all have room");
	for (const struct name *flag = flag_names; flag->text; flag++)
		if (result->flags & (uint32_t) flag->value)
			snprintf(out[count++].text, sizeof(out->text), "%s", flag->text);
	for (const struct name *limit = spec_limit_names; limit->text; limit++)
		if (result->without & CGROUP_BIT(limit->value))
			snprintf(out[count++].text, sizeof(out->text), "without:%s", limit->text);
	for (size_t i = 0; i < ARRAY_LEN(denied_names); i++)
		if (result->denied[i] > 0)
			snprintf(out[count++].text, sizeof(out->text), "denied:%s",
				 denied_names[i]);
	return count;
}

void spec_fds_init(struct spec_fds *fds)
{
	for (size_t i = 0; i < ARRAY_LEN(fds->fd); i++)
		fds->fd[i] = -1;
}

void spec_fds_done(struct spec_fds *fds)
{
	for (size_t i = 0; i < ARRAY_LEN(fds->fd); i++)
		fd_close(&fds->fd[i]);
}

void started_fds_done(struct started_fds *fds)
{
	fd_close(&fds->pid_fd);
	fd_close(&fds->freeze_fd);
	fd_close(&fds->events_fd);
}

int wire_request(int launcher_fd, const struct jail_spec *spec, const struct spec_fds *fds,
		 struct err *err)
{
	cleanup(mem_free) struct request *request = mem_alloc(1, sizeof(*request));
	struct message_fds sent = MESSAGE_FDS_INIT;
	auto_fd ours = -1, theirs = -1;
	int pair[2];

	if (spec_check(spec, err) < 0)
		return -1;
	if (message_pair(pair, err) < 0)
		return -1;
	ours = pair[0];
	theirs = pair[1];
	request->magic = MAGIC;
	request->version = WIRE_VERSION;
	request->spec = *spec;
	sent.fd[sent.count++] = theirs;
	for (int role = SPEC_FD_CONTROL + 1; role < SPEC_FD_COUNT; role++) {
		if (!spec_fd_wanted(spec, (enum spec_fd) role))
			continue;
		if (fds->fd[role] < 0)
			return err_set(err, ERR_SYS, "descriptor %d of the jail is missing", role);
		sent.fd[sent.count++] = fds->fd[role];
	}
	if (message_send(launcher_fd, request, sizeof(*request), &sent, err) < 0)
		return err_wrap(err, "ask the launcher for jail '%s'", spec->name);
	return fd_take(&ours);
}

int wire_next(int socket_fd, struct event *out, struct started_fds *started, struct err *err)
{
	cleanup(message_fds_done) struct message_fds fds = MESSAGE_FDS_INIT;
	struct event event;
	ssize_t len = message_receive(socket_fd, &event, sizeof(event), &fds, err);

	if (len < 0)
		return -1;
	if (started)
		*started = STARTED_FDS_INIT;
	if (len == 0) {
		*out = (struct event){ .kind = EVENT_LOST,
				       .result = { .ending = ENDING_LAUNCHER_LOST } };
		err_set(&out->err, ERR_SYS, "the launcher has gone without a word");
		return 0;
	}
	if ((size_t) len != sizeof(event) || event.kind > EVENT_ENDED || fds.count > 3)
		return err_set(err, ERR_SYS, "the launcher's message is malformed");
	event.err.text[sizeof(event.err.text) - 1] = '\0';
	if (started && fds.count >= 1)
		started->pid_fd = fd_take(&fds.fd[0]);
	if (started && fds.count == 3) {
		started->freeze_fd = fd_take(&fds.fd[1]);
		started->events_fd = fd_take(&fds.fd[2]);
	}
	*out = event;
	return 0;
}

static int send_wish(int jail_fd, uint32_t ending, struct err *err)
{
	struct wish_message wish = { .magic = MAGIC, .ending = ending };

	return message_send(jail_fd, &wish, sizeof(wish), NULL, err);
}

int wire_end(int jail_fd, enum ending ending, struct err *err)
{
	return send_wish(jail_fd, ending, err);
}

int wire_output_came(int jail_fd, struct err *err)
{
	return send_wish(jail_fd, OUTPUT_CAME, err);
}

/* Puts the received descriptors where the spec says they belong. */
static int sort_fds(const struct jail_spec *spec, struct message_fds *got, struct spec_fds *fds,
		    struct err *err)
{
	size_t next = 0;

	for (int role = 0; role < SPEC_FD_COUNT; role++) {
		if (!spec_fd_wanted(spec, (enum spec_fd) role))
			continue;
		if (next == got->count)
			return err_set(err, ERR_INPUT, "the request lacks descriptors");
		fds->fd[role] = fd_take(&got->fd[next++]);
	}
	if (next != got->count)
		return err_set(err, ERR_INPUT, "the request has %zu descriptors too many",
			       got->count - next);
	return 0;
}

/*
 * A client that does not read must not hold up whoever tells it something, and a socket of another
 * kind would not keep messages apart.
 */
static int prepare_control(int fd, struct err *err)
{
	int domain = 0, type = 0, flags = fcntl(fd, F_GETFL);
	socklen_t len = sizeof(int);

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) < 0 || domain != AF_UNIX ||
	    type != SOCK_SEQPACKET)
		return err_set(err, ERR_INPUT, "the jail's socket is of another kind");
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return err_sys(err, "make the jail's socket nonblocking");
	return 0;
}

int wire_receive(int socket_fd, struct jail_spec *spec, struct spec_fds *fds, struct err *err)
{
	cleanup(message_fds_done) struct message_fds got = MESSAGE_FDS_INIT;
	cleanup(mem_free) struct request *request = mem_alloc(1, sizeof(*request));
	ssize_t len = message_receive(socket_fd, request, sizeof(*request), &got, err);

	spec_fds_init(fds);
	if (len <= 0)
		return (int) len;
	if ((size_t) len != sizeof(*request) || request->magic != MAGIC ||
	    request->version != WIRE_VERSION)
		err_set(err, ERR_INPUT, "a request of another version of proctor");
	else if (spec_check(&request->spec, err) == 0 &&
		 sort_fds(&request->spec, &got, fds, err) == 0) {
		*spec = request->spec;
		return prepare_control(fds->fd[SPEC_FD_CONTROL], err) < 0 ? -1 : 1;
	}
	if (fds->fd[SPEC_FD_CONTROL] < 0 && got.count > 0)
		fds->fd[SPEC_FD_CONTROL] = fd_take(&got.fd[0]);
	return -1;
}

int wire_tell(int socket_fd, const struct event *event, const struct started_fds *started,
	      struct err *err)
{
	struct message_fds fds = MESSAGE_FDS_INIT;

	if (started && started->pid_fd >= 0)
		fds.fd[fds.count++] = started->pid_fd;
	if (started && started->freeze_fd >= 0 && started->events_fd >= 0) {
		fds.fd[fds.count++] = started->freeze_fd;
		fds.fd[fds.count++] = started->events_fd;
	}
	return message_send(socket_fd, event, sizeof(*event), &fds, err);
}

int wire_wish(int jail_fd, struct wish *out, struct err *err)
{
	struct wish_message wish;
	ssize_t len = message_receive(jail_fd, &wish, sizeof(wish), NULL, err);

	if (len <= 0)
		return (int) len;
	if ((size_t) len != sizeof(wish) || wish.magic != MAGIC ||
	    (wish.ending != ENDING_OUTPUT && wish.ending != ENDING_STOPPED &&
	     wish.ending != OUTPUT_CAME))
		return err_set(err, ERR_INPUT, "the client asks for an ending that is not its own");
	*out = (struct wish){ .output_came = wish.ending == OUTPUT_CAME };
	if (!out->output_came)
		out->ending = (enum ending) wish.ending;
	return 1;
}
