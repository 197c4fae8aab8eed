/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "harness/cli/cli.h"
#include "harness/console/options.h"
#include "harness/doctor/probing.h"
#include "harness/doctor/rehearsal.h"
#include "harness/report/checks.h"
#include "harness/run/account.h"
#include "harness/run/launcher.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"

struct doctor_options {
	bool explain;
	int json_fd;
};

#define AT(member) offsetof(struct doctor_options, member)

/* clang-format off */
static const struct option_row rows[] = {
	{ "explain", NULL,    OPTION_FLAG, AT(explain), 0, 0, "say of each check what it means, not only of those that are not ok" },
	{ "json",    "[=FD]", OPTION_FD,   AT(json_fd), 0, 0, "write what was found as one JSON object to FD (1, in place of the table)" },
};
/* clang-format on */

static const struct option_table table = {
	.usage = "proctor doctor [OPTION]…",
	.about =
		"Says what this host enforces, how that was found out, and what to do about the "
		"rest. As root it\ntries what jails are made of, and puts everything back; else it "
		"says what it could not see.\n"
		"Exit codes: 0 all that the default policy needs is there; 4 a run would be "
		"refused; "
		"2 usage; 5 internal.",
	.rows = rows,
	.count = ARRAY_LEN(rows),
};

/* What only whoever called us can find out, and what it is found in. */
struct visit {
	struct doctor_host host;
	struct account account;
	struct launcher launcher;
	struct trial trials[TRIAL_KINDS];
	struct str status;
	struct err site_err, account_err, programs_err, trials_err, jail_err;
};

static void visit_done(struct visit *visit)
{
	launcher_done(&visit->launcher);
	fd_close(&visit->host.proc_fd);
	fd_close(&visit->host.sys_fd);
	fd_close(&visit->host.dev_fd);
	fd_close(&visit->host.etc_fd);
	fd_close(&visit->host.usr_fd);
	fd_close(&visit->host.run_fd);
	str_done(&visit->status);
}

/* A folder that is not there is for the looks to tell. */
static int open_folder(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void open_folders(struct visit *visit)
{
	struct doctor_host *host = &visit->host;
	struct statvfs disk;
	cpu_set_t allowed;

	host->proc_fd = open_folder("/proc");
	host->sys_fd = open_folder("/sys");
	host->dev_fd = open_folder("/dev");
	host->etc_fd = open_folder("/etc");
	host->usr_fd = open_folder("/usr");
	host->run_fd = open_folder("/run");
	if (sight_read(host->proc_fd, "self/status", &visit->status))
		host->status = visit->status.text;
	if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0)
		host->cpus = (size_t) CPU_COUNT(&allowed);
	if (statvfs(".", &disk) == 0)
		host->disk_free = (uint64_t) disk.f_bavail * disk.f_frsize;
}

static void find_programs(const struct cli *cli, struct visit *visit)
{
	static const char *const names[] = { "proctor-launcher", "proctor-worker",
					     "proctor-probe" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		auto_fd fd = launcher_open_program(cli->programs, names[i], &visit->programs_err);

		if (fd < 0) {
			visit->host.programs_why = visit->programs_err.text;
			return;
		}
	}
}

static void load_site(struct visit *visit)
{
	int got = site_load(SITE_FILE, &visit->host.site, &visit->site_err);

	visit->host.has_site = got > 0;
	if (got < 0) {
		site_default(&visit->host.site);
		visit->host.site_why = visit->site_err.text;
	}
}

static void try_mechanisms(const struct cli *cli, struct visit *visit)
{
	if (probing_run(cli->programs, visit->trials, &visit->trials_err) == 0)
		visit->host.trials = visit->trials;
	else
		visit->host.trials_why = visit->trials_err.text;
}

static void start_launcher(const struct cli *cli, struct visit *visit)
{
	int got = launcher_open(cli->programs, cli->socket, &visit->launcher, &visit->jail_err);

	visit->host.is_jail_tried = got == 0 || geteuid() == 0 || visit->jail_err.sys != ENOENT;
	if (!visit->host.is_jail_tried)
		visit->host.jail_why = "not tried: only root can try it, or a member of the group "
				       "of the launcher's service, which is not there";
	else if (got < 0)
		visit->host.jail_why = visit->jail_err.text;
}

/*
 * From here on without root, if that can be: a host where it can not is what a doctor is asked
 * about, and all that follows reads the kernel's files and the host's lists of accounts.
 */
static void drop_root(const struct cli *cli, struct visit *visit)
{
	if (account_find(cli->sudo_uid, &visit->account, &visit->account_err) == 0 &&
	    (geteuid() != 0 || account_become(&visit->account, &visit->account_err) == 0))
		visit->host.account = visit->account.name;
	else
		visit->host.account_why = visit->account_err.text;
}

static void try_jail(struct visit *visit)
{
	if (visit->launcher.socket_fd >= 0 &&
	    rehearsal_run(visit->launcher.socket_fd, &visit->host.policy, &visit->jail_err) < 0)
		visit->host.jail_why = visit->jail_err.text;
}

static int print_text(const struct cli *cli, const struct doctor_options *options,
		      const struct doctor *doctor, struct err *err)
{
	cleanup(str_done) struct str text = STR_INIT;
	const struct table_style style = { .has_color = cli->color };

	checks_print(doctor, &style, options->explain, &text);
	return io_write_waiting(STDOUT_FILENO, text.text, text.len, "what was found", err);
}

static int write_json(int fd, const struct doctor *doctor, struct err *err)
{
	cleanup(str_done) struct str text = STR_INIT;
	struct json_writer json;

	json_writer_init(&json, &text);
	checks_put(doctor, &json);
	str_add(&text, "\n", 1);
	return io_write_waiting(fd, text.text, text.len, "the JSON object", err);
}

int cli_doctor(const struct cli *cli, int argc, char **argv, struct err *err)
{
	struct doctor_options options = { .json_fd = -1 };
	cleanup(visit_done) struct visit visit = {
		.host = { .policy = policy_default() },
		.launcher = LAUNCHER_INIT,
		.status = STR_INIT,
	};
	cleanup(doctor_done) struct doctor doctor = DOCTOR_INIT;
	int first, asked = options_parse(&table, argc, argv, &options, &first, err);

	if (asked > 0) {
		options_print_help(&table, stdout);
		return 0;
	}
	if (asked < 0)
		return -1;
	if (first < argc)
		return err_set(err, ERR_USAGE, "proctor doctor takes no '%s'", argv[first]);
	open_folders(&visit);
	find_programs(cli, &visit);
	load_site(&visit);
	try_mechanisms(cli, &visit);
	start_launcher(cli, &visit);
	drop_root(cli, &visit);
	try_jail(&visit);
	doctor_look(&visit.host, &doctor);
	if (options.json_fd != STDOUT_FILENO && print_text(cli, &options, &doctor, err) < 0)
		return -1;
	if (options.json_fd >= 0 && write_json(options.json_fd, &doctor, err) < 0)
		return -1;
	return checks_refuse(&doctor) ? 4 : 0;
}
