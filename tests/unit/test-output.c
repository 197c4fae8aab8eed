/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/output.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "tests/lib/check.h"

/* A jail's ends of two pipes, and the pump. */
struct scene {
	int folder;
	int jail[OUTPUT_STREAMS];
	struct output output;
};

static void scene_done(struct scene *scene)
{
	char link[32], path[128];
	ssize_t len;

	output_done(&scene->output);
	unlinkat(scene->folder, "agent.stdout", 0);
	unlinkat(scene->folder, "agent.stderr", 0);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", scene->folder);
	len = readlink(link, path, sizeof(path) - 1);
	CHECK(len > 0);
	path[len] = '\0';
	rmdir(path);
	fd_close(&scene->folder);
	fd_close(&scene->jail[0]);
	fd_close(&scene->jail[1]);
}

#define auto_scene cleanup(scene_done) struct scene

static struct scene scene_open(uint64_t cap)
{
	struct scene scene = { .output = OUTPUT_INIT };
	char path[] = "/tmp/proctor-output-XXXXXX";
	struct err err = ERR_INIT;
	int ours[OUTPUT_STREAMS];

	CHECK(mkdtemp(path) != NULL);
	scene.folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < OUTPUT_STREAMS; i++) {
		int pair[2];

		CHECK_INT(pipe2(pair, O_CLOEXEC), 0);
		ours[i] = pair[0];
		scene.jail[i] = pair[1];
	}
	CHECK_OK(output_open(&scene.output, scene.folder, "agent", ours, cap, &err));
	CHECK_INT(ours[0], -1);
	CHECK_INT(ours[1], -1);
	return scene;
}

static void say(struct scene *scene, size_t stream, const char *text)
{
	CHECK_INT(write(scene->jail[stream], text, strlen(text)), strlen(text));
}

static const char *logged(const struct scene *scene, const char *name, struct str *out)
{
	struct err err = ERR_INIT;

	str_clear(out);
	CHECK_OK(io_read_file(scene->folder, name, 1 << 24, out, &err));
	return out->text;
}

TEST(the_two_streams_are_kept_apart_and_as_they_are)
{
	auto_scene scene = scene_open(1000);
	cleanup(str_done) struct str text = STR_INIT;
	struct pollfd fds[OUTPUT_STREAMS];
	struct err err = ERR_INIT;

	CHECK_OK(output_ready(&scene.output, &err)); /* nothing there: no wait */
	say(&scene, OUTPUT_STDOUT, "out \033[2J\xff\n");
	say(&scene, OUTPUT_STDERR, "err\n");
	CHECK_INT(output_poll(&scene.output, fds), 2);
	CHECK_INT(poll(fds, 2, 0), 2);
	CHECK_OK(output_ready(&scene.output, &err));
	CHECK_STR(logged(&scene, "agent.stdout", &text), "out \033[2J\xff\n");
	CHECK_STR(logged(&scene, "agent.stderr", &text), "err\n");
	CHECK_INT(scene.output.streams[OUTPUT_STDOUT].total, 10);
	fd_close(&scene.jail[OUTPUT_STDERR]);
	CHECK_OK(output_ready(&scene.output, &err));
	CHECK_INT(output_poll(&scene.output, fds), 1);
	CHECK(!output_has_ended(&scene.output));
	fd_close(&scene.jail[OUTPUT_STDOUT]);
	CHECK_OK(output_ready(&scene.output, &err));
	CHECK_INT(output_poll(&scene.output, fds), 0);
	CHECK(output_has_ended(&scene.output));
	CHECK_OK(output_finish(&scene.output, &err));
}

TEST(what_is_over_the_cap_is_counted_and_not_kept)
{
	auto_scene scene = scene_open(10);
	cleanup(str_done) struct str text = STR_INIT;
	struct err err = ERR_INIT;

	say(&scene, OUTPUT_STDOUT, "123456");
	CHECK_OK(output_ready(&scene.output, &err));
	say(&scene, OUTPUT_STDERR, "abcd");
	CHECK_OK(output_ready(&scene.output, &err));
	CHECK(!output_is_over(&scene.output)); /* exactly the cap is not over it */
	say(&scene, OUTPUT_STDERR, "e");
	CHECK_OK(output_ready(&scene.output, &err));
	CHECK(output_is_over(&scene.output));
	say(&scene, OUTPUT_STDOUT, "789");
	CHECK_OK(output_finish(&scene.output, &err));
	CHECK_STR(logged(&scene, "agent.stdout", &text), "123456");
	CHECK_STR(logged(&scene, "agent.stderr", &text), "abcd");
	CHECK_INT(scene.output.streams[OUTPUT_STDOUT].total, 9);
	CHECK_INT(scene.output.streams[OUTPUT_STDERR].total, 5);
}

TEST(a_flood_never_stops_the_jail_and_one_turn_is_bounded)
{
	auto_scene scene = scene_open(100000);
	cleanup(str_done) struct str text = STR_INIT;
	struct err err = ERR_INIT;
	uint64_t last = 0, most = 0;
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		static char block[65536];

		for (int i = 0; i < 800; i++)
			if (write(scene.jail[0], block, sizeof(block)) != sizeof(block))
				_exit(1);
		_exit(0);
	}
	fd_close(&scene.jail[0]);
	fd_close(&scene.jail[1]);
	while (!output_has_ended(&scene.output)) {
		struct pollfd fds[OUTPUT_STREAMS];
		const size_t count = output_poll(&scene.output, fds);

		CHECK(poll(fds, count, 10000) > 0);
		CHECK_OK(output_ready(&scene.output, &err));
		most = MAX_OF(most, scene.output.streams[0].total - last);
		last = scene.output.streams[0].total;
	}
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK_INT(status, 0);
	CHECK_INT(last, 800 * 65536);
	CHECK(most < MIB + 65536);
	CHECK_OK(output_finish(&scene.output, &err));
	logged(&scene, "agent.stdout", &text);
	CHECK_INT(text.len, 100000);
}

TEST(a_grandchild_that_holds_the_pipe_holds_nothing_up)
{
	auto_scene scene = scene_open(1000);
	cleanup(str_done) struct str text = STR_INIT;
	const int64_t before = clock_now();
	struct err err = ERR_INIT;
	pid_t holder = fork();

	if (holder == 0) {
		pause();
		_exit(0);
	}
	say(&scene, OUTPUT_STDOUT, "last words");
	fd_close(&scene.jail[0]);
	fd_close(&scene.jail[1]);
	CHECK_OK(output_finish(&scene.output, &err));
	CHECK(clock_now() - before < 5 * NS_PER_S);
	CHECK(output_has_ended(&scene.output));
	CHECK_STR(logged(&scene, "agent.stdout", &text), "last words");
	kill(holder, SIGKILL);
	CHECK_INT(waitpid(holder, NULL, 0), holder);
}

TEST(the_tail_is_the_last_whole_lines_escaped)
{
	auto_scene scene = scene_open(10);
	cleanup(str_done) struct str tail = STR_INIT;
	struct err err = ERR_INIT;
	char line[32];

	say(&scene, OUTPUT_STDERR, "one\ttwo\n\033[0m");
	CHECK_OK(output_ready(&scene.output, &err));
	output_add_tail(&scene.output, OUTPUT_STDERR, &tail);
	CHECK_STR(tail.text, "one\ttwo\n\\x1b[0m");
	/* The tail goes on where the log has stopped. */
	for (int i = 0; i < 3000; i++) {
		snprintf(line, sizeof(line), "line %d\n", i);
		say(&scene, OUTPUT_STDOUT, line);
		if (i % 100 == 99)
			CHECK_OK(output_ready(&scene.output, &err));
	}
	str_clear(&tail);
	output_add_tail(&scene.output, OUTPUT_STDOUT, &tail);
	CHECK(tail.len <= OUTPUT_TAIL && tail.len > OUTPUT_TAIL - 20);
	CHECK(strncmp(tail.text, "line 2", 6) == 0);
	CHECK_STR(tail.text + tail.len - 20, "line 2998\nline 2999\n");
}

static const char *shown(int fd)
{
	static char text[65536];
	ssize_t got = read(fd, text, sizeof(text) - 1);

	text[got > 0 ? got : 0] = '\0';
	return text;
}

TEST(what_is_shown_on_a_terminal_is_escaped_and_characters_stay_whole)
{
	auto_scene scene = scene_open(1000);
	struct err err = ERR_INIT;
	int terminal[2];

	CHECK_INT(pipe2(terminal, O_CLOEXEC | O_NONBLOCK), 0);
	output_show(&scene.output, OUTPUT_STDOUT, terminal[1], true);
	say(&scene, OUTPUT_STDOUT, "a\tb\n\033[2J \xe2\x82");
	CHECK_OK(output_ready(&scene.output, &err));
	CHECK_STR(shown(terminal[0]), "a\tb\n\\x1b[2J ");
	say(&scene, OUTPUT_STDOUT, "\xac|\xe2\x82|\xc3");
	CHECK_OK(output_ready(&scene.output, &err));
	CHECK_STR(shown(terminal[0]), "\xe2\x82\xac|\\xe2\\x82|");
	CHECK_OK(output_finish(&scene.output, &err));
	CHECK_STR(shown(terminal[0]), "\\xc3");
}

TEST(what_is_shown_elsewhere_is_as_it_is_up_to_the_cap)
{
	auto_scene scene = scene_open(6);
	struct err err = ERR_INIT;
	int file[2];

	CHECK_INT(pipe2(file, O_CLOEXEC | O_NONBLOCK), 0);
	output_show(&scene.output, OUTPUT_STDOUT, file[1], false);
	say(&scene, OUTPUT_STDOUT, "\033\xff\n12345");
	CHECK_OK(output_ready(&scene.output, &err));
	CHECK_STR(shown(file[0]), "\033\xff\n123");
}

/* Nothing is lost, nothing waits, and the jail finds its pipe full as it would without us. */
TEST(a_reader_that_stalls_holds_up_the_jail_and_not_us)
{
	auto_scene scene = scene_open(1 << 24);
	static char block[65536];
	struct pollfd fds[OUTPUT_STREAMS];
	struct err err = ERR_INIT;
	uint64_t written = 0, got = 0;
	int reader[2];

	CHECK_INT(pipe2(reader, O_CLOEXEC), 0); /* blocking, as we are given it */
	CHECK_INT(fcntl(scene.jail[0], F_SETFL, O_NONBLOCK), 0);
	output_show(&scene.output, OUTPUT_STDOUT, reader[1], false);
	for (int i = 0; i < 100; i++) {
		ssize_t put = write(scene.jail[0], block, sizeof(block));

		written += put > 0 ? (uint64_t) put : 0;
		CHECK_OK(output_ready(&scene.output, &err));
	}
	CHECK(written < 10 * sizeof(block));
	CHECK(output_is_unshown(&scene.output));
	fd_close(&scene.jail[0]);
	fd_close(&scene.jail[1]);
	while (!output_has_ended(&scene.output)) {
		const size_t count = output_poll(&scene.output, fds);
		ssize_t some;

		CHECK(count >= 1 && poll(fds, count, 0) >= 0);
		some = read(reader[0], block, sizeof(block));
		CHECK(some > 0);
		got += (uint64_t) some;
		CHECK_OK(output_ready(&scene.output, &err));
	}
	CHECK_INT(fcntl(reader[0], F_SETFL, O_NONBLOCK), 0);
	for (ssize_t some; (some = read(reader[0], block, sizeof(block))) > 0;)
		got += (uint64_t) some;
	CHECK_INT(got, written);
	CHECK(!output_is_unshown(&scene.output));
}

TEST(what_a_stalled_reader_did_not_take_is_dropped_at_the_end)
{
	auto_scene scene = scene_open(1 << 24);
	cleanup(str_done) struct str text = STR_INIT;
	static char block[65536];
	struct err err = ERR_INIT;
	int reader[2];

	CHECK_INT(pipe2(reader, O_CLOEXEC), 0);
	CHECK(fcntl(reader[1], F_SETPIPE_SZ, 4096) == 4096);
	output_show(&scene.output, OUTPUT_STDOUT, reader[1], false);
	CHECK_INT(write(scene.jail[0], block, sizeof(block)), sizeof(block));
	CHECK_OK(output_ready(&scene.output, &err));
	CHECK(output_is_unshown(&scene.output));
	CHECK_OK(output_finish(&scene.output, &err));
	CHECK(output_has_ended(&scene.output));
	logged(&scene, "agent.stdout", &text);
	CHECK_INT(text.len, sizeof(block)); /* the log has it all the same */
}

TEST(what_can_not_be_shown_is_an_error_and_the_log_has_it)
{
	auto_scene scene = scene_open(1000);
	cleanup(str_done) struct str text = STR_INIT;
	auto_fd full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct err err = ERR_INIT;

	output_show(&scene.output, OUTPUT_STDOUT, full, false);
	say(&scene, OUTPUT_STDOUT, "lost");
	CHECK_INT(output_ready(&scene.output, &err), -1);
	CHECK_STR(err.text, "write what the jail printed: No space left on device");
	say(&scene, OUTPUT_STDOUT, "more");
	err = ERR_INIT;
	CHECK_OK(output_ready(&scene.output, &err)); /* told once */
	CHECK_STR(logged(&scene, "agent.stdout", &text), "lostmore");
}

TEST(a_reader_that_goes_away_is_no_error_of_ours)
{
	auto_scene scene = scene_open(1000);
	cleanup(str_done) struct str text = STR_INIT;
	struct err err = ERR_INIT;
	int reader[2];

	signal(SIGPIPE, SIG_IGN);
	CHECK_INT(pipe2(reader, O_CLOEXEC), 0);
	close(reader[0]);
	output_show(&scene.output, OUTPUT_STDOUT, reader[1], false);
	say(&scene, OUTPUT_STDOUT, "one");
	CHECK_OK(output_ready(&scene.output, &err));
	say(&scene, OUTPUT_STDOUT, "two"); /* there is a log: the jail can go on */
	CHECK_OK(output_ready(&scene.output, &err));
	CHECK_STR(logged(&scene, "agent.stdout", &text), "onetwo");
}

TEST(without_a_log_the_jail_notices_that_its_reader_has_gone)
{
	struct output output = OUTPUT_INIT;
	struct err err = ERR_INIT;
	int pipes[OUTPUT_STREAMS] = { -1, -1 }, jail[2], reader[2];

	signal(SIGPIPE, SIG_IGN);
	CHECK_INT(pipe2(jail, O_CLOEXEC), 0);
	CHECK_INT(pipe2(reader, O_CLOEXEC), 0);
	close(reader[0]);
	pipes[OUTPUT_STDOUT] = jail[0];
	CHECK_OK(output_open(&output, -1, "agent", pipes, 1000, &err));
	output_show(&output, OUTPUT_STDOUT, reader[1], false);
	CHECK_INT(write(jail[1], "one", 3), 3);
	CHECK_OK(output_ready(&output, &err));
	CHECK_INT(write(jail[1], "two", 3), -1);
	CHECK_INT(errno, EPIPE);
	output_done(&output);
}

/* An attempt that was cut off builds again, into the same folder. */
TEST(a_log_that_exists_is_begun_anew)
{
	auto_scene scene = scene_open(1000);
	struct output second = OUTPUT_INIT;
	struct err err = ERR_INIT;
	int pipes[OUTPUT_STREAMS], pair[2];
	struct stat info;

	CHECK_INT(write(scene.jail[0], "one", 3), 3);
	CHECK_OK(output_ready(&scene.output, &err));
	for (int i = 0; i < OUTPUT_STREAMS; i++) {
		CHECK_INT(pipe2(pair, O_CLOEXEC), 0);
		pipes[i] = pair[0];
		close(pair[1]);
	}
	CHECK_OK(output_open(&second, scene.folder, "agent", pipes, 10, &err));
	CHECK_INT(fstatat(scene.folder, "agent.stdout", &info, 0), 0);
	CHECK_INT(info.st_size, 0);
	output_done(&second);
}

TEST(a_log_that_is_a_link_is_not_followed_but_replaced)
{
	auto_scene scene = scene_open(1000);
	struct output second = OUTPUT_INIT;
	struct err err = ERR_INIT;
	int pipes[OUTPUT_STREAMS], pair[2];
	struct stat info;

	CHECK_INT(symlinkat("agent.stdout", scene.folder, "other.stdout"), 0);
	CHECK_INT(mkfifoat(scene.folder, "other.stderr", 0644), 0);
	for (int i = 0; i < OUTPUT_STREAMS; i++) {
		CHECK_INT(pipe2(pair, O_CLOEXEC), 0);
		pipes[i] = pair[0];
		close(pair[1]);
	}
	CHECK_OK(output_open(&second, scene.folder, "other", pipes, 10, &err));
	CHECK_INT(fstatat(scene.folder, "other.stdout", &info, AT_SYMLINK_NOFOLLOW), 0);
	CHECK(S_ISREG(info.st_mode));
	CHECK_INT(fstatat(scene.folder, "other.stderr", &info, AT_SYMLINK_NOFOLLOW), 0);
	CHECK(S_ISREG(info.st_mode));
	output_done(&second);
}

TEST(a_full_disk_is_told_once_and_the_jail_goes_on)
{
	struct scene scene = { .output = OUTPUT_INIT };
	struct err err = ERR_INIT;
	int ours[OUTPUT_STREAMS] = { -1, -1 }, pair[2];
	static char block[65536];

	if (unshare(CLONE_NEWNS) < 0)
		SKIP("a mount namespace needs root");
	CHECK_INT(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	CHECK_INT(mount("small", "/mnt", "tmpfs", 0, "size=64k"), 0);
	scene.folder = open("/mnt", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK_INT(pipe2(pair, O_CLOEXEC), 0);
	ours[0] = pair[0];
	CHECK_OK(output_open(&scene.output, scene.folder, "agent", ours, 1 << 20, &err));
	CHECK_INT(write(pair[1], block, sizeof(block)), sizeof(block));
	CHECK_OK(output_ready(&scene.output, &err));
	CHECK_INT(write(pair[1], block, sizeof(block)), sizeof(block));
	CHECK_INT(output_ready(&scene.output, &err), -1);
	CHECK_INT(err.kind, ERR_HOST);
	CHECK_STR(err.text, "write the log of a jail's output: No space left on device");
	CHECK_INT(write(pair[1], block, sizeof(block)), sizeof(block));
	CHECK_OK(output_ready(&scene.output, &err));
	CHECK_INT(scene.output.streams[0].total, 3 * 65536);
	output_done(&scene.output);
}
