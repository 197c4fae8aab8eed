/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/cases.h"

#include <string.h>

#include "sandbox/base/str.h"
#include "tests/lib/check.h"

/* Reads a file with the keys seen, dims, where, args, order (the entry's args) and hidden. */
static int read_cases(struct arena *arena, const char *text, struct cases *cases, struct err *err)
{
	const struct yaml_node *root = yaml_parse(arena, "t.yaml", text, strlen(text), err);
	struct cases_nodes nodes;

	*cases = (struct cases){ .seen_count = 0 };
	if (!root)
		return -1;
	nodes = (struct cases_nodes){
		.dims = yaml_find(root, "dims"),
		.where = yaml_find(root, "where"),
		.args = yaml_find(root, "args"),
		.entry_args = yaml_find(root, "order"),
		.seen = yaml_find(root, "seen"),
		.hidden = yaml_find(root, "hidden"),
	};
	return cases_read(&nodes, arena, cases, err);
}

#define SEEN   "seen: [{B: 2, L: 100}, {B: 4, L: 300}]\n"
#define DIMS   "dims: {M: 'cdiv(L, 16)'}\n"
#define WHERE  "where: ['B * L <= 100000']\n"
#define X      "x: {in: f32, shape: [B, L], values: 'uniform(0, 1)'}"
#define Y      "y: {out: f32, shape: [B, M], compare: 'close(rel=0, abs=0)'}"
#define N      "n: {scalar: i32, value: B*L}"
#define ARGS   "args: {" X ", " Y ", " N "}\n"
#define ORDER  "order: [y, x, n, M]\n"
#define HIDDEN "hidden: {odd: {cases: 2, B: 'prime(3, 61)', L: 2*L}}\n"
#define GOOD   SEEN DIMS WHERE ARGS ORDER HIDDEN

TEST(a_case_resolves_to_sizes_and_scalars)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	struct task_case made;
	struct cases cases;

	CHECK_OK(read_cases(&arena, GOOD, &cases, &err));
	CHECK_INT(cases.seen_count, 2);
	CHECK_INT(cases.arg_count, 4);
	CHECK_STR(cases.args[0].name, "y");
	CHECK_INT(cases.args[3].role, ARG_SCALAR);
	CHECK_INT(cases.args[3].element, ELEMENT_I64);
	CHECK_OK(cases_resolve(&cases, cases.seen[1].dims, &made, &err));
	CHECK_INT(made.args[0].tensor.count, 4 * 19);
	CHECK_INT(made.args[0].bytes, 4 * 19 * 4);
	CHECK_INT(made.args[1].bytes, 4 * 300 * 4);
	CHECK_INT(made.args[2].whole, 1200);
	CHECK_INT(made.args[3].whole, 19);
	CHECK_INT(made.bytes, 4 * 19 * 4 + 4 * 300 * 4);
	CHECK_INT(made.dims[2], 19);
	CHECK_INT(made.dims[3], made.bytes);
}

TEST(a_case_that_is_not_allowed_is_refused_and_leaves_nothing)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	struct task_case made = { .bytes = 77 };
	struct cases cases;

	CHECK_OK(read_cases(&arena, GOOD, &cases, &err));
	CHECK_INT(cases_resolve(&cases, (const int64_t[]){ 1001, 100 }, &made, &err), -1);
	CHECK_STR(err.text,
		  "t.yaml:3: key 'where': 'B * L <= 100000' is not true with B=1001, L=100, "
		  "M=7, bytes=428428");
	CHECK_INT(cases_resolve(&cases, (const int64_t[]){ 0, 100 }, &made, &err), -1);
	CHECK_STR(err.text, "t.yaml:4: key 'shape': 'B' is 0; an extent is at least 1");
	CHECK_INT(cases_resolve(&cases, (const int64_t[]){ 1 << 20, 1 << 20 }, &made, &err), -1);
	CHECK_STR(err.text, "t.yaml:4: argument 'y': it is larger than 1GiB");
	CHECK_INT(made.bytes, 77);
}

struct recorded {
	const uint64_t *values;
	size_t used;
};

static uint64_t next_recorded(void *user)
{
	struct recorded *recorded = user;

	return recorded->values[recorded->used++];
}

TEST(a_hidden_case_follows_from_the_random_values_alone)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	/* The second seen case; the last prime up to 61. */
	static const uint64_t values[] = { UINT64_MAX, UINT64_MAX };
	struct recorded recorded = { values, 0 };
	const struct expr_draw draw = { next_recorded, &recorded };
	struct err err = ERR_INIT;
	struct task_case made;
	struct cases cases;

	CHECK_OK(read_cases(&arena, GOOD, &cases, &err));
	CHECK_OK(cases_draw(&cases, 0, &draw, &made, &err));
	CHECK_INT(made.dims[0], 61);
	CHECK_INT(made.dims[1], 600);
	CHECK_INT(recorded.used, 2);
}

TEST(a_drawn_case_that_is_not_allowed_or_seen_is_drawn_again)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	/* First case, B too large; first case with B = 2, which is seen; first case with B = 3. */
	static const uint64_t values[] = { 0, UINT64_MAX, 0, 0, 0, UINT64_C(1) << 54 };
	struct recorded recorded = { values, 0 };
	const struct expr_draw draw = { next_recorded, &recorded };
	struct err err = ERR_INIT;
	struct task_case made;
	struct cases cases;

	CHECK_OK(read_cases(&arena,
			    SEEN DIMS WHERE ARGS ORDER
			    "hidden: {up: {cases: 1, B: 'range(2, 1025)'}}\n",
			    &cases, &err));
	CHECK_OK(cases_draw(&cases, 0, &draw, &made, &err));
	CHECK_INT(err.kind, ERR_NONE); /* whoever asks later takes a leftover for a failure */
	CHECK_INT(made.dims[0], 3);
	CHECK_INT(made.dims[1], 100);
	CHECK_INT(recorded.used, 6);
}

static uint64_t next_zero(void *user)
{
	(*(size_t *) user)++;
	return 0;
}

TEST(a_category_is_given_up_after_a_bounded_number_of_draws)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	size_t used = 0;
	const struct expr_draw draw = { next_zero, &used };
	struct err err = ERR_INIT;
	struct task_case made;
	struct cases cases;

	CHECK_OK(read_cases(
		&arena, SEEN DIMS WHERE ARGS ORDER "hidden:\n  up: {cases: 1, B: 'range(2, 99)'}\n",
		&cases, &err));
	CHECK_INT(cases_draw(&cases, 0, &draw, &made, &err), -1);
	CHECK_INT(used, 2 * CASES_TRIES);
	CHECK_STR(err.text,
		  "t.yaml:7: key 'up': none of 32 draws is a case that the task allows; the "
		  "last: the case drawn is one of the seen cases");
}

static const struct mistake {
	const char *text, *error;
} mistakes[] = {
	{ "seen: [{}]\n" ARGS ORDER HIDDEN,
	  "t.yaml:1: key 'seen': a case has to give at least one dimension" },
	{ "seen: [{B: 1, L: 2}, {B: 1}]\n" DIMS ARGS ORDER HIDDEN,
	  "t.yaml:1: key 'seen': every case has to give the same 2 dimensions, as the "
	  "first "
	  "does" },
	{ "seen: [{B: 1, L: 2},\n {B: 1, K: 2}]\n" DIMS ARGS ORDER HIDDEN,
	  "t.yaml:2: key 'K': the first case does not have this dimension; all cases have "
	  "the same" },
	{ "seen: [{B: 1, L: 2}, {L: 2, B: 1}]\n" DIMS ARGS ORDER HIDDEN,
	  "t.yaml:1: key 'seen': this case is given twice" },
	{ "seen: [{B: 1, L: -2}]\n" DIMS ARGS ORDER HIDDEN,
	  "t.yaml:1: key 'L': '-2' is not a whole number within 0..2^40" },
	{ "seen: [{B: 1, L: 1099511627777}]\n" DIMS ARGS ORDER HIDDEN,
	  "t.yaml:1: key 'L': '1099511627777' is not a whole number within 0..2^40" },
	{ "seen: [{B: 1, L: [2]}]\n" DIMS ARGS ORDER HIDDEN,
	  "t.yaml:1: key 'L': a list is not a whole number within 0..2^40" },
	{ "seen: [{B: 1, L: 1}, {B: 0, L: 1}]\n" DIMS ARGS ORDER HIDDEN,
	  "seen case 2 (line 1): t.yaml:3: key 'shape': 'B' is 0; an extent is at least "
	  "1" },
	{ "seen: [{B: 1001, L: 100}]\n" WHERE DIMS ARGS ORDER HIDDEN,
	  "seen case 1 (line 1): t.yaml:2: key 'where': 'B * L <= 100000' is not true with "
	  "B=1001, L=100, M=7, bytes=428428" },
	{ SEEN DIMS "args: {" X "}\norder: [x]\n" HIDDEN,
	  "t.yaml:3: key 'args': no argument has the key 'out' or 'inout', so there is "
	  "nothing to mark" },
	{ SEEN DIMS "args: {" Y ",\n B: {scalar: i32, value: 1}}\norder: [y]\n" HIDDEN,
	  "t.yaml:4: key 'B': a dimension has this name already" },
	{ SEEN DIMS "args: {" Y ",\n a-b: {scalar: i32, value: 1}}\norder: [y]\n" HIDDEN,
	  "t.yaml:4: key 'a-b': an argument has a name of letters, digits and _" },
	{ SEEN DIMS ARGS "order: [x, y]\n" HIDDEN,
	  "t.yaml:3: key 'n': the entry's args do not list this argument" },
	{ SEEN DIMS ARGS "order: [x, y, n, x]\n" HIDDEN,
	  "t.yaml:4: key 'order': 'x' is listed twice" },
	{ SEEN DIMS ARGS "order: [x, y, n, m]\n" HIDDEN,
	  "t.yaml:4: key 'order': 'm' is neither in args nor a dimension; the nearest "
	  "argument is 'x'" },
	{ SEEN DIMS ARGS "order: [x, [y], n]\n" HIDDEN,
	  "t.yaml:4: key 'order': it has to be a list of names of arguments" },
	{ SEEN DIMS ARGS ORDER "hidden: {big: {cases: 1, B: 7}}\n",
	  "t.yaml:5: key 'big': a category is one of: odd, up, down, edge, asymmetric, "
	  "production" },
	{ SEEN DIMS ARGS ORDER "hidden: {odd: {B: 7}}\n",
	  "t.yaml:5: key 'odd': a hidden category lacks the key 'cases' (how many cases "
	  "are "
	  "drawn)" },
	{ SEEN DIMS ARGS ORDER "hidden: {odd: {cases: 17, B: 7}}\n",
	  "t.yaml:5: key 'cases': '17' is not within 1..16" },
	{ SEEN DIMS ARGS ORDER "hidden: {odd: {cases: 1}}\n",
	  "t.yaml:5: key 'odd': it has to give the range of at least one dimension" },
	{ SEEN DIMS ARGS ORDER "hidden: {odd: {cases: 1, M: 7}}\n",
	  "t.yaml:5: key 'M': the seen cases do not give this dimension" },
	{ SEEN DIMS ARGS ORDER "hidden: {odd: {cases: 1, B: M}}\n",
	  "t.yaml:5:29: key 'B': 'M': no dimension defined up to here is called 'M'" },
	{ SEEN DIMS ARGS ORDER "hidden: {production: {cases: 1, from: [llama]}}\n",
	  "t.yaml:5: key 'from': 'from' is not supported yet by this version; leave it "
	  "out" },
	{ SEEN DIMS ARGS ORDER "hidden: {edge: {cases: 1, B: -1}}\n",
	  "t.yaml:5: key 'edge': none of 32 draws is a case that the task allows; the "
	  "last: B "
	  "is -1, which is not within 0..2^40" },
	{ SEEN DIMS ARGS ORDER "hidden: {edge: {cases: 1, B: 'range(3, 2)'}}\n",
	  "t.yaml:5: key 'edge': none of 32 draws is a case that the task allows; the "
	  "last: "
	  "t.yaml:5:31: key 'B': 'range(3, 2)': the interval to draw from is empty" },
	{ SEEN DIMS ARGS ORDER
	  "hidden:\n  odd: {cases: 16, B: 'range(5, 99)'}\n  up: {cases: 16, B: 'range(5, "
	  "99)'}\n  down: {cases: 16, B: 'range(5, 99)'}\n  edge: {cases: 15, B: 'range(5, "
	  "99)'}\n",
	  "t.yaml:6: key 'hidden': seen and hidden cases together are 65; 64 are the "
	  "most" },
};

TEST(a_mistake_in_the_cases_is_named)
{
	for (size_t i = 0; i < ARRAY_LEN(mistakes); i++) {
		cleanup(arena_done) struct arena arena = ARENA_INIT;
		struct err err = ERR_INIT;
		struct cases made;

		CHECK_INT(read_cases(&arena, mistakes[i].text, &made, &err), -1);
		CHECK_STR(err.text, mistakes[i].error);
		CHECK_INT(err.kind, ERR_INPUT);
	}
}

#define SLOTS "i: {in: i32, shape: [B], values: below(L)}"
#define CACHE "c: {inout: f32, shape: [L, 8], values: zeros, compare: exact, writes: rows(i)}"

/* Thirty dimensions, each of so many primes; every eighth draw is allowed. */
static void read_many(const char *term, int terms, struct err *err, int64_t *result)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	cleanup(str_done) struct str seen = STR_INIT, ranges = STR_INIT, text = STR_INIT;
	struct cases cases;

	for (int i = 0; i < 30; i++) {
		str_addf(&seen, ", d%d: 2", i);
		str_addf(&ranges, ", d%d: '1", i);
		for (int k = 0; k < terms; k++)
			str_addf(&ranges, "+0*%s", term);
		str_addf(&ranges, "'");
	}
	str_addf(&text,
		 "seen: [{n: 8%s}]\nwhere: ['n %% 8 == 0']\n"
		 "args: {y: {out: f32, shape: [n], compare: 'close(rel=0, abs=0)'}}\n"
		 "order: [y]\nhidden:\n",
		 seen.text);
	for (int i = 0; i < 3; i++)
		str_addf(&text, "  %s: {cases: 16, n: 'range(9, 4000)'%s}\n",
			 names_text(category_names, i), ranges.text);
	*result = read_cases(&arena, text.text, &cases, err);
}

TEST(cases_that_take_long_to_try_are_refused)
{
	struct err err = ERR_INIT;
	int64_t result;

	read_many("prime(7,11)", 9, &err, &result);
	CHECK_INT(result, -1);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK(strstr(err.text, "t.yaml:6: key 'odd': to try the cases up to here takes more than "
			       "100000000 steps"));
	read_many("range(7,11)", 9, &err, &result);
	CHECK_INT(result, 0);
}

TEST(a_question_for_primes_takes_steps_as_well)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	cleanup(str_done) struct str text = STR_INIT;
	struct err err = ERR_INIT;
	struct cases cases;

	str_addf(&text, "dims: {");
	for (int i = 0; i < 30; i++) {
		str_addf(&text, "%sd%d: '1", i > 0 ? ", " : "", i);
		for (int k = 0; k < 22; k++)
			str_addf(&text, "+prime(n)");
		str_addf(&text, "'");
	}
	str_addf(&text, "}\nargs: {y: {out: f32, shape: [1], compare: 'close(rel=0, abs=0)'}}\n"
			"order: [y]\nseen: [{n: 16777213}]\n"
			"hidden:\n  odd: {cases: 16, n: 'range(2, 16777212)'}\n"
			"  up: {cases: 16, n: 'range(2, 16777212)'}\n"
			"  down: {cases: 16, n: 'range(2, 16777212)'}\n"
			"  edge: {cases: 15, n: 'range(2, 16777212)'}\n");
	CHECK_OK(read_cases(&arena, text.text, &cases, &err));
	str_addf(&text, "where: ['prime(n) == 1']\n");
	CHECK_INT(read_cases(&arena, text.text, &cases, &err), -1);
	CHECK(strstr(err.text, "to try the cases up to here takes more than 100000000 steps"));
}

TEST(rows_are_named_by_an_input_of_a_whole_type)
{
	static const struct {
		const char *args, *order, *why;
	} rows[] = {
		{ CACHE, "c", "'i'" },
		{ CACHE ", i: {in: f32, shape: [B], values: zeros}", "c, i", "'i'" },
		{ CACHE ", i: {scalar: i32, value: B}", "c, i", "'i'" },
		{ CACHE ", i: {out: i32, shape: [B], compare: exact}", "i, c", "'i'" },
	};
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	struct cases cases;

	CHECK_OK(read_cases(&arena, SEEN "args: {" CACHE ", " SLOTS "}\norder: [c, i]\n" HIDDEN,
			    &cases, &err));
	CHECK_INT(cases_find_arg(&cases, "i"), 1);
	CHECK_INT(cases_find_arg(&cases, "j"), -1);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		err = ERR_INIT;
		CHECK_INT(read_cases(&arena,
				     arena_printf(&arena, SEEN "args: {%s}\norder: [%s]\n" HIDDEN,
						  rows[i].args, rows[i].order),
				     &cases, &err),
			  -1);
		CHECK_STR(err.text,
			  arena_printf(&arena,
				       "t.yaml:2: key 'writes': %s is not an argument with the key "
				       "'in' and a whole type, which could say the rows",
				       rows[i].why));
	}
}

TEST(bytes_counts_every_buffer_with_its_padding)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct err err = ERR_INIT;
	struct task_case made;
	struct cases cases;

	CHECK_OK(read_cases(&arena,
			    SEEN
			    "args: {x: {in: i4, shape: [B, 10], strides: [16], values: zeros}, "
			    "y: {inout: f16, shape: [L], values: zeros, compare: exact}, "
			    "w: {scratch: f64, shape: [L]}}\norder: [x, y, w]\n" HIDDEN,
			    &cases, &err));
	CHECK_OK(cases_resolve(&cases, cases.seen[0].dims, &made, &err));
	CHECK_INT(made.args[0].bytes, 13);
	CHECK_INT(made.args[1].bytes, 200);
	CHECK_INT(made.args[2].bytes, 800);
	CHECK_INT(made.bytes, 1013);
}
