/* SPDX-License-Identifier: Apache-2.0 */

/*
 * drill-control PROGRAMS [--harm] [ATTACK]…: the same attacks without walls, where each has to get
 * through: an attack that can not succeed shows nothing
 *
 * As root, bare: no namespace but those that keep a mount or a file of one attack from the next and
 * from the host. What would harm a machine runs with --harm only, in one that is thrown away.
 * Prints TAP. tests/attacks/control calls it; it is never installed.
 */

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/drill/drill.h"
#include "harness/drill/scene.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/process.h"
#include "tests/attacks/attack.h"
#include "tests/attacks/naive.h"

#define WORK "/tmp/work"

/* A machine that may be harmed is a virtual one, and may be ten times as slow. */
enum { ALONE_MS = 12 * 1000, SLOW_MS = 60 * 1000, NEIGHBOUR_MS = 3600 * 1000 };
enum { NOBODY = 65534, PROGRAM_FD = 100 };

/* Whoever calls has one, and jails must not. */
static int terminal_fd = -1;
static int alone_ms = ALONE_MS;

/* The attack's own copy of what is mounted, and a workspace that goes with it. */
static int make_place(const struct drill_attack *attack, struct err *err)
{
	const bool is_shared = strcmp(attack->id, "mount-propagation") == 0;

	if (unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | (is_shared ? MS_SHARED : MS_PRIVATE), NULL) < 0)
		return err_sys(err, "make a mount namespace");
	if (mkdir(WORK, 0777) < 0 && errno != EEXIST)
		return err_sys(err, "make '%s'", WORK);
	if (mount("drill-work", WORK, "tmpfs", 0, "size=64m,mode=777") < 0 || chdir(WORK) < 0)
		return err_sys(err, "mount a tmpfs at '%s'", WORK);
	return 0;
}

static int put_pristine(const struct drill_order *order, struct err *err)
{
	static const char *const names[] = { "check.c", "kernel.c", "task.yaml" };

	for (size_t i = 0; order->tree_fd >= 0 && i < ARRAY_LEN(names); i++) {
		auto_fd fd = open(names[i], O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

		if (fd < 0)
			return err_sys(err, "make '%s'", names[i]);
	}
	return 0;
}

/* Descriptors 3, and 4 where the attack is to be handed something. */
static void place_fds(const struct drill *drill, const struct drill_order *order)
{
	const unsigned int flags = order->attack->flags;
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int shown = order->terminal_fd >= 0 ? order->terminal_fd : null;
	int word = fcntl(order->word_fd, F_DUPFD_CLOEXEC, PROGRAM_FD + 1), given = -1;

	dup3(drill->bait->program_fd, PROGRAM_FD, O_CLOEXEC);
	if (flags & DRILL_GIVES_CLOSED)
		given = openat(drill->bait->folder_fd, "closed", O_PATH | O_CLOEXEC);
	if (flags & DRILL_GIVES_OUTSIDE)
		given = openat(drill->bait->outside_fd, ".", O_PATH | O_CLOEXEC);
	dup2(terminal_fd, 0);
	dup2(shown, 1);
	dup2(shown, 2);
	dup2(word, WORD_FD);
	if (given >= 0)
		dup2(given, GIVEN_FD);
}

no_return static void become_attack(const struct drill *drill, const struct drill_order *order)
{
	cleanup(mem_free) struct scene_words *words = mem_alloc(1, sizeof(*words));
	const struct policy_role role = scene_limits(drill->policy, order->attack);
	char *argv[SCENE_WORDS_MAX + 3], id[64], name[] = "proctor-attack", env[128];
	char *const environment[] = { env, NULL };
	size_t count = 0;

	snprintf(id, sizeof(id), "%s", order->attack->id);
	snprintf(env, sizeof(env), "A_SECRET=%s", drill->bait->secret);
	scene_words(drill->bait, order->attack, &role, order->round, true, words);
	argv[count++] = name;
	argv[count++] = id;
	for (size_t i = 0; i < words->count; i++)
		argv[count++] = words->text[i];
	argv[count] = NULL;
	setsid();
	ioctl(terminal_fd, TIOCSCTTY, 1);
	place_fds(drill, order);
	if (order->attack->flags & DRILL_AS_NOBODY &&
	    (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
	     setresuid(NOBODY, NOBODY, NOBODY) < 0))
		_exit(126);
	execveat(PROGRAM_FD, "", argv, environment, AT_EMPTY_PATH);
	_exit(127);
}

/* drill.run without a jail. */
static int bare_run(const struct drill *drill, const struct drill_order *order,
		    struct jail_outcome *out, struct err *err)
{
	struct process attack = PROCESS_INIT;
	int status = 0, child, ended;

	if (make_place(order->attack, err) < 0 || put_pristine(order, err) < 0)
		return -1;
	child = process_fork(&attack, err);
	if (child == 0)
		become_attack(drill, order);
	if (child < 0)
		return -1;
	/* The neighbour is there for all the others. */
	ended = process_wait(&attack,
			     clock_after_ms(order->attack->id[0] == '@' ? NEIGHBOUR_MS : alone_ms),
			     &status, err);
	if (ended < 0)
		return -1;
	process_kill(&attack);
	*out = (struct jail_outcome){ .last = { .kind = EVENT_ENDED } };
	out->last.result.ending = ended == 0        ? ENDING_TIMEOUT
				: WIFEXITED(status) ? ENDING_EXITED
						    : ENDING_SIGNALED;
	out->last.result.code = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
	naive_look(drill, order);
	return 0;
}

/* Attacks leave files where files can be left; these are not the host's. */
static int cover_host(struct err *err)
{
	static const char *const folders[] = { "/tmp", "/var/tmp", "/run", "/home" };

	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		if (mount("drill-control", folders[i], "tmpfs", 0, "size=512m,mode=1777") < 0 &&
		    errno != ENOENT)
			return err_sys(err, "mount a tmpfs at '%s'", folders[i]);
	terminal_fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (terminal_fd < 0 || unlockpt(terminal_fd) < 0)
		return err_sys(err, "open a terminal");
	/* Both ends are ours: what is written by one attack is read by nobody. */
	best_effort(fcntl(terminal_fd, F_DUPFD_CLOEXEC, 200));
	terminal_fd = ioctl(terminal_fd, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	return terminal_fd < 0 ? err_sys(err, "open a terminal") : 0;
}

static bool is_chosen(const char *id, char **names, int count)
{
	for (int i = 0; i < count; i++)
		if (strncmp(id, names[i], strlen(names[i])) == 0)
			return true;
	return count == 0;
}

static void print(const struct drill_result *result, size_t number)
{
	char text[TESTIMONY_TEXT_MAX];

	snprintf(text, sizeof(text), "%s", result->text);
	for (char *at = text; *at; at++)
		if (*at == '#' || (unsigned char) *at < ' ')
			*at = '.';
	if (result->seen == DRILL_NOT_HERE)
		printf("ok %zu - without walls: %s # SKIP %s\n", number, result->attack->id, text);
	else
		printf("%s %zu - without walls: %s: %s %s\n",
		       result->seen == DRILL_GOT ? "ok" : "not ok", number, result->attack->id,
		       names_text(drill_seen_names, (int) result->seen), text);
}

static int run(const struct drill *drill, char **names, int count, bool may_harm, struct err *err)
{
	cleanup(mem_free) struct drill_report *report = mem_alloc(1, sizeof(*report));
	const struct drill_attack *attacks[DRILL_ATTACKS_MAX], *attack;
	const struct drill_listener nobody = { NULL, NULL };
	size_t chosen = 0;
	int failed = 0;

	for (size_t at = 0; (attack = corpus_at(at)); at++)
		if (!attack->no_control && is_chosen(attack->id, names, count) &&
		    (may_harm || !(attack->flags & DRILL_HARMFUL)))
			attacks[chosen++] = attack;
	if (drill_run(drill, attacks, chosen, &nobody, report, err) < 0)
		return -1;
	for (size_t i = 0; i < report->count; i++) {
		print(&report->results[i], i + 1);
		failed |= report->results[i].seen != DRILL_GOT &&
			  report->results[i].seen != DRILL_NOT_HERE;
	}
	printf("1..%zu\n", report->count);
	return failed;
}

int main(int argc, char **argv)
{
	const bool may_harm = argc > 2 && strcmp(argv[2], "--harm") == 0;
	const int first = may_harm ? 3 : 2;
	struct policy policy = policy_default();
	struct bait bait = BAIT_INIT;
	struct drill drill = { .bait = &bait,
			       .policy = &policy,
			       .launcher_fd = -1,
			       .stop_fd = -1,
			       .is_bare = true,
			       .run = bare_run };
	struct err err = ERR_INIT;
	int result = -1;

	if (may_harm)
		alone_ms = SLOW_MS;
	if (argc < 2) {
		fprintf(stderr, "drill-control is started by tests/attacks/control\n");
		return 2;
	}
	/* A group that no account here has. */
	if (bait_plant(argv[1], 4711, &bait, &err) == 0 && cover_host(&err) == 0)
		result = run(&drill, argv + first, argc - first, may_harm, &err);
	if (result < 0)
		printf("Bail out! %s\n", err.text);
	bait_done(&bait);
	return result != 0;
}
