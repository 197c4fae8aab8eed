/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/wire.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/check.h"

static struct jail_spec spec, got;
static struct err err;
static int ends[2]; /* client's, launcher's */

static void make(void)
{
	CHECK_OK(message_pair(ends, &err));
	spec_init(&spec, "test");
	CHECK_OK(spec_add_arg(&spec, "/bin/true", &err));
}

static int null(void)
{
	return open("/dev/null", O_RDWR | O_CLOEXEC);
}

static int request(void)
{
	struct spec_fds fds;

	spec_fds_init(&fds);
	for (int role = SPEC_FD_STDOUT; role < SPEC_FD_COUNT; role++)
		if (spec_fd_wanted(&spec, (enum spec_fd) role))
			fds.fd[role] = null();
	return wire_request(ends[0], &spec, &fds, &err);
}

TEST(a_request_arrives_with_its_descriptors_in_their_roles)
{
	struct spec_fds fds;

	make();
	spec.pass_count = 2;
	spec.has_program = 1;
	CHECK_OK(request());
	CHECK_INT(wire_receive(ends[1], &got, &fds, &err), 1);
	CHECK(memcmp(&spec, &got, sizeof(spec)) == 0);
	for (int role = 0; role < SPEC_FD_COUNT; role++)
		CHECK((fds.fd[role] >= 0) == spec_fd_wanted(&got, (enum spec_fd) role));
	spec_fds_done(&fds);
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
	CHECK_OK(message_send(ends[0], bytes, len, &fds, &err));
	result = wire_receive(ends[1], &got, &received, &err);
	/* Whatever was wrong, the client can be told if it sent a socket at all. */
	CHECK((received.fd[SPEC_FD_CONTROL] >= 0) == (count > 0));
	spec_fds_done(&received);
	return result;
}

TEST(nonsense_from_a_client_is_refused)
{
	static char bytes[sizeof(struct jail_spec) + 8];
	uint32_t magic = 0x70726f63, version = 1;

	make();
	CHECK_INT(send_raw("x", 1, 0), -1);
	CHECK_INT(send_raw(bytes, sizeof(bytes), 3), -1);
	CHECK_STR(err.text, "a request of another version of proctor");
	memcpy(bytes, &magic, 4);
	memcpy(bytes + 4, &version, 4);
	CHECK_INT(send_raw(bytes, sizeof(bytes), 3), -1);
	memcpy(bytes + 8, &spec, sizeof(spec));
	CHECK_INT(send_raw(bytes, sizeof(bytes), 2), -1);
	CHECK_STR(err.text, "the request lacks descriptors");
	CHECK_INT(send_raw(bytes, sizeof(bytes), 4), -1);
	CHECK_STR(err.text, "the request has 1 descriptors too many");
	CHECK_INT(send_raw(bytes, sizeof(bytes), 3), -1);
	CHECK_STR(err.text, "the jail's socket is of another kind");
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
	started_fds_done(&fds);
	event.kind = EVENT_ENDED;
	CHECK_OK(wire_tell(ends[1], &event, NULL, &err));
	CHECK_OK(wire_next(ends[0], &seen, &fds, &err));
	CHECK_INT(fds.pid_fd, -1);
}

TEST(a_client_can_ask_for_the_endings_that_are_its_own)
{
	struct wish wish = { .ending = ENDING_EXITED };

	make();
	CHECK_OK(wire_end(ends[0], ENDING_OUTPUT, &err));
	CHECK_INT(wire_wish(ends[1], &wish, &err), 1);
	CHECK_INT(wish.ending, ENDING_OUTPUT);
	CHECK(!wish.output_came);
	CHECK_OK(wire_end(ends[0], ENDING_OOM, &err));
	CHECK_INT(wire_wish(ends[1], &wish, &err), -1);
	close(ends[0]);
	CHECK_INT(wire_wish(ends[1], &wish, &err), 0);
}

TEST(that_output_came_is_no_wish_for_an_end)
{
	struct wish wish = { .ending = ENDING_OUTPUT };

	make();
	CHECK_OK(wire_output_came(ends[0], &err));
	CHECK_INT(wire_wish(ends[1], &wish, &err), 1);
	CHECK(wish.output_came);
}

TEST(the_flags_of_a_result_are_told_in_words)
{
	struct jail_result result = { .flags = JAIL_PIDS_HIT | JAIL_INODES_FULL,
				      .without = CGROUP_BIT(CGROUP_LIMIT_SWAP) |
						 CGROUP_BIT(SPEC_LIMIT_LANDLOCK) };
	static const char *const want[] = { "pids_hit", "inodes_full", "without:swap",
					    "without:landlock" };
	struct jail_flag flags[JAIL_FLAGS_MAX];

	CHECK_INT(jail_result_flags(&result, flags), ARRAY_LEN(want));
	for (size_t i = 0; i < ARRAY_LEN(want); i++)
		CHECK_STR(flags[i].text, want[i]);
	result = (struct jail_result){ .flags = 0 };
	CHECK_INT(jail_result_flags(&result, flags), 0);
	result = (struct jail_result){ .flags = UINT32_MAX, .without = UINT32_MAX };
	CHECK(jail_result_flags(&result, flags) <= JAIL_FLAGS_MAX);
}
