/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/cli/running.h"
#include "harness/console/options.h"
#include "sandbox/base/fd.h"

struct resume_options {
	uint64_t seats;
	int json_fd;
};

#define AT(member) offsetof(struct resume_options, member)

/* clang-format off */
static const struct option_row rows[] = {
	{ "seats", "COUNT", OPTION_COUNT, AT(seats),   1, RUN_SEATS_MAX, "attempts at one time (as planned)" },
	{ "json",  "[=FD]", OPTION_FD,    AT(json_fd), 0, 0, "write the report as one JSON object to FD (1, in place of the tables)" },
};
/* clang-format on */

static const struct option_table table = {
	.usage = "proctor resume [OPTION]… FOLDER",
	.about = "Goes on with the run that is kept in FOLDER, wherever it was cut off: no attempt "
		 "is lost, and no agent is\nstarted twice under one number. What was cut off while "
		 "its agent ran is INFRA and tried\nagain as a new attempt.\nExit codes: as those "
		 "of "
		 "proctor run.",
	.rows = rows,
	.count = ARRAY_LEN(rows),
};

/*
 * The run's owner goes on with it: it is he who can write there. Whoever calls through sudo has to
 * be that.
 */
static int find_owner(const struct running *running, const struct cli *cli, struct account *out,
		      struct err *err)
{
	struct account caller;
	struct stat info;
	char uid[32];

	if (fstat(running->place.folder_fd, &info) < 0)
		return err_sys(err, "look at '%s'", running->folder);
	if (info.st_uid == 0)
		return err_set(err, ERR_INPUT,
			       "'%s' is root's: proctor gives a run's folder to the operator's "
			       "account, so this is none",
			       running->folder);
	if (geteuid() != 0) {
		if (account_find(NULL, out, err) < 0)
			return -1;
		if (info.st_uid != out->uid)
			return err_set(err, ERR_INPUT,
				       "the run in '%s' is that of account %u: only they, or root, "
				       "go on with it",
				       running->folder, info.st_uid);
		return 0;
	}
	snprintf(uid, sizeof(uid), "%u", info.st_uid);
	if (account_find(uid, out, err) < 0)
		return err_wrap(err, "the owner of '%s'", running->folder);
	if (!cli->sudo_uid)
		return 0;
	if (account_find(cli->sudo_uid, &caller, err) < 0)
		return -1;
	if (caller.is_callers && caller.uid != out->uid)
		return err_set(err, ERR_INPUT,
			       "the run in '%s' is that of '%s': only they, or "
			       "root, go on with it",
			       running->folder, out->name);
	return 0;
}

static int open_folder(struct running *running, const struct cli *cli, struct err *err)
{
	struct account caller = { .is_callers = false };
	int fd;

	if (cli->sudo_uid && account_find(cli->sudo_uid, &caller, err) < 0)
		return -1;
	if (account_enter(&caller, err) < 0)
		return -1;
	fd = open(running->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	running->place.folder_fd = fd;
	if (fd < 0) {
		err_sys(err, "the run's folder '%s'", running->folder);
		err->kind = ERR_INPUT;
		return -1;
	}
	return account_leave(err);
}

int cli_resume(const struct cli *cli, int argc, char **argv, struct err *err)
{
	cleanup(running_done) struct running running = RUNNING_INIT;
	struct resume_options options = { .json_fd = -1 };
	struct account account;
	int first, asked = options_parse(&table, argc, argv, &options, &first, err);

	if (asked > 0) {
		options_print_help(&table, stdout);
		return 0;
	}
	if (asked < 0)
		return -1;
	if (first + 1 != argc)
		return err_set(err, ERR_USAGE,
			       "it is one FOLDER of a run that is resumed; see proctor resume "
			       "--help");
	if (running_check_launcher(cli, err) < 0 || running_name(&running, argv[first], err) < 0)
		return -1;
	running.json_fd = options.json_fd;
	running.place.seats = (uint32_t) options.seats;
	if (open_folder(&running, cli, err) < 0 || find_owner(&running, cli, &account, err) < 0 ||
	    running_become(&running, cli, &account, false, err) < 0)
		return -1;
	return running_carry_out(&running, cli, NULL, err);
}
