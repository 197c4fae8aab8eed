/* SPDX-License-Identifier: Apache-2.0 */

/* Becoming somebody else, and what came along from whoever started the jail. */
#include "tests/attacks/attack.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void become_root(const struct scene *scene)
{
	int result = setuid(0);

	(void) scene;
	result &= seteuid(0) & setreuid(0, 0) & setresuid(0, 0, 0);
	result &= setgid(0) & setegid(0) & setresgid(0, 0, 0);
	if (getuid() == 0 || geteuid() == 0)
		got("user id 0");
	if (getgid() == 0 || getegid() == 0)
		got("group id 0");
	setfsuid(0);
	if (setfsuid((uid_t) -1) == 0)
		got("user id 0 over files");
	if (result >= 0)
		broken("a call succeeded, and the ids are as they were");
	held_by("setuid(0)");
}

static void host_root_mapped(const struct scene *scene)
{
	static const char *const maps[] = { "/proc/self/uid_map", "/proc/self/gid_map" };

	(void) scene;
	for (size_t i = 0; i < ARRAY_LEN(maps); i++) {
		FILE *file = fopen(maps[i], "re");
		unsigned int inside, outside, count;

		if (!file)
			broken("%s: %s", maps[i], strerror(errno));
		while (fscanf(file, "%u %u %u", &inside, &outside, &count) == 3)
			if (outside == 0)
				got("id %u here is 0 on the host", inside);
		fclose(file);
	}
	held("id 0 of the host is mapped nowhere");
}

static void raise_capabilities(const struct scene *scene)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct all[2] = { { ~0U, ~0U, ~0U }, { ~0U, ~0U, ~0U } };
	static const char *const sets[] = { "CapEff", "CapPrm", "CapInh", "CapAmb" };

	(void) scene;
	best_effort(syscall(SYS_capset, &header, all));
	best_effort(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_ADMIN, 0, 0));
	for (size_t i = 0; i < ARRAY_LEN(sets); i++)
		if (status_number(sets[i], 16) != 0)
			got("%s is %lx", sets[i], (unsigned long) status_number(sets[i], 16));
	held_by("capset");
}

static void bounding_set(const struct scene *scene)
{
	(void) scene;
	for (int cap = 0; cap <= 63; cap++)
		if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0) > 0)
			got("capability %d can come back with a program", cap);
	held("no program can bring a capability");
}

/* What a program of somebody else's rights finds when it runs: it says the word in our place. */
static void run_program(const char *path, const char *id)
{
	char name[64];
	char *const argv[] = { name, name, NULL };

	snprintf(name, sizeof(name), "%s", id);
	execv(path, argv);
	held("execute %s: %s", path, strerror(errno));
}

static void privileged_inside(const struct scene *scene)
{
	(void) scene;
	if (geteuid() != getuid() || getegid() != getgid())
		got("the program has user %u and group %u", geteuid(), getegid());
	if (status_number("CapPrm", 16) != 0)
		got("the program has the capabilities %lx",
		    (unsigned long) status_number("CapPrm", 16));
	held("the program runs with no more rights");
}

static void setuid_program(const struct scene *scene)
{
	run_program(below(scene->bait, "setuid"), "@privileged");
}

static void capable_program(const struct scene *scene)
{
	struct stat info;

	if (stat(below(scene->bait, "capable"), &info) < 0 && errno == ENOENT)
		not_here("the bait's file system keeps no capabilities of files");
	run_program(below(scene->bait, "capable"), "@privileged");
}

/* A copy of this program of somebody else's, with the bit that lends his rights. */
static void setuid_made(const struct scene *scene)
{
	static char block[65536];
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), to;
	ssize_t len;
	uid_t theirs = scene->bare ? 65534 : 0;

	to = open("lent", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	if (from < 0 || to < 0)
		broken("copy this program: %s", strerror(errno));
	while ((len = read(from, block, sizeof(block))) > 0)
		if (write(to, block, (size_t) len) != len)
			broken("copy this program: %s", strerror(errno));
	if (fchown(to, theirs, theirs) < 0)
		held_by("fchown");
	if (fchmod(to, 06755) < 0)
		held_by("fchmod");
	close(to);
	run_program("./lent", "@privileged");
}

static void groups_inherited(const struct scene *scene)
{
	gid_t groups[256];
	int count = getgroups(ARRAY_LEN(groups), groups);

	for (int i = 0; i < count; i++)
		if (groups[i] == (gid_t) scene->group)
			got("a member of the host's group %ld", scene->group);
	try_secret(open(below(scene->bait, "by-group"), O_RDONLY | O_CLOEXEC), "a group's file");
	held_by("open a group's file");
}

static void groups_taken(const struct scene *scene)
{
	gid_t group = (gid_t) scene->group;

	best_effort(setgroups(1, &group));
	best_effort(setgid(group));
	try_secret(open(below(scene->bait, "by-group"), O_RDONLY | O_CLOEXEC), "a group's file");
	held_by("open a group's file");
}

static void environment(const struct scene *scene)
{
	char text[16384];
	ssize_t len = read_text("/proc/self/environ", text, sizeof(text));

	(void) scene;
	if (len < 0)
		broken("/proc/self/environ: %s", strerror(errno));
	if (has_secret(text, (size_t) len))
		got("a secret in the environment");
	held("the environment has no secret");
}

static void descriptors(const struct scene *scene)
{
	for (int fd = WORD_FD + 1; fd < 4096; fd++) {
		char link[32], target[256];
		ssize_t len;

		if (fcntl(fd, F_GETFD) < 0)
			continue;
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		len = readlink(link, target, sizeof(target) - 1);
		target[len < 0 ? 0 : len] = '\0';
		/* The secret's file is what the control is about; others may be its terminal. */
		if (!scene->bare)
			got("descriptor %d leads to '%s'", fd, target);
		try_secret(dup(fd), target);
	}
	held("there is none above the word's");
}

/* Memory of this process that came from whoever started it. */
static void own_memory(const struct scene *scene)
{
	static char block[1 << 20];
	FILE *maps = fopen("/proc/self/maps", "re");
	int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	char line[512];

	(void) scene;
	if (!maps || memory < 0)
		broken("look at our own memory: %s", strerror(errno));
	while (fgets(line, sizeof(line), maps)) {
		unsigned long from, to;

		if (sscanf(line, "%lx-%lx r", &from, &to) != 2 || strstr(line, "[v"))
			continue;
		for (; from < to; from += sizeof(block)) {
			size_t size = MIN_OF(to - from, sizeof(block));
			ssize_t len;

			if (from <= (unsigned long) block + sizeof(block) &&
			    from + size >= (unsigned long) block)
				continue; /* what was read before */
			len = pread(memory, block, size, (off_t) from);
			if (len > 0 && has_secret(block, (size_t) len))
				got("a secret at %lx: %.60s", from, strrchr(line, ' ') + 1);
		}
	}
	held("no memory has a secret");
}

static void signals_inherited(const struct scene *scene)
{
	unsigned long ignored = (unsigned long) status_number("SigIgn", 16);
	unsigned long blocked = (unsigned long) status_number("SigBlk", 16);

	(void) scene;
	if (ignored || blocked)
		got("ignores %lx, blocks %lx", ignored, blocked);
	held("no signal is ignored or blocked");
}

static void keyring(const struct scene *scene)
{
	char text[256];
	long key =
		syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_SESSION_KEYRING, "user", scene->tag, 0);

	if (key < 0)
		key = syscall(SYS_request_key, "user", scene->tag, NULL, 0);
	if (key < 0)
		held_by("search the session's keyring");
	if (syscall(SYS_keyctl, KEYCTL_READ, key, text, sizeof(text)) > 0 &&
	    has_secret(text, sizeof(text)))
		got("read a key of the host");
	broken("a key was found and can not be read: %s", strerror(errno));
}

static void priority(const struct scene *scene)
{
	struct sched_param real_time = { .sched_priority = 1 };

	(void) scene;
	best_effort(setpriority(PRIO_PROCESS, 0, -20));
	errno = 0;
	if (getpriority(PRIO_PROCESS, 0) < 0)
		got("nice is %d", getpriority(PRIO_PROCESS, 0));
	if (sched_setscheduler(0, SCHED_FIFO, &real_time) == 0 &&
	    sched_getscheduler(0) == SCHED_FIFO)
		got("a real-time priority");
	held_by("sched_setscheduler");
}

static void oom_score(const struct scene *scene)
{
	char before[32], after[32];

	needs_capability(scene, CAP_SYS_RESOURCE, "CAP_SYS_RESOURCE");
	if (read_text("/proc/self/oom_score_adj", before, sizeof(before)) < 0)
		broken("/proc/self/oom_score_adj: %s", strerror(errno));
	best_effort(write_text("/proc/self/oom_score_adj", "-1000"));
	if (read_text("/proc/self/oom_score_adj", after, sizeof(after)) > 0 &&
	    strtol(after, NULL, 10) < strtol(before, NULL, 10))
		got("others are killed first: %s", after);
	held_by("write oom_score_adj");
}

static void hard_limits(const struct scene *scene)
{
	static const int kinds[] = { RLIMIT_NOFILE, RLIMIT_RTPRIO, RLIMIT_NICE, RLIMIT_CORE };

	needs_capability(scene, CAP_SYS_RESOURCE, "CAP_SYS_RESOURCE");
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct rlimit now, more;

		if (getrlimit(kinds[i], &now) < 0)
			broken("getrlimit: %s", strerror(errno));
		if (now.rlim_max == RLIM_INFINITY)
			continue;
		more = (struct rlimit){ now.rlim_cur, now.rlim_max + 1 };
		best_effort(setrlimit(kinds[i], &more));
		if (getrlimit(kinds[i], &more) == 0 && more.rlim_max > now.rlim_max)
			got("raised hard limit %d", kinds[i]);
	}
	held_by("setrlimit");
}

/* What a crash does is the host's core_pattern's to say. */
static void crash(const struct scene *scene)
{
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	struct rlimit now = all;
	int status;
	pid_t pid;

	(void) scene;
	if (setrlimit(RLIMIT_CORE, &all) < 0 && getrlimit(RLIMIT_CORE, &now) == 0) {
		now.rlim_cur = now.rlim_max;
		best_effort(setrlimit(RLIMIT_CORE, &now));
	}
	pid = fork();
	if (pid == 0) {
		signal(SIGABRT, SIG_DFL);
		abort();
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status))
		broken("no child crashed");
	if (WCOREDUMP(status))
		got("the kernel dumped what crashed");
	held("what crashed was not dumped");
}

static void weak_personality(const struct scene *scene)
{
	(void) scene;
	if (personality(READ_IMPLIES_EXEC | ADDR_NO_RANDOMIZE) < 0)
		held_by("personality");
	if (personality(0xffffffff) & READ_IMPLIES_EXEC)
		got("every program that follows has its data executable");
	held("the personality is as it was");
}

/* A filter with a listener: whoever has one answers calls in the name of the kernel. */
static void own_listener(const struct scene *scene)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = { 1, &allow };
	long fd;

	(void) scene;
	best_effort(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
		     &program);
	if (fd < 0)
		held_by("seccomp");
	if (fcntl((int) fd, F_GETFD) >= 0)
		got("a listener before that of pid 1");
	broken("seccomp gave a descriptor that is none");
}

/* clang-format off */
const struct attack attacks_on_identity[] = {
	{ "id-become-root",       become_root },
	{ "id-host-root-mapped",  host_root_mapped },
	{ "id-capabilities",      raise_capabilities },
	{ "id-bounding-set",      bounding_set },
	{ "id-setuid-program",    setuid_program },
	{ "id-capable-program",   capable_program },
	{ "id-setuid-made",       setuid_made },
	{ "id-groups-inherited",  groups_inherited },
	{ "id-groups-taken",      groups_taken },
	{ "id-environment",       environment },
	{ "id-descriptors",       descriptors },
	{ "id-own-memory",        own_memory },
	{ "id-signals-inherited", signals_inherited },
	{ "id-keyring",           keyring },
	{ "id-priority",          priority },
	{ "id-oom-score",         oom_score },
	{ "id-hard-limits",       hard_limits },
	{ "id-crash",             crash },
	{ "id-personality",       weak_personality },
	{ "id-own-listener",      own_listener },
	{ "@privileged",          privileged_inside },
	{ NULL,                   NULL },
};
/* clang-format on */
