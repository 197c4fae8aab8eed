/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sandbox/base/err.h"

/*
 * Command-line options as rows of a table
 *
 * A row names the option, its argument, how that is read and where it goes. The same rows print
 * --help; tools/check-docs compares them with the man pages. Long options only, as --name=value or
 * --name value; "--" ends them, and so does the first word that is none. Each stands there once,
 * but those of OPTION_TEXTS.
 */
enum option_kind {
	OPTION_FLAG,     /* bool: it is there */
	OPTION_TEXT,     /* const char * */
	OPTION_TEXTS,    /* struct texts: may be given again and again */
	OPTION_COUNT,    /* uint64_t */
	OPTION_SIZE,     /* uint64_t, bytes: 64MiB */
	OPTION_DURATION, /* uint64_t, milliseconds: 500ms, 2s, 5m */
	OPTION_MILLI,    /* uint64_t, thousandths: 1.5 */
	OPTION_FD,       /* int: an open descriptor, or 1 without argument */
};

enum { TEXTS_MAX = 64 };

struct texts {
	size_t count;
	const char *items[TEXTS_MAX];
};

struct option_row {
	const char *name;     /* without the dashes */
	const char *argument; /* what --help calls it; NULL for a flag, "[=FD]" for OPTION_FD */
	enum option_kind kind;
	size_t offset; /* into the subcommand's struct */
	uint64_t min, max;
	const char *help;
};

struct option_table {
	const char *usage; /* "proctor jail [OPTION]… -- COMMAND [ARGUMENT]…" */
	const char *about; /* one paragraph */
	const struct option_row *rows;
	size_t count;
};

/**
 * options_parse() - read argv[1…] into @object
 * @rest: receives the index of the first word that is no option
 *
 * Return: 0; 1 if --help was asked for (the caller prints it and ends with 0); -1 with an
 * ERR_USAGE error that names the option and its value.
 */
int options_parse(const struct option_table *table, int argc, char **argv, void *object, int *rest,
		  struct err *err) must_check;

/**
 * options_print_help() - usage, the paragraph and a line for each row
 */
void options_print_help(const struct option_table *table, FILE *out);
