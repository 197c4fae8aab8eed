/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/evidence/journal.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "tests/lib/check.h"

/* A run with a journal and a keeper; the folder is unlinked at once. */
struct scene {
	int folder;
	int journal_fd;
	struct journal journal;
	struct keeper keeper;
};

static void scene_done(struct scene *scene)
{
	keeper_done(&scene->keeper);
	journal_done(&scene->journal);
	fd_close(&scene->journal_fd);
	fd_close(&scene->folder);
}

#define auto_scene cleanup(scene_done) struct scene

static struct scene scene_open(void)
{
	struct scene scene = { .journal = JOURNAL_INIT, .keeper = KEEPER_INIT };
	char path[] = "/tmp/proctor-keeper-XXXXXX";
	struct err err = ERR_INIT;

	CHECK(mkdtemp(path) != NULL);
	scene.folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(scene.folder >= 0);
	CHECK_OK(journal_create(&scene.journal, scene.folder, "run-1", &err));
	scene.journal_fd = journal_open_read(scene.folder, &err);
	CHECK_OK(scene.journal_fd);
	CHECK_OK(keeper_start(&scene.keeper, "run-1", scene.journal_fd, -1, &err));
	CHECK_INT(unlinkat(scene.folder, JOURNAL_FILE, 0), 0);
	CHECK_INT(rmdir(path), 0);
	return scene;
}

static void put_digest(struct json_writer *json, const char *key, const struct digest *digest)
{
	char hex[DIGEST_HEX];

	digest_hex(digest, hex);
	json_put_text(json, key, hex);
}

static void commit(struct scene *scene)
{
	struct err err = ERR_INIT;
	struct json_writer *json = journal_begin(&scene->journal, KEEPER_COMMITTED);

	put_digest(json, "commitment", &scene->keeper.commitment);
	CHECK_OK(journal_commit(&scene->journal, &err));
}

static void freeze(struct scene *scene, const char *task, int64_t attempt, const char *content)
{
	const struct digest root = digest_sha256(content, strlen(content));
	struct err err = ERR_INIT;
	struct json_writer *json = journal_begin(&scene->journal, KEEPER_FROZEN);

	json_put_text(json, "task", task);
	json_put_int(json, "attempt", attempt);
	put_digest(json, "candidate", &root);
	CHECK_OK(journal_commit(&scene->journal, &err));
}

static struct keeper_answer ask(int fd, const char *content)
{
	const struct digest root = digest_sha256(content, strlen(content));
	struct keeper_answer answer = { 0 };
	struct err err = ERR_INIT;

	CHECK_OK(keeper_ask(fd, &root, clock_after_ms(5000), &answer, &err));
	return answer;
}

static int bind_to(struct scene *scene, const char *task, uint32_t attempt)
{
	struct err err = ERR_INIT;
	int fd = -1;

	CHECK_OK(keeper_bind(&scene->keeper, task, attempt, &fd, &err));
	return fd;
}

TEST(the_key_is_the_documented_function)
{
	/* Computed apart from this program, from the text of the header. */
	static const char want[] =
		"9ff776a8f5c3dcb8f211f79b638364e0843e6dd92de19a2b974da7799f3dbbb7";
	uint8_t secret[KEEPER_SECRET_LEN];
	struct digest root, key;
	char hex[DIGEST_HEX];

	for (size_t i = 0; i < sizeof(secret); i++)
		secret[i] = (uint8_t) i;
	memset(root.bytes, 0xab, sizeof(root.bytes));
	key = keeper_key(secret, "run-1", "c2c/saxpy", 258, &root);
	digest_hex(&key, hex);
	CHECK_STR(hex, want);
}

TEST(fields_can_not_run_into_each_other)
{
	const uint8_t secret[KEEPER_SECRET_LEN] = { 0 };
	const struct digest root = { { 0 } };
	const struct digest one = keeper_key(secret, "ab", "c", 1, &root);
	const struct digest two = keeper_key(secret, "a", "bc", 1, &root);

	CHECK(!digest_equal(&one, &two));
}

TEST(a_root_that_the_journal_does_not_name_gets_no_key)
{
	auto_scene scene = scene_open();
	auto_fd fd = bind_to(&scene, "c2c/saxpy", 1);
	struct keeper_answer answer;

	commit(&scene);
	answer = ask(fd, "mine");
	CHECK_INT(answer.status, KEEPER_NOT_FROZEN);
	CHECK(digest_equal(&answer.key, &(struct digest){ { 0 } }));

	freeze(&scene, "c2c/saxpy", 2, "mine"); /* another attempt */
	freeze(&scene, "c2c/saxp", 1, "mine");  /* another task */
	CHECK_INT(ask(fd, "mine").status, KEEPER_NOT_FROZEN);
	freeze(&scene, "c2c/saxpy", 1, "mine");
	CHECK_INT(ask(fd, "mine").status, KEEPER_GRANTED);
	answer = ask(fd, "yours");
	CHECK_INT(answer.status, KEEPER_OTHER_ROOT);
	CHECK(digest_equal(&answer.key, &(struct digest){ { 0 } }));
}

TEST(the_same_question_gets_the_same_key_and_another_attempt_another)
{
	auto_scene scene = scene_open();
	auto_fd first_fd = bind_to(&scene, "t", 1);
	auto_fd again_fd = bind_to(&scene, "t", 1);
	auto_fd other_fd = bind_to(&scene, "t", 2);
	struct keeper_answer first, again, other;

	commit(&scene);
	freeze(&scene, "t", 1, "x");
	freeze(&scene, "t", 2, "x");
	first = ask(first_fd, "x");
	CHECK_INT(first.status, KEEPER_GRANTED);
	CHECK(first.committed_first);
	again = ask(first_fd, "x");
	CHECK(digest_equal(&first.key, &again.key));
	again = ask(again_fd, "x");
	CHECK(digest_equal(&first.key, &again.key));
	other = ask(other_fd, "x");
	CHECK_INT(other.status, KEEPER_GRANTED);
	CHECK(!digest_equal(&first.key, &other.key));
}

TEST(nobody_can_draw_twice_by_freezing_again)
{
	auto_scene scene = scene_open();
	auto_fd fd = bind_to(&scene, "t", 1);

	commit(&scene);
	freeze(&scene, "t", 1, "first");
	freeze(&scene, "t", 1, "second");
	CHECK_INT(ask(fd, "second").status, KEEPER_OTHER_ROOT);
	CHECK_INT(ask(fd, "first").status, KEEPER_GRANTED);
}

TEST(a_candidate_frozen_before_the_commitment_is_told_apart)
{
	auto_scene scene = scene_open();
	auto_fd early_fd = bind_to(&scene, "t", 1);
	auto_fd late_fd = bind_to(&scene, "t", 2);

	freeze(&scene, "t", 1, "x");
	commit(&scene);
	freeze(&scene, "t", 2, "x");
	CHECK_INT(ask(early_fd, "x").status, KEEPER_GRANTED);
	CHECK(!ask(early_fd, "x").committed_first);
	CHECK(ask(late_fd, "x").committed_first);
}

TEST(two_runs_have_two_secrets)
{
	auto_scene one = scene_open();
	auto_scene two = scene_open();

	CHECK(!digest_equal(&one.keeper.commitment, &two.keeper.commitment));
}

TEST(a_keeper_that_finds_a_secret_goes_on_with_it)
{
	auto_scene scene = scene_open();
	cleanup(keeper_done) struct keeper first = KEEPER_INIT, again = KEEPER_INIT;
	auto_fd secret = memfd_create("secret", MFD_CLOEXEC);
	struct keeper_answer one, two;
	struct err err = ERR_INIT;
	int fd = -1;

	freeze(&scene, "t", 1, "x");
	CHECK_OK(keeper_start(&first, "run-1", scene.journal_fd, secret, &err));
	CHECK_OK(keeper_bind(&first, "t", 1, &fd, &err));
	one = ask(fd, "x");
	fd_close(&fd);
	CHECK_INT(kill(first.process.pid, SIGKILL), 0);
	CHECK_OK(keeper_start(&again, "run-1", scene.journal_fd, secret, &err));
	CHECK(digest_equal(&first.commitment, &again.commitment));
	CHECK_OK(keeper_bind(&again, "t", 1, &fd, &err));
	two = ask(fd, "x");
	fd_close(&fd);
	CHECK_INT(two.status, KEEPER_GRANTED);
	CHECK(digest_equal(&one.key, &two.key));
	CHECK(!digest_equal(&one.key, &(struct digest){ { 0 } }));
}

TEST(a_journal_that_was_changed_gets_no_more_keys)
{
	auto_scene scene = scene_open();
	auto_fd fd = bind_to(&scene, "t", 1);
	auto_fd raw_fd = -1;
	char path[64];

	freeze(&scene, "t", 1, "x");
	CHECK_INT(ask(fd, "x").status, KEEPER_GRANTED);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", scene.journal.fd);
	raw_fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	CHECK(raw_fd >= 0);
	CHECK_INT(write(raw_fd, "{}\n", 3), 3);
	CHECK_INT(ask(fd, "x").status, KEEPER_JOURNAL_OFF);
	CHECK_INT(ftruncate(raw_fd, scene.journal.size), 0);
	CHECK_INT(ask(fd, "x").status, KEEPER_JOURNAL_OFF);
}

TEST(a_torn_line_is_as_if_it_were_not_there)
{
	auto_scene scene = scene_open();
	auto_fd fd = bind_to(&scene, "t", 1);
	auto_fd raw_fd = -1;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", scene.journal.fd);
	raw_fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	CHECK_INT(write(raw_fd, "{\"seq\":2,", 9), 9);
	CHECK_INT(ask(fd, "x").status, KEEPER_NOT_FROZEN);
	CHECK_INT(ftruncate(raw_fd, scene.journal.size), 0);
	freeze(&scene, "t", 1, "x");
	CHECK_INT(ask(fd, "x").status, KEEPER_GRANTED);
}

TEST(the_journal_of_another_run_is_refused)
{
	auto_scene scene = scene_open();
	cleanup(keeper_done) struct keeper stranger = KEEPER_INIT;
	struct err err = ERR_INIT;
	auto_fd fd = -1;

	freeze(&scene, "t", 1, "x");
	CHECK_OK(keeper_start(&stranger, "run-2", scene.journal_fd, -1, &err));
	CHECK_OK(keeper_bind(&stranger, "t", 1, &fd, &err));
	CHECK_INT(ask(fd, "x").status, KEEPER_JOURNAL_OFF);
}

TEST(ids_that_do_not_fit_are_refused_before_they_are_sent)
{
	auto_scene scene = scene_open();
	struct err err = ERR_INIT;
	char task[KEEPER_TASK_MAX + 2];
	int fd = -1;

	memset(task, 't', sizeof(task));
	task[KEEPER_TASK_MAX + 1] = '\0';
	CHECK_INT(keeper_bind(&scene.keeper, task, 1, &fd, &err), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK_INT(keeper_bind(&scene.keeper, "", 1, &fd, &err), -1);
	CHECK_INT(fd, -1);
	task[KEEPER_TASK_MAX] = '\0';
	CHECK_OK(keeper_bind(&scene.keeper, task, UINT32_MAX, &fd, &err));
	fd_close(&fd);
}

TEST(channels_have_a_limit_and_closed_ones_make_room)
{
	auto_scene scene = scene_open();
	struct err err = ERR_INIT;
	int fds[KEEPER_CHANNELS_MAX], one_more = -1;

	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		fds[i] = bind_to(&scene, "t", (uint32_t) i);
	CHECK_INT(keeper_bind(&scene.keeper, "t", 9999, &one_more, &err), -1);
	CHECK_STR(err.text, "the keeper refuses a channel: too many channels");
	CHECK_INT(one_more, -1);
	fd_close(&fds[17]);
	fd_close(&fds[0]);
	fds[17] = bind_to(&scene, "t", 17);
	/* Each channel is still bound to its own attempt. */
	freeze(&scene, "t", 17, "x");
	freeze(&scene, "t", 127, "y");
	CHECK_INT(ask(fds[17], "x").status, KEEPER_GRANTED);
	CHECK_INT(ask(fds[127], "y").status, KEEPER_GRANTED);
	CHECK_INT(ask(fds[126], "y").status, KEEPER_NOT_FROZEN);
	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		fd_close(&fds[i]);
}

TEST(a_keeper_that_is_gone_is_an_error_and_no_hang)
{
	auto_scene scene = scene_open();
	auto_fd fd = bind_to(&scene, "t", 1);
	const struct digest root = { { 0 } };
	struct keeper_answer answer;
	struct err err = ERR_INIT;
	int other = -1;

	CHECK_INT(kill(scene.keeper.process.pid, SIGKILL), 0);
	CHECK_INT(keeper_ask(fd, &root, CLOCK_NEVER, &answer, &err), -1);
	CHECK_STR(err.text, "the keeper is gone");
	CHECK_INT(keeper_bind(&scene.keeper, "t", 1, &other, &err), -1);
	CHECK_STR(err.text, "the keeper is gone");
}

TEST(a_silent_keeper_costs_no_more_than_the_deadline)
{
	auto_scene scene = scene_open();
	auto_fd fd = bind_to(&scene, "t", 1);
	const struct digest root = { { 0 } };
	struct keeper_answer answer;
	struct err err = ERR_INIT;

	CHECK_INT(kill(scene.keeper.process.pid, SIGSTOP), 0);
	CHECK_INT(keeper_ask(fd, &root, clock_after_ms(50), &answer, &err), -1);
	CHECK_STR(err.text, "the keeper does not answer");
	CHECK_INT(kill(scene.keeper.process.pid, SIGCONT), 0);
}

TEST(the_keeper_ends_when_the_control_socket_closes)
{
	auto_scene scene = scene_open();
	auto_fd fd = bind_to(&scene, "t", 1);
	struct err err = ERR_INIT;
	int status = -1;

	CHECK(fd >= 0); /* a channel that is still open does not hold it */
	fd_close(&scene.keeper.control_fd);
	CHECK_INT(process_wait(&scene.keeper.process, clock_after_ms(5000), &status, &err), 1);
	CHECK_INT(status, 0);
}
