/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/keeper_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/evidence/journal.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/mem.h"

/*
 * Theory of operation
 *
 * The order in the process matters: first nobody may look (not dumpable), then the secret comes to
 * be, in a page of its own, then nothing is left to leak through (descriptors). A peer that does
 * not take its answer is dropped, so the keeper never waits for anybody.
 */

enum { DESCRIPTORS_MAX = 4 };

struct channel {
	int fd; /* owned */
	char task[KEEPER_TASK_MAX + 1];
	uint32_t attempt;
};

/* A candidate that the journal names; the attempt by a digest of its task and number. */
struct frozen {
	struct digest attempt;
	struct digest root;
	bool committed_first;
};

struct state {
	const char *run;
	const uint8_t *secret;
	struct digest commitment;
	int control_fd;
	struct journal_reader journal;
	bool journal_is_off;
	bool is_committed;
	struct frozen *frozen; /* owned */
	size_t frozen_count, frozen_room;
	struct channel channels[KEEPER_CHANNELS_MAX];
	size_t channel_count;
};

static struct digest commit_to(const uint8_t *secret, const char *run)
{
	cleanup(str_done) struct str message = STR_INIT;
	struct digest commitment;

	str_add(&message, secret, KEEPER_SECRET_LEN);
	str_add(&message, run, strlen(run));
	commitment = digest_sha256(message.text, message.len);
	explicit_bzero(message.text, message.len);
	return commitment;
}

static struct digest attempt_id(const char *task, uint32_t attempt)
{
	cleanup(str_done) struct str message = STR_INIT;

	str_add(&message, task, strlen(task) + 1);
	str_add(&message, &attempt, sizeof(attempt));
	return digest_sha256(message.text, message.len);
}

/* ---- the journal, as the keeper sees it ---- */

static const struct frozen *find_frozen(const struct state *state, const struct digest *attempt)
{
	for (size_t i = 0; i < state->frozen_count; i++)
		if (digest_equal(&state->frozen[i].attempt, attempt))
			return &state->frozen[i];
	return NULL;
}

static int note_frozen(struct state *state, const struct journal_entry *entry, struct err *err)
{
	struct frozen made = { .committed_first = state->is_committed };
	const char *task = NULL;
	int64_t attempt = 0;

	if (json_get_text(entry->fields, "task", KEEPER_TASK_MAX, &task, err) < 0 ||
	    json_get_int(entry->fields, "attempt", 0, UINT32_MAX, &attempt, err) < 0 ||
	    json_get_digest(entry->fields, "candidate", &made.root, err) < 0)
		return -1;
	if (state->frozen_count >= KEEPER_ROOTS_MAX)
		return err_set(err, ERR_INPUT, "too many candidates");
	made.attempt = attempt_id(task, (uint32_t) attempt);
	if (find_frozen(state, &made.attempt))
		return 0; /* the first one counts */
	if (state->frozen_count == state->frozen_room) {
		state->frozen_room = MAX_OF(2 * state->frozen_room, (size_t) 64);
		state->frozen = mem_resize(state->frozen, state->frozen_room, sizeof(made));
	}
	state->frozen[state->frozen_count++] = made;
	return 0;
}

static int note_committed(struct state *state, const struct journal_entry *entry, struct err *err)
{
	const char *text = NULL;
	struct digest commitment;

	if (json_get_text(entry->fields, "commitment", DIGEST_HEX, &text, err) < 0)
		return -1;
	/* A resumed run has the commitments of earlier keepers too. */
	if (digest_parse(&commitment, text) == 0 && digest_equal(&commitment, &state->commitment))
		state->is_committed = true;
	return 0;
}

static int read_journal(struct state *state, struct err *err)
{
	struct journal_entry entry;
	int got;

	while ((got = journal_read(&state->journal, &entry, err)) > 0) {
		if (strcmp(entry.event, KEEPER_FROZEN) == 0 && note_frozen(state, &entry, err) < 0)
			return -1;
		if (strcmp(entry.event, KEEPER_COMMITTED) == 0 &&
		    note_committed(state, &entry, err) < 0)
			return -1;
	}
	if (got == 0 && strcmp(state->journal.run, state->run) != 0)
		return err_set(err, ERR_INPUT, "the journal is not that of run '%s'", state->run);
	return got;
}

/* ---- requests ---- */

static struct keeper_reply refuse(enum keeper_status status)
{
	return (struct keeper_reply){ .magic = KEEPER_MAGIC, .status = status };
}

static struct keeper_reply answer_ask(struct state *state, const struct channel *channel,
				      const struct keeper_request *request)
{
	const struct digest attempt = attempt_id(channel->task, channel->attempt);
	const struct frozen *frozen;
	struct err err = ERR_INIT;
	struct keeper_reply reply = refuse(KEEPER_GRANTED);

	/* Once off, for good: a journal that was changed back is no better. */
	if (state->journal_is_off || read_journal(state, &err) < 0) {
		state->journal_is_off = true;
		return refuse(KEEPER_JOURNAL_OFF);
	}
	frozen = find_frozen(state, &attempt);
	if (!frozen)
		return refuse(KEEPER_NOT_FROZEN);
	if (!digest_equal(&frozen->root, &request->root))
		return refuse(KEEPER_OTHER_ROOT);
	reply.committed_first = frozen->committed_first;
	reply.digest = keeper_key(state->secret, state->run, channel->task, channel->attempt,
				  &frozen->root);
	return reply;
}

static bool is_local_channel(int fd)
{
	int type = 0, domain = 0;
	socklen_t len = sizeof(int);

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_SEQPACKET &&
	       getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_UNIX;
}

/* Takes *fd over if the answer is KEEPER_GRANTED. */
static struct keeper_reply answer_bind(struct state *state, const struct keeper_request *request,
				       int *fd)
{
	struct channel made = { .attempt = request->attempt };

	if (*fd < 0 || !is_local_channel(*fd) || request->task[0] == '\0' ||
	    request->task[KEEPER_TASK_MAX] != '\0')
		return refuse(KEEPER_MALFORMED);
	if (state->channel_count == KEEPER_CHANNELS_MAX)
		return refuse(KEEPER_FULL);
	made.fd = fd_take(fd);
	memcpy(made.task, request->task, sizeof(made.task));
	state->channels[state->channel_count++] = made;
	return refuse(KEEPER_GRANTED);
}

/*
 * One message and at most one descriptor that came with it; all others are closed.
 * Return: bytes of the message, more than a request has if it was longer, or -1.
 */
static ssize_t receive(int fd, struct keeper_request *request, int *fd_out)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int[DESCRIPTORS_MAX]))];
	} control = { .room = { 0 } };
	struct iovec data = { .iov_base = request, .iov_len = sizeof(*request) };
	struct msghdr message = { .msg_iov = &data,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	ssize_t got;

	do
		got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT | MSG_TRUNC);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -1;
	for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part;
	     part = CMSG_NXTHDR(&message, part)) {
		size_t bytes = part->cmsg_len - CMSG_LEN(0);

		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = 0; at + sizeof(int) <= bytes; at += sizeof(int)) {
			fd_close(fd_out);
			memcpy(fd_out, CMSG_DATA(part) + at, sizeof(int));
		}
	}
	return got;
}

/* Serves one message; channel is NULL for the control socket. Return: false to end the peer. */
static bool serve(struct state *state, int fd, const struct channel *channel)
{
	const enum keeper_request_kind wanted = channel ? KEEPER_REQUEST_ASK : KEEPER_REQUEST_BIND;
	struct keeper_request request = { 0 };
	auto_fd passed_fd = -1;
	ssize_t got = receive(fd, &request, &passed_fd);
	struct keeper_reply reply = refuse(KEEPER_MALFORMED);
	ssize_t put;

	/* An empty message can not be told from the end, and is as good as one. */
	if (got <= 0)
		return got < 0 && errno == EAGAIN;
	if (got == sizeof(request) && request.magic == KEEPER_MAGIC && request.kind == wanted)
		reply = channel ? answer_ask(state, channel, &request)
				: answer_bind(state, &request, &passed_fd);
	fd_close(&passed_fd);
	put = send(fd, &reply, sizeof(reply), MSG_DONTWAIT | MSG_NOSIGNAL);
	explicit_bzero(&reply, sizeof(reply));
	return put == sizeof(reply);
}

static void drop_channel(struct state *state, size_t index)
{
	fd_close(&state->channels[index].fd);
	state->channels[index] = state->channels[--state->channel_count];
}

static void serve_all(struct state *state)
{
	struct pollfd ready[1 + KEEPER_CHANNELS_MAX];

	for (;;) {
		size_t count = state->channel_count;

		ready[0] = (struct pollfd){ .fd = state->control_fd, .events = POLLIN };
		for (size_t i = 0; i < count; i++)
			ready[1 + i] =
				(struct pollfd){ .fd = state->channels[i].fd, .events = POLLIN };
		if (poll(ready, 1 + count, -1) < 0) {
			if (errno == EINTR)
				continue;
			return;
		}
		/* From the last to the first: dropping one moves the last into its place. */
		for (size_t i = count; i-- > 0;)
			if (ready[1 + i].revents != 0 &&
			    !serve(state, state->channels[i].fd, &state->channels[i]))
				drop_channel(state, i);
		if (ready[0].revents != 0 && !serve(state, state->control_fd, NULL))
			return;
	}
}

/* ---- the process ---- */

enum { CONTROL_FD = 3, JOURNAL_FD = 4, SPARE_FD = 16 };

static void wall_off(void)
{
	static const int ignored[] = { SIGINT, SIGQUIT, SIGHUP, SIGPIPE, SIGTERM };
	struct rlimit core = { .rlim_cur = 1, .rlim_max = 1 };
	sigset_t none;

	/* 1 and not 0: it holds for a core_pattern that is a pipe as well, see core(5). */
	if (prctl(PR_SET_DUMPABLE, 0) < 0)
		_exit(1);
	if (setrlimit(RLIMIT_CORE, &core) < 0) {
		core = (struct rlimit){ 0 };
		if (setrlimit(RLIMIT_CORE, &core) < 0)
			_exit(1);
	}
	prctl(PR_SET_NAME, "proctor-keeper");
	/* ^C, or a SIGTERM to the whole group, ends the run by way of proctor, which closes the
	 * control socket. */
	for (size_t i = 0; i < ARRAY_LEN(ignored); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Leaves 0 to 2 on /dev/null, so that no message of a library ends up in a socket. */
static void keep_two(int control_fd, int journal_fd)
{
	const int control = fcntl(control_fd, F_DUPFD_CLOEXEC, SPARE_FD);
	const int journal = fcntl(journal_fd, F_DUPFD_CLOEXEC, SPARE_FD);
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (control < 0 || journal < 0 || null < 0)
		_exit(1);
	for (int fd = 0; fd < CONTROL_FD; fd++)
		if (dup2(null, fd) < 0)
			_exit(1);
	if (dup3(control, CONTROL_FD, O_CLOEXEC) < 0 || dup3(journal, JOURNAL_FD, O_CLOEXEC) < 0 ||
	    close_range(JOURNAL_FD + 1, ~0U, 0) < 0)
		_exit(1);
}

/* The secret of the file, or a new one that is then in the file: on the disk, or not used. */
static void fill_secret(uint8_t *secret, int secret_fd)
{
	ssize_t had = secret_fd < 0 ? 0 : pread(secret_fd, secret, KEEPER_SECRET_LEN, 0);

	if (had == KEEPER_SECRET_LEN)
		return;
	/* A few bytes are what a crash left; nobody was told the commitment of that. */
	if (had < 0 || getrandom(secret, KEEPER_SECRET_LEN, 0) != KEEPER_SECRET_LEN)
		_exit(1);
	if (secret_fd < 0)
		return;
	if (pwrite(secret_fd, secret, KEEPER_SECRET_LEN, 0) != KEEPER_SECRET_LEN ||
	    fsync(secret_fd) < 0)
		_exit(1);
}

static const uint8_t *make_secret(int secret_fd)
{
	const size_t room = (size_t) sysconf(_SC_PAGESIZE);
	uint8_t *secret =
		mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (secret == MAP_FAILED)
		_exit(1);
	/* Where memory may not be locked, swapping is the operator's to avoid. */
	mlock(secret, room);
	madvise(secret, room, MADV_DONTDUMP);
	madvise(secret, room, MADV_DONTFORK);
	fill_secret(secret, secret_fd);
	mprotect(secret, room, PROT_READ);
	return secret;
}

void keeper_main(int control_fd, int journal_fd, const char *run, int secret_fd)
{
	struct state state = { .run = run, .control_fd = CONTROL_FD };
	struct keeper_reply hello = refuse(KEEPER_GRANTED);

	wall_off();
	state.secret = make_secret(secret_fd);
	keep_two(control_fd, journal_fd);
	journal_reader_init(&state.journal, JOURNAL_FD);
	state.commitment = commit_to(state.secret, run);
	hello.digest = state.commitment;
	if (send(CONTROL_FD, &hello, sizeof(hello), MSG_NOSIGNAL) == sizeof(hello))
		serve_all(&state);
	_exit(0);
}
