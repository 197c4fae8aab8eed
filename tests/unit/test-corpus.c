/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/drill/corpus.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/io.h"
#include "tests/lib/check.h"

static struct err err;

/* The names of the functions, a line each, in front of each a line's end. */
static void list_functions(struct str *out)
{
	char program[] = PROGRAMS "/proctor-attack", option[] = "--list";
	char *const argv[] = { program, option, NULL };
	int ends[2], status;
	pid_t pid;

	CHECK(pipe(ends) == 0);
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		execv(program, argv);
		_exit(127);
	}
	close(ends[1]);
	str_add(out, "\n", 1);
	CHECK_OK(io_read_fd(ends[0], MIB, "the list", out, &err));
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

static bool has_function(const struct str *list, const char *id)
{
	char line[80];

	snprintf(line, sizeof(line), "\n%s\n", id);
	return strstr(list->text, line);
}

TEST(each_attack_has_a_function_and_each_function_an_attack)
{
	cleanup(str_done) struct str list = STR_INIT;
	const struct drill_attack *attack;
	char *rest, *id;

	list_functions(&list);
	for (size_t i = 0; (attack = corpus_at(i)); i++)
		if (has_function(&list, attack->id) == (attack->judge == JUDGE_REQUEST))
			check_fail(__FILE__, __LINE__, "the function '%s'", attack->id);
	rest = list.text;
	while ((id = strsep(&rest, "\n")))
		if (*id && *id != '@' && !corpus_find(id))
			check_fail(__FILE__, __LINE__, "nobody tries '%s'", id);
}

TEST(no_attack_is_there_twice)
{
	const struct drill_attack *attack;

	for (size_t i = 0; (attack = corpus_at(i)); i++)
		if (corpus_find(attack->id) != attack)
			check_fail(__FILE__, __LINE__, "'%s' is there twice", attack->id);
	CHECK(!corpus_find("no-such-attack"));
}

TEST(there_are_ninety_attacks_and_at_most_twenty_five_without_a_control)
{
	size_t known = 0, without = 0;
	const struct drill_attack *attack;

	for (size_t i = 0; (attack = corpus_at(i)); i++) {
		known += corpus_is_known(attack);
		without += attack->no_control != NULL;
	}
	CHECK(corpus_count() - known >= 90);
	CHECK(without <= 25);
}

TEST(each_row_says_what_its_judge_needs)
{
	const struct drill_attack *attack;

	for (size_t i = 0; (attack = corpus_at(i)); i++) {
		const bool has_archive =
			attack->judge == JUDGE_ARCHIVE || attack->judge == JUDGE_ANY_ARCHIVE;

		CHECK(attack->gain && attack->threat < THREATS);
		CHECK(has_archive == (attack->entry != NULL));
		CHECK(attack->judge != JUDGE_MEANWHILE || attack->ask);
		CHECK(corpus_expected(attack).text[0]);
	}
}

TEST(each_threat_has_a_wall_and_an_attack)
{
	for (int threat = 0; threat < THREATS; threat++) {
		const struct drill_attack *attack;
		bool any = false;

		CHECK(drill_threats[threat].threat && drill_threats[threat].wall);
		CHECK(drill_threats[threat].brief && drill_threats[threat].tests);
		for (size_t i = 0; (attack = corpus_at(i)); i++)
			any |= (int) attack->threat == threat;
		if (!any)
			check_fail(__FILE__, __LINE__, "nobody would %s",
				   drill_threats[threat].threat);
	}
}

TEST(what_is_expected_can_be_read)
{
	CHECK_STR(corpus_expected(corpus_find("id-become-root")).text, "refused");
	CHECK_STR(corpus_expected(corpus_find("res-memory")).text, "ended: oom");
	CHECK_STR(corpus_expected(corpus_find("freeze-fifo")).text, "listed: fifo");
	CHECK_STR(corpus_expected(corpus_find("freeze-names")).text, "collected whole");
	CHECK_STR(corpus_expected(corpus_find("known-lock")).text, "gets through");
	CHECK_STR(corpus_expected(corpus_find("result-forged")).text, "no effect, code 7");
}
