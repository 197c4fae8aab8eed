/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/check/leftovers.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/io.h"

enum { PATIENCE_MS = 5000, STEP_MS = 2 };

/* A time since the boot as /proc has it. */
static int64_t ticks_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec * sysconf(_SC_CLK_TCK) +
	       now.tv_nsec * sysconf(_SC_CLK_TCK) / (int64_t) NS_PER_S;
}

int leftovers_adopt(struct leftovers *leftovers, struct err *err)
{
	leftovers->since = ticks_now();
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return err_sys(err, "become the parent of orphans");
	leftovers->is_open = true;
	return 0;
}

static void close_folder(DIR **folder)
{
	if (*folder)
		closedir(*folder);
}

/* Fields behind the name, which may hold whatever it likes; the last parenthesis is the kernel's.
 */
static bool is_ours(const struct leftovers *leftovers, int proc_fd, const char *pid)
{
	enum { STATE = 3, PARENT = 4, STARTED = 22 };
	char path[sizeof("1234567890/stat")], text[1024];
	struct err none = ERR_INIT;
	const char *at;

	if (snprintf(path, sizeof(path), "%s/stat", pid) >= (int) sizeof(path) ||
	    io_read_kernel_file(proc_fd, path, text, sizeof(text), &none) < 0)
		return false;
	at = strrchr(text, ')');
	for (int field = STATE; at && field <= STARTED; field++) {
		at = strchr(at + 1, ' ');
		if (at && field == PARENT && strtol(at, NULL, 10) != getpid())
			return false;
	}
	return at && strtoll(at, NULL, 10) >= leftovers->since;
}

/* Return: how many there are. */
static size_t kill_children(const struct leftovers *leftovers)
{
	cleanup(close_folder) DIR *proc = opendir("/proc");
	const struct dirent *entry;
	size_t count = 0;

	while (proc && (entry = readdir(proc))) {
		if (!isdigit((unsigned char) entry->d_name[0]) ||
		    !is_ours(leftovers, dirfd(proc), entry->d_name))
			continue;
		/* Nobody but us reaps it: the number is still its own. */
		kill((pid_t) strtol(entry->d_name, NULL, 10), SIGKILL);
		count++;
	}
	return count;
}

static void reap_ended(void)
{
	pid_t pid;

	do
		pid = waitpid(-1, NULL, WNOHANG);
	while (pid > 0 || (pid < 0 && errno == EINTR));
}

int leftovers_end(const struct leftovers *leftovers, struct err *err)
{
	const int64_t deadline = clock_after_ms(PATIENCE_MS);

	/* One that lost its parent while we looked is found by the second look. */
	for (int looks = 0; leftovers->is_open && looks < 2; looks++) {
		reap_ended();
		if (kill_children(leftovers) == 0)
			continue;
		if (clock_now() >= deadline)
			return err_set(err, ERR_HOST,
				       "processes that the work has started do not end; look for "
				       "them with ps");
		looks = -1;
		poll(NULL, 0, STEP_MS);
	}
	return 0;
}
