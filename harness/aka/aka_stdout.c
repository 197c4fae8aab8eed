/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_stdout.h"

#include <string.h>

#include "harness/aka/pyfloat.h"
#include "harness/aka/pytext.h"

enum {
	INT_DIGITS_MAX = 4300, /* that Python turns into a whole number */
	SIZES_MAX = 100000,    /* of all shapes: each takes much more than its letter and comma */
};

/*
 * The regular expressions are matched by hand. In none of them can what follows a repetition begin
 * with what is repeated, so taking all that can be taken is always right, and a place where a row
 * of digits does not match fails for each shorter row as well.
 */
struct cursor {
	const char *at;
	const char *end;
};

struct span {
	const char *begin;
	size_t len;
};

static size_t peek(const struct cursor *in, uint32_t *code)
{
	*code = 0;
	return pytext_next(in->at, (size_t) (in->end - in->at), code);
}

static void skip_one(struct cursor *in)
{
	uint32_t code;

	in->at += peek(in, &code);
}

/* What re.IGNORECASE takes for the same letter. */
static uint32_t fold(uint32_t code)
{
	switch (code) {
	case 0x130:
	case 0x131:
		return 'i';
	case 0x17f:
		return 's';
	case 0x212a:
		return 'k';
	default:
		return code >= 'A' && code <= 'Z' ? code - 'A' + 'a' : code;
	}
}

/* @word is in small letters; '_' in it matches '_' alone. */
static bool take_word(struct cursor *in, const char *word)
{
	struct cursor ahead = *in;
	uint32_t code;

	for (; *word != '\0'; word++) {
		size_t size = peek(&ahead, &code);

		if (size == 0 || fold(code) != (unsigned char) *word)
			return false;
		ahead.at += size;
	}
	*in = ahead;
	return true;
}

static size_t take_while(struct cursor *in, bool (*is_wanted)(uint32_t code))
{
	const char *begin = in->at;
	uint32_t code;

	for (size_t size; (size = peek(in, &code)) > 0 && is_wanted(code);)
		in->at += size;
	return (size_t) (in->at - begin);
}

static bool is_separator(uint32_t code)
{
	return code == ':' || pytext_is_space(code);
}

static bool is_number_part(uint32_t code)
{
	return code == '.' || (code >= '0' && code <= '9');
}

static bool is_shape_part(uint32_t code)
{
	return code == ',' || (code >= '0' && code <= '9') || pytext_is_space(code);
}

static bool is_digit(uint32_t code)
{
	return pytext_digit(code) >= 0;
}

static bool take_span(struct cursor *in, bool (*is_wanted)(uint32_t code), struct span *out)
{
	out->begin = in->at;
	out->len = take_while(in, is_wanted);
	return out->len > 0;
}

/* ([0-9.]+)\s*ms */
static bool take_ms(struct cursor *in, struct span *number)
{
	if (!take_span(in, is_number_part, number))
		return false;
	take_while(in, pytext_is_space);
	return take_word(in, "ms");
}

static bool at_word_end(const struct cursor *in)
{
	uint32_t code;

	return peek(in, &code) == 0 || !pytext_is_word(code);
}

/* Reads a time; what float() refuses would have ended the whole task. */
static bool read_time(struct aka_cases *cases, const struct span *number, double *out)
{
	if (pyfloat_from_text(number->begin, number->len, out))
		return true;
	cases->doubts |= AKA_DOUBT_NO_NUMBER;
	if (cases->lost_why == NULL)
		cases->lost_why =
			arena_printf(&cases->arena, "could not convert string to float: '%.*s'",
				     (int) MIN_OF(number->len, 64), number->begin);
	return false;
}

/* Test\s+case|TestCase, a number, a time */
static bool match_case(struct cursor *in, struct span *name, struct span *number)
{
	if (!take_word(in, "test"))
		return false;
	take_while(in, pytext_is_space);
	return take_word(in, "case") && take_while(in, pytext_is_space) > 0 &&
	       take_span(in, is_digit, name) && take_while(in, is_separator) > 0 &&
	       take_ms(in, number);
}

static bool match_shape(struct cursor *in, struct span *name, struct span *number)
{
	return take_word(in, "shape") && take_while(in, is_separator) > 0 && take_word(in, "[") &&
	       take_span(in, is_shape_part, name) && take_word(in, "]") &&
	       take_while(in, is_separator) > 0 && take_ms(in, number);
}

static bool match_performance(struct cursor *in, struct span *name, struct span *number)
{
	*name = (struct span){ .len = 0 };
	if (!take_word(in, "performance:"))
		return false;
	take_while(in, pytext_is_space);
	return take_ms(in, number);
}

static bool lose_number(struct aka_cases *cases, const char *begin, size_t len)
{
	cases->doubts |= AKA_DOUBT_NO_NUMBER;
	if (cases->lost_why == NULL)
		cases->lost_why = arena_printf(&cases->arena,
					       "invalid literal for int() with base 10: '%.*s'",
					       (int) MIN_OF(len, 64), begin);
	return false;
}

/* int() of one element of a shape: digits with white space around them. */
static bool read_size(struct aka_cases *cases, struct pyvalue *shape, const char *begin, size_t len)
{
	struct cursor in = { .at = begin, .end = begin + len };
	struct span digits;
	struct pyvalue *size;

	take_while(&in, pytext_is_space);
	if (!take_span(&in, is_number_part, &digits) || digits.len > INT_DIGITS_MAX)
		return lose_number(cases, begin, len);
	take_while(&in, pytext_is_space);
	if (in.at != in.end)
		return lose_number(cases, begin, len);
	while (digits.len > 1 && *digits.begin == '0') {
		digits.begin++;
		digits.len--;
	}
	size = pyvalue_new_text(&cases->arena, digits.begin, digits.len);
	size->kind = PYVALUE_INT;
	pyvalue_append(&cases->arena, shape, size);
	return true;
}

static const struct pyvalue *read_shape(struct aka_cases *cases, const struct span *name,
					size_t *sizes)
{
	struct pyvalue *shape = pyvalue_new(&cases->arena, PYVALUE_LIST);
	const char *at = name->begin, *end = name->begin + name->len;

	for (;;) {
		const char *comma = memchr(at, ',', (size_t) (end - at));
		const char *stop = comma != NULL ? comma : end;

		if (*sizes == SIZES_MAX) {
			cases->doubts |= AKA_DOUBT_TOO_LARGE;
			return NULL;
		}
		++*sizes;
		if (!read_size(cases, shape, at, (size_t) (stop - at)))
			return NULL;
		if (comma == NULL)
			return shape;
		at = comma + 1;
	}
}

static const struct pyvalue *make_id(struct aka_cases *cases, const char *begin,
				     const struct span *name, size_t index)
{
	cleanup(str_done) struct str id = STR_INIT;

	str_addf(&id, "%s", begin);
	if (name != NULL)
		str_add(&id, name->begin, name->len);
	else
		str_addf(&id, "%zu", index);
	return pyvalue_new_text(&cases->arena, id.text, id.len);
}

struct several {
	const char *id;
	const char *source;
	bool (*match)(struct cursor *in, struct span *name, struct span *number);
	bool is_numbered_by_task; /* the name is what the output says */
	bool has_shape;
};

/* Every match of one pattern, none over another. */
static void find_all(struct aka_cases *cases, const struct str *output, const struct several *what)
{
	struct cursor in = { .at = output->text, .end = output->text + output->len };
	size_t sizes = 0;

	for (size_t index = 0; in.at < in.end;) {
		struct cursor ahead = in;
		struct span name, number;
		const struct pyvalue *shape = NULL;
		struct aka_case *added;
		double ms;

		if (!what->match(&ahead, &name, &number)) {
			skip_one(&in);
			continue;
		}
		in = ahead;
		index++;
		if (what->has_shape)
			shape = read_shape(cases, &name, &sizes);
		if ((what->has_shape && shape == NULL) || !read_time(cases, &number, &ms))
			continue;
		added = aka_cases_add(cases,
				      make_id(cases, what->id,
					      what->is_numbered_by_task ? &name : NULL, index - 1));
		if (added == NULL)
			return;
		added->shape = shape;
		added->time_ms = ms;
		added->source = what->source;
	}
}

void aka_stdout_cases(struct aka_cases *cases, const struct str *output)
{
	static const struct several test_case = { "test_case_", "Test case N", match_case, true,
						  false };
	static const struct several shape = { "shape_", "Shape [...]", match_shape, false, true };
	static const struct several performance = { "perf_", "Performance", match_performance,
						    false, false };

	find_all(cases, output, &test_case);
	find_all(cases, output, &shape);
	if (cases->count == 0 && cases->lost_why == NULL)
		find_all(cases, output, &performance);
}

enum unit { UNIT_NONE, UNIT_MS, UNIT_SECONDS };

/* The order is that of its list. */
static const struct single {
	const char *first; /* the words in front, with [_\s] between them */
	const char *second;
	const char *after; /* "=", ":" and white space, or one or more of ':' and white space */
	enum unit unit;
	bool ends_word; /* a \b behind the unit */
	enum aka_doubt doubt;
} singles[] = {
	{ "geak_result_latency_ms", NULL, "=", UNIT_NONE, false, 0 },
	{ "performance", NULL, ":", UNIT_MS, false, 0 },
	{ "performance", NULL, ":", UNIT_SECONDS, false, 0 },
	{ "execution", "time", NULL, UNIT_MS, false, 0 },
	{ "execution", "time", NULL, UNIT_SECONDS, false, 0 },
	{ "elapsed", "time", NULL, UNIT_MS, false, AKA_DOUBT_HOST_TIME },
	{ "elapsed", "time", NULL, UNIT_SECONDS, false, AKA_DOUBT_HOST_TIME },
	{ "avg", "time", NULL, UNIT_MS, false, 0 },
	{ "avg", "time", NULL, UNIT_SECONDS, false, 0 },
	{ NULL, NULL, NULL, UNIT_MS, true, AKA_DOUBT_UNLABELLED_TIME },
	{ NULL, NULL, NULL, UNIT_SECONDS, true, AKA_DOUBT_UNLABELLED_TIME },
};

static bool take_label(struct cursor *in, const struct single *what)
{
	uint32_t code;
	size_t size;

	if (what->first == NULL)
		return true;
	if (!take_word(in, what->first))
		return false;
	if (what->second == NULL) {
		if (!take_word(in, what->after))
			return false;
		if (what->unit != UNIT_NONE)
			take_while(in, pytext_is_space);
		return true;
	}
	size = peek(in, &code);
	if (size == 0 || (code != '_' && !pytext_is_space(code)))
		return false;
	in->at += size;
	return take_word(in, what->second) && take_while(in, is_separator) > 0;
}

/* s(?:econds?)?, and what may have to end there */
static bool take_seconds(struct cursor *in, bool ends_word)
{
	static const char *const tails[] = { "econds", "econd", "" };

	if (!take_word(in, "s"))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(tails); i++) {
		struct cursor ahead = *in;

		if (take_word(&ahead, tails[i]) && (!ends_word || at_word_end(&ahead))) {
			*in = ahead;
			return true;
		}
	}
	return false;
}

static bool match_single(struct cursor *in, const struct single *what, struct span *number)
{
	if (!take_label(in, what) || !take_span(in, is_number_part, number))
		return false;
	if (what->unit == UNIT_NONE)
		return true;
	take_while(in, pytext_is_space);
	if (what->unit == UNIT_SECONDS)
		return take_seconds(in, what->ends_word);
	return take_word(in, "ms") && (!what->ends_word || at_word_end(in));
}

/* The next match at or behind the cursor, which is then behind it. */
static bool find_single(struct cursor *in, const struct single *what, struct span *number)
{
	while (in->at < in->end) {
		struct cursor ahead = *in;

		if (match_single(&ahead, what, number)) {
			*in = ahead;
			return true;
		}
		/* Where a row of digits fails, its rest does as well. */
		if (what->first != NULL || take_while(in, is_number_part) == 0)
			skip_one(in);
	}
	return false;
}

/* Is there a number that can be read? Only the first place counts, but for those that are none. */
static bool first_time(struct aka_cases *cases, const struct str *output, const struct single *what,
		       double *out)
{
	struct cursor in = { .at = output->text, .end = output->text + output->len };
	struct span number;

	while (find_single(&in, what, &number)) {
		if (!read_time(cases, &number, out))
			continue;
		if (find_single(&in, what, &number))
			cases->doubts |= AKA_DOUBT_REPEATED_OUTPUT;
		return true;
	}
	return false;
}

void aka_stdout_single(struct aka_cases *cases, const struct str *output)
{
	for (size_t i = 0; i < ARRAY_LEN(singles); i++) {
		struct aka_case *added;
		double ms;

		if (!first_time(cases, output, &singles[i], &ms))
			continue;
		if (singles[i].unit == UNIT_SECONDS)
			ms *= 1000.0;
		if (!(ms > 0))
			return;
		added = aka_cases_add(cases, pyvalue_new_text(&cases->arena, "test_case_0", 11));
		added->time_ms = ms;
		added->source = singles[i].first != NULL ? singles[i].first : "any number";
		cases->doubts |= singles[i].doubt;
		return;
	}
}
