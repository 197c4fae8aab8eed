/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/lib/check.h"

static struct jail_spec spec;
static struct wire_asked asked;
static struct err err;
static int ends[2]; /* client's, launcher's */

static void make(void)
{
	int yes = 1;

	CHECK_OK(message_pair(ends, &err));
	CHECK(setsockopt(ends[1], SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) == 0);
	spec_init(&spec, "test");
	CHECK_OK(spec_add_arg(&spec, "/bin/true", &err));
}

/* A jail's own socket, which need not say who sends. */
static void make_control(void)
{
	CHECK_OK(message_pair(ends, &err));
}

static int null(void)
{
	return open("/dev/null", O_RDWR | O_CLOEXEC);
}

/* What each role is meant to have. */
static int right_fd(int role)
{
	int fd;

	if (role == SPEC_FD_STDOUT || role == SPEC_FD_STDERR)
		return null();
	fd = memfd_create("test", MFD_CLOEXEC);
	CHECK(fd >= 0);
	return fd;
}

static void right_fds(struct spec_fds *fds)
{
	spec_fds_init(fds);
	for (int role = SPEC_FD_STDOUT; role < SPEC_FD_COUNT; role++)
		if (spec_fd_wanted(&spec, (enum spec_fd) role))
			fds->fd[role] = right_fd(role);
}

static int request(void)
{
	struct spec_fds fds;

	right_fds(&fds);
	return wire_request(ends[0], &spec, &fds, &err);
}

static int take_request(int socket_fd, const struct jail_spec *taken, struct spec_fds *fds,
			struct err *why)
{
	cleanup(message_fds_done) struct message_fds got = MESSAGE_FDS_INIT;

	spec_fds_init(fds);
	return message_take_fds(socket_fd, &got, why) < 0 ? -1 : wire_sort(taken, &got, fds, why);
}

TEST(a_request_is_looked_at_and_then_taken_with_its_descriptors_in_their_roles)
{
	struct spec_fds fds;

	make();
	spec.pass_count = 2;
	spec.has_program = 1;
	spec.device_count = 1;
	snprintf(spec.devices[0].name, sizeof(spec.devices[0].name), "gpu0");
	CHECK_OK(request());
	for (int i = 0; i < 2; i++) {
		CHECK_INT(wire_peek(ends[1], &asked, &err), 1);
		CHECK_INT(asked.request.head.kind, REQUEST_JAIL);
		CHECK_INT(asked.sender, getpid());
		CHECK(asked.has_fds);
		CHECK(memcmp(&spec, &asked.request.spec, sizeof(spec)) == 0);
	}
	CHECK_OK(take_request(ends[1], &asked.request.spec, &fds, &err));
	for (int role = 0; role < SPEC_FD_COUNT; role++)
		CHECK((fds.fd[role] >= 0) ==
		      spec_fd_wanted(&asked.request.spec, (enum spec_fd) role));
	CHECK_OK(wire_check_fds(&fds, &err));
	spec_fds_done(&fds);
	CHECK_INT(wire_peek(ends[1], &asked, &err), -1);
	CHECK_INT(err.sys, EAGAIN);
	close(ends[0]);
	CHECK_INT(wire_peek(ends[1], &asked, &err), 0);
}

TEST(a_spec_that_makes_no_sense_is_not_even_sent)
{
	make();
	spec.command.argc = 7;
	CHECK_INT(request(), -1);
	CHECK_INT(err.kind, ERR_INPUT);
}

/* What an evil client sends: @len bytes and @count descriptors. */
static int send_raw(const void *bytes, size_t len, size_t count)
{
	struct message_fds fds = { .count = count };
	struct spec_fds received;
	int result;

	for (size_t i = 0; i < count; i++)
		fds.fd[i] = null();
	err = (struct err) ERR_INIT;
	CHECK_OK(message_send(ends[0], bytes, len, &fds, &err));
	result = wire_peek(ends[1], &asked, &err);
	CHECK(asked.has_fds == (count > 0));
	if (result == 1 && asked.request.head.kind == REQUEST_JAIL) {
		result = take_request(ends[1], &asked.request.spec, &received, &err);
		/* Whatever was wrong, the client can be told if it sent a socket at all. */
		CHECK((received.fd[SPEC_FD_CONTROL] >= 0) == (count > 0));
		spec_fds_done(&received);
		return result;
	}
	CHECK_INT(message_drop(ends[1]), 1);
	return result;
}

TEST(nonsense_from_a_client_is_refused)
{
	static struct wire_request raw;
	static char more[sizeof(struct wire_request) + 1];

	make();
	CHECK_INT(send_raw("x", 1, 0), -1);
	CHECK_STR(err.text, "a request of another version of proctor");
	CHECK_INT(send_raw("", 0, 0), 0); /* as the end of a connection looks */
	CHECK_INT(send_raw(more, sizeof(more), 3), -1);
	CHECK(strstr(err.text, "a request is longer than"));
	CHECK_INT(send_raw(&raw, sizeof(raw), 3), -1);
	CHECK_STR(err.text, "a request of another version of proctor");
	raw.head = (struct wire_head){ 0x70726f63, 1, REQUEST_JAIL, 0 };
	CHECK_INT(send_raw(&raw, sizeof(raw), 3), -1);
	CHECK_STR(err.text, "a request of another version of proctor");
	raw.head.version = WIRE_VERSION;
	CHECK_INT(send_raw(&raw, sizeof(raw) - 1, 3), -1);
	CHECK_STR(err.text, "a request of another version of proctor");
	CHECK_INT(send_raw(&raw, sizeof(raw), 3), -1); /* an empty spec */
	CHECK_INT(err.kind, ERR_INPUT);
	raw.spec = spec;
	CHECK_INT(send_raw(&raw, sizeof(raw), 2), -1);
	CHECK_STR(err.text, "the request lacks descriptors");
	CHECK_INT(send_raw(&raw, sizeof(raw), 4), -1);
	CHECK_STR(err.text, "the request has 1 descriptors too many");
	CHECK_INT(send_raw(&raw, sizeof(raw), 3), -1);
	CHECK_STR(err.text, "the jail's socket is of another kind");
	raw.head.kind = 77;
	CHECK_INT(send_raw(&raw, sizeof(raw.head), 0), -1);
	CHECK_STR(err.text, "a request for what nobody knows: 77, 0");
	raw.head.kind = REQUEST_TIMING;
	raw.head.what = TIMING_ASKS;
	CHECK_INT(send_raw(&raw, sizeof(raw.head), 0), -1);
	CHECK_STR(err.text, "a request for what nobody knows: 3, 5");
	raw.head.what = TIMING_LEAVE;
	CHECK_INT(send_raw(&raw, sizeof(raw.head), 1), -1);
	CHECK_STR(err.text, "the request has descriptors too many");
	CHECK_INT(send_raw(&raw, sizeof(raw.head), 0), 1);
	raw.head.kind = REQUEST_HELLO;
	CHECK_INT(send_raw(&raw, sizeof(raw.head), 0), -1); /* another size of requests */
	raw.head.what = sizeof(raw);
	CHECK_INT(send_raw(&raw, sizeof(raw.head), 0), 1);
}

TEST(of_a_request_without_sense_only_the_socket_is_kept_and_only_if_it_is_one)
{
	struct message_fds sent = { .count = 2 };
	struct spec_fds fds;
	int pair[2];

	make();
	CHECK_OK(message_pair(pair, &err));
	sent.fd[0] = pair[1];
	sent.fd[1] = null();
	CHECK_OK(message_send(ends[0], "x", 1, &sent, &err));
	CHECK_OK(take_request(ends[1], NULL, &fds, &err));
	CHECK(fds.fd[SPEC_FD_CONTROL] >= 0);
	spec_fds_done(&fds);
	sent.fd[0] = null();
	CHECK_OK(message_send(ends[0], "x", 1, &sent, &err));
	CHECK_INT(take_request(ends[1], NULL, &fds, &err), -1);
	spec_fds_done(&fds);
}

/* --- what a descriptor may be --- */

static void check_kind(int role, int fd, const char *want)
{
	struct spec_fds fds;

	spec_fds_init(&fds);
	fds.fd[role] = fd;
	CHECK(fd >= 0);
	err = (struct err) ERR_INIT;
	if (want) {
		CHECK_INT(wire_check_fds(&fds, &err), -1);
		CHECK_INT(err.kind, ERR_INPUT);
		CHECK_STR(err.text, want);
	} else {
		CHECK_OK(wire_check_fds(&fds, &err));
	}
	close(fd);
}

TEST(no_role_takes_a_folder_or_what_was_opened_as_a_path_only)
{
	for (int role = SPEC_FD_STDOUT; role < SPEC_FD_COUNT; role++) {
		static const struct {
			const char *path;
			int flags;
		} rows[] = {
			{ "/", O_PATH },
			{ "/", O_RDONLY | O_DIRECTORY },
			{ "/root", O_PATH | O_DIRECTORY },
			{ "/etc/shadow", O_PATH },
			{ "/etc/passwd", O_PATH },
			{ "/dev/null", O_PATH },
			{ "/dev/zero", O_RDWR },
			{ "/dev/tty", O_PATH },
		};

		for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
			struct spec_fds fds;
			int fd = open(rows[i].path, rows[i].flags | O_CLOEXEC);

			if (fd < 0)
				continue; /* not root */
			spec_fds_init(&fds);
			fds.fd[role] = fd;
			if (wire_check_fds(&fds, &err) == 0)
				check_fail(__FILE__, __LINE__, "role %d takes '%s'", role,
					   rows[i].path);
			close(fd);
		}
	}
}

TEST(each_role_takes_what_it_is_for_and_says_so_of_others)
{
	int pipes[2], pair[2], file;

	CHECK(pipe(pipes) == 0);
	CHECK_OK(message_pair(pair, &err));
	check_kind(SPEC_FD_STDOUT, dup(pipes[1]), NULL);
	check_kind(SPEC_FD_STDOUT, null(), NULL);
	check_kind(SPEC_FD_STDOUT, dup(pipes[0]),
		   "descriptor 1 of the request, the output, is not a pipe or /dev/null, to be "
		   "written");
	check_kind(SPEC_FD_STDERR, dup(pair[0]),
		   "descriptor 2 of the request, the output, is not a pipe or /dev/null, to be "
		   "written");
	check_kind(SPEC_FD_PROGRAM, memfd_create("x", MFD_CLOEXEC), NULL);
	check_kind(SPEC_FD_PROGRAM, open("/proc/self/exe", O_RDONLY | O_CLOEXEC),
		   "descriptor 3 of the request, the program, is not a memfd, to be read");
	check_kind(SPEC_FD_COLLECT, dup(pipes[1]), NULL);
	check_kind(SPEC_FD_COLLECT, dup(pipes[0]),
		   "descriptor 4 of the request, the archive, is not a regular file or a pipe, to "
		   "be written");
	check_kind(SPEC_FD_COLLECT, open("/etc/passwd", O_RDONLY | O_CLOEXEC),
		   "descriptor 4 of the request, the archive, is not a regular file or a pipe, to "
		   "be written");
	check_folder();
	file = openat(check_folder(), "file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	check_kind(SPEC_FD_COLLECT, dup(file), NULL);
	check_kind(SPEC_FD_TREES, dup(file), NULL);
	check_kind(SPEC_FD_TREES, dup(pipes[0]), NULL);
	check_kind(SPEC_FD_TREES, dup(pipes[1]),
		   "descriptor 5 of the request, the tree, is not a regular file or a pipe, to be "
		   "read");
	check_kind(SPEC_FD_PASS, memfd_create("x", MFD_CLOEXEC), NULL);
	check_kind(SPEC_FD_PASS, dup(pipes[1]), NULL);
	check_kind(SPEC_FD_PASS, dup(pair[0]),
		   "descriptor 9 of the request, the passed descriptor, is not a memfd, a pipe or "
		   "/dev/null");
	check_kind(SPEC_FD_PASS, open("/etc/passwd", O_RDONLY | O_CLOEXEC),
		   "descriptor 9 of the request, the passed descriptor, is not a memfd, a pipe or "
		   "/dev/null");
}

/* --- questions --- */

static void answer_with(enum event_kind kind, const char *text)
{
	struct event event = { .kind = (uint32_t) kind };

	if (text)
		err_set(&event.err, ERR_HOST, "%s", text);
	CHECK_OK(wire_tell(ends[1], &event, NULL, &err));
}

TEST(a_question_has_one_answer)
{
	make();
	answer_with(EVENT_READY, NULL);
	answer_with(EVENT_READY, NULL);
	CHECK_OK(wire_hello(ends[0], &err));
	CHECK_INT(wire_peek(ends[1], &asked, &err), 1);
	CHECK_INT(asked.request.head.kind, REQUEST_HELLO);
	CHECK_INT(message_drop(ends[1]), 1);
	answer_with(EVENT_READY, NULL);
	CHECK_INT(wire_timing(ends[0], TIMING_ASK_ALONE, &err), 1);
	CHECK_INT(wire_peek(ends[1], &asked, &err), 1);
	CHECK_INT(asked.request.head.kind, REQUEST_TIMING);
	CHECK_INT(asked.request.head.what, TIMING_ASK_ALONE);
	answer_with(EVENT_BUSY, NULL);
	CHECK_INT(wire_timing(ends[0], TIMING_ASK_TURN, &err), 0);
	answer_with(EVENT_FAILED, "you are not in the group");
	CHECK_INT(wire_hello(ends[0], &err), -1);
	CHECK_STR(err.text, "you are not in the group");
	answer_with(EVENT_ENDED, NULL);
	CHECK_INT(wire_timing(ends[0], TIMING_LEAVE, &err), -1);
	CHECK_STR(err.text, "the launcher answers something else");
	close(ends[1]);
	CHECK_INT(wire_timing(ends[0], TIMING_LEAVE, &err), -1);
}

TEST(a_client_that_does_not_read_is_not_waited_for)
{
	struct event event = { .kind = EVENT_READY };
	int told = 0;

	make();
	CHECK_INT(fcntl(ends[1], F_GETFL) & O_NONBLOCK, 0);
	while (wire_tell(ends[1], &event, NULL, &err) == 0)
		told++;
	CHECK_INT(err.sys, EAGAIN);
	CHECK(told > 0);
}

TEST(a_launcher_that_has_gone_is_an_ending)
{
	struct event event;

	make();
	close(ends[1]);
	CHECK_OK(wire_next(ends[0], &event, NULL, &err));
	CHECK_INT(event.kind, EVENT_LOST);
	CHECK_INT(event.result.ending, ENDING_LAUNCHER_LOST);
}

TEST(events_bring_what_a_started_jail_offers)
{
	struct event event = { .kind = EVENT_STARTED }, seen;
	struct started_fds sent = { null(), -1, -1 }, fds;

	make();
	CHECK_OK(wire_tell(ends[1], &event, &sent, &err));
	CHECK_OK(wire_next(ends[0], &seen, &fds, &err));
	CHECK_INT(seen.kind, EVENT_STARTED);
	CHECK(fds.pid_fd >= 0 && fds.freeze_fd == -1);
	sent.freeze_fd = null();
	sent.events_fd = null();
	CHECK_OK(wire_tell(ends[1], &event, &sent, &err));
	CHECK_OK(wire_next(ends[0], &seen, &fds, &err));
	CHECK(fds.pid_fd >= 0 && fds.freeze_fd >= 0 && fds.events_fd >= 0);
	CHECK_INT(fds.service_count, 0);
	started_fds_done(&fds);
	/* Two sockets of services are not the freezer's two files. */
	sent = (struct started_fds){ null(), -1, -1, 2, { null(), null() } };
	CHECK_OK(wire_tell(ends[1], &event, &sent, &err));
	CHECK_OK(wire_next(ends[0], &seen, &fds, &err));
	CHECK(fds.pid_fd >= 0 && fds.freeze_fd == -1 && fds.events_fd == -1);
	CHECK_INT(fds.service_count, 2);
	CHECK(fds.service_fd[0] >= 0 && fds.service_fd[1] >= 0);
	started_fds_done(&fds);
	CHECK_INT(fds.service_count, 0);
	event.kind = EVENT_ENDED;
	CHECK_OK(wire_tell(ends[1], &event, NULL, &err));
	CHECK_OK(wire_next(ends[0], &seen, &fds, &err));
	CHECK_INT(fds.pid_fd, -1);
}

TEST(a_monitor_that_lies_about_its_sockets_is_not_believed)
{
	static const uint32_t counts[] = { 1, 2, NET_SERVICES_MAX + 1, UINT32_MAX };
	struct started_fds fds;
	struct event seen;

	make();
	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		const struct event event = { .kind = EVENT_STARTED, .service_count = counts[i] };

		err = ERR_INIT;
		CHECK_OK(message_send(ends[1], &event, sizeof(event), NULL, &err));
		CHECK_INT(wire_next(ends[0], &seen, &fds, &err), -1);
		CHECK_STR(err.text, "the launcher's message is malformed");
	}
}

TEST(a_client_can_ask_for_the_endings_that_are_its_own)
{
	struct wish wish = { .ending = ENDING_EXITED };

	make_control();
	CHECK_OK(wire_end(ends[0], ENDING_OUTPUT, &err));
	CHECK_INT(wire_wish(ends[1], &wish, &err), 1);
	CHECK_INT(wish.ending, ENDING_OUTPUT);
	CHECK(!wish.output_came);
	CHECK_OK(wire_end(ends[0], ENDING_OOM, &err));
	CHECK_INT(wire_wish(ends[1], &wish, &err), -1);
	{
		struct message_fds fds = { .count = 1, .fd = { ends[0] } };

		CHECK_OK(message_send(ends[0], &wish, sizeof(wish), &fds, &err));
		CHECK_INT(wire_wish(ends[1], &wish, &err), -1);
	}
	CHECK_INT(wire_wish(ends[1], &wish, &err), -1); /* nothing there: nobody waits */
	close(ends[0]);
	CHECK_INT(wire_wish(ends[1], &wish, &err), 0);
}

TEST(that_output_came_is_no_wish_for_an_end)
{
	struct wish wish = { .ending = ENDING_OUTPUT };

	make_control();
	CHECK_OK(wire_output_came(ends[0], &err));
	CHECK_INT(wire_wish(ends[1], &wish, &err), 1);
	CHECK(wish.output_came);
}

TEST(the_flags_of_a_result_are_told_in_words)
{
	struct jail_result result = { .flags = JAIL_PIDS_HIT | JAIL_INODES_FULL,
				      .without = CGROUP_BIT(CGROUP_LIMIT_SWAP) |
						 CGROUP_BIT(SPEC_LIMIT_LANDLOCK),
				      .clamped = CGROUP_BIT(CGROUP_LIMIT_MEMORY) };
	static const char *const want[] = { "pids_hit", "inodes_full", "without:swap",
					    "without:landlock", "clamped:memory" };
	struct jail_flag flags[JAIL_FLAGS_MAX];

	CHECK_INT(jail_result_flags(&result, flags), ARRAY_LEN(want));
	for (size_t i = 0; i < ARRAY_LEN(want); i++)
		CHECK_STR(flags[i].text, want[i]);
	result = (struct jail_result){ .flags = 0 };
	CHECK_INT(jail_result_flags(&result, flags), 0);
	result = (struct jail_result){ .flags = UINT32_MAX,
				       .without = UINT32_MAX,
				       .clamped = UINT32_MAX };
	CHECK(jail_result_flags(&result, flags) <= JAIL_FLAGS_MAX);
}
