/* SPDX-License-Identifier: Apache-2.0 */

/*
 * schema-doc: the key tables of documents, printed from the rows that read the files
 *
 *	schema-doc FORMAT             print its tables as Markdown
 *	schema-doc --check FILE…      are the tables in these documents as they would be printed?
 *	schema-doc --update FILE…     make them so
 *
 * A document holds tables between "<!-- keys: task -->" and "<!-- end of keys -->"; a manual page
 * (*.scd) between the comments "; keys: task" and "; end of keys".
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/config/format.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"

/* How tables stand in a kind of document. */
static const struct style {
	const char *begin, *end;
	void (*print)(const struct key_tables *tables, struct str *out);
} markdown = { "<!-- keys: ", "<!-- end of keys -->", schema_print_markdown },
  manual = { "; keys: ", "; end of keys", schema_print_manual };

static void text_done(struct str *text)
{
	str_done(text);
}

static const struct style *style_of(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot && strcmp(dot, ".scd") == 0 ? &manual : &markdown;
}

/* Copies a document with its tables made anew. */
static int renew(const char *path, const char *text, struct str *out, struct err *err)
{
	const struct style *style = style_of(path);
	const char *at;

	if (!strstr(text, style->begin))
		return err_set(err, ERR_INPUT, "%s: there are no key tables ('%s…')", path,
			       style->begin);
	while ((at = strstr(text, style->begin))) {
		const char *name = at + strlen(style->begin);
		size_t len = strcspn(name, " \n");
		const struct format *format = format_find(name, len);
		const char *body = strchr(at, '\n'), *stop = strstr(at, style->end);

		if (!format || !body || !stop || stop < body)
			return err_set(err, ERR_INPUT,
				       "%s: '%s%.*s' names no format, or does not end", path,
				       style->begin, (int) MIN_OF(len, (size_t) 40), name);
		str_add(out, text, (size_t) (body + 1 - text));
		str_addf(out, "\n");
		style->print(format->tables, out);
		str_addf(out, "\n%s", style->end);
		text = stop + strlen(style->end);
	}
	str_addf(out, "%s", text);
	return 0;
}

static int document(const char *path, bool may_write, struct err *err)
{
	cleanup(text_done) struct str old = STR_INIT, new = STR_INIT;
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_sys(err, "open '%s'", path);
	if (io_read_fd(fd, MIB, path, &old, err) < 0 || renew(path, old.text, &new, err) < 0)
		return -1;
	if (strcmp(old.text, new.text) == 0)
		return 0;
	if (!may_write)
		return err_set(err, ERR_INPUT,
			       "%s: the key tables are not current; run schema-doc --update %s",
			       path, path);
	fd_close(&fd);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "open '%s'", path);
	return io_write_all(fd, new.text, new.len, path, err);
}

static int print_format(const char *name, struct err *err)
{
	cleanup(text_done) struct str text = STR_INIT;
	const struct format *format = format_find(name, strlen(name));

	if (!format) {
		str_addf(&text, "there is no format '%s'; there are:", name);
		for (size_t i = 0; i < format_count; i++)
			str_addf(&text, " %s", formats[i].name);
		return err_set(err, ERR_USAGE, "%s", text.text);
	}
	schema_print_markdown(format->tables, &text);
	return io_write_all(STDOUT_FILENO, text.text, text.len, "the tables", err);
}

int main(int argc, char **argv)
{
	bool is_check = argc > 2 && strcmp(argv[1], "--check") == 0;
	bool is_update = argc > 2 && strcmp(argv[1], "--update") == 0;
	struct err err = ERR_INIT;
	int failed = 0;

	if (!is_check && !is_update) {
		failed = argc == 2 ? print_format(argv[1], &err) < 0
				   : err_set(&err, ERR_USAGE,
					     "usage: schema-doc FORMAT, or "
					     "--check|--update FILE…") < 0;
		if (failed)
			fprintf(stderr, "schema-doc: %s\n", err.text);
		return err_exit_code(&err);
	}
	for (int i = 2; i < argc; i++) {
		if (document(argv[i], is_update, &err) < 0) {
			fprintf(stderr, "schema-doc: %s\n", err.text);
			failed = 1;
		}
	}
	return failed;
}
