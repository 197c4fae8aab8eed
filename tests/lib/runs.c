/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/runs.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/run/schedule.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "tests/lib/check.h"
#include "tests/lib/tree.h"

static struct err err;

/* A memfd with this text. */
static int text_fd(const char *text)
{
	int fd = memfd_create("text", MFD_CLOEXEC);

	CHECK_INT(write(fd, text, strlen(text)), strlen(text));
	CHECK_INT(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

void runs_copy_task(const char *file, const char *from, const char *to)
{
	static const char *const files[] = { "task.yaml", "README.md", "workspace/work.c",
					     "evaluate/oracle.c" };
	auto_fd original = open(SOURCE_ROOT "/tests/data/tasks/" RUNS_TASK, O_RDONLY | O_DIRECTORY);
	auto_fd task = -1;

	/* A task's folder has its name. */
	CHECK(mkdirat(check_folder(), RUNS_TASK, 0755) == 0);
	CHECK(symlinkat(RUNS_TASK, check_folder(), "task") == 0);
	task = openat(check_folder(), "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(mkdirat(task, "workspace", 0755) == 0 && mkdirat(task, "evaluate", 0755) == 0);
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		cleanup(str_done) struct str text = STR_INIT, changed = STR_INIT;
		const char *at;

		CHECK_OK(io_read_file(original, files[i], MIB, &text, &err));
		if (strcmp(files[i], file) == 0) {
			at = strstr(text.text, from);
			CHECK(at);
			str_addf(&changed, "%.*s%s%s", (int) (at - text.text), text.text, to,
				 at + strlen(from));
		}
		tree_make_file(task, files[i], changed.len ? changed.text : text.text, 0644);
	}
}

/* The launcher, and a folder for a run of no task yet. */
static void begin(struct runs *runs)
{
	jails_start(&runs->jails);
	CHECK(mkdirat(check_folder(), "run", 0755) == 0);
	runs->place = (struct run_place){
		.programs = PROGRAMS,
		.folder_fd = openat(check_folder(), "run", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.secret_fd = memfd_create("secret", MFD_CLOEXEC),
		.stop_fd = -1,
		.timing = TIMING_FILES_INIT,
	};
	runs->plan = (struct run_plan){
		.id = "test-run", .policy = POLICY_FILE_INIT, .repeats = 1, .seats = 1
	};
	CHECK(runs->place.folder_fd >= 0 && runs->place.secret_fd >= 0);
	runs->progress = PROGRESS_INIT;
	progress_start(&runs->progress, -1, false, 0, 1, clock_now());
}

void runs_prepare(struct runs *runs, const char *task)
{
	struct run_plan *plan = &runs->plan;

	begin(runs);
	plan->task_paths[0] = task ? task : RUNS_TASK;
	plan->task_fds[0] =
		openat(check_folder(), task ? task : SOURCE_ROOT "/tests/data/tasks/" RUNS_TASK,
		       O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(plan->task_fds[0] >= 0);
	plan->task_count = 1;
}

void runs_aka_task(const char *name, const char *runner, const char *kernel, const char *config)
{
	static const char common[] =
		"task_type: triton2triton\nsource_file_path: [kernel]\n"
		"target_kernel_functions: [work]\ncompile_command: ['/bin/sh run.sh compile']\n"
		"correctness_command: ['/bin/sh run.sh correctness']\n"
		"performance_command: ['/bin/sh run.sh performance']\n";
	cleanup(str_done) struct str text = STR_INIT;
	auto_fd above = -1, task = -1;

	mkdirat(check_folder(), "aka", 0755);
	mkdirat(check_folder(), "aka/tasks", 0755);
	mkdirat(check_folder(), "aka/tasks/triton2triton", 0755);
	above = openat(check_folder(), "aka/tasks/triton2triton", O_RDONLY | O_DIRECTORY);
	CHECK(above >= 0 && mkdirat(above, name, 0755) == 0);
	task = openat(above, name, O_RDONLY | O_DIRECTORY);
	str_addf(&text, "%s%s", common, config ? config : "");
	tree_make_file(task, "config.yaml", text.text, 0644);
	tree_make_file(task, "run.sh", runner, 0644);
	tree_make_file(task, "kernel", kernel, 0644);
}

void runs_aka(struct runs *runs, const char *runner, const char *kernel, const char *config)
{
	begin(runs);
	runs_aka_task("own", runner, kernel, config);
	runs->plan.aka = (struct run_aka){
		.path = "aka",
		.fd = openat(check_folder(), "aka", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.set_fd = -1,
	};
	CHECK(runs->plan.aka.fd >= 0);
}

void runs_add(struct runs *runs, const char *script)
{
	runs->plan.agents[runs->plan.agent_count++] =
		(struct run_agent){ .name = "script", .program_fd = text_fd(script) };
}

void runs_open(struct runs *runs)
{
	cpu_set_t cpus;

	CHECK(sched_getaffinity(0, sizeof(cpus), &cpus) == 0);
	if (CPU_COUNT(&cpus) < 2)
		SKIP("needs two CPUs");
	if (runs->policy) {
		runs->plan.policy.fd = text_fd(runs->policy);
		runs->plan.policy.path = "policy.yaml";
	}
	CHECK_OK(run_create(&runs->run, &runs->place, &runs->plan, &runs->jails.launcher,
			    &runs->progress, &err));
}

void runs_resume(struct runs *runs)
{
	run_done(&runs->run);
	CHECK_OK(
		run_resume(&runs->run, &runs->place, &runs->jails.launcher, &runs->progress, &err));
}

struct record runs_carry_out(struct runs *runs)
{
	int children = jails_children(getpid(), NULL);
	int fds = jails_count_fds(getpid());

	CHECK_OK(schedule_run(&runs->run, &err));
	CHECK(jails_children(getpid(), NULL) <= children); /* a helper of the test may have ended */
	CHECK_INT(jails_count_fds(getpid()), fds);
	CHECK_INT(runs->run.slots.list[0].state, SLOT_RECORDED);
	return runs->run.slots.list[0].record;
}

void runs_end(struct runs *runs)
{
	struct run_plan *plan = &runs->plan;

	run_done(&runs->run);
	progress_done(&runs->progress);
	for (size_t i = 0; i < plan->agent_count; i++)
		fd_close(&plan->agents[i].program_fd);
	for (size_t i = 0; i < plan->task_count; i++)
		fd_close(&plan->task_fds[i]);
	if (plan->aka.path)
		fd_close(&plan->aka.fd);
	policy_file_done(&plan->policy);
	fd_close(&runs->place.stop_fd);
	fd_close(&runs->place.secret_fd);
	fd_close(&runs->place.folder_fd);
	if (runs->jails.launcher.process.pid_fd >= 0) {
		jails_end(&runs->jails);
		return;
	}
	launcher_done(&runs->jails.launcher); /* it was killed */
	CHECK_INT(jails_count_fds(getpid()), runs->jails.fds);
}

const char *runs_journal(struct runs *runs)
{
	static struct str text = STR_INIT;
	auto_fd fd = journal_open_read(runs->place.folder_fd, &err);
	struct journal_reader reader;
	struct journal_entry entry;
	int got;

	CHECK(fd >= 0);
	str_clear(&text);
	journal_reader_init(&reader, fd);
	while ((got = journal_read(&reader, &entry, &err)) > 0) {
		struct err none = ERR_INIT;
		const char *state;
		int64_t number;

		str_addf(&text, "%s", entry.event);
		if (json_get_int(entry.fields, "attempt", 1, 1000, &number, &none) == 0)
			str_addf(&text, " %lld", (long long) number);
		if (json_get_text(entry.fields, "state", 64, &state, &none) == 0)
			str_addf(&text, " %s", state);
		str_addf(&text, "\n");
	}
	CHECK_OK(got);
	CHECK_INT(reader.torn, 0);
	journal_reader_done(&reader);
	return text.text;
}

size_t runs_count(const char *text, const char *what)
{
	size_t found = 0;

	for (; (text = strstr(text, what)); text++)
		found++;
	return found;
}

const char *runs_record(uint32_t number)
{
	char path[128];

	snprintf(path, sizeof(path), "run/attempts/" RUNS_TASK "-%04u/" RECORD_FILE, number);
	return jails_text(path);
}

/* --- what happens meanwhile --- */

struct process runs_later(struct runs *runs, const char *file, const char *text,
			  void (*act)(struct runs *runs, pid_t test))
{
	struct process helper = PROCESS_INIT;
	pid_t test = getpid();
	char path[256];
	int side = process_fork(&helper, &err);

	CHECK_OK(side);
	if (side > 0)
		return helper;
	snprintf(path, sizeof(path), "run/%s", file);
	jails_wait_for(path, text);
	act(runs, test);
	_exit(0);
}

void runs_acted(struct process *process)
{
	int status = -1;

	CHECK_INT(process_wait(process, CLOCK_NEVER, &status, &err), 1);
	CHECK_INT(status, 0);
}

void runs_kill_monitor(struct runs *runs, pid_t test)
{
	pid_t monitor = 0;

	(void) test;
	CHECK_INT(jails_children(runs->jails.launcher.process.pid, &monitor), 1);
	CHECK_INT(kill(monitor, SIGKILL), 0);
}

void runs_kill_launcher(struct runs *runs, pid_t test)
{
	pid_t monitor = 0;

	(void) test;
	CHECK_INT(jails_children(runs->jails.launcher.process.pid, &monitor), 1);
	CHECK_INT(kill(runs->jails.launcher.process.pid, SIGKILL), 0);
	CHECK_INT(kill(monitor, SIGKILL), 0);
}

void runs_kill_keeper(struct runs *runs, pid_t test)
{
	(void) test;
	CHECK_INT(kill(runs->run.keeper.process.pid, SIGKILL), 0);
}

void runs_kill_seat(struct runs *runs, pid_t test)
{
	pid_t seat = jails_child(test, "proctor-seat");

	(void) runs;
	CHECK(seat > 0);
	CHECK_INT(kill(seat, SIGKILL), 0);
}

void runs_stop(struct runs *runs, pid_t test)
{
	const uint64_t one = 1;

	(void) test;
	CHECK_INT(write(runs->place.stop_fd, &one, sizeof(one)), sizeof(one));
}

void runs_can_stop(struct runs *runs)
{
	fd_close(&runs->place.stop_fd);
	runs->place.stop_fd = eventfd(0, EFD_CLOEXEC);
	CHECK(runs->place.stop_fd >= 0);
}
