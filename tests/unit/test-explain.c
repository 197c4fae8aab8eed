/* SPDX-License-Identifier: Apache-2.0 */

/* What is said of jails, against the inside of real ones that the same specs make. */
#include "harness/explain/explain.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/run/compose.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "tests/lib/check.h"
#include "tests/lib/jails.h"

static struct jails jails;
static struct arena arena;
static struct policy policy;
static struct describe_host host;
static struct explained jail;
static struct jail_spec spec;
static struct err err;

static void explain(const char *text, enum explain_role role)
{
	struct explain_question question = { .policy = &policy, .host = &host };

	policy = policy_default();
	if (text)
		CHECK_OK(policy_parse("p.yaml", text, strlen(text), &policy, &err));
	CHECK_OK(explain_look(&arena, &host, &err));
	CHECK_OK(explain_make(&question, role, &arena, &jail, &err));
}

static void done(void)
{
	policy_done(&policy);
	arena_done(&arena);
}

/* The explained spec with another command, and without the files that a run would bring along. */
static void take_spec(const char *const *argv)
{
	spec = *jail.spec;
	spec.tree_count = spec.pass_count = spec.has_program = 0;
	spec.collect.wanted = 0;
	spec.command = (struct command_slice){ .folder = "/work" };
	for (size_t i = 0; argv[i]; i++)
		CHECK_OK(spec_add_arg(&spec, argv[i], &err));
	for (size_t i = 0; jail.envp[i]; i++)
		CHECK_OK(spec_add_env(&spec, jail.envp[i], &err));
}

static const char *run_script(const char *script)
{
	const char *const argv[] = { "/bin/sh", "-c", script, NULL };
	struct jail_outcome outcome;

	take_spec(argv);
	outcome = jails_run(&jails, &spec, "out", MIB);
	if (outcome.last.kind != EVENT_ENDED)
		check_fail(__FILE__, __LINE__, "%s", outcome.last.err.text);
	CHECK_INT(outcome.last.result.ending, ENDING_EXITED);
	CHECK_INT(outcome.last.result.code, 0);
	return arena_printf(&arena, "%s", jails_text("out.stdout"));
}

/* tests/lib/inside.c as the payload. Return: its exit code. */
static int run_inside(const char *const *argv, struct jail_result *result)
{
	const struct jail_io io = {
		.folder_fd = check_folder(), .name = "in", .output_max = MIB, .stop_fd = -1
	};
	cleanup(str_done) struct str program = STR_INIT;
	auto_fd file = open(PROGRAMS "/tests/inside", O_RDONLY | O_CLOEXEC), memfd = -1;
	struct jail_outcome outcome;
	struct spec_fds fds;

	CHECK(file >= 0);
	CHECK_OK(io_read_fd(file, STR_MAX - 1, "inside", &program, &err));
	memfd = io_memfd("inside", program.text, program.len, &err);
	CHECK(memfd >= 0);
	take_spec(argv);
	spec.has_program = 1;
	spec_fds_init(&fds);
	fds.fd[SPEC_FD_PROGRAM] = memfd;
	CHECK_OK(jail_run(jails.launcher.socket_fd, &spec, &fds, &io, &outcome, &err));
	if (outcome.last.kind != EVENT_ENDED)
		check_fail(__FILE__, __LINE__, "%s", outcome.last.err.text);
	CHECK_INT(outcome.last.result.ending, ENDING_EXITED);
	if (result)
		*result = outcome.last.result;
	return outcome.last.result.code;
}

/* --- mounts --- */

/* "1m", "64k" and "1048576k" as bytes. */
static uint64_t bytes_of(const char *text)
{
	char *end;
	uint64_t value = strtoull(text, &end, 10);

	if (*end == 'k')
		return value * KIB;
	return *end == 'm' ? value * MIB : value;
}

/* The value of "key=" in a list with commas; NULL: it has none. */
static const char *option_in(const char *options, const char *key)
{
	const size_t len = strlen(key);

	for (const char *at = options; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : "")
		if (strncmp(at, key, len) == 0 && (at[len] == '=' || at[len] == ',' || !at[len]))
			return at + len + (at[len] == '=');
	return NULL;
}

static void check_attributes(const struct described_entry *entry, const char *options)
{
	static const char *const words[] = { "ro", "rw", "nosuid", "nodev", "noexec" };

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (!option_in(options, words[i]) != !option_in(entry->attributes, words[i]))
			check_fail(__FILE__, __LINE__, "%s is '%s' and not '%s'", entry->path,
				   options, entry->attributes);
}

static void check_options(const struct described_entry *entry, const char *options)
{
	static const char *const sizes[] = { "size", "nr_inodes" };
	const char *mode = option_in(entry->options, "mode");

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		const char *said = option_in(entry->options, sizes[i]);
		const char *is = option_in(options, sizes[i]);

		if (!said)
			continue;
		if (!is || bytes_of(said) != bytes_of(is))
			check_fail(__FILE__, __LINE__, "%s has '%s' and not '%s'", entry->path,
				   options, entry->options);
	}
	/* The kernel does not show 1777, which is its default. */
	if (mode && entry->type && strcmp(entry->type, "tmpfs") == 0 &&
	    strncmp(mode, "1777", 4) != 0)
		CHECK(option_in(options, "mode") &&
		      strtoul(option_in(options, "mode"), NULL, 8) == strtoul(mode, NULL, 8));
}

static const struct described_entry *find_entry(const char *path)
{
	for (size_t i = 0; i < jail.jail.tree_count; i++)
		if (strcmp(jail.jail.tree[i].path, path) == 0)
			return &jail.jail.tree[i];
	return NULL;
}

/* Each mount inside is one that was said, as it was said. Return: how many there are. */
static size_t check_mounts(const char *mountinfo)
{
	char *text = arena_printf(&arena, "%s", mountinfo), *line;
	size_t count = 0;

	for (; (line = strsep(&text, "\n")) && *line; count++) {
		char path[256], options[256], type[64], super[1024];
		const struct described_entry *entry;

		CHECK_INT(sscanf(line, "%*s %*s %*s %*s %255s %255s", path, options), 2);
		CHECK_INT(sscanf(strstr(line, " - "), " - %63s %*s %1023s", type, super), 2);
		entry = find_entry(path);
		if (!entry || !entry->attributes || !entry->is_there)
			check_fail(__FILE__, __LINE__, "nothing was said of the mount '%s'", path);
		check_attributes(entry, options);
		if (entry->type)
			CHECK_STR(type, entry->type);
		if (entry->options)
			check_options(entry, super);
	}
	return count;
}

static size_t count_said_mounts(void)
{
	size_t count = 0;

	for (size_t i = 0; i < jail.jail.tree_count; i++)
		count += jail.jail.tree[i].attributes && jail.jail.tree[i].is_there;
	return count;
}

static void check_tree(enum explain_role role)
{
	jails_start(&jails);
	explain(NULL, role);
	CHECK_INT(check_mounts(run_script("cat /proc/self/mountinfo")), count_said_mounts());
	for (size_t i = 0; i < jail.jail.tree_count; i++) {
		const struct described_entry *entry = &jail.jail.tree[i];
		const char *test = strcmp(entry->kind, "link") == 0 ? "-L"
				 : strcmp(entry->kind, "text") == 0 ? "-f"
								    : "-d";

		if (entry->attributes)
			continue;
		run_script(arena_printf(&arena, "test %s '%s'", test, entry->path));
		if (strcmp(entry->kind, "link") == 0)
			CHECK_STR(run_script(arena_printf(&arena, "readlink '%s'", entry->path)),
				  arena_printf(&arena, "%s\n", entry->source));
	}
	done();
	jails_end(&jails);
}

TEST(the_mounts_of_an_agents_jail_are_those_that_were_said)
{
	check_tree(EXPLAIN_AGENT);
}

TEST(the_mounts_of_a_builds_jail_are_those_that_were_said)
{
	check_tree(EXPLAIN_BUILD);
}

TEST(the_mounts_of_a_workers_jail_are_those_that_were_said)
{
	check_tree(EXPLAIN_WORKER);
}

TEST(the_mounts_of_an_evaluators_jail_are_those_that_were_said)
{
	check_tree(EXPLAIN_EVALUATOR);
}

/* --- /dev --- */

static void add_node(const struct described_device *device, struct str *out)
{
	unsigned int major, minor;

	if (device->link) {
		str_addf(out, "%s -> %s\n", device->name, device->link);
	} else {
		CHECK_INT(sscanf(device->number, "c %u:%u", &major, &minor), 2);
		str_addf(out, "%s character special file %x:%x %o\n", device->name, major, minor,
			 device->mode);
	}
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static const char *sorted(const char *text)
{
	char *rest = arena_printf(&arena, "%s", text), *line;
	const char *lines[64] = { NULL };
	cleanup(str_done) struct str out = STR_INIT;
	size_t count = 0;

	while ((line = strsep(&rest, "\n")) && count < ARRAY_LEN(lines))
		if (*line)
			lines[count++] = line;
	qsort(lines, count, sizeof(lines[0]), compare_lines);
	for (size_t i = 0; i < count; i++)
		str_addf(&out, "%s\n", lines[i]);
	return arena_printf(&arena, "%s", out.text);
}

TEST(the_nodes_in_dev_are_those_that_were_said)
{
	cleanup(str_done) struct str want = STR_INIT;
	const char *found;

	jails_start(&jails);
	explain(NULL, EXPLAIN_AGENT);
	for (size_t i = 0; i < jail.jail.device_count; i++)
		if (jail.jail.devices[i].name)
			add_node(&jail.jail.devices[i], &want);
	found = run_script(
		"cd /dev; for f in * .[!.]*; do [ -e \"$f\" ] || [ -L \"$f\" ] || continue; "
		"case $f in pts|shm) continue;; esac; "
		"if [ -L $f ]; then echo \"$f -> $(readlink $f)\"; "
		"else stat -c '%n %F %t:%T %a' $f; fi; done");
	CHECK_STR(sorted(found), sorted(want.text));
	done();
	jails_end(&jails);
}

/* --- limits --- */

/* What /proc/self/limits calls them. */
static const struct {
	const char *call, *line;
} limit_lines[] = {
	{ "setrlimit(RLIMIT_AS)", "Max address space" },
	{ "setrlimit(RLIMIT_CPU)", "Max cpu time" },
	{ "setrlimit(RLIMIT_DATA)", "Max data size" },
	{ "setrlimit(RLIMIT_FSIZE)", "Max file size" },
	{ "setrlimit(RLIMIT_LOCKS)", "Max file locks" },
	{ "setrlimit(RLIMIT_RSS)", "Max resident set" },
	{ "setrlimit(RLIMIT_CORE)", "Max core file size" },
	{ "setrlimit(RLIMIT_RTPRIO)", "Max realtime priority" },
	{ "setrlimit(RLIMIT_NICE)", "Max nice priority" },
	{ "setrlimit(RLIMIT_NOFILE)", "Max open files" },
	{ "setrlimit(RLIMIT_STACK)", "Max stack size" },
	{ "setrlimit(RLIMIT_MEMLOCK)", "Max locked memory" },
	{ "setrlimit(RLIMIT_MSGQUEUE)", "Max msgqueue size" },
	{ "setrlimit(RLIMIT_SIGPENDING)", "Max pending signals" },
};

static void check_limit(const struct described_limit *limit, const char *limits)
{
	char soft[32], hard[32];
	const char *line = NULL, *name = NULL;

	for (size_t i = 0; i < ARRAY_LEN(limit_lines); i++)
		if (strcmp(limit_lines[i].call, limit->file) == 0)
			name = limit_lines[i].line;
	CHECK(name);
	line = strstr(limits, name);
	CHECK(line);
	CHECK_INT(sscanf(line + strlen(name), "%31s %31s", soft, hard), 2);
	CHECK_STR(soft, hard);
	if (strcmp(limit->value, "hard limit") == 0)
		return;
	/* Where sudo has set 0 and nothing raises it, that is as good: see sandbox/rlimits.h. */
	if (strcmp(limit->file, "setrlimit(RLIMIT_CORE)") == 0 && strcmp(soft, "0") == 0)
		return;
	CHECK_STR(soft, limit->value);
}

TEST(the_limits_of_a_process_are_those_that_were_said)
{
	static const char text[] =
		"schema: 1\nname: x\nagent: {nofile: 333, stack: 1MiB, memlock: 64KiB, "
		"file_size: 2MiB, msgqueue: 4KiB, sigpending: 99, environment: {B: 'a b', USER: "
		"me}}\n";
	size_t count = 0, variables = 0;
	const char *limits, *found;

	jails_start(&jails);
	explain(text, EXPLAIN_AGENT);
	limits = run_script("cat /proc/self/limits");
	for (size_t i = 0; i < jail.jail.limit_count; i++) {
		const struct described_limit *limit = &jail.jail.limits[i];

		if (strcmp(limit->by, "rlimit") != 0)
			continue;
		/* A chosen size of files comes after the one that opens it. */
		if (strcmp(limit->file, "setrlimit(RLIMIT_FSIZE)") == 0 &&
		    strcmp(limit->value, "hard limit") == 0)
			continue;
		check_limit(limit, limits);
		count++;
	}
	CHECK_INT(count, 14);
	found = run_script("tr '\\0' '\\n' </proc/$$/environ");
	for (; jail.envp[variables]; variables++)
		CHECK(strstr(found, arena_printf(&arena, "%s\n", jail.envp[variables])));
	for (const char *at = found; (at = strchr(at, '\n')); at++)
		variables--;
	CHECK_INT(variables, 0);
	CHECK(strstr(found, "USER=me\n") && strstr(found, "B=a b\n"));
	done();
	jails_end(&jails);
}

/* The files of the jail's own control groups, wherever this host has them. */
static void check_knobs(enum explain_role role)
{
	static const char *const sleep[] = { "/bin/sleep", "20", NULL };
	cleanup(cgroup_host_done) struct cgroup_host groups = CGROUP_HOST_INIT;
	struct jails_held held;
	const char *leaf;
	size_t count = 0;

	jails_start(&jails);
	explain(NULL, role);
	take_spec(sleep);
	jails_open(&jails, &spec, NULL, &held);
	leaf = strrchr(held.leaf, '/') + 1;
	CHECK_OK(cgroup_host_open(&groups, &err));
	for (size_t i = 0; i < jail.jail.limit_count; i++) {
		const struct described_limit *limit = &jail.jail.limits[i];
		const bool is_v1 = strcmp(limit->by, "cgroup v1") == 0;
		char path[256], text[256];
		int fd = groups.unified_fd;

		if (!is_v1 && strcmp(limit->by, "cgroup v2") != 0)
			continue;
		for (size_t k = 0; is_v1 && k < CGROUP_CONTROLLERS; k++)
			if (strcmp(cgroup_controller_names[k], limit->name) == 0)
				fd = groups.v1_fds[k];
		snprintf(path, sizeof(path), "%s/%s", leaf, strrchr(limit->file, '/') + 1);
		CHECK_OK(io_read_kernel_file(fd, path, text, sizeof(text), &err));
		CHECK_STR(text, limit->value);
		CHECK(limit->holds);
		count++;
	}
	CHECK(count >= 3);
	jails_close(&held);
	CHECK(jails_is_gone(&held, 20000));
	done();
	cgroup_host_done(&groups);
	jails_end(&jails);
}

TEST(the_limits_of_control_groups_stand_in_the_files_that_were_said)
{
	check_knobs(EXPLAIN_AGENT);
	check_knobs(EXPLAIN_WORKER);
	check_knobs(EXPLAIN_EVALUATOR);
}

/* --- privileges and calls --- */

TEST(privileges_are_those_that_were_said)
{
	static const char *const wanted[] = { "CapInh:\t0000000000000000\n",
					      "CapPrm:\t0000000000000000\n",
					      "CapEff:\t0000000000000000\n",
					      "CapBnd:\t0000000000000000\n",
					      "CapAmb:\t0000000000000000\n",
					      "NoNewPrivs:\t1\n",
					      "Seccomp:\t2\n" };
	static const char *const argv[] = { "inside", "securebits", NULL };
	static const struct {
		const char *name;
		int bit;
	} bits[] = { { "noroot", 1 },
		     { "noroot_locked", 2 },
		     { "no_setuid_fixup", 4 },
		     { "no_setuid_fixup_locked", 8 },
		     { "keep_caps", 16 },
		     { "keep_caps_locked", 32 },
		     { "no_cap_ambient_raise", 64 },
		     { "no_cap_ambient_raise_locked", 128 } };
	const char *status;
	int said = 0;

	jails_start(&jails);
	explain(NULL, EXPLAIN_AGENT);
	status = run_script("cat /proc/self/status");
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
		CHECK(strstr(status, wanted[i]));
	CHECK(strstr(status,
		     arena_printf(&arena, "Uid:\t%u\t%u\t%u\t%u\n", jail.jail.inside_id,
				  jail.jail.inside_id, jail.jail.inside_id, jail.jail.inside_id)));
	CHECK_INT(run_inside(argv, NULL), 0);
	for (size_t i = 0; i < jail.jail.securebit_count; i++)
		for (size_t k = 0; k < ARRAY_LEN(bits); k++)
			if (strcmp(jail.jail.securebits[i], bits[k].name) == 0)
				said |= bits[k].bit;
	CHECK_INT(strtol(jails_text("in.stdout"), NULL, 10), said);
	CHECK_STR(run_script("tail -n +3 /proc/net/dev | cut -d : -f 1 | tr -d ' '"), "lo\n");
	done();
	jails_end(&jails);
}

static const struct seccomp_call *find_call(int number)
{
	for (size_t i = 0; i < jail.jail.call_count; i++)
		if (jail.jail.calls[i].number == number)
			return &jail.jail.calls[i];
	return NULL;
}

enum { NUMBERS = 480 };

/* Those that are refused, and those that are not there: what is allowed can not be tried at random.
 */
static void check_calls(enum explain_role role)
{
	const char *argv[NUMBERS + 3] = { "inside", "calls" };
	char *text, *line;
	size_t count = 0;

	jails_start(&jails);
	explain(NULL, role);
	for (int number = 0; number < NUMBERS; number++) {
		const struct seccomp_call *call = find_call(number);

		/* uretprobe and uprobe: no filter is asked, and elsewhere than in a probe they
		 * kill. */
		if (number != 335 && number != 336 && (!call || call->is_refused))
			argv[2 + count++] = arena_printf(&arena, "%d", number);
	}
	CHECK(count > 100);
	CHECK_INT(run_inside(argv, NULL), 0);
	text = arena_printf(&arena, "%s", jails_text("in.stdout"));
	for (; (line = strsep(&text, "\n")) && *line; count--) {
		int number, error;

		CHECK_INT(sscanf(line, "%d %d", &number, &error), 2);
		if (error != (find_call(number) ? EPERM : ENOSYS))
			check_fail(__FILE__, __LINE__, "call %d: %s", number, strerror(error));
	}
	CHECK_INT(count, 0);
	done();
	jails_end(&jails);
}

TEST(calls_that_are_refused_and_calls_that_are_not_there_are_those_that_were_said)
{
	check_calls(EXPLAIN_AGENT);
	check_calls(EXPLAIN_WORKER);
}

static uint32_t denied(const struct jail_result *result, const char *name)
{
	for (size_t i = 0; jail_denied_name(i); i++)
		if (strcmp(jail_denied_name(i), name) == 0)
			return result->denied[i];
	check_fail(__FILE__, __LINE__, "%s is not refused by name", name);
}

TEST(a_profiler_works_under_its_policy_and_is_refused_by_name_under_the_default)
{
	static const char text[] = "schema: 1\nname: p\nextends: profiler\n";
	static const char *const argv[] = { "inside", "perf", NULL };
	struct jail_result result;
	char paranoid[16];

	jails_start(&jails);
	explain(NULL, EXPLAIN_AGENT);
	CHECK_INT(run_inside(argv, &result), 1);
	CHECK(denied(&result, "perf_event_open") > 0);
	done();

	CHECK_OK(io_read_kernel_file(AT_FDCWD, "/proc/sys/kernel/perf_event_paranoid", paranoid,
				     sizeof(paranoid), &err));
	explain(text, EXPLAIN_BUILD);
	CHECK_INT(run_inside(argv, &result), 1);
	done();
	explain(text, EXPLAIN_AGENT);
	if (strtol(paranoid, NULL, 10) > 2) {
		check_note("perf_event_paranoid is %s: the kernel refuses it to all", paranoid);
		CHECK_INT(run_inside(argv, &result), 2);
	} else {
		CHECK_INT(run_inside(argv, &result), 0);
		CHECK(strstr(jails_text("in.stdout"), "perf_event_open: works\n"));
	}
	CHECK_INT(denied(&result, "perf_event_open"), 0);
	done();
	jails_end(&jails);
}
