/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/enter.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "tests/lib/check.h"
#include "tests/lib/jails.h"
#include "tests/lib/tree.h"

/* Stage 2 by its result: what a payload finds. It can not be entered twice by one process. */

static struct jails jails;
static struct jail_spec spec;
static struct spec_fds fds;
static struct jail_outcome outcome;
static struct err err;

static void begin(const char *script)
{
	jails_start(&jails);
	jails_spec(&spec, script);
	spec_fds_init(&fds);
}

static void run(void)
{
	const struct jail_io io = {
		.folder_fd = check_folder(), .name = "it", .output_max = MIB, .stop_fd = -1
	};

	CHECK_OK(jail_run(jails.launcher.socket_fd, &spec, &fds, &io, &outcome, &err));
}

static void check_output(const char *want)
{
	run();
	if (outcome.last.kind != EVENT_ENDED)
		check_fail(__FILE__, __LINE__, "%s", outcome.last.err.text);
	CHECK_STR(jails_text("it.stderr"), "");
	CHECK_STR(jails_text("it.stdout"), want);
	jails_end(&jails);
}

static void check_failed(const char *text)
{
	run();
	CHECK_INT(outcome.last.kind, EVENT_FAILED);
	CHECK_STR(outcome.last.err.text, text);
	jails_end(&jails);
}

static int text_fd(const char *text)
{
	int fd = memfd_create("text", MFD_CLOEXEC);

	CHECK_INT(write(fd, text, strlen(text)), strlen(text));
	CHECK_INT(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

TEST(the_payload_is_a_user_without_capabilities_in_a_session_of_its_own)
{
	begin("id -u; id -g; id -G; grep -E "
	      "'^(Cap...|NoNewPrivs|Seccomp|SigBlk|SigIgn):' "
	      "/proc/self/status; umask; cut -d ' ' -f 6 /proc/$$/stat | grep -qx $$ && echo "
	      "leads");
	check_output("1000\n1000\n1000\n"
		     "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"
		     "CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\n"
		     "CapEff:\t0000000000000000\nCapBnd:\t0000000000000000\n"
		     "CapAmb:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n0022\nleads\n");
}

/* Of what was passed there is nothing to unpack yet, so that is where it waits. */
TEST(one_that_is_killed_before_it_is_the_payload_has_not_started)
{
	const struct jail_io io = { .folder_fd = -1, .output_max = MIB, .stop_fd = -1 };
	const int64_t deadline = clock_after_ms(20 * 1000);
	pid_t monitor = 0, init = 0, child = 0, killer;
	int tree[2], status = -1;

	begin("exit 0");
	CHECK(pipe2(tree, O_CLOEXEC) == 0);
	spec.tree_count = 1;
	spec.trees[0].limits = STREAM_LIMITS_DEFAULT;
	snprintf(spec.trees[0].path, sizeof(spec.trees[0].path), "/work");
	fds.fd[SPEC_FD_TREES] = tree[0];
	killer = fork();
	if (killer == 0) {
		while (child == 0 && clock_now() < deadline) {
			if (jails_children(jails.launcher.process.pid, &monitor) > 0)
				init = jails_child(monitor, "proctor-init");
			child = init > 0 ? jails_child(init, "proctor-init") : 0;
		}
		_exit(child > 0 && kill(child, SIGKILL) == 0 ? 0 : 1);
	}
	CHECK_OK(jail_run(jails.launcher.socket_fd, &spec, &fds, &io, &outcome, &err));
	CHECK_INT(waitpid(killer, &status, 0), killer);
	CHECK_INT(status, 0);
	CHECK_INT(outcome.last.kind, EVENT_FAILED);
	CHECK_STR(outcome.last.err.text,
		  "jail 'test': start: it was killed before it could execute its program");
	close(tree[0]);
	close(tree[1]);
	jails_end(&jails);
}

TEST(it_has_three_descriptors_and_standard_input_is_empty)
{
	begin("cd /proc/self/fd; for i in 0 1 2 3 4 5 6 7 8 9 60 64 65 66 67 256 257; do "
	      "[ -e /proc/$$/fd/$i ] && echo $i; done; cat; readlink /proc/$$/fd/0");
	check_output("0\n1\n2\n/dev/null\n");
}

TEST(it_has_the_descriptors_that_were_passed_and_in_their_order)
{
	begin("cat <&4; cat <&3; [ -e /proc/$$/fd/5 ] || echo that is all");
	spec.pass_count = 2;
	fds.fd[SPEC_FD_PASS] = text_fd("three\n");
	fds.fd[SPEC_FD_PASS + 1] = text_fd("four\n");
	run();
	CHECK_STR(jails_text("it.stdout"), "four\nthree\nthat is all\n");
	close(fds.fd[SPEC_FD_PASS]);
	close(fds.fd[SPEC_FD_PASS + 1]);
	jails_end(&jails);
}

TEST(all_descriptors_that_can_be_passed_arrive)
{
	begin("for i in 3 4 5 6 7 8 9; do eval \"cat <&$i\"; done");
	spec.pass_count = SPEC_PASS_MAX;
	for (int i = 0; i < SPEC_PASS_MAX; i++) {
		char text[4] = { (char) ('a' + i), '\0' };

		fds.fd[SPEC_FD_PASS + i] = text_fd(text);
	}
	run();
	CHECK_STR(jails_text("it.stdout"), "abcdefg"); /* a shell's own digit ends at 9 */
	for (int i = 0; i < SPEC_PASS_MAX; i++)
		close(fds.fd[SPEC_FD_PASS + i]);
	jails_end(&jails);
}

TEST(its_environment_is_what_the_spec_says_and_no_more)
{
	begin("env | grep -v ^_= | sort");
	CHECK_OK(spec_add_env(&spec, "ODD=a b\tc", &err));
	check_output("ODD=a b\tc\nPATH=/usr/bin:/bin\nPWD=/work\n");
}

TEST(trees_are_the_payloads_own)
{
	begin("cat /work/in/a; stat -c '%u %a' /work/in/a /work/in/x; echo more >>/work/in/a");
	spec.tree_count = 1;
	spec.trees[0].limits = STREAM_LIMITS_DEFAULT;
	snprintf(spec.trees[0].path, sizeof(spec.trees[0].path), "/work/in");
	fds.fd[SPEC_FD_TREES] = tree_fd("\nf a=text\nx x=1");
	run();
	CHECK_STR(jails_text("it.stderr"), "");
	CHECK_STR(jails_text("it.stdout"), "text1000 644\n1000 755\n");
	close(fds.fd[SPEC_FD_TREES]);
	jails_end(&jails);
}

TEST(a_tree_that_does_not_fit_is_told_with_its_place)
{
	cleanup(str_done) struct str text = STR_INIT;
	char file[4096];

	begin("exit 0");
	str_addf(&text, "\nf a=");
	memset(file, 'x', sizeof(file));
	for (int i = 0; i < 20; i++)
		str_add(&text, file, sizeof(file));
	spec.plan.tmpfs[0].bytes = 64 * KIB;
	spec.tree_count = 1;
	spec.trees[0].limits = STREAM_LIMITS_DEFAULT;
	snprintf(spec.trees[0].path, sizeof(spec.trees[0].path), "/work");
	fds.fd[SPEC_FD_TREES] = tree_fd(text.text);
	run();
	CHECK_INT(outcome.last.kind, EVENT_FAILED);
	CHECK_INT(outcome.last.err.kind, ERR_INPUT);
	CHECK_STR(outcome.last.err.text,
		  "jail 'test': start: trees: unpack at '/work': unpack 'a': "
		  "No space left on device");
	close(fds.fd[SPEC_FD_TREES]);
	jails_end(&jails);
}

TEST(a_working_folder_is_named_by_its_path_and_never_by_a_descriptor_of_ours)
{
	begin("true");
	/* The monitor's socket, see sandbox/brief.h: it is there until execve. */
	snprintf(spec.command.folder, sizeof(spec.command.folder), "/proc/self/fd/64");
	check_failed("jail 'test': start: working folder: enter the working folder "
		     "'/proc/self/fd/64': Too many levels of symbolic links");
}

TEST(a_working_folder_may_be_named_by_a_link)
{
	begin("pwd -P");
	snprintf(spec.command.folder, sizeof(spec.command.folder), "/bin");
	check_output("/usr/bin\n");
}

TEST(a_working_folder_that_is_not_there_is_told)
{
	begin("exit 0");
	snprintf(spec.command.folder, sizeof(spec.command.folder), "/work/none");
	check_failed(
		"jail 'test': start: working folder: enter the working folder '/work/none': No "
		"such file or directory");
}

TEST(a_program_that_comes_as_a_descriptor_is_executed_without_a_path)
{
	cleanup(str_done) struct str program = STR_INIT;
	int bin = open("/usr/bin", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	begin("");
	spec.command = (struct command_slice){ .folder = "/tmp" };
	CHECK_OK(spec_add_arg(&spec, "a-name", &err));
	CHECK_OK(spec_add_arg(&spec, "hello", &err));
	spec.has_program = 1;
	/* In no tree at all: Landlock executes what lies in the jail's own, and this. */
	CHECK_OK(io_read_file(bin, "echo", STR_MAX, &program, &err));
	fds.fd[SPEC_FD_PROGRAM] = io_memfd("echo", program.text, program.len, &err);
	run();
	CHECK_STR(jails_text("it.stdout"), "hello\n");
	close(fds.fd[SPEC_FD_PROGRAM]);
	jails_end(&jails);
}

TEST(a_command_is_looked_for_in_the_path_that_the_spec_gives)
{
	begin("");
	spec.command = (struct command_slice){ .folder = "/work" };
	CHECK_OK(spec_add_arg(&spec, "echo", &err));
	CHECK_OK(spec_add_arg(&spec, "found", &err));
	CHECK_OK(spec_add_env(&spec, "PATH=/nonexistent:/bin", &err));
	check_output("found\n");
}

TEST(a_folder_is_no_program)
{
	begin("");
	spec.command = (struct command_slice){ .folder = "/work" };
	CHECK_OK(spec_add_arg(&spec, "/usr", &err));
	run();
	CHECK_INT(outcome.last.kind, EVENT_NOT_EXECUTABLE);
	CHECK_STR(outcome.last.err.text, "jail 'test': start: execute '/usr': Permission denied");
	jails_end(&jails);
}
