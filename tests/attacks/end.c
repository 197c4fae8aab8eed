/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Outliving the end, and putting it off. What stays holds the descriptor of the word open, and the
 * drill sees that it does: the word GOT is then the drill's to say. Where nothing ends it, it ends
 * by itself after a few seconds.
 */
#include "tests/attacks/attack.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STAY_MS = 4000 };

/* Double fork, own session, deaf. */
static bool is_daemon(void)
{
	pid_t pid = fork();

	if (pid != 0) {
		waitpid(pid, NULL, 0);
		return false;
	}
	setsid();
	if (fork() != 0)
		_exit(0);
	ignore_signals();
	return true;
}

static void daemon_stays(const struct scene *scene)
{
	(void) scene;
	if (is_daemon()) {
		sleep_ms(STAY_MS);
		_exit(0);
	}
	held("left a daemon");
}

/* A new process every moment, the old one gone: whoever kills by a list is always late. */
static void moving_target(const struct scene *scene)
{
	(void) scene;
	if (is_daemon()) {
		struct timespec begun, now;

		clock_gettime(CLOCK_MONOTONIC, &begun);
		do {
			pid_t pid = fork();

			if (pid > 0)
				_exit(0);
			setsid();
			clock_gettime(CLOCK_MONOTONIC, &now);
		} while ((now.tv_sec - begun.tv_sec) * 1000 < STAY_MS);
		_exit(0);
	}
	sleep_ms(50);
	held("left a process that is never the same");
}

/* Stopped: it takes no signal but one. Something of ours lets it go where nothing ended it. */
static void stopped(const struct scene *scene)
{
	(void) scene;
	if (is_daemon()) {
		pid_t pid = fork();

		if (pid == 0) {
			kill(getpid(), SIGSTOP);
			_exit(0);
		}
		sleep_ms(STAY_MS);
		kill(pid, SIGKILL);
		_exit(0);
	}
	sleep_ms(50);
	held("left a process that is stopped");
}

/* The parent waits in vfork() for a child that neither execs nor ends. */
static void in_vfork(const struct scene *scene)
{
	(void) scene;
	if (is_daemon()) {
		pid_t pid = fork();

		if (pid == 0) {
			/* NOLINTNEXTLINE(clang-analyzer-security.insecureAPI.vfork) */
			if (vfork() == 0)
				for (;;)
					pause(); /* NOLINT(clang-analyzer-unix.Vfork): the attack */
			_exit(0);
		}
		sleep_ms(STAY_MS);
		kill(0, SIGKILL);
	}
	sleep_ms(50);
	held("left a process that waits in vfork()");
}

/* The parent ends, and a child that says nothing holds the pipes of its output. */
static void holds_output(const struct scene *scene)
{
	(void) scene;
	ignore_signals(); /* the end of a session tells those in it */
	if (fork() == 0) {
		setsid();
		sleep_ms(STAY_MS);
		_exit(0);
	}
	held("left a child with the pipes");
}

static void deaf(const struct scene *scene)
{
	(void) scene;
	ignore_signals();
	sleep_ms(STAY_MS);
	got("still here after the limit");
}

static void deaf_at_work(const struct scene *scene)
{
	struct timespec used;

	(void) scene;
	ignore_signals();
	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	while (used.tv_sec < 2);
	got("used two seconds of a CPU");
}

/* Each of many uses little. */
static void work_in_pieces(const struct scene *scene)
{
	(void) scene;
	for (int piece = 0; piece < 40; piece++) {
		pid_t pid = fork();
		struct timespec used;

		if (pid == 0) {
			do
				clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
			while (used.tv_nsec < 50000000 && used.tv_sec == 0);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	got("used two seconds of a CPU, in pieces");
}

static void idle(const struct scene *scene)
{
	(void) scene;
	sleep_ms(STAY_MS);
	got("did nothing for %d s", STAY_MS / 1000);
}

static void suicide(const struct scene *scene)
{
	(void) scene;
	kill(getpid(), SIGKILL);
	broken("SIGKILL did not kill");
}

/* clang-format off */
const struct attack attacks_on_the_end[] = {
	{ "end-daemon",        daemon_stays },
	{ "end-moving-target", moving_target },
	{ "end-stopped",       stopped },
	{ "end-vfork",         in_vfork },
	{ "end-holds-output",  holds_output },
	{ "end-deaf",          deaf },
	{ "end-deaf-at-work",  deaf_at_work },
	{ "end-in-pieces",     work_in_pieces },
	{ "end-idle",          idle },
	{ "result-suicide",    suicide },
	{ NULL,                NULL },
};
/* clang-format on */
