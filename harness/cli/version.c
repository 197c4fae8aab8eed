/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "harness/cli/cli.h"
#include "harness/config/policy.h"
#include "harness/console/options.h"
#include "harness/evidence/digest.h"
#include "harness/report/build_facts.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"

struct version_options {
	int json_fd;
};

#define AT(member) offsetof(struct version_options, member)

/* clang-format off */
static const struct option_row rows[] = {
	{ "json", "[=FD]", OPTION_FD, AT(json_fd), 0, 0, "write one JSON object to FD (1, in place of the text)" },
};
/* clang-format on */

static const struct option_table table = {
	.usage = "proctor version [OPTION]…",
	.about = "Says what this program is made of: versions, formats, and the SHA-256 of itself "
		 "and "
		 "of the default policy.\n"
		 "Exit codes: 0 done; 2 usage; 5 internal.",
	.rows = rows,
	.count = ARRAY_LEN(rows),
};

/* Return: is there a digest? */
static bool hash_program(char text[DIGEST_HEX])
{
	auto_fd fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	return build_facts_hash(fd, text);
}

static void hash_policy(char text[DIGEST_HEX])
{
	size_t len;
	const char *policy = policy_default_text(&len);
	struct digest digest = digest_sha256(policy, len);

	digest_hex(&digest, text);
}

int cli_version(const struct cli *cli, int argc, char **argv, struct err *err)
{
	struct version_options options = { .json_fd = -1 };
	cleanup(str_done) struct str text = STR_INIT;
	char program[DIGEST_HEX], policy[DIGEST_HEX];
	int first, asked = options_parse(&table, argc, argv, &options, &first, err);
	struct json_writer json;
	bool has_program;

	(void) cli;
	if (asked > 0) {
		options_print_help(&table, stdout);
		return 0;
	}
	if (asked < 0)
		return -1;
	if (first < argc)
		return err_set(err, ERR_USAGE, "proctor version takes no '%s'", argv[first]);
	has_program = hash_program(program);
	hash_policy(policy);
	if (options.json_fd != STDOUT_FILENO) {
		build_facts_print(has_program ? program : NULL, policy, &text);
		if (io_write_waiting(STDOUT_FILENO, text.text, text.len, "the version", err) < 0)
			return -1;
	}
	if (options.json_fd < 0)
		return 0;
	str_clear(&text);
	json_writer_init(&json, &text);
	build_facts_put(has_program ? program : NULL, policy, &json);
	str_add(&text, "\n", 1);
	return io_write_waiting(options.json_fd, text.text, text.len, "the version", err);
}
