/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/values.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "harness/config/arg.h"
#include "harness/config/types.h"

/* What stands in the parentheses. */
enum operands { NO_PARENTHESES, NUMBERS, EXPRESSIONS };

/* For which types a distribution is. */
enum types { FOR_ALL, FOR_REALS, FOR_WHOLES };

/* clang-format off */
static const struct word {
	const char *name, *usage;
	int kind;
	uint32_t least, most;
	enum operands operands;
	enum types types;
} words[] = {
	{ "uniform",     "uniform(low, high)",    VALUES_UNIFORM,     2, 2,          NUMBERS,        FOR_ALL },
	{ "normal",      "normal(mean, sd)",      VALUES_NORMAL,      2, 2,          NUMBERS,        FOR_REALS },
	{ "loguniform",  "loguniform(low, high)", VALUES_LOGUNIFORM,  2, 2,          NUMBERS,        FOR_REALS },
	{ "randint",     "randint(low, high)",    VALUES_RANDINT,     2, 2,          EXPRESSIONS,    FOR_ALL },
	{ "below",       "below(limit)",          VALUES_RANDINT,     1, 1,          EXPRESSIONS,    FOR_ALL },
	{ "choice",      "choice(a, b, …)",       VALUES_CHOICE,      1, VALUES_MAX, NUMBERS,        FOR_ALL },
	{ "constant",    "constant(a)",           VALUES_CHOICE,      1, 1,          NUMBERS,        FOR_ALL },
	{ "zeros",       "zeros",                 VALUES_CHOICE,      0, 0,          NO_PARENTHESES, FOR_ALL },
	{ "ones",        "ones",                  VALUES_CHOICE,      0, 0,          NO_PARENTHESES, FOR_ALL },
	{ "list",        "list(a, b, …)",         VALUES_LIST,        1, VALUES_MAX, EXPRESSIONS,    FOR_ALL },
	{ "permutation", "permutation",           VALUES_PERMUTATION, 0, 0,          NO_PARENTHESES, FOR_WHOLES },
	{ "onehot",      "onehot",                VALUES_ONEHOT,      0, 0,          NO_PARENTHESES, FOR_ALL },
};
/* clang-format on */

#define ALL_WORDS                                                                            \
	"uniform, normal, loguniform, randint, below, choice, constant, zeros, ones, list, " \
	"permutation, onehot, and sorted(…) around one of them"

/* The part of the text that is being read: [at, end). */
struct reader {
	const struct yaml_node *node;
	const char *at, *end;
};

static void skip_blanks(struct reader *reader)
{
	while (reader->at < reader->end && *reader->at == ' ')
		reader->at++;
	while (reader->at < reader->end && reader->end[-1] == ' ')
		reader->end--;
}

static int wrong_usage(const struct yaml_node *node, const struct word *word, struct err *err)
{
	char room[YAML_SHOWN];

	return yaml_err(node, err, "'%s' is not of the form %s", yaml_shown(node->text, room),
			word->usage);
}

static size_t word_length(const struct reader *reader)
{
	const char *at = reader->at;

	while (at < reader->end && islower((unsigned char) *at))
		at++;
	return (size_t) (at - reader->at);
}

/*
 * The next operand: up to a comma or the end, outside of parentheses. The reader stands at its
 * first character, and behind the comma afterwards.
 */
static struct reader next_operand(struct reader *reader, bool *has_more)
{
	struct reader operand = { reader->node, reader->at, reader->at };
	int depth = 0;

	for (; operand.end < reader->end; operand.end++) {
		if (*operand.end == ',' && depth == 0)
			break;
		depth += strchr("([", *operand.end) != NULL;
		depth -= strchr(")]", *operand.end) != NULL;
	}
	*has_more = operand.end < reader->end;
	reader->at = operand.end + *has_more;
	skip_blanks(&operand);
	return operand;
}

static int read_number(const struct reader *operand, double *out)
{
	char text[64];
	size_t len = (size_t) (operand->end - operand->at);

	if (len >= sizeof(text))
		return -1;
	memcpy(text, operand->at, len);
	text[len] = '\0';
	return types_parse_number(text, out);
}

/* A part of the text, which messages show with the column where it stands. */
static int read_expr(const struct reader *operand, const struct expr_names *names,
		     struct arena *arena, struct expr *out, struct err *err)
{
	const struct yaml_node *node = operand->node;
	size_t len = (size_t) (operand->end - operand->at);
	struct yaml_node part = *node;

	part.text = arena_copy(arena, operand->at, len);
	part.column += (int) (operand->at - node->text);
	return arg_read_expr(&part, names, EXPR_NO_DRAWS, arena, out, err);
}

struct reading {
	const struct word *word;
	uint32_t element;
	const struct expr_names *names;
	struct arena *arena;
};

static int read_operand(const struct reading *reading, const struct reader *operand,
			struct values *out, struct err *err)
{
	if (out->count == reading->word->most)
		return wrong_usage(operand->node, reading->word, err);
	if (reading->word->operands == EXPRESSIONS)
		return read_expr(operand, reading->names, reading->arena, &out->exprs[out->count++],
				 err);
	if (read_number(operand, &out->numbers[out->count++]) < 0)
		return wrong_usage(operand->node, reading->word, err);
	return 0;
}

static int read_operands(const struct reading *reading, struct reader *reader, struct values *out,
			 struct err *err)
{
	bool has_more;

	if (reading->word->operands == EXPRESSIONS)
		out->exprs = arena_alloc(reading->arena, VALUES_MAX, sizeof(*out->exprs));
	do {
		struct reader operand = next_operand(reader, &has_more);

		if (read_operand(reading, &operand, out, err) < 0)
			return -1;
	} while (has_more);
	return out->count < reading->word->least ? wrong_usage(reader->node, reading->word, err)
						 : 0;
}

/* How far apart the ends of an interval may be: the type's arithmetic has to hold the width. */
static double most_width(uint32_t element)
{
	return element == ELEMENT_F32 || element == ELEMENT_F64 ? element_largest(element)
								: INFINITY;
}

/* Whether every number is one that the type can hold, or close to one. */
static int check_numbers(const struct reading *reading, const struct values *values,
			 struct err *err)
{
	bool is_real = element_is_real(reading->element);
	const char *type = names_text(element_names, (int) reading->element);
	/* Whole ones are exact in the double they are read as. */
	double most = is_real ? element_largest(reading->element)
			      : MIN_OF(element_largest(reading->element), 0x1p53);
	double least =
		is_real ? -most : MAX_OF((double) element_least_whole(reading->element), -0x1p53);
	char room[YAML_SHOWN];
	const char *text = yaml_shown(values->text, room);

	for (uint32_t i = 0; i < values->count; i++) {
		if (values->numbers[i] < least || values->numbers[i] > most)
			return yaml_err(values->node, err, "'%s' holds values that %s can not",
					text, type);
		if (!is_real && values->numbers[i] != floor(values->numbers[i]))
			return yaml_err(values->node, err,
					"'%s': the numbers have to be whole for %s", text, type);
	}
	if ((values->kind == VALUES_UNIFORM || values->kind == VALUES_LOGUNIFORM) &&
	    values->numbers[0] > values->numbers[1])
		return yaml_err(values->node, err, "'%s': low is above high", text);
	if (values->kind == VALUES_UNIFORM &&
	    values->numbers[1] - values->numbers[0] > most_width(reading->element))
		return yaml_err(values->node, err, "'%s' is wider than %s can count", text, type);
	if (values->kind == VALUES_LOGUNIFORM && values->numbers[0] <= 0)
		return yaml_err(values->node, err, "'%s': low has to be above 0", text);
	if (values->kind == VALUES_NORMAL && values->numbers[1] < 0)
		return yaml_err(values->node, err, "'%s': sd has to be at least 0", text);
	return 0;
}

static const struct word *find_word(const struct reader *reader)
{
	size_t len = word_length(reader);

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strlen(words[i].name) == len && strncmp(reader->at, words[i].name, len) == 0)
			return &words[i];
	return NULL;
}

/* Takes "NAME(" and ")" from both ends; false where they are not there. */
static bool take_parentheses(struct reader *reader, size_t name)
{
	if (reader->end - reader->at < (ptrdiff_t) name + 2 || reader->at[name] != '(' ||
	    reader->end[-1] != ')')
		return false;
	reader->at += name + 1;
	reader->end--;
	skip_blanks(reader);
	return true;
}

static int unknown_word(const struct reader *reader, struct err *err)
{
	const char *text = reader->node->text;
	char room[YAML_SHOWN];

	if (strncmp(reader->at, "generate", strlen("generate")) == 0)
		return yaml_err(reader->node, err,
				"'generate' is not supported yet by this version, which "
				"has: " ALL_WORDS);
	return yaml_err(reader->node, err, "'%s' is none of: " ALL_WORDS, yaml_shown(text, room));
}

static int check_types(const struct reading *reading, const struct reader *reader, struct err *err)
{
	bool is_real = element_is_real(reading->element);

	if (reading->word->types == FOR_ALL || is_real == (reading->word->types == FOR_REALS))
		return 0;
	return yaml_err(reader->node, err, "'%s' is for %s types, not for %s", reading->word->name,
			is_real ? "whole" : "real",
			names_text(element_names, (int) reading->element));
}

static int read_word(struct reading *reading, struct reader *reader, struct values *out,
		     struct err *err)
{
	size_t len = word_length(reader);

	reading->word = find_word(reader);
	if (!reading->word)
		return unknown_word(reader, err);
	out->kind = reading->word->kind;
	out->is_below = strcmp(reading->word->name, "below") == 0;
	if (check_types(reading, reader, err) < 0)
		return -1;
	if (reading->word->operands == NO_PARENTHESES) {
		if (reader->at + len != reader->end)
			return wrong_usage(reader->node, reading->word, err);
		out->count = out->kind == VALUES_CHOICE;
		out->numbers[0] = strcmp(reading->word->name, "ones") == 0;
		return 0;
	}
	if (!take_parentheses(reader, len))
		return wrong_usage(reader->node, reading->word, err);
	return read_operands(reading, reader, out, err);
}

int values_read(const struct yaml_node *node, uint32_t element, const struct expr_names *names,
		struct arena *arena, struct values *out, struct err *err)
{
	struct reader reader = { node, node->text, node->text + strlen(node->text) };
	struct reading reading = { .element = element, .names = names, .arena = arena };
	struct values made = { .text = node->text, .node = node };
	const size_t sorted = strlen("sorted");

	skip_blanks(&reader);
	if (word_length(&reader) == sorted && strncmp(reader.at, "sorted", sorted) == 0)
		made.is_sorted = take_parentheses(&reader, sorted);
	if (read_word(&reading, &reader, &made, err) < 0 ||
	    (!made.exprs && check_numbers(&reading, &made, err) < 0))
		return -1;
	*out = made;
	return 0;
}

/* Whether every number is one of the type. */
static bool has_numbers_of_type(const struct values_plan *plan, uint32_t element)
{
	for (uint32_t i = 0; i < plan->count; i++) {
		if (element_is_real(element)
			    ? !isfinite(plan->reals[i]) ||
				      fabs(plan->reals[i]) > element_largest(element)
			    : plan->wholes[i] < element_least_whole(element) ||
				      plan->wholes[i] > element_most_whole(element))
			return false;
	}
	return true;
}

static const char *interval_fault(const struct values_plan *plan, uint32_t element)
{
	bool is_real = element_is_real(element);

	if (plan->count != 2 ||
	    (is_real ? plan->reals[0] > plan->reals[1] : plan->wholes[0] > plan->wholes[1]))
		return "its range is empty";
	if (plan->kind == VALUES_UNIFORM && is_real &&
	    plan->reals[1] - plan->reals[0] > most_width(element))
		return "its range is too wide";
	if (plan->kind == VALUES_LOGUNIFORM && (!is_real || plan->reals[0] <= 0))
		return "loguniform is for real numbers above 0";
	return NULL;
}

static const char *permutation_fault(const struct tensor *tensor)
{
	if (element_is_real(tensor->element) ||
	    tensor_row(tensor) - 1 > (uint64_t) element_most_whole(tensor->element))
		return "a permutation of its rows does not fit its type";
	return NULL;
}

const char *values_fault(const struct values_plan *plan, const struct tensor *tensor)
{
	if (plan->kind > VALUES_ONEHOT || plan->count > VALUES_MAX)
		return "its distribution is unknown";
	if (plan->is_sorted && plan->kind >= VALUES_LIST)
		return "sorted is for values that are drawn one by one";
	if (!has_numbers_of_type(plan, tensor->element))
		return "its distribution has a number that its type has not";
	switch ((enum values_kind) plan->kind) {
	case VALUES_UNIFORM:
	case VALUES_RANDINT:
	case VALUES_LOGUNIFORM:
		return interval_fault(plan, tensor->element);
	case VALUES_NORMAL:
		return !element_is_real(tensor->element) || plan->count != 2 || plan->reals[1] < 0
			     ? "normal is for real numbers, with sd at least 0"
			     : NULL;
	case VALUES_CHOICE:
		return plan->count == 0 ? "its choice is empty" : NULL;
	case VALUES_LIST:
		return plan->count != tensor->count ? "its list does not fill it" : NULL;
	case VALUES_PERMUTATION:
		return permutation_fault(tensor);
	case VALUES_ONEHOT:
		break;
	}
	return NULL;
}

static int resolve_exprs(const struct values *values, const int64_t *dims, uint32_t element,
			 struct values_plan *out, struct err *err)
{
	for (uint32_t i = 0; i < values->count; i++) {
		int64_t value, limit;

		if (expr_run(&values->exprs[i], dims, NULL, &value, err) < 0)
			return -1;
		limit = value;
		value -= values->is_below && value > INT64_MIN;
		if (value > element_most_whole(element) || value < element_least_whole(element))
			return yaml_err(values->node, err, "%" PRId64 " does not fit in %s", value,
					names_text(element_names, (int) element));
		if (values->is_below && limit < 1)
			return yaml_err(values->node, err, "nothing is below %" PRId64, limit);
		if (element_is_real(element))
			out->reals[i + values->is_below] = (double) value;
		else
			out->wholes[i + values->is_below] = value;
	}
	out->count = values->count + values->is_below;
	return 0;
}

int values_resolve(const struct values *values, const int64_t *dims, const struct tensor *tensor,
		   struct values_plan *out, struct err *err)
{
	struct values_plan made = {
		.kind = (uint32_t) values->kind,
		.is_sorted = values->is_sorted,
		.count = values->count,
	};
	const char *fault;
	char room[YAML_SHOWN];

	for (uint32_t i = 0; !values->exprs && i < values->count; i++) {
		if (element_is_real(tensor->element))
			made.reals[i] = values->numbers[i];
		else
			made.wholes[i] = (int64_t) values->numbers[i];
	}
	if (values->exprs && resolve_exprs(values, dims, tensor->element, &made, err) < 0)
		return -1;
	fault = values_fault(&made, tensor);
	if (fault)
		return yaml_err(values->node, err, "'%s': %s", yaml_shown(values->text, room),
				fault);
	*out = made;
	return 0;
}
