/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/cli/cli.h"
#include "harness/cli/jail_places.h"
#include "harness/console/options.h"
#include "harness/console/signals.h"
#include "harness/run/account.h"
#include "harness/run/jail.h"
#include "harness/run/launcher.h"
#include "harness/run/relaying.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/log.h"
#include "sandbox/base/mem.h"
#include "sandbox/collect.h"

/* Exit codes that are not the command's own, as timeout(1) and env(1) have them. */
enum { CODE_LIMIT = 124, CODE_OURS = 125, CODE_NOT_EXECUTABLE = 126, CODE_NOT_FOUND = 127 };

#define COLLECT_MS (10 * 60 * 1000)

/* Files and folders of an image that can be new or changed. */
#define CHANGES_INODES 16384
#define DAY_MS         (UINT64_C(24) * 3600 * 1000)

struct jail_options {
	uint64_t wall_ms, cpu_ms, idle_ms, grace_ms, memory, pids, cpus, output, work, tmp, files;
	uint64_t changes;
	struct texts env, accept, services, gpus;
	const char *put, *archive, *on_full, *service_log, *image;
	int json_fd;
	/* What those of --service come to. */
	struct arena arena;
	struct service service_items[NET_SERVICES_MAX];
	size_t service_count;
};

#define AT(member) offsetof(struct jail_options, member)

/* clang-format off */
static const struct option_row rows[] = {
	{ "wall",    "TIME",  OPTION_DURATION, AT(wall_ms),  1, 7 * DAY_MS,       "end it after this time" },
	{ "cpu",     "TIME",  OPTION_DURATION, AT(cpu_ms),   1, 7000 * DAY_MS,    "end it after this much CPU time of all its processes" },
	{ "idle",    "TIME",  OPTION_DURATION, AT(idle_ms),  1, 7 * DAY_MS,       "end it after so long without output and with all but no CPU time" },
	{ "grace",   "TIME",  OPTION_DURATION, AT(grace_ms), 0, 60000,            "from SIGTERM to the end of every process" },
	{ "memory",  "SIZE",  OPTION_SIZE,     AT(memory),   16 * MIB, 64 * TIB,  "memory, what is in its file systems included" },
	{ "pids",    "COUNT", OPTION_COUNT,    AT(pids),     4, 4194304,          "processes and threads" },
	{ "cpus",    "NUMBER", OPTION_MILLI,   AT(cpus),     10, 1024000,         "CPUs' worth of time (1.5)" },
	{ "output",  "SIZE",  OPTION_SIZE,     AT(output),   1, TIB,              "standard output and error together" },
	{ "work",    "SIZE",  OPTION_SIZE,     AT(work),     64 * KIB, 4 * TIB,   "bytes in /work" },
	{ "files",   "COUNT", OPTION_COUNT,    AT(files),    16, UINT32_MAX,      "files and folders in /work" },
	{ "tmp",     "SIZE",  OPTION_SIZE,     AT(tmp),      64 * KIB, 4 * TIB,   "bytes in /tmp" },
	{ "image",   "NAME",  OPTION_TEXT,     AT(image),    0, 0,                "the image NAME of this host's site.conf as the root, in place of the host's programs" },
	{ "changes", "SIZE",  OPTION_SIZE,     AT(changes),  64 * KIB, 4 * TIB,   "let COMMAND change the image's files, as far as so many bytes hold" },
	{ "on-full", "WHAT",  OPTION_TEXT,     AT(on_full),  0, 0,                "when one of its file systems is full: report (the default) or end it" },
	{ "accept",  "LIMIT", OPTION_TEXTS,    AT(accept),   0, 0,                "do without LIMIT where this host can not enforce it: memory, swap, pids, cpus, landlock; may be repeated" },
	{ "gpu",     "WHICH", OPTION_TEXTS,    AT(gpus),     0, 0,                "one GPU for this jail alone: its place in the list of proctor doctor (0), or by the name of site.conf; any: one that is free; may be repeated" },
	{ "env",     "NAME=VALUE", OPTION_TEXTS, AT(env),    0, 0,                "one more environment variable" },
	{ "put",     "PATH",   OPTION_TEXT,    AT(put),      0, 0,                "the files of the folder or tree PATH are in /work when COMMAND starts" },
	{ "archive", "FILE",  OPTION_TEXT,     AT(archive),  0, 0,                "afterwards collect /work into FILE, which must not exist, or be empty" },
	{ "service", "NAME=PORT:ENDPOINT", OPTION_TEXTS, AT(services), 0, 0,      "what connects to 127.0.0.1:PORT in the jail reaches ENDPOINT: " RELAY_ENDPOINT_FORMS "; may be repeated" },
	{ "service-log", "FILE", OPTION_TEXT,  AT(service_log), 0, 0,             "write a line for each connection to FILE, which must not exist, or be empty" },
	{ "json",    "[=FD]", OPTION_FD,       AT(json_fd),  0, 0,                "write one JSON object on the outcome to FD (1; the command's output then goes to standard error)" },
};
/* clang-format on */

static const struct option_table table = {
	.usage = "proctor jail [OPTION]… -- COMMAND [ARGUMENT]…",
	.about =
		"Runs COMMAND in a jail of its own: no network, no host process, no device but the "
		"harmless ones,\nthe host's programs read-only, an empty /work. Standard input is "
		"/dev/null; output and exit code pass through.\n"
		"Exit codes: the command's own; 128+N signal N; 124 a limit; 125 proctor failed; "
		"126, 127 it can not be executed.",
	.rows = rows,
	.count = ARRAY_LEN(rows),
};

static int accept_limits(const struct texts *names, struct jail_spec *spec, struct err *err)
{
	for (size_t i = 0; i < names->count; i++) {
		int limit = 0;

		if (names_find(spec_limit_names, names->items[i], &limit) < 0)
			return err_set(err, ERR_USAGE,
				       "option --accept: '%s' is not one of memory, swap, pids, "
				       "cpus, landlock",
				       names->items[i]);
		if (limit == SPEC_LIMIT_LANDLOCK)
			spec->accept_landlock = 1;
		else
			spec->cgroup.accept |= CGROUP_BIT(limit);
	}
	return 0;
}

/* What is changed in the image is the last tmpfs of a spec. */
static int take_image(const struct jail_options *options, struct jail_spec *spec, struct err *err)
{
	if (options->changes > 0 && !options->image)
		return err_set(err, ERR_USAGE,
			       "option --changes: nobody changes the host's files; name an image "
			       "by --image");
	if (!options->image || strcmp(options->image, "host") == 0)
		return 0;
	if (!plan_is_image_name(options->image))
		return err_set(err, ERR_USAGE,
			       "option --image: '%s' is no name of an image: 1 to 31 letters, "
			       "digits, '-', '_' and '.', as it stands in site.conf",
			       options->image);
	spec->plan.root = PLAN_ROOT_IMAGE;
	snprintf(spec->plan.image, sizeof(spec->plan.image), "%s", options->image);
	if (options->changes > 0)
		spec_add_tmpfs(spec, "/", options->changes, CHANGES_INODES);
	return 0;
}

static int take_on_full(const char *what, struct jail_spec *spec, struct err *err)
{
	if (!what || strcmp(what, "report") == 0)
		return 0;
	if (strcmp(what, "end") != 0)
		return err_set(err, ERR_USAGE, "option --on-full: '%s' is not one of report, end",
			       what);
	spec->ends_on_full = 1;
	return 0;
}

static int take_services(struct jail_options *options, struct err *err)
{
	for (size_t i = 0; i < options->services.count; i++)
		if (services_add_option(options->services.items[i], &options->arena,
					options->service_items, &options->service_count, err) < 0)
			return -1;
	if (options->service_log && options->service_count == 0)
		return err_set(err, ERR_USAGE,
			       "option --service-log: there is no --service to write about");
	return 0;
}

/* Is the variable of @entry set from the item @first on? The last one counts. */
static bool is_set(const struct texts *entries, size_t first, const char *entry)
{
	size_t len = strcspn(entry, "=") + 1;

	for (size_t i = first; i < entries->count; i++)
		if (strncmp(entries->items[i], entry, len) == 0)
			return true;
	return false;
}

static int make_spec(const struct jail_options *options, int argc, char **argv,
		     struct jail_spec *spec, struct err *err)
{
	static const char *const env[] = {
		"PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin",
		"HOME=/tmp",
		"LANG=C.UTF-8",
		"USER=agent",
	};

	spec_init(spec, "jail");
	if (accept_limits(&options->accept, spec, err) < 0 ||
	    take_on_full(options->on_full, spec, err) < 0 || take_image(options, spec, err) < 0)
		return -1;
	spec->time.wall_ms = options->wall_ms;
	spec->time.cpu_ms = options->cpu_ms;
	spec->time.idle_ms = options->idle_ms;
	spec->time.grace_ms = options->grace_ms;
	spec->cgroup.memory = options->memory;
	spec->cgroup.pids = options->pids;
	spec->cgroup.cpu_milli = options->cpus;
	spec->plan.tmpfs[0].bytes = options->work;
	spec->plan.tmpfs[0].inodes = options->files;
	spec->plan.tmpfs[1].bytes = options->tmp;
	for (size_t i = 0; i < options->service_count; i++)
		spec->net.ports[spec->net.count++] = (uint32_t) options->service_items[i].listen;
	for (size_t i = 0; i < options->gpus.count; i++)
		if (spec_add_gpu(spec, options->gpus.items[i], err) < 0)
			return err_wrap(err, "option --gpu");
	for (int i = 0; i < argc; i++)
		if (spec_add_arg(spec, argv[i], err) < 0)
			return -1;
	for (size_t i = 0; i < ARRAY_LEN(env); i++)
		if (!is_set(&options->env, 0, env[i]) && spec_add_env(spec, env[i], err) < 0)
			return -1;
	for (size_t i = 0; i < options->env.count; i++) {
		if (strcspn(options->env.items[i], "=") == 0 || !strchr(options->env.items[i], '='))
			return err_set(err, ERR_USAGE, "option --env: '%s' is not NAME=VALUE",
				       options->env.items[i]);
		if (!is_set(&options->env, i + 1, options->env.items[i]) &&
		    spec_add_env(spec, options->env.items[i], err) < 0)
			return -1;
	}
	return spec_check(spec, err);
}

/* Adds the tree and the collection that the options ask for; *tree_fd is the caller's to close. */
static int add_trees(const struct jail_places *places, const struct account *account,
		     struct jail_spec *spec, struct spec_fds *fds, int *tree_fd, struct err *err)
{
	struct stream_limits limits = STREAM_LIMITS_DEFAULT;

	if (places->archive_fd >= 0) {
		spec->collect.wanted = 1;
		spec->collect.wall_ms = COLLECT_MS;
		spec->collect.limits = limits;
		fds->fd[SPEC_FD_COLLECT] = places->archive_fd;
	}
	if (places->put_fd < 0)
		return 0;
	if (jail_places_tree(places, account, tree_fd, err) < 0)
		return -1;
	spec->tree_count = 1;
	snprintf(spec->trees[0].path, sizeof(spec->trees[0].path), "/work");
	spec->trees[0].limits = limits;
	fds->fd[SPEC_FD_TREES] = places->is_tree ? places->put_fd : *tree_fd;
	return 0;
}

/* @signal: the one that ended us, if outcome->stopped */
static int exit_code(const struct jail_outcome *outcome, int signal)
{
	const struct jail_result *result = &outcome->last.result;

	if (outcome->unshown)
		return 128 + signal;

	switch ((enum event_kind) outcome->last.kind) {
	case EVENT_NOT_FOUND:
		return CODE_NOT_FOUND;
	case EVENT_NOT_EXECUTABLE:
		return CODE_NOT_EXECUTABLE;
	case EVENT_ENDED:
		break;
	case EVENT_READY:
	case EVENT_BUSY:
	case EVENT_STARTED:
	case EVENT_LOST:
		return CODE_OURS;
	case EVENT_FAILED:
		/* It may have been the wish that it ended for, before it began. */
		return outcome->stopped ? 128 + signal : CODE_OURS;
	}
	switch ((enum ending) result->ending) {
	case ENDING_EXITED:
		return result->code;
	case ENDING_SIGNALED:
		return 128 + result->code;
	case ENDING_TIMEOUT:
	case ENDING_CPU:
	case ENDING_IDLE:
	case ENDING_OOM:
	case ENDING_OUTPUT:
	case ENDING_FULL:
		return CODE_LIMIT;
	case ENDING_STOPPED:
		return 128 + signal;
	case ENDING_LAUNCHER_LOST:
		return CODE_OURS;
	}
	return CODE_OURS;
}

static void add_denied(const struct jail_result *result, struct str *out)
{
	const char *comma = "";

	for (size_t i = 0; jail_denied_name(i); i++) {
		if (result->denied[i] == 0)
			continue;
		str_addf(out, "%s\"%s\":%u", comma, jail_denied_name(i), result->denied[i]);
		comma = ",";
	}
}

/* Of the host's own root and of folders there is no digest. */
static void add_image(const struct jail_spec *spec, const struct jail_result *result,
		      struct str *out)
{
	if (spec->plan.root != PLAN_ROOT_IMAGE)
		str_addf(out, "null");
	else if (result->image[0] == '\0')
		str_addf(out, "{\"name\":\"%s\",\"sha256\":null}", spec->plan.image);
	else
		str_addf(out, "{\"name\":\"%s\",\"sha256\":\"%s\"}", spec->plan.image,
			 result->image);
}

static void add_services(const struct jail_outcome *outcome, const struct services *services,
			 struct str *out)
{
	cleanup(str_done) struct str text = STR_INIT;
	struct json_writer json;

	if (services->count == 0)
		return;
	json_writer_init(&json, &text);
	json_put_object(&json, NULL);
	relaying_put(&json, "services", services, &outcome->services);
	json_put_end(&json);
	/* A member of the object that is open. */
	str_addf(out, "%.*s,", (int) text.len - 2, text.text + 1);
}

static void add_json(const struct jail_spec *spec, const struct jail_outcome *outcome,
		     const struct services *services, struct str *out)
{
	const struct jail_result *result = &outcome->last.result;
	struct relaying_flag more[RELAYING_FLAGS_MAX];
	struct jail_flag flags[JAIL_FLAGS_MAX];
	size_t count = jail_result_flags(result, flags);
	size_t more_count = relaying_flags(services, &outcome->services, more);

	str_addf(out, "{\"ending\":\"%s\",\"code\":%d,\"flags\":[",
		 names_text(ending_names, (int) result->ending), result->code);
	for (size_t i = 0; i < count; i++)
		str_addf(out, "%s\"%s\"", i == 0 ? "" : ",", flags[i].text);
	for (size_t i = 0; i < more_count; i++)
		str_addf(out, "%s\"%s\"", count + i == 0 ? "" : ",", more[i].text);
	str_addf(out, "],\"denied\":{");
	add_denied(result, out);
	str_addf(out, "},\"image\":");
	add_image(spec, result, out);
	str_addf(out, ",");
	add_services(outcome, services, out);
	str_addf(out,
		 "\"wall_ms\":%lld,\"cpu_ms\":%llu,\"memory_peak\":%llu,\"processes_peak\":%llu,"
		 "\"output_bytes\":%llu}\n",
		 (long long) (result->wall_ns / NS_PER_MS),
		 (unsigned long long) (result->cpu_us / 1000),
		 (unsigned long long) result->memory_peak, (unsigned long long) result->pids_peak,
		 (unsigned long long) (outcome->stdout_bytes + outcome->stderr_bytes));
}

/* A jail that never was has no ending: the object then holds the error. */
static int write_json(int fd, const struct jail_spec *spec, const struct jail_outcome *outcome,
		      const struct services *services, struct err *err)
{
	cleanup(str_done) struct str text = STR_INIT;

	if (outcome->last.kind == EVENT_ENDED || outcome->last.kind == EVENT_LOST) {
		add_json(spec, outcome, services, &text);
	} else {
		str_addf(&text, "{\"error\":");
		str_add_json(&text, outcome->last.err.text, strlen(outcome->last.err.text));
		str_addf(&text, "}\n");
	}
	return io_write_waiting(fd, text.text, text.len, "the JSON object", err);
}

/* The option whose limit was met, in words. */
static const char *limit_option(enum ending ending)
{
	static const char *const options[] = {
		[ENDING_TIMEOUT] = " (--wall)",  [ENDING_CPU] = " (--cpu)",
		[ENDING_IDLE] = " (--idle)",     [ENDING_OOM] = " (--memory)",
		[ENDING_OUTPUT] = " (--output)",
	};

	return ending < ARRAY_LEN(options) && options[ending] ? options[ending] : "";
}

static void say(const struct jail_outcome *outcome)
{
	const struct jail_result *result = &outcome->last.result;

	if (outcome->last.kind != EVENT_ENDED)
		log_say(LOG_ERROR, "jail.failed", "%s", outcome->last.err.text);
	else if (result->ending != ENDING_EXITED && result->ending != ENDING_SIGNALED)
		log_say(LOG_WARNING, "jail.ended", "the jail was ended: %s%s",
			names_text(ending_names, (int) result->ending),
			limit_option((enum ending) result->ending));
}

/* Where what the payload prints is shown. */
static struct jail_io make_io(const struct jail_options *options, const struct jail_places *places,
			      int stop_fd)
{
	int out = places->stdout_fd >= 0 ? places->stdout_fd : STDOUT_FILENO;
	int err = places->stderr_fd >= 0 ? places->stderr_fd : STDERR_FILENO;

	return (struct jail_io){
		.folder_fd = -1,
		/* Where the object goes nothing of the payload does: it could forge one. */
		.show_out_fd = options->json_fd == STDOUT_FILENO ? err : out,
		.show_err_fd = err,
		.output_max = options->output,
		.stop_fd = stop_fd,
	};
}

/* With everything opened and root given up. */
static int run_jail(const struct jail_options *options, const struct launcher *launcher,
		    const struct jail_places *places, const struct account *account,
		    struct jail_spec *spec, struct err *err)
{
	auto_fd stop = signals_open_stop(err), tree = -1;
	const struct services services = { options->service_items, options->service_count };
	struct jail_io io = make_io(options, places, stop);
	struct jail_outcome outcome;
	struct spec_fds fds;
	int signal = 0;

	if (stop < 0)
		return -1;
	io.services = &services;
	io.services_log_fd = MAX_OF(places->service_log_fd, 0);
	spec_fds_init(&fds);
	if (add_trees(places, account, spec, &fds, &tree, err) < 0)
		return -1;
	if (jail_run(launcher->socket_fd, spec, &fds, &io, &outcome, err) < 0)
		return -1;
	if (outcome.stopped)
		signal = signals_which(stop);
	signals_let_go(); /* nothing is left that a signal would have to take down */
	say(&outcome);
	if (options->json_fd >= 0 &&
	    write_json(options->json_fd, spec, &outcome, &services, err) < 0)
		return -1;
	return exit_code(&outcome, signal);
}

static int run(const struct cli *cli, const struct jail_options *options, int argc, char **argv,
	       struct err *err)
{
	cleanup(mem_free) struct jail_spec *spec = mem_alloc(1, sizeof(*spec));
	cleanup(launcher_done) struct launcher launcher = LAUNCHER_INIT;
	cleanup(jail_places_done) struct jail_places places = JAIL_PLACES_INIT;
	const struct jail_places_names names = { options->put, options->archive,
						 options->service_log };
	struct account account;

	if (make_spec(options, argc, argv, spec, err) < 0)
		return -1;
	if (account_find(cli->sudo_uid, &account, err) < 0 || account_enter(&account, err) < 0 ||
	    jail_places_open(&names, &account, &places, err) < 0 || account_leave(err) < 0 ||
	    launcher_open(cli->programs, cli->socket, &launcher, err) < 0 ||
	    account_become(&account, err) < 0)
		return -1;
	return run_jail(options, &launcher, &places, &account, spec, err);
}

static void options_done(struct jail_options *options)
{
	arena_done(&options->arena);
}

int cli_jail(const struct cli *cli, int argc, char **argv, struct err *err)
{
	cleanup(options_done) struct jail_options options = {
		.wall_ms = 60 * 60 * 1000,
		.grace_ms = 500,
		.memory = GIB,
		.pids = 256,
		.output = 16 * MIB,
		.work = 256 * MIB,
		.files = 65536,
		.tmp = 128 * MIB,
		.json_fd = -1,
		.arena = ARENA_INIT,
	};
	int first, asked = options_parse(&table, argc, argv, &options, &first, err);

	if (asked > 0) {
		options_print_help(&table, stdout);
		return 0;
	}
	if (asked < 0)
		return -1;
	if (first == argc)
		return err_set(err, ERR_USAGE,
			       "there is no command to run; see proctor jail --help");
	if (take_services(&options, err) < 0)
		return -1;
	return run(cli, &options, argc - first, argv + first, err);
}
