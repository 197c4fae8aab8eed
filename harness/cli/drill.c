/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "harness/cli/cli.h"
#include "harness/config/policy_diff.h"
#include "harness/config/policy_file.h"
#include "harness/console/options.h"
#include "harness/console/progress.h"
#include "harness/console/signals.h"
#include "harness/drill/jailed.h"
#include "harness/report/build_facts.h"
#include "harness/report/drilled.h"
#include "harness/run/account.h"
#include "harness/run/launcher.h"
#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"

struct drill_options {
	struct texts only;
	const char *policy;
	bool list;
	int json_fd;
};

#define AT(member) offsetof(struct drill_options, member)

/* clang-format off */
static const struct option_row rows[] = {
	{ "only",   "ATTACK", OPTION_TEXTS, AT(only),    0, 0, "try this one, or all that begin so (id-, net-); may be repeated" },
	{ "list",   NULL,     OPTION_FLAG,  AT(list),    0, 0, "say what would be tried, and try nothing" },
	{ "policy", "NAME|FILE", OPTION_TEXT, AT(policy), 0, 0, "the limits of the jails: default, profiler, agentkernelarena, or a file; see proctor-policy(5) (default)" },
	{ "json",   "[=FD]",  OPTION_FD,    AT(json_fd), 0, 0, "write what was seen as one JSON object to FD (1; in place of the table)" },
};
/* clang-format on */

static const struct option_table table = {
	.usage = "proctor drill [OPTION]…",
	.about =
		"Runs the corpus of attacks on this host, each in a jail of its own with the "
		"limits "
		"of an agent, and\nsays which wall held and which did not. Lays bait out first, "
		"and "
		"leaves nothing behind.\n"
		"Exit codes: 0 all held; 1 one got through; 2 usage; 3 the policy; 4 this host, or "
		"nothing can be said of an attack; 5 internal.",
	.rows = rows,
	.count = ARRAY_LEN(rows),
};

/* What the options choose of the corpus, in its order. */
struct chosen {
	size_t count;
	const struct drill_attack *attacks[DRILL_ATTACKS_MAX];
};

static bool is_chosen(const struct texts *only, const struct drill_attack *attack)
{
	for (size_t i = 0; i < only->count; i++)
		if (strncmp(attack->id, only->items[i], strlen(only->items[i])) == 0)
			return true;
	return only->count == 0;
}

static int choose(const struct texts *only, struct chosen *out, struct err *err)
{
	const struct drill_attack *attack;

	for (size_t i = 0; i < only->count; i++) {
		bool any = false;

		for (size_t at = 0; (attack = corpus_at(at)); at++)
			any |= strncmp(attack->id, only->items[i], strlen(only->items[i])) == 0;
		if (!any)
			return err_set(err, ERR_USAGE,
				       "option --only: there is no attack '%s'; see proctor drill "
				       "--list",
				       only->items[i]);
	}
	out->count = 0;
	for (size_t at = 0; (attack = corpus_at(at)); at++)
		if (is_chosen(only, attack) && out->count < DRILL_ATTACKS_MAX)
			out->attacks[out->count++] = attack;
	return 0;
}

static int print(const struct str *text, struct err *err)
{
	return io_write_waiting(STDOUT_FILENO, text->text, text->len, "what was seen", err);
}

static int write_json(int fd, struct str *text, struct err *err)
{
	str_add(text, "\n", 1);
	return io_write_waiting(fd, text->text, text->len, "the JSON object", err);
}

static int list(const struct cli *cli, const struct drill_options *options,
		const struct chosen *chosen, struct err *err)
{
	const struct table_style style = { .has_color = cli->color };
	cleanup(str_done) struct str text = STR_INIT, object = STR_INIT;
	struct json_writer json;

	drilled_list(chosen->attacks, chosen->count, &style, &text);
	if (options->json_fd != STDOUT_FILENO && print(&text, err) < 0)
		return -1;
	if (options->json_fd < 0)
		return 0;
	json_writer_init(&json, &object);
	drilled_list_put(chosen->attacks, chosen->count, &json);
	return write_json(options->json_fd, &object, err);
}

/* What the facts of a drill point into. */
struct drill_proof {
	bool has_program, has_launcher;
	char program[DIGEST_HEX], launcher[DIGEST_HEX], policy_sha256[DIGEST_HEX];
	char policy[64];
	struct utsname host;
	int64_t began_ns;
	struct arena arena; /* weaker */
	const char *const *weaker;
	size_t weaker_count;
};

/* What is made or opened as root. */
struct drill_place {
	struct account account;
	struct bait bait;
	struct launcher launcher;
	struct policy_file policy;
	struct drill_proof proof;
};

static void place_done(struct drill_place *place)
{
	launcher_done(&place->launcher);
	bait_done(&place->bait);
	policy_file_done(&place->policy);
	arena_done(&place->proof.arena);
}

/* As root: the running program can be opened by nobody else. */
static void prove_programs(const struct cli *cli, struct drill_proof *proof)
{
	auto_fd program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), launcher = -1;
	struct err none = ERR_INIT;

	launcher = launcher_open_program(cli->programs, "proctor-launcher", &none);
	proof->has_program = build_facts_hash(program, proof->program);
	proof->has_launcher = build_facts_hash(launcher, proof->launcher);
	proof->began_ns = clock_wall_ns();
	uname(&proof->host);
}

static void prove_policy(const struct policy *policy, const struct str *text,
			 struct drill_proof *proof)
{
	const struct digest digest = digest_sha256(text->text, text->len);

	digest_hex(&digest, proof->policy_sha256);
	snprintf(proof->policy, sizeof(proof->policy), "%s", policy->name);
	proof->weaker = policy_weaker(policy, &proof->arena, &proof->weaker_count);
}

/* With the caller's rights: who may call proctor through sudo reads no file by it. */
static int open_policy(const struct drill_options *options, struct drill_place *place,
		       struct err *err)
{
	if (!options->policy)
		return 0;
	if (account_enter(&place->account, err) < 0 ||
	    policy_file_open(&place->policy, AT_FDCWD, options->policy, err) < 0)
		return -1;
	return account_leave(err);
}

static int prepare(const struct cli *cli, const struct drill_options *options,
		   struct drill_place *place, struct err *err)
{
	if (geteuid() != 0)
		return err_set(err, ERR_HOST, "the drill needs root: use sudo");
	prove_programs(cli, &place->proof);
	if (account_find(cli->sudo_uid, &place->account, err) < 0 ||
	    open_policy(options, place, err) < 0 ||
	    bait_plant(cli->programs, place->account.gid, &place->bait, err) < 0 ||
	    launcher_start(cli->programs, &place->launcher, err) < 0 ||
	    bait_calm(&place->bait, err) < 0)
		return -1;
	return account_become(&place->account, err);
}

static void show_progress(void *context, const struct drill_result *result)
{
	struct progress *progress = context;
	const int64_t now = clock_now();

	progress_say(progress, result->attack->id, now);
	progress_add(progress, 1, now);
}

static int run(const struct cli *cli, const struct chosen *chosen, struct drill_place *place,
	       struct drill_report *report, struct err *err)
{
	cleanup(policy_done) struct policy policy = policy_default();
	cleanup(progress_done) struct progress progress = PROGRESS_INIT;
	cleanup(str_done) struct str text = STR_INIT;
	const struct drill_listener listener = { show_progress, &progress };
	auto_fd stop = signals_open_stop(err);
	struct drill drill = { .bait = &place->bait,
			       .policy = &policy,
			       .launcher_fd = place->launcher.socket_fd,
			       .stop_fd = stop,
			       .run = jailed_run };

	if (stop < 0 || policy_file_read(&place->policy, &policy, &text, err) < 0)
		return -1;
	prove_policy(&policy, &text, &place->proof);
	progress_start(&progress, cli->terminal ? STDERR_FILENO : -1, cli->terminal, cli->width,
		       chosen->count, clock_now());
	return drill_run(&drill, chosen->attacks, chosen->count, &listener, report, err);
}

static int report_all(const struct cli *cli, const struct drill_options *options,
		      const struct drill_proof *proof, const struct drill_report *report,
		      struct err *err)
{
	const struct drilled_facts facts = {
		.program = proof->has_program ? proof->program : NULL,
		.launcher = proof->has_launcher ? proof->launcher : NULL,
		.policy = proof->policy,
		.policy_sha256 = proof->policy_sha256,
		.weaker = proof->weaker,
		.weaker_count = proof->weaker_count,
		.host = proof->host.nodename,
		.kernel = proof->host.release,
		.began_ns = proof->began_ns,
		.corpus = corpus_count(),
	};
	const struct table_style style = { .has_color = cli->color };
	cleanup(str_done) struct str text = STR_INIT, object = STR_INIT;
	struct json_writer json;

	drilled_print(report, &facts, &style, &text);
	if (options->json_fd != STDOUT_FILENO && print(&text, err) < 0)
		return -1;
	json_writer_init(&json, &object);
	drilled_put(report, &facts, &json);
	if (options->json_fd >= 0 && write_json(options->json_fd, &object, err) < 0)
		return -1;
	if (drilled_count(report, DRILL_GOT) > 0)
		return 1;
	return drilled_count(report, DRILL_BROKEN) > 0 || report->stopped ? 4 : 0;
}

int cli_drill(const struct cli *cli, int argc, char **argv, struct err *err)
{
	cleanup(mem_free) struct drill_report *report = mem_alloc(1, sizeof(*report));
	cleanup(mem_free) struct chosen *chosen = mem_alloc(1, sizeof(*chosen));
	cleanup(place_done) struct drill_place place = { .bait = BAIT_INIT,
							 .launcher = LAUNCHER_INIT,
							 .policy = POLICY_FILE_INIT,
							 .proof = { .arena = ARENA_INIT } };
	struct drill_options options = { .json_fd = -1 };
	int first, asked = options_parse(&table, argc, argv, &options, &first, err);

	if (asked > 0) {
		options_print_help(&table, stdout);
		return 0;
	}
	if (asked < 0)
		return -1;
	if (first < argc)
		return err_set(err, ERR_USAGE, "proctor drill takes no '%s'", argv[first]);
	if (choose(&options.only, chosen, err) < 0)
		return -1;
	if (options.list)
		return list(cli, &options, chosen, err);
	if (prepare(cli, &options, &place, err) < 0 || run(cli, chosen, &place, report, err) < 0)
		return -1;
	return report_all(cli, &options, &place.proof, report, err);
}
