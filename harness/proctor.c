/* SPDX-License-Identifier: Apache-2.0 */

/* proctor: the harness. A subcommand is a row here and a file in harness/cli. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/cli/cli.h"
#include "sandbox/base/log.h"
#include "sandbox/base/process.h"

/* clang-format off */
static const struct command {
	const char *name;
	int (*run)(const struct cli *cli, int argc, char **argv, struct err *err);
	int failed; /* the exit code of an error of ours; 0: by the error's kind */
	const char *help;
} commands[] = {
	{ "compare", cli_compare, 0,   "put two runs of AgentKernelArena's tasks side by side" },
	{ "doctor",  cli_doctor,  0,   "say what this host enforces, and what to do about the rest" },
	{ "drill",   cli_drill,   0,   "run the corpus of attacks on this host" },
	{ "jail",    cli_jail,    125, "run one command in a jail" },
	{ "policy",  cli_policy,  0,   "check policies, show the jails that one makes, or compare two" },
	{ "report",  cli_report,  0,   "say how the agents of one or several runs stand" },
	{ "run",     cli_run,     0,   "sit agents down to tasks and mark what they leave" },
	{ "resume",  cli_resume,  0,   "go on with a run that was cut off or stopped" },
	{ "tasks",   cli_tasks,   0,   "list tasks, show all of one, or try them out" },
	{ "version", cli_version, 0,   "say what this program is made of" },
};
/* clang-format on */

static void print_help(FILE *out)
{
	fprintf(out, "usage: proctor COMMAND [OPTION]… [ARGUMENT]…\n\n");
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
	fprintf(out, "\nproctor COMMAND --help tells more.\n"
		     "Exit codes: 0 done, 1 the run has failures, 2 usage, 3 input, 4 host, "
		     "5 internal.\n");
}

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

/*
 * A standard descriptor that is closed would be the next file that is opened, an archive for
 * instance, and what a jail prints would go there.
 */
static bool hold_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	return fd >= 0 && close(fd) == 0;
}

/* The folder of the running program, without a slash at the end; NULL if it can not be found. */
static const char *own_folder(char *out, size_t room)
{
	ssize_t len = readlink("/proc/self/exe", out, room - 1);
	char *slash;

	if (len < 0)
		return NULL;
	out[len] = '\0';
	slash = strrchr(out, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	return out;
}

int main(int argc, char **argv)
{
	char folder[PATH_MAX];
	const struct cli cli = {
		/* Without root it is what anybody may have written there. */
		.sudo_uid = geteuid() == 0 ? getenv("SUDO_UID") : NULL,
		.socket = getenv("PROCTOR_SOCKET"),
		.programs = own_folder(folder, sizeof(folder)),
		.terminal = isatty(STDERR_FILENO),
		.color = isatty(STDOUT_FILENO) && !getenv("NO_COLOR"),
	};
	const struct command *command;
	struct err err = ERR_INIT;
	int code;

	if (!hold_standard_descriptors())
		return 4;
	/* A reader that goes away, and a limit of file sizes, are errors of a write like others. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	process_expect_children();
	log_open("proctor", LOG_NOTICE, -1);
	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0)) {
		print_help(stdout);
		return 0;
	}
	command = argc > 1 ? find(argv[1]) : NULL;
	if (!command) {
		if (argc > 1)
			log_say(LOG_ERROR, "proctor.usage", "there is no command '%s'", argv[1]);
		print_help(stderr);
		return 2;
	}
	code = command->run(&cli, argc - 1, argv + 1, &err);
	if (code >= 0)
		return code;
	log_say(LOG_ERROR, "proctor.failed", "%s", err.text);
	return command->failed && err.kind != ERR_USAGE ? command->failed : err_exit_code(&err);
}
