/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/console/options.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "harness/config/types.h"

static const struct option_row *find(const struct option_table *table, const char *name, size_t len)
{
	for (size_t i = 0; i < table->count; i++)
		if (strlen(table->rows[i].name) == len &&
		    strncmp(table->rows[i].name, name, len) == 0)
			return &table->rows[i];
	return NULL;
}

/* How each kind is read, how people write it, and how its edges are shown. */
static const struct {
	int (*parse)(const char *text, uint64_t *out);
	const char *like;
	const struct schema_type *type;
} kinds[] = {
	[OPTION_COUNT] = { types_parse_count, "a whole number such as 64", &type_count },
	[OPTION_SIZE] = { types_parse_size, "a size such as 64MiB", &type_size },
	[OPTION_DURATION] = { types_parse_duration, "a time such as 500ms, 2s or 5m",
			      &type_duration },
	[OPTION_MILLI] = { types_parse_milli, "a number such as 1.5", &type_milli },
};

static int read_number(const struct option_row *row, const char *value, uint64_t *out,
		       struct err *err)
{
	cleanup(str_done) struct str range = STR_INIT;
	bool is_number;
	uint64_t number = 0;

	is_number = kinds[row->kind].parse(value, &number) == 0;
	if (is_number && number >= row->min && number <= row->max) {
		*out = number;
		return 0;
	}
	kinds[row->kind].type->print(NULL, &row->min, &range);
	str_addf(&range, "..");
	kinds[row->kind].type->print(NULL, &row->max, &range);
	return err_set(err, ERR_USAGE, "option --%s: '%s' is not %s%swithin %s", row->name, value,
		       is_number ? "" : kinds[row->kind].like, is_number ? "" : ", ", range.text);
}

static int read_fd(const struct option_row *row, const char *value, int *out, struct err *err)
{
	uint64_t fd = 1;

	if (value && (types_parse_count(value, &fd) < 0 || fd > INT_MAX))
		return err_set(err, ERR_USAGE, "option --%s: '%s' is no descriptor", row->name,
			       value);
	if (fcntl((int) fd, F_GETFD) < 0)
		return err_set(err, ERR_USAGE, "option --%s: descriptor %llu is not open",
			       row->name, (unsigned long long) fd);
	*out = (int) fd;
	return 0;
}

static int read_value(const struct option_row *row, const char *value, void *object,
		      struct err *err)
{
	char *member = (char *) object + row->offset;
	struct texts *texts;
	uint64_t number = 0;
	bool yes = true;
	int fd = -1;

	switch (row->kind) {
	case OPTION_FLAG:
		memcpy(member, &yes, sizeof(yes));
		return 0;
	case OPTION_TEXT:
		memcpy(member, &value, sizeof(value));
		return 0;
	case OPTION_TEXTS:
		texts = (struct texts *) (void *) member;
		if (texts->count == TEXTS_MAX)
			return err_set(err, ERR_USAGE, "option --%s: more than %d", row->name,
				       TEXTS_MAX);
		texts->items[texts->count++] = value;
		return 0;
	case OPTION_FD:
		if (read_fd(row, value, &fd, err) < 0)
			return -1;
		memcpy(member, &fd, sizeof(fd));
		return 0;
	case OPTION_COUNT:
	case OPTION_SIZE:
	case OPTION_DURATION:
	case OPTION_MILLI:
		break;
	}
	if (read_number(row, value, &number, err) < 0)
		return -1;
	memcpy(member, &number, sizeof(number));
	return 0;
}

/* Which of two values was meant, nobody knows; a wall may hang on it. */
static int note_seen(const struct option_table *table, const struct option_row *row, uint64_t *seen,
		     struct err *err)
{
	const uint64_t bit = UINT64_C(1) << (row - table->rows);

	if ((*seen & bit) != 0 && row->kind != OPTION_TEXTS)
		return err_set(err, ERR_USAGE, "option --%s is there twice", row->name);
	*seen |= bit;
	return 0;
}

/* The option's value, which may be the next word: *at moves on to it. NULL: it has none. */
static int take_value(const struct option_row *row, int argc, char **argv, int *at,
		      const char **value, struct err *err)
{
	if (row->kind == OPTION_FLAG && *value)
		return err_set(err, ERR_USAGE, "option --%s takes no value", row->name);
	if (*value || row->kind == OPTION_FLAG || row->kind == OPTION_FD)
		return 0;
	if (++*at == argc)
		return err_set(err, ERR_USAGE, "option --%s lacks its %s", row->name,
			       row->argument);
	*value = argv[*at];
	return 0;
}

int options_parse(const struct option_table *table, int argc, char **argv, void *object, int *rest,
		  struct err *err)
{
	uint64_t seen = 0;
	int at = 1;

	assert(table->count <= 64);
	for (; at < argc && argv[at][0] == '-' && argv[at][1]; at++) {
		const char *name = argv[at][1] == '-' ? argv[at] + 2 : argv[at];
		size_t len = strcspn(name, "=");
		const char *value = name[len] ? name + len + 1 : NULL;
		const struct option_row *row = find(table, name, len);

		if (name[0] == '\0') {
			at++;
			break;
		}
		if (strcmp(name, "help") == 0)
			return 1;
		if (!row)
			return err_set(err, ERR_USAGE, "there is no option '%s'; see %.*s--help",
				       argv[at], (int) strcspn(table->usage, "["), table->usage);
		if (note_seen(table, row, &seen, err) < 0 ||
		    take_value(row, argc, argv, &at, &value, err) < 0 ||
		    read_value(row, value, object, err) < 0)
			return -1;
	}
	*rest = at;
	return 0;
}

void options_print_help(const struct option_table *table, FILE *out)
{
	fprintf(out, "usage: %s\n\n%s\n\n", table->usage, table->about);
	for (size_t i = 0; i < table->count; i++) {
		const struct option_row *row = &table->rows[i];
		char left[64];

		snprintf(left, sizeof(left), "--%s%s%s", row->name,
			 row->argument && row->argument[0] != '[' ? " " : "",
			 row->argument ? row->argument : "");
		fprintf(out, "  %-26s %s\n", left, row->help);
	}
	fprintf(out, "  %-26s %s\n", "--help", "print this and end");
}
