/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/keeper_process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/syscalls.h"
#include "tests/lib/check.h"

enum { SOMEBODY = 61234 };

static const uint8_t secret[KEEPER_SECRET_LEN] = "a secret of 32 bytes that shows.";

/* A keeper whose secret we know, and an empty file for a journal. */
struct bare {
	pid_t pid;
	int control_fd;
};

static void bare_done(struct bare *bare)
{
	fd_close(&bare->control_fd);
	if (bare->pid > 0)
		CHECK_INT(waitpid(bare->pid, NULL, 0), bare->pid);
}

#define auto_bare cleanup(bare_done) struct bare

static struct keeper_reply hear(int fd)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	struct keeper_reply reply = { 0 };

	CHECK_INT(poll(&ready, 1, 5000), 1);
	CHECK_INT(recv(fd, &reply, sizeof(reply), 0), sizeof(reply));
	CHECK_INT(reply.magic, KEEPER_MAGIC);
	return reply;
}

/* A file for a secret with these bytes in it. */
static int secret_file(const void *bytes, size_t len)
{
	int fd = memfd_create("secret", MFD_CLOEXEC);

	CHECK(fd >= 0);
	CHECK_INT(write(fd, bytes, len), len);
	return fd;
}

static struct bare start_with(int secret_fd)
{
	struct bare bare = { .control_fd = -1 };
	int pair[2], file;

	file = memfd_create("journal", MFD_CLOEXEC);
	CHECK(file >= 0);
	CHECK_INT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	bare.pid = fork();
	if (bare.pid == 0)
		keeper_main(pair[1], file, "run-1", secret_fd);
	close(pair[1]);
	close(file);
	bare.control_fd = pair[0];
	return bare;
}

static struct bare start_bare(void)
{
	auto_fd file = secret_file(secret, sizeof(secret));
	struct bare bare = start_with(file);
	struct keeper_reply hello;
	struct digest want;

	hello = hear(bare.control_fd);
	want = digest_sha256("a secret of 32 bytes that shows.run-1", 37);
	CHECK_INT(hello.status, KEEPER_GRANTED);
	CHECK(digest_equal(&hello.digest, &want));
	return bare;
}

static void send_with(int fd, const void *bytes, size_t len, const int *fds, size_t count)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(8 * sizeof(int))];
	} control = { .room = { 0 } };
	cleanup(mem_free) uint8_t *copy = mem_alloc(len, 1);
	struct iovec data = { .iov_base = copy, .iov_len = len };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 };

	memcpy(copy, bytes, len);
	if (count > 0) {
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(&control.header), fds, count * sizeof(int));
	}
	CHECK_INT(sendmsg(fd, &message, MSG_NOSIGNAL), len);
}

static struct keeper_request bind_request(void)
{
	return (struct keeper_request){
		.magic = KEEPER_MAGIC, .kind = KEEPER_REQUEST_BIND, .task = "t", .attempt = 1
	};
}

/* The judge's end of a channel. */
static int bind_channel(const struct bare *bare)
{
	const struct keeper_request request = bind_request();
	int pair[2];

	CHECK_INT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	send_with(bare->control_fd, &request, sizeof(request), &pair[1], 1);
	CHECK_INT(hear(bare->control_fd).status, KEEPER_GRANTED);
	close(pair[1]);
	return pair[0];
}

static size_t count_fds(pid_t pid)
{
	char path[64];
	DIR *folder;
	size_t count = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int) pid);
	folder = opendir(path);
	if (!folder)
		SKIP("%s can not be read: needs root", path);
	for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder))
		count += entry->d_name[0] != '.';
	closedir(folder);
	return count;
}

TEST(garbage_is_refused_and_the_keeper_lives_on)
{
	auto_bare bare = start_bare();
	auto_fd fd = bind_channel(&bare);
	struct keeper_request request = { .magic = KEEPER_MAGIC, .kind = KEEPER_REQUEST_ASK };
	uint8_t junk[8192];
	uint32_t state = 1;

	for (size_t len = 1; len <= sizeof(junk); len += 1 + len / 7) {
		for (size_t i = 0; i < len; i++)
			junk[i] = (uint8_t) ((state = state * 1664525 + 1013904223) >> 24);
		send_with(fd, junk, len, NULL, 0);
		CHECK_INT(hear(fd).status, KEEPER_MALFORMED);
	}
	/* Right but for one thing. */
	memset(junk, 0, sizeof(junk));
	memcpy(junk, &request, sizeof(request));
	send_with(fd, junk, sizeof(request) - 1, NULL, 0);
	CHECK_INT(hear(fd).status, KEEPER_MALFORMED);
	send_with(fd, junk, sizeof(request) + 1, NULL, 0);
	CHECK_INT(hear(fd).status, KEEPER_MALFORMED);
	request.magic++;
	send_with(fd, &request, sizeof(request), NULL, 0);
	CHECK_INT(hear(fd).status, KEEPER_MALFORMED);
	request.magic--;
	/* The journal is empty here: a question in the right form gets another refusal. */
	send_with(fd, &request, sizeof(request), NULL, 0);
	CHECK_INT(hear(fd).status, KEEPER_JOURNAL_OFF);
}

/* Of run-1: what the file holds is what the keeper has committed itself to. */
static void check_commitment(int secret_fd, const struct keeper_reply *hello)
{
	uint8_t text[KEEPER_SECRET_LEN + 5];
	struct digest want;

	CHECK_INT(pread(secret_fd, text, sizeof(text), 0), KEEPER_SECRET_LEN);
	memcpy(text + KEEPER_SECRET_LEN, "run-1", 5);
	want = digest_sha256(text, sizeof(text));
	CHECK(digest_equal(&hello->digest, &want));
}

TEST(an_empty_file_gets_a_secret_and_the_next_keeper_has_the_same)
{
	auto_fd file = secret_file("", 0);
	struct keeper_reply first = { 0 }, next = { 0 };

	for (int i = 0; i < 2; i++) {
		auto_bare bare = start_with(file);
		struct keeper_reply *hello = i == 0 ? &first : &next;

		*hello = hear(bare.control_fd);
		CHECK_INT(hello->status, KEEPER_GRANTED);
		check_commitment(file, hello);
	}
	CHECK(digest_equal(&first.digest, &next.digest));
}

TEST(what_a_crash_left_of_a_secret_is_none)
{
	auto_fd file = secret_file(secret, 20);
	auto_bare bare = start_with(file);
	const struct keeper_reply hello = hear(bare.control_fd);
	uint8_t now[20];

	check_commitment(file, &hello);
	CHECK_INT(pread(file, now, sizeof(now), 0), sizeof(now));
	CHECK(memcmp(now, secret, sizeof(now)) != 0);
}

TEST(a_secret_that_can_not_be_kept_is_not_used)
{
	auto_fd file = secret_file("", 0);
	char path[64], byte;
	auto_fd readable = -1;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	readable = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(readable >= 0);
	{
		auto_bare bare = start_with(readable);

		/* It ends without a word. */
		CHECK_INT(recv(bare.control_fd, &byte, 1, 0), 0);
	}
	CHECK_INT(lseek(file, 0, SEEK_END), 0);
}

TEST(without_a_file_each_keeper_has_a_secret_of_its_own)
{
	auto_bare one = start_with(-1);
	auto_bare two = start_with(-1);
	const struct keeper_reply first = hear(one.control_fd), second = hear(two.control_fd);

	CHECK(!digest_equal(&first.digest, &second.digest));
}

TEST(each_socket_takes_its_own_questions_only)
{
	auto_bare bare = start_bare();
	auto_fd fd = bind_channel(&bare);
	struct keeper_request ask = { .magic = KEEPER_MAGIC, .kind = KEEPER_REQUEST_ASK };
	struct keeper_request bind = bind_request();
	int pair[2];

	send_with(bare.control_fd, &ask, sizeof(ask), NULL, 0);
	CHECK_INT(hear(bare.control_fd).status, KEEPER_MALFORMED);
	CHECK_INT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	send_with(fd, &bind, sizeof(bind), &pair[1], 1);
	CHECK_INT(hear(fd).status, KEEPER_MALFORMED);
	close(pair[0]);
	close(pair[1]);
}

TEST(a_channel_has_to_be_a_socket_of_the_right_kind)
{
	auto_bare bare = start_bare();
	const struct keeper_request request = bind_request();
	struct keeper_request unnamed = bind_request(), endless = bind_request();
	int stream[2], pipes[2];

	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, stream), 0);
	CHECK_INT(pipe2(pipes, O_CLOEXEC), 0);
	send_with(bare.control_fd, &request, sizeof(request), NULL, 0);
	CHECK_INT(hear(bare.control_fd).status, KEEPER_MALFORMED);
	send_with(bare.control_fd, &request, sizeof(request), &stream[0], 1);
	CHECK_INT(hear(bare.control_fd).status, KEEPER_MALFORMED);
	send_with(bare.control_fd, &request, sizeof(request), &pipes[0], 1);
	CHECK_INT(hear(bare.control_fd).status, KEEPER_MALFORMED);
	unnamed.task[0] = '\0';
	send_with(bare.control_fd, &unnamed, sizeof(unnamed), &bare.control_fd, 1);
	CHECK_INT(hear(bare.control_fd).status, KEEPER_MALFORMED);
	memset(endless.task, 't', sizeof(endless.task));
	send_with(bare.control_fd, &endless, sizeof(endless), &bare.control_fd, 1);
	CHECK_INT(hear(bare.control_fd).status, KEEPER_MALFORMED);
}

TEST(descriptors_that_come_with_a_message_do_not_pile_up)
{
	auto_bare bare = start_bare();
	auto_fd fd = bind_channel(&bare);
	const struct keeper_request request = { .magic = KEEPER_MAGIC, .kind = KEEPER_REQUEST_ASK };
	const int fds[8] = { 0, 1, 2, 0, 1, 2, 0, 1 };
	const size_t before = count_fds(bare.pid);

	for (size_t count = 1; count <= 8; count++) {
		send_with(fd, &request, sizeof(request), fds, count);
		CHECK_INT(hear(fd).status, KEEPER_JOURNAL_OFF);
		send_with(fd, "x", 1, fds, count);
		CHECK_INT(hear(fd).status, KEEPER_MALFORMED);
	}
	CHECK_INT(count_fds(bare.pid), before);
}

TEST(an_empty_message_ends_the_channel_and_no_other)
{
	auto_bare bare = start_bare();
	auto_fd fd = bind_channel(&bare);
	auto_fd other_fd = bind_channel(&bare);
	const struct keeper_request request = { .magic = KEEPER_MAGIC, .kind = KEEPER_REQUEST_ASK };
	char byte;

	CHECK_INT(send(fd, "", 0, MSG_NOSIGNAL), 0);
	CHECK_INT(recv(fd, &byte, 1, 0), 0);
	send_with(other_fd, &request, sizeof(request), NULL, 0);
	CHECK_INT(hear(other_fd).status, KEEPER_JOURNAL_OFF);
}

TEST(a_peer_that_never_reads_is_dropped_and_blocks_nobody)
{
	auto_bare bare = start_bare();
	auto_fd fd = bind_channel(&bare);
	auto_fd other_fd = bind_channel(&bare);
	const struct keeper_request request = { .magic = KEEPER_MAGIC, .kind = KEEPER_REQUEST_ASK };
	int sent = 0;

	while (sent < 100000) {
		struct pollfd ready = { .fd = fd, .events = POLLOUT };

		if (send(fd, &request, sizeof(request), MSG_NOSIGNAL | MSG_DONTWAIT) > 0)
			sent++;
		else if (errno == EPIPE || errno == ECONNRESET)
			break;
		else
			poll(&ready, 1, 1000);
	}
	CHECK(sent < 100000);
	send_with(other_fd, &request, sizeof(request), NULL, 0);
	CHECK_INT(hear(other_fd).status, KEEPER_JOURNAL_OFF);
}

TEST(it_holds_no_descriptor_but_its_own)
{
	auto_bare bare = start_bare();

	/* 0 to 2 on /dev/null, the control socket, the journal. */
	CHECK_INT(count_fds(bare.pid), 5);
}

static bool file_holds(pid_t pid, const char *name, const void *bytes, size_t len)
{
	cleanup(str_done) struct str text = STR_INIT;
	struct err err = ERR_INIT;
	char path[64];
	auto_fd fd = -1;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int) pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		SKIP("%s can not be read: needs root", path);
	CHECK_OK(io_read_fd(fd, 1 << 20, path, &text, &err));
	CHECK(text.len > 0);
	return memmem(text.text, text.len, bytes, len) != NULL;
}

TEST(the_secret_is_in_no_argument_and_no_variable)
{
	auto_bare bare = start_bare();

	CHECK(!file_holds(bare.pid, "cmdline", secret, 8));
	CHECK(!file_holds(bare.pid, "environ", secret, 8));
	/* That the search finds what is there. */
	CHECK(file_holds(bare.pid, "cmdline", "keeper_process", 14));
}

static void become(uid_t uid)
{
	if (getuid() == 0)
		CHECK(setresgid(uid, uid, uid) == 0 && setresuid(uid, uid, uid) == 0);
}

/* What a process of `uid` gets when it reaches for the keeper: 0, or the errno. */
static int reach_for(pid_t pid, uid_t uid, int *trace_errno)
{
	int told[2], answer[2] = { -1, -1 };
	pid_t child;

	CHECK_INT(pipe2(told, O_CLOEXEC), 0);
	child = fork();
	if (child == 0) {
		char path[64];

		become(uid);
		snprintf(path, sizeof(path), "/proc/%d/mem", (int) pid);
		answer[0] = open(path, O_RDONLY | O_CLOEXEC) < 0 ? errno : 0;
		answer[1] = ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0 ? errno : 0;
		CHECK_INT(write(told[1], answer, sizeof(answer)), sizeof(answer));
		_exit(0);
	}
	CHECK_INT(read(told[0], answer, sizeof(answer)), sizeof(answer));
	CHECK_INT(waitpid(child, NULL, 0), child);
	close(told[0]);
	close(told[1]);
	*trace_errno = answer[1];
	return answer[0];
}

TEST(no_other_process_can_read_its_memory_not_even_of_the_same_user)
{
	int trace_errno = 0;

	if (getuid() != 0)
		SKIP("becoming another user needs root");
	become(SOMEBODY); /* the keeper's user: an operator without any capability */
	{
		auto_bare bare = start_bare();

		CHECK_INT(reach_for(bare.pid, SOMEBODY, &trace_errno), EACCES);
		CHECK_INT(trace_errno, EPERM);
	}
}

TEST(another_user_can_not_read_its_memory)
{
	auto_bare bare = { .control_fd = -1 };
	int trace_errno = 0;

	if (getuid() != 0)
		SKIP("becoming another user needs root");
	bare = start_bare();
	CHECK_INT(reach_for(bare.pid, SOMEBODY, &trace_errno), EACCES);
	CHECK_INT(trace_errno, EPERM);
	/* That the look-up itself works: a process like any other lets its own user in. */
	CHECK_INT(reach_for(getpid(), 0, &trace_errno), 0);
}

TEST(it_leaves_no_core)
{
	auto_bare bare = start_bare();
	struct rlimit core = { .rlim_cur = 99 };
	int status = 0;

	CHECK_INT(prlimit(bare.pid, RLIMIT_CORE, NULL, &core), 0);
	CHECK(core.rlim_cur <= 1 && core.rlim_max <= 1);
	CHECK_INT(kill(bare.pid, SIGABRT), 0);
	CHECK_INT(waitpid(bare.pid, &status, 0), bare.pid);
	bare.pid = -1;
	CHECK(WIFSIGNALED(status) && !WCOREDUMP(status));
}

TEST(an_interrupt_from_the_terminal_does_not_end_it)
{
	auto_bare bare = start_bare();

	CHECK_INT(kill(bare.pid, SIGINT), 0);
	CHECK_INT(kill(bare.pid, SIGHUP), 0);
	CHECK(bind_channel(&bare) >= 0);
}

TEST(it_ends_when_its_parent_does)
{
	int told[2], hold[2];
	pid_t parent, keeper = -1;
	auto_fd keeper_fd = -1;
	struct pollfd ended;
	char byte;

	CHECK_INT(pipe2(told, O_CLOEXEC), 0);
	CHECK_INT(pipe2(hold, O_CLOEXEC), 0);
	parent = fork();
	if (parent == 0) {
		struct bare bare = start_bare();

		CHECK_INT(write(told[1], &bare.pid, sizeof(bare.pid)), sizeof(bare.pid));
		close(hold[1]);
		CHECK_INT(read(hold[0], &byte, 1), 0);
		kill(getpid(), SIGKILL);
	}
	CHECK_INT(read(told[0], &keeper, sizeof(keeper)), sizeof(keeper));
	keeper_fd = sys_pidfd_open(keeper, 0);
	CHECK(keeper_fd >= 0);
	ended = (struct pollfd){ .fd = keeper_fd, .events = POLLIN };
	CHECK_INT(poll(&ended, 1, 0), 0);
	close(hold[1]);
	CHECK_INT(waitpid(parent, NULL, 0), parent);
	CHECK_INT(poll(&ended, 1, 5000), 1);
}
