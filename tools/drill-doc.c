/* SPDX-License-Identifier: Apache-2.0 */

/*
 * drill-doc: the table of SECURITY.md that maps threats to walls and attacks, from the corpus
 *
 *	drill-doc                 print it as Markdown
 *	drill-doc --check FILE    is the table in this document as it would be printed?
 *	drill-doc --update FILE   make it so
 *
 * It stands between "<!-- drill -->" and "<!-- end of drill -->".
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "harness/drill/corpus.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"

#define BEGIN "<!-- drill -->\n"
#define END   "<!-- end of drill -->"

static void add_attacks(int threat, struct str *out)
{
	const struct drill_attack *attack;
	const char *comma = "";

	for (size_t i = 0; (attack = corpus_at(i)); i++) {
		if ((int) attack->threat != threat)
			continue;
		str_addf(out, "%s`%s`", comma, attack->id);
		comma = ", ";
	}
}

static void add_threats(struct str *out)
{
	str_addf(out, "| threat | wall | attacks | other tests |\n|---|---|---|---|\n");
	for (int threat = 0; threat < THREATS; threat++) {
		const struct drill_threat_row *row = &drill_threats[threat];

		str_addf(out, "| %s | %s | ", row->threat, row->wall);
		add_attacks(threat, out);
		str_addf(out, " | %s |\n", row->tests[0] ? row->tests : "none");
	}
}

static void add_without(struct str *out)
{
	const struct drill_attack *attack;
	size_t count = 0, harmful = 0, known = 0, without = 0;

	for (size_t i = 0; (attack = corpus_at(i)); i++) {
		known += corpus_is_known(attack);
		without += attack->no_control != NULL;
		harmful += !attack->no_control && (attack->flags & DRILL_HARMFUL);
		count++;
	}
	str_addf(out,
		 "\n%zu attacks, and %zu that get through everywhere (Residual risks). %zu have a "
		 "control, %zu of them in a\nvirtual machine only, since they would harm a "
		 "machine. %zu have none:\n\n| no control | why |\n|---|---|\n",
		 count - known, known, count - without, harmful, without);
	for (size_t i = 0; (attack = corpus_at(i)); i++)
		if (attack->no_control)
			str_addf(out, "| `%s` | %s |\n", attack->id, attack->no_control);
}

static int document(const char *path, bool may_write, struct err *err)
{
	cleanup(str_done) struct str old = STR_INIT, renewed = STR_INIT;
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *begin, *end;

	if (fd < 0)
		return err_sys(err, "open '%s'", path);
	if (io_read_fd(fd, MIB, path, &old, err) < 0)
		return -1;
	begin = strstr(old.text, BEGIN);
	end = begin ? strstr(begin, END) : NULL;
	if (!end)
		return err_set(err, ERR_INPUT, "%s: there is no table of the drill", path);
	str_add(&renewed, old.text, (size_t) (begin - old.text) + strlen(BEGIN));
	str_addf(&renewed, "\n");
	add_threats(&renewed);
	add_without(&renewed);
	str_addf(&renewed, "\n%s", end);
	if (strcmp(old.text, renewed.text) == 0)
		return 0;
	if (!may_write)
		return err_set(err, ERR_INPUT,
			       "%s: the table of the drill is not current; run drill-doc --update "
			       "%s",
			       path, path);
	fd_close(&fd);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "open '%s'", path);
	return io_write_all(fd, renewed.text, renewed.len, path, err);
}

int main(int argc, char **argv)
{
	bool is_check = argc == 3 && strcmp(argv[1], "--check") == 0;
	bool is_update = argc == 3 && strcmp(argv[1], "--update") == 0;
	cleanup(str_done) struct str text = STR_INIT;
	struct err err = ERR_INIT;
	int result;

	if (is_check || is_update) {
		result = document(argv[2], is_update, &err);
	} else if (argc > 1) {
		result = err_set(&err, ERR_USAGE, "usage: drill-doc [--check|--update FILE]");
	} else {
		add_threats(&text);
		add_without(&text);
		result = io_write_all(STDOUT_FILENO, text.text, text.len, "the table", &err);
	}
	if (result == 0)
		return 0;
	fprintf(stderr, "drill-doc: %s\n", err.text);
	return err_exit_code(&err);
}
