/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/aka/aka_carry.h"
#include "harness/aka/aka_stub.h"
#include "harness/aka/pysource.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"

/*
 * Files of Python as we cut them, for tests/aka/pysource.sh to compare with Python's own ast:
 *
 *	aka-source split FILE…                the blocks of each
 *	aka-source carry TASKS AGENTS NAMES   the candidate's file; what became of which block on
 *	                                      standard error; NAMES with commas, "+" ahead of them
 *	                                      allows new helpers
 *	aka-source stub NAMES FILE…           the error, if there is one
 */
enum { FILE_MAX = 16 << 20, NAMES_MAX = 64 };

static const char *const kinds[] = { "other", "def", "async", "class" };

static bool read_file(const char *path, struct str *out)
{
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC);
	struct err err = ERR_INIT;

	return fd >= 0 && io_read_fd(fd, FILE_MAX, path, out, &err) == 0;
}

static void print_block(const struct pysource *source, const struct pysource_block *block)
{
	printf("B %s %s %zu %zu", kinds[block->kind], block->name ? block->name : "-", block->line,
	       block->last_line);
	for (size_t i = 0; i < block->decorators; i++) {
		const char *name = source->decorators[block->first_decorator + i];

		printf(" %s", name ? name : "?");
	}
	printf("\n");
}

static int split(int count, char **paths)
{
	for (int i = 0; i < count; i++) {
		cleanup(pysource_done) struct pysource source = PYSOURCE_INIT;
		cleanup(str_done) struct str text = STR_INIT;
		struct err err = ERR_INIT;

		printf("F %s\n", paths[i]);
		if (!read_file(paths[i], &text) ||
		    pysource_split("-", text.text, text.len, &source, &err) < 0) {
			printf("E %s\n", err.text);
			continue;
		}
		for (size_t j = 0; j < source.count; j++)
			print_block(&source, &source.blocks[j]);
	}
	return 0;
}

static struct argv read_names(char *text, const char **room)
{
	size_t count = 0;

	for (char *at; count < NAMES_MAX && (at = strsep(&text, ","));)
		if (*at)
			room[count++] = at;
	return (struct argv){ room, count };
}

static int carry(char **args)
{
	cleanup(aka_carried_done) struct aka_carried report = AKA_CARRIED_INIT;
	cleanup(str_done) struct str given = STR_INIT, left = STR_INIT, out = STR_INIT;
	bool is_left = read_file(args[1], &left), may_help = args[2][0] == '+';
	const char *room[NAMES_MAX];
	struct err err = ERR_INIT;
	struct aka_edit edit = {
		.path = "file.py",
		.scope = AKA_SCOPE_SYMBOLS,
		.symbols = read_names(args[2] + may_help, room),
		.allow_new_helpers = may_help,
	};

	if (!read_file(args[0], &given))
		return 2;
	if (aka_carry(&edit, &(struct aka_bytes){ given.text, given.len },
		      &(struct aka_bytes){ is_left ? left.text : NULL, left.len }, &out, &report,
		      &err) < 0) {
		fprintf(stderr, "E %s\n", err.text);
		return 1;
	}
	if (report.why)
		fprintf(stderr, "W %s\n", report.why);
	for (size_t i = 0; i < report.item_count; i++)
		fprintf(stderr, "%s %s\n", names_text(aka_fate_names, (int) report.items[i].fate),
			report.items[i].name);
	return io_write_all(STDOUT_FILENO, out.text, out.len, "standard output", &err) < 0;
}

static int stub(char *names, int count, char **paths)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	const char *room[NAMES_MAX];
	struct aka_task task = {
		.version = 1,
		.type = "torch2flydsl",
		.functions = read_names(names, room),
		.sources = { (const char *const *) paths, (uint64_t) count },
	};
	struct aka_bytes *files = arena_alloc(&arena, (size_t) count + 1, sizeof(*files));
	struct str *texts = arena_alloc(&arena, (size_t) count + 1, sizeof(*texts));
	const struct pyvalue *error;

	for (int i = 0; i < count; i++) {
		texts[i] = STR_INIT;
		if (read_file(paths[i], &texts[i]))
			files[i] = (struct aka_bytes){ texts[i].text, texts[i].len };
	}
	error = aka_stub_find(&arena, &task, files);
	printf("%s", error ? error->text : "");
	for (int i = 0; i < count; i++)
		str_done(&texts[i]);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "split") == 0)
		return split(argc - 2, argv + 2);
	if (argc == 5 && strcmp(argv[1], "carry") == 0)
		return carry(argv + 2);
	if (argc > 2 && strcmp(argv[1], "stub") == 0)
		return stub(argv[2], argc - 3, argv + 3);
	fprintf(stderr, "usage: aka-source split|carry|stub …\n");
	return 2;
}
