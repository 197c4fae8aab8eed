/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/enter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"
#include "sandbox/base/path.h"
#include "sandbox/base/syscalls.h"
#include "sandbox/caps.h"
#include "sandbox/collect.h"
#include "sandbox/namespaces.h"
#include "sandbox/unpack.h"

/*
 * Theory of operation
 *
 * pid 1 makes the range's base its effective uid and clones the child into a new user namespace.
 * The child waits until pid 1 has written its maps, then walks down the table below. At its top it
 * has every capability, but only over what belongs to its namespace: the mounts do not. At its
 * bottom it has none, can never get one, and what it may ask of the kernel is listed.
 *
 * A step that fails is reported through a close-on-exec socket. That it is ready is said there as
 * well, so that the end of it without one word more means that the payload runs, and without any
 * that the kernel has killed it. The listener of the system call filter goes to pid 1 the same way.
 */
struct entry {
	const struct brief *brief;
	int go_fd;     /* the maps are written when this says so */
	int report_fd; /* close-on-exec */
};

static uint64_t kept_capabilities(const struct brief *brief)
{
	/* Mode 000 must not hide a file from the collector; over host files it means nothing. */
	return brief->payload == BRIEF_COLLECT ? CAPS_MASK(CAP_DAC_READ_SEARCH) : 0;
}

static int wait_for_maps(struct entry *entry, struct err *err)
{
	char go;

	return io_read_exact(entry->go_fd, &go, 1, "the signal that the id maps are written", err);
}

static int new_session(struct entry *entry, struct err *err)
{
	(void) entry;
	if (setsid() < 0)
		return err_sys(err, "make a session");
	return 0;
}

/*
 * Both take CAP_SETPCAP, so they come before the uid changes, which by the securebits takes no
 * capability away: the step after it does.
 */
static int bound_capabilities(struct entry *entry, struct err *err)
{
	if (caps_bound(kept_capabilities(entry->brief), err) < 0)
		return -1;
	return caps_lock(err);
}

static int become_payload(struct entry *entry, struct err *err)
{
	return ids_become(&entry->brief->ids, IDS_PAYLOAD, 0, err);
}

static int limit_capabilities(struct entry *entry, struct err *err)
{
	if (caps_limit(kept_capabilities(entry->brief), err) < 0)
		return -1;
	return caps_no_new_privs(err);
}

/* After the change of user: a hostile stream can do no more than the payload itself could. */
static int unpack_trees(struct entry *entry, struct err *err)
{
	const struct jail_spec *spec = &entry->brief->spec;
	auto_fd root = -1;

	if (entry->brief->payload == BRIEF_COLLECT)
		return 0;
	root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return err_sys(err, "open '/'");
	for (uint32_t i = 0; i < spec->tree_count; i++) {
		const char *path = spec->trees[i].path;
		struct stream_counts counts;
		auto_fd folder = -1;

		if (mkdirat(root, path + 1, 0755) < 0 && errno != EEXIST)
			return err_sys(err, "create folder '%s'", path);
		folder = path_open_folder(root, path + 1, err);
		if (folder < 0)
			return -1;
		if (unpack_tree(entry->brief->fd[SPEC_FD_TREES + i], folder, &spec->trees[i].limits,
				&counts, err) < 0)
			return err_wrap(err, "unpack at '%s'", path);
	}
	return 0;
}

static int set_limits(struct entry *entry, struct err *err)
{
	return rlimits_apply(&entry->brief->spec.rlimits, err);
}

static int restrict_files(struct entry *entry, struct err *err)
{
	/* The collector's tree is a read-only mount and nothing else. */
	if (entry->brief->payload == BRIEF_COLLECT)
		return 0;
	return landlock_restrict(&entry->brief->landlock, err);
}

/*
 * Links of the file tree may lead there, but not those of /proc: a descriptor of ours, by its
 * number, is outside of the root.
 */
static int enter_folder(struct entry *entry, struct err *err)
{
	const struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
				      .resolve = RESOLVE_NO_MAGICLINKS };
	const char *folder = entry->brief->spec.command.folder;
	auto_fd fd = -1;

	if (entry->brief->payload == BRIEF_COLLECT)
		return 0;
	fd = sys_openat2(AT_FDCWD, folder, &how);
	if (fd < 0 || fchdir(fd) < 0) {
		err_sys(err, "enter the working folder '%s'", folder);
		err->kind = ERR_INPUT;
		return -1;
	}
	return 0;
}

/*
 * Standard input is /dev/null, output goes to the client's pipes, then come the descriptors that
 * are passed. Sources lie above every target, see brief.h.
 */
static int place_descriptors(struct entry *entry, struct err *err)
{
	const struct brief *brief = entry->brief;
	auto_fd null = -1;

	if (brief->payload == BRIEF_COLLECT)
		return 0;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0)
		return err_sys(err, "open '/dev/null'");
	if (dup2(null, 0) < 0 || dup2(brief->fd[SPEC_FD_STDOUT], 1) < 0 ||
	    dup2(brief->fd[SPEC_FD_STDERR], 2) < 0)
		return err_sys(err, "place the standard descriptors");
	fd_close(&null); /* its number may be the next target */
	for (uint32_t i = 0; i < brief->spec.pass_count; i++)
		if (dup2(brief->fd[SPEC_FD_PASS + i], 3 + (int) i) < 0)
			return err_sys(err, "place descriptor %u", 3 + i);
	return 0;
}

/*
 * From here on calls that are refused wait for pid 1, which waits for us: we make none. The filter
 * of workers has no sockets, so what is to be said there is said before.
 */
static int filter_calls(struct entry *entry, struct err *err)
{
	const bool counts = entry->brief->denied_fd >= 0;
	int listener = -1;

	if (handshake_ready(entry->report_fd, err) < 0)
		return -1;
	if (seccomp_install(&entry->brief->filter, counts ? &listener : NULL, err) < 0)
		return -1;
	/* It is close-on-exec: the payload does not get it. */
	return listener < 0 ? 0 : handshake_give(entry->report_fd, listener, err);
}

/* clang-format off */
static const struct {
	const char *name;
	int (*apply)(struct entry *entry, struct err *err);
} steps[] = {
	{ "id maps",        wait_for_maps },
	{ "session",        new_session },
	{ "bounding set",   bound_capabilities },
	{ "user",           become_payload },
	{ "capabilities",   limit_capabilities },
	{ "trees",          unpack_trees },
	{ "rlimits",        set_limits },
	{ "working folder", enter_folder },
	{ "landlock",       restrict_files },
	{ "descriptors",    place_descriptors },
	{ "seccomp",        filter_calls },
};
/* clang-format on */

static void execute(const struct brief *brief, struct err *err)
{
	const struct command_slice *command = &brief->spec.command;
	cleanup(mem_free) const char **argv = mem_alloc(command->argc + 1, sizeof(*argv));
	cleanup(mem_free) const char **envp = mem_alloc(command->envc + 1, sizeof(*envp));
	char *const *args, *const *env;

	spec_strings(&brief->spec, argv, envp);
	memcpy(&args, &(const char **){ argv }, sizeof(args)); /* execve's old prototype */
	memcpy(&env, &(const char **){ envp }, sizeof(env));
	memcpy(&environ, &(const char **){ envp }, sizeof(environ)); /* for PATH */
	if (brief->spec.has_program)
		execveat(brief->fd[SPEC_FD_PROGRAM], "", args, env, AT_EMPTY_PATH);
	else
		execvpe(argv[0], args, env);
	err_sys(err, "execute '%s'", argv[0]);
	err->kind = ERR_INPUT;
}

static void collect(const struct brief *brief, struct err *err)
{
	const struct collect_slice *slice = &brief->spec.collect;
	auto_fd folder = open("/work", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct collect_report report;

	if (folder < 0) {
		err_sys(err, "open the frozen tree");
		return;
	}
	if (slice->folder[0]) {
		int below = path_open_folder(folder, slice->folder, err);

		if (below < 0)
			return;
		fd_close(&folder);
		folder = below;
	}
	if (collect_tree(folder, &slice->limits, brief->fd[SPEC_FD_COLLECT], &report, err) < 0)
		err_wrap(err, "collect");
}

no_return static void run_child(struct entry *entry)
{
	struct err err = ERR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		if (steps[i].apply(entry, &err) < 0) {
			err_wrap(&err, "%s", steps[i].name);
			err.sys = 0; /* only execve's own errno tells "not found" from a failure */
			handshake_fail(entry->report_fd, &err);
			_exit(127);
		}
	}
	if (entry->brief->payload == BRIEF_EXECUTE)
		execute(entry->brief, &err);
	else
		collect(entry->brief, &err);
	if (err.kind == ERR_NONE)
		_exit(0);
	handshake_fail(entry->report_fd, &err);
	_exit(127);
}

/*
 * Effective ids only: the child must be owned by the range's base, and the maps still take our
 * capabilities, which the securebit keeps over the change.
 */
static int become_owner(const struct ids *ids, struct err *err)
{
	if (prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP, 0, 0, 0) < 0)
		return err_sys(err, "keep capabilities over the change of user");
	if (setresgid((gid_t) -1, ids->base, (gid_t) -1) < 0 ||
	    setresuid((uid_t) -1, ids->base, (uid_t) -1) < 0)
		return err_sys(err, "become the owner of the user namespace");
	return 0;
}

static int let_go(const struct brief *brief, pid_t pid, int go_fd, struct err *err)
{
	auto_fd proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (proc < 0)
		return err_sys(err, "open '/proc'");
	if (ids_write_maps(&brief->ids, proc, pid, err) < 0)
		return -1;
	return io_write_all(go_fd, "g", 1, "the signal that the id maps are written", err);
}

static void judge_start(const struct err *err, struct report *report)
{
	report->kind = REPORT_FAILED;
	report->err = *err;
	if (err->kind == ERR_INPUT && (err->sys == ENOENT || err->sys == ENOTDIR))
		report->kind = REPORT_NOT_FOUND;
	else if (err->kind == ERR_INPUT && err->sys != 0)
		report->kind = REPORT_NOT_EXECUTABLE;
}

/* Moves both ends to where no passed descriptor can overwrite them; after a failure pid 1 ends. */
static int move_up(int ends[2], struct err *err)
{
	for (int i = 0; i < 2; i++) {
		auto_fd low = ends[i];

		ends[i] = fcntl(low, F_DUPFD_CLOEXEC, BRIEF_FIRST_FD);
		if (ends[i] < 0)
			return err_sys(err, "move a descriptor");
	}
	return 0;
}

static int open_channels(int go[2], int told[2], struct err *err)
{
	if (pipe2(go, O_CLOEXEC) < 0)
		return err_sys(err, "make a pipe");
	if (message_pair(told, err) < 0 || move_up(go, err) < 0)
		return -1;
	return move_up(told, err);
}

/*
 * A command shows by execve that it could be started; our collector only by its exit that the
 * archive is whole: the kernel may kill it at its limit of memory before it says a word.
 */
static int wait_for_collector(pid_t pid, struct err *err)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_sys(err, "wait for the collector");
	if (WIFSIGNALED(status))
		return err_set(err, ERR_HOST, "the collector was killed by signal %d",
			       WTERMSIG(status));
	if (WEXITSTATUS(status) != 0)
		return err_set(err, ERR_SYS, "the collector ended with %d, and no word",
			       WEXITSTATUS(status));
	return 0;
}

pid_t enter_start(const struct brief *brief, int *pid_fd, int *listener_fd, struct report *report,
		  struct err *err)
{
	int go[2], told[2];
	pid_t pid;

	*report = (struct report){ .kind = REPORT_STARTED };
	if (become_owner(&brief->ids, err) < 0)
		return -1;
	if (open_channels(go, told, err) < 0)
		return -1;
	pid = namespaces_clone_user(pid_fd, err);
	if (pid < 0)
		return -1;
	if (pid == 0) {
		close(go[1]);
		close(told[0]);
		run_child(&(struct entry){ .brief = brief, .go_fd = go[0], .report_fd = told[1] });
	}
	close(go[0]);
	close(told[1]);
	if (let_go(brief, pid, go[1], err) < 0)
		return -1;
	close(go[1]);
	if (handshake_wait(told[0], listener_fd, err) < 0 ||
	    (brief->payload == BRIEF_COLLECT && wait_for_collector(pid, err) < 0))
		judge_start(err, report);
	close(told[0]);
	return pid;
}
