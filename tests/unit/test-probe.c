/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/probe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/message.h"
#include "sandbox/caps.h"
#include "tests/lib/check.h"

static struct trial trials[TRIAL_KINDS];
static struct err err;

/* Runs the probe in a child that was prepared, and receives what it says: all kinds, in order. */
static void probe_after(void (*prepare)(void))
{
	int pair[2], status;
	pid_t pid;

	CHECK_OK(message_pair(pair, &err));
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		close(pair[0]);
		if (prepare)
			prepare();
		CHECK_OK(probe_host(pair[1], &err));
		CHECK_INT(waitpid(-1, NULL, WNOHANG), -1);
		CHECK_INT(errno, ECHILD);
		_exit(0);
	}
	close(pair[1]);
	for (int i = 0; i < TRIAL_KINDS; i++) {
		CHECK_INT(trial_receive(pair[0], &trials[i], &err), 1);
		CHECK_INT(trials[i].kind, i);
		check_note("%s: %u: %s%s", names_text(trial_names, i), trials[i].result,
			   trials[i].found, trials[i].err.text);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_INT(status, 0);
}

static void need_root(void)
{
	if (geteuid() != 0)
		SKIP("needs root");
}

/* Result and, unless NULL, what its words hold. */
static void check_trial(enum trial_kind kind, enum trial_result result, const char *text)
{
	const struct trial *trial = &trials[kind];

	if (trial->result != result || (text && !strstr(trial->err.text, text)))
		check_fail(__FILE__, __LINE__, "%s: result %u, not %d: '%s', not '%s'",
			   names_text(trial_names, (int) kind), trial->result, (int) result,
			   trial->err.text, text ? text : "");
}

TEST(a_host_that_runs_jails_passes_every_trial)
{
	need_root();
	probe_after(NULL);
	for (int kind = 0; kind < TRIAL_KINDS; kind++) {
		CHECK(trials[kind].result == TRIAL_WORKS || trials[kind].result == TRIAL_PARTLY);
		CHECK(kind == TRIAL_CAPABILITIES || trials[kind].found[0] != '\0');
	}
	CHECK(strstr(trials[TRIAL_MEMORY].found, "67108864"));
}

static void become_nobody(void)
{
	CHECK(setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
}

TEST(what_needs_root_is_untried_for_others_and_the_rest_is_tried)
{
	if (geteuid() == 0)
		probe_after(become_nobody);
	else
		probe_after(NULL);
	for (int kind = 0; kind < TRIAL_SECCOMP; kind++)
		check_trial((enum trial_kind) kind, TRIAL_UNTRIED, "only root can try it");
	check_trial(TRIAL_SECCOMP, TRIAL_WORKS, NULL);
	CHECK(trials[TRIAL_LANDLOCK].result != TRIAL_UNTRIED);
}

static void drop_mknod(void)
{
	const uint64_t dropped = CAPS_MASK(CAP_MKNOD) | CAPS_MASK(CAP_SYS_RESOURCE);
	uint64_t keep = 0;

	for (int capability = 0; capability <= CAP_LAST_CAP; capability++)
		if (caps_has(capability) && (dropped & CAPS_MASK(capability)) == 0)
			keep |= CAPS_MASK(capability);
	CHECK_OK(caps_limit(keep, &err));
}

TEST(a_capability_that_was_dropped_is_named_and_so_is_what_it_takes_along)
{
	need_root();
	probe_after(drop_mknod);
	check_trial(TRIAL_CAPABILITIES, TRIAL_FAILS, "the capability cap_mknod");
	check_trial(TRIAL_NODES, TRIAL_FAILS, "Operation not permitted");
	check_trial(TRIAL_DEVICES, TRIAL_UNTRIED, "device nodes");
	check_trial(TRIAL_MEMORY, TRIAL_WORKS, NULL);
}

/* Root of a user namespace without any other id, as in an unprivileged container. */
static void enter_user_namespace(void)
{
	CHECK(unshare(CLONE_NEWUSER) == 0);
	CHECK_OK(io_write_kernel_file(AT_FDCWD, "/proc/self/uid_map", "0 0 1", &err));
	CHECK_OK(io_write_kernel_file(AT_FDCWD, "/proc/self/setgroups", "deny", &err));
	CHECK_OK(io_write_kernel_file(AT_FDCWD, "/proc/self/gid_map", "0 0 1", &err));
}

TEST(in_a_user_namespace_without_ids_the_range_can_not_be_used)
{
	need_root();
	probe_after(enter_user_namespace);
	check_trial(TRIAL_CAPABILITIES, TRIAL_WORKS, NULL);
	check_trial(TRIAL_NAMESPACES, TRIAL_WORKS, NULL);
	CHECK(trials[TRIAL_USER_NAMESPACE].result != TRIAL_WORKS);
	check_trial(TRIAL_NODES, TRIAL_FAILS, NULL);
	check_trial(TRIAL_DEVICES, TRIAL_FAILS, "load the device program");
}

static void hide_cgroups(void)
{
	CHECK(unshare(CLONE_NEWNS) == 0);
	CHECK(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
	CHECK(mount("none", "/sys/fs/cgroup", "tmpfs", 0, NULL) == 0);
}

TEST(where_the_control_groups_are_hidden_no_limit_can_be_tried)
{
	need_root();
	probe_after(hide_cgroups);
	check_trial(TRIAL_LEASES, TRIAL_WORKS, NULL);
	check_trial(TRIAL_CGROUPS, TRIAL_FAILS, "/sys/fs/cgroup");
	for (int kind = TRIAL_MEMORY; kind <= TRIAL_KILL; kind++)
		check_trial((enum trial_kind) kind, TRIAL_UNTRIED, "a control group");
	check_trial(TRIAL_NODES, TRIAL_WORKS, NULL);
}

static void use_up_namespaces(void)
{
	enter_user_namespace();
	CHECK_OK(io_write_kernel_file(AT_FDCWD, "/proc/sys/user/max_net_namespaces", "0", &err));
}

TEST(a_kind_of_namespace_that_is_used_up_is_named)
{
	need_root();
	probe_after(use_up_namespaces);
	check_trial(TRIAL_NAMESPACES, TRIAL_FAILS, "user.max_net_namespaces");
}

static int end_silently(struct probe *probe, struct err *error)
{
	(void) probe;
	(void) error;
	raise(SIGKILL);
	return 0;
}

static int say_no(struct probe *probe, struct err *error)
{
	(void) probe;
	return err_set(error, ERR_HOST, "no");
}

static int say_yes(struct probe *probe, struct err *error)
{
	(void) probe;
	(void) error;
	return 0;
}

TEST(an_attempt_that_dies_has_not_succeeded)
{
	CHECK_OK(probe_apart(say_yes, NULL, &err));
	CHECK_INT(probe_apart(say_no, NULL, &err), -1);
	CHECK_STR(err.text, "no");
	CHECK_INT(probe_apart(end_silently, NULL, &err), -1);
	CHECK_STR(err.text, "the process that tried it was ended by the kernel");
}

TEST(a_client_that_has_gone_ends_the_probe)
{
	int pair[2];

	CHECK_OK(message_pair(pair, &err));
	close(pair[0]);
	CHECK_INT(probe_host(pair[1], &err), -1);
	CHECK_INT(err.sys, EPIPE);
}
