/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/mem.h"

#define MAGIC UINT32_C(0x70726f63)

struct wish_message {
	uint32_t magic, ending;
};

/* How long the launcher, which waits for nobody, has to answer a question. */
#define ANSWER_MS (10 * 1000)

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
	{ "image_changed", JAIL_IMAGE_CHANGED },
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

static size_t add_limits(struct jail_flag *out, const char *what, uint32_t set)
{
	size_t count = 0;

	for (const struct name *limit = spec_limit_names; limit->text; limit++)
		if (set & CGROUP_BIT(limit->value))
			snprintf(out[count++].text, sizeof(out->text), "%s:%s", what, limit->text);
	return count;
}

size_t jail_result_flags(const struct jail_result *result, struct jail_flag out[JAIL_FLAGS_MAX])
{
	size_t count = 0;

	_Static_assert(ARRAY_LEN(flag_names) + 2 * SPEC_LIMITS + ARRAY_LEN(denied_names) <=
			       JAIL_FLAGS_MAX,
		       "all have room");
	for (const struct name *flag = flag_names; flag->text; flag++)
		if (result->flags & (uint32_t) flag->value)
			snprintf(out[count++].text, sizeof(out->text), "%s", flag->text);
	count += add_limits(out + count, "without", result->without);
	count += add_limits(out + count, "clamped", result->clamped);
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
	while (fds->service_count > 0)
		fd_close(&fds->service_fd[--fds->service_count]);
}

static struct wire_head head_of(enum request_kind kind, uint32_t what)
{
	return (struct wire_head){
		.magic = MAGIC, .version = WIRE_VERSION, .kind = kind, .what = what
	};
}

/* Return: 1 for EVENT_READY, 0 for EVENT_BUSY, -1. */
static int hear(int launcher_fd, struct err *err)
{
	struct pollfd ready = { .fd = launcher_fd, .events = POLLIN };
	struct event event;
	int got;

	do
		got = poll(&ready, 1, ANSWER_MS);
	while (got < 0 && errno == EINTR);
	if (got <= 0)
		return err_set(err, ERR_SYS, "the launcher does not answer");
	if (wire_next(launcher_fd, &event, NULL, err) < 0)
		return -1;
	if (event.kind == EVENT_READY || event.kind == EVENT_BUSY)
		return event.kind == EVENT_READY;
	*err = event.err;
	if (err->kind == ERR_NONE)
		return err_set(err, ERR_SYS, "the launcher answers something else");
	return -1;
}

static int ask(int launcher_fd, enum request_kind kind, uint32_t what, struct err *err)
{
	const struct wire_head head = head_of(kind, what);

	/* Who closed at once has left a word why. */
	if (message_send(launcher_fd, &head, sizeof(head), NULL, err) < 0 && err->sys != EPIPE)
		return -1;
	return hear(launcher_fd, err);
}

int wire_hello(int launcher_fd, struct err *err)
{
	int yes = 1;

	/* The kernel notes the sender where either end wants that, and ours does so in time. */
	if (setsockopt(launcher_fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) < 0)
		return err_sys(err, "have a socket say who sends");
	if (hear(launcher_fd, err) < 0 ||
	    ask(launcher_fd, REQUEST_HELLO, sizeof(struct wire_request), err) < 0)
		return -1;
	return 0;
}

int wire_timing(int launcher_fd, enum timing_ask what, struct err *err)
{
	return ask(launcher_fd, REQUEST_TIMING, what, err);
}

int wire_request(int launcher_fd, const struct jail_spec *spec, const struct spec_fds *fds,
		 struct err *err)
{
	cleanup(mem_free) struct wire_request *request = mem_alloc(1, sizeof(*request));
	struct message_fds sent = MESSAGE_FDS_INIT;
	auto_fd ours = -1, theirs = -1;
	int pair[2];

	if (spec_check(spec, err) < 0)
		return -1;
	if (message_pair(pair, err) < 0)
		return -1;
	ours = pair[0];
	theirs = pair[1];
	request->head = head_of(REQUEST_JAIL, 0);
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

/* Whoever notices first, we or the jail's monitor. */
static void lose(struct event *event)
{
	event->kind = EVENT_LOST;
	err_set(&event->err, ERR_SYS, "the launcher has gone without a word");
}

/* The descriptors of EVENT_STARTED: the pidfd, the freezer's two files or none, the services. */
static void take_started(uint32_t service_count, struct message_fds *fds, struct started_fds *out)
{
	const size_t first = fds->count - service_count;

	if (first >= 1)
		out->pid_fd = fd_take(&fds->fd[0]);
	if (first == 3) {
		out->freeze_fd = fd_take(&fds->fd[1]);
		out->events_fd = fd_take(&fds->fd[2]);
	}
	for (uint32_t i = 0; i < service_count; i++)
		out->service_fd[i] = fd_take(&fds->fd[first + i]);
	out->service_count = service_count;
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
		*out = (struct event){ .result = { .ending = ENDING_LAUNCHER_LOST } };
		lose(out);
		return 0;
	}
	if ((size_t) len != sizeof(event) || event.kind > EVENT_ENDED ||
	    event.service_count > NET_SERVICES_MAX || event.service_count > fds.count ||
	    fds.count - event.service_count > 3)
		return err_set(err, ERR_SYS, "the launcher's message is malformed");
	event.err.text[sizeof(event.err.text) - 1] = '\0';
	event.result.image[sizeof(event.result.image) - 1] = '\0';
	if (started)
		take_started(event.service_count, &fds, started);
	if (event.kind == EVENT_ENDED && event.result.ending == ENDING_LAUNCHER_LOST)
		lose(&event);
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

/* A socket of another kind would not keep messages apart. */
static int check_control(int fd, struct err *err)
{
	int domain = 0, type = 0;
	socklen_t len = sizeof(int);

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) < 0 || domain != AF_UNIX ||
	    type != SOCK_SEQPACKET)
		return err_set(err, ERR_INPUT, "the jail's socket is of another kind");
	return 0;
}

static int check_head(const struct wire_head *head, size_t len, struct err *err)
{
	const bool is_jail = head->kind == REQUEST_JAIL;

	if (len < sizeof(*head) || head->magic != MAGIC || head->version != WIRE_VERSION ||
	    len != (is_jail ? sizeof(struct wire_request) : sizeof(*head)) ||
	    (head->kind == REQUEST_HELLO && head->what != sizeof(struct wire_request)))
		return err_set(err, ERR_INPUT, "a request of another version of proctor");
	if (head->kind < REQUEST_HELLO || head->kind > REQUEST_TIMING ||
	    (head->kind == REQUEST_TIMING && head->what >= TIMING_ASKS) ||
	    (is_jail && head->what != 0))
		return err_set(err, ERR_INPUT, "a request for what nobody knows: %u, %u",
			       head->kind, head->what);
	return 0;
}

int wire_peek(int socket_fd, struct wire_asked *out, struct err *err)
{
	struct message_in in = { .bytes = &out->request, .room = sizeof(out->request) };
	ssize_t len = message_peek(socket_fd, &in, err);

	out->has_fds = in.has_fds;
	out->sender = in.sender;
	if (len < 0 && err->sys == EMSGSIZE)
		return err_set(err, ERR_INPUT, "a request is longer than %zu bytes",
			       sizeof(out->request));
	if (len <= 0)
		return (int) len;
	if (check_head(&out->request.head, (size_t) len, err) < 0)
		return -1;
	if (out->request.head.kind != REQUEST_JAIL) {
		if (out->has_fds)
			return err_set(err, ERR_INPUT, "the request has descriptors too many");
		return 1;
	}
	return spec_check(&out->request.spec, err) < 0 ? -1 : 1;
}

int wire_sort(const struct jail_spec *spec, struct message_fds *got, struct spec_fds *fds,
	      struct err *err)
{
	spec_fds_init(fds);
	if (spec && sort_fds(spec, got, fds, err) == 0)
		return check_control(fds->fd[SPEC_FD_CONTROL], err);
	if (fds->fd[SPEC_FD_CONTROL] < 0 && got->count > 0)
		fds->fd[SPEC_FD_CONTROL] = fd_take(&got->fd[0]);
	if (!spec && fds->fd[SPEC_FD_CONTROL] >= 0)
		return check_control(fds->fd[SPEC_FD_CONTROL], err);
	return spec ? -1 : 0;
}

/* --- what a descriptor may be --- */

enum {
	KIND_PIPE = 1 << 0,
	KIND_NULL = 1 << 1, /* /dev/null */
	KIND_FILE = 1 << 2,
	KIND_MEMORY = 1 << 3, /* a memfd, or a file of a tmpfs: in nobody's hand but the kernel's */
	KIND_READ = 1 << 4,   /* and open to be read */
	KIND_WRITE = 1 << 5,
};

/* clang-format off */
static const struct {
	enum spec_fd first, last;
	uint32_t kinds;
	const char *name, *wants;
} roles[] = {
	{ SPEC_FD_STDOUT,  SPEC_FD_STDERR,    KIND_PIPE | KIND_NULL | KIND_WRITE, "output",  "a pipe or /dev/null, to be written" },
	{ SPEC_FD_PROGRAM, SPEC_FD_PROGRAM,   KIND_MEMORY | KIND_READ,            "program", "a memfd, to be read" },
	{ SPEC_FD_COLLECT, SPEC_FD_COLLECT,   KIND_PIPE | KIND_FILE | KIND_WRITE, "archive", "a regular file or a pipe, to be written" },
	{ SPEC_FD_TREES,   SPEC_FD_PASS - 1,  KIND_PIPE | KIND_FILE | KIND_READ,  "tree",    "a regular file or a pipe, to be read" },
	{ SPEC_FD_PASS,    SPEC_FD_COUNT - 1, KIND_MEMORY | KIND_PIPE | KIND_NULL,      "passed descriptor", "a memfd, a pipe or /dev/null" },
};
/* clang-format on */

static uint32_t kinds_of(int fd, const struct stat *info)
{
	if (S_ISFIFO(info->st_mode))
		return KIND_PIPE;
	if (S_ISCHR(info->st_mode) && info->st_rdev == makedev(1, 3))
		return KIND_NULL;
	if (!S_ISREG(info->st_mode))
		return 0;
	return KIND_FILE | (fcntl(fd, F_GET_SEALS) >= 0 ? KIND_MEMORY : 0);
}

static bool fits(int fd, uint32_t kinds)
{
	const int flags = fcntl(fd, F_GETFL);
	struct stat info;

	if (flags < 0 || (flags & O_PATH) != 0 || fstat(fd, &info) < 0)
		return false;
	if ((kinds & KIND_READ) != 0 && (flags & O_ACCMODE) == O_WRONLY)
		return false;
	if ((kinds & KIND_WRITE) != 0 && (flags & O_ACCMODE) == O_RDONLY)
		return false;
	return (kinds_of(fd, &info) & kinds) != 0;
}

int wire_check_fds(const struct spec_fds *fds, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(roles); i++)
		for (int role = (int) roles[i].first; role <= (int) roles[i].last; role++)
			if (fds->fd[role] >= 0 && !fits(fds->fd[role], roles[i].kinds))
				return err_set(err, ERR_INPUT,
					       "descriptor %d of the request, the %s, is not %s",
					       role, roles[i].name, roles[i].wants);
	return 0;
}

int wire_tell(int socket_fd, const struct event *event, const struct started_fds *started,
	      struct err *err)
{
	struct message_fds fds = MESSAGE_FDS_INIT;
	struct event sent = *event;

	if (started && started->pid_fd >= 0)
		fds.fd[fds.count++] = started->pid_fd;
	if (started && started->freeze_fd >= 0 && started->events_fd >= 0) {
		fds.fd[fds.count++] = started->freeze_fd;
		fds.fd[fds.count++] = started->events_fd;
	}
	sent.service_count = started ? started->service_count : 0;
	for (uint32_t i = 0; i < sent.service_count; i++)
		fds.fd[fds.count++] = started->service_fd[i];
	return message_try_send(socket_fd, &sent, sizeof(sent), &fds, err);
}

int wire_wish(int jail_fd, struct wish *out, struct err *err)
{
	struct wish_message wish = { .magic = 0 };
	struct message_in in = { .bytes = &wish, .room = sizeof(wish) };
	ssize_t len = message_try_receive(jail_fd, &in, err);

	if (len <= 0)
		return (int) len;
	if (in.has_fds || (size_t) len != sizeof(wish) || wish.magic != MAGIC ||
	    (wish.ending != ENDING_OUTPUT && wish.ending != ENDING_STOPPED &&
	     wish.ending != OUTPUT_CAME))
		return err_set(err, ERR_INPUT, "the client asks for an ending that is not its own");
	*out = (struct wish){ .output_came = wish.ending == OUTPUT_CAME };
	if (!out->output_came)
		out->ending = (enum ending) wish.ending;
	return 1;
}
