/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/results.h"

#include <string.h>

#include "harness/judge/poison.h"
#include "sandbox/base/mem.h"
#include "tests/lib/check.h"
#include "tests/lib/judge_cases.h"

enum { SEED = 31, ROWS = 4, COLS = 3, STRIDE = 5 };

/*
 * A case with one output or inout of ROWS x COLS floats in rows of STRIDE, and an input with two
 * indices; what the oracle wants is 0, 1, 2…
 */
struct scene {
	struct marking_plan plan;
	struct marking_shape shape, wide;
	struct results results;
	uint8_t *inputs, *fill, *expected, *snapshot;
	float *out;
};

static struct scene *open_scene(uint32_t use, bool has_rows)
{
	struct scene *scene = mem_alloc(1, sizeof(*scene));
	struct marking_case *item = &scene->plan.cases[0];
	struct err err = ERR_INIT;
	double *want;
	int32_t *indices;

	judge_plan(&scene->plan);
	judge_add_softmax(&scene->plan, 1, 2, false);
	item->arg_count = 2;
	item->args[0].tensor = tensor_of_row(ELEMENT_I32, 2);
	item->args[0].values = (struct values_plan){ .kind = VALUES_ONEHOT };
	item->args[1].use = use;
	item->args[1].tensor =
		(struct tensor){ ELEMENT_F32, 2, ROWS * COLS, { ROWS, COLS }, { STRIDE, 1 } };
	item->args[1].values = (struct values_plan){ .kind = VALUES_ONEHOT };
	item->args[1].rows = has_rows;
	CHECK_OK(marking_plan_check(&scene->plan, &err));
	CHECK_OK(marking_shape(item, MARKING_TASK, &scene->shape, &err));
	CHECK_OK(marking_shape(item, MARKING_ORACLE, &scene->wide, &err));
	scene->inputs = mem_alloc(scene->shape.inputs.span, 1);
	scene->fill = mem_alloc(scene->shape.filled_bytes, 1);
	scene->expected = mem_alloc(scene->wide.outputs.span, 1);
	scene->snapshot = mem_alloc(scene->shape.outputs.span, 1);
	indices = (int32_t *) (void *) (scene->inputs + scene->shape.inputs.offset[0]);
	indices[0] = 2;
	indices[1] = -1; /* names no row */
	want = (double *) (void *) (scene->expected + scene->wide.outputs.offset[0]);
	poison_fill(scene->snapshot, scene->shape.outputs.span, SEED);
	scene->out = (float *) (void *) (scene->snapshot + scene->shape.outputs.offset[0]);
	for (int i = 0; i < ROWS * COLS; i++) {
		want[i] = i;
		scene->out[i / COLS * STRIDE + i % COLS] = (float) i;
	}
	/* An inout's padding, and all but row 2 of it, was there before. */
	memcpy(scene->fill, scene->out, scene->shape.filled_bytes ? 4 * (3 * STRIDE + COLS) : 0);
	if (has_rows)
		memset(scene->fill + 4 * 2 * STRIDE, 0, 4 * COLS);
	scene->results =
		(struct results){ item,        &scene->shape,   &scene->wide,    scene->inputs,
				  scene->fill, scene->expected, scene->snapshot, SEED };
	return scene;
}

static void close_scene(struct scene *scene)
{
	mem_free(&scene->inputs);
	mem_free(&scene->fill);
	mem_free(&scene->expected);
	mem_free(&scene->snapshot);
	mem_free(&scene);
}

static struct comparison look(const struct scene *scene)
{
	uint32_t arg = 9;
	struct comparison found = results_compare(&scene->results, &arg);

	CHECK_INT(arg, 1);
	return found;
}

TEST(an_output_in_padded_rows_is_right_or_wrong)
{
	struct scene *scene = open_scene(MARKING_OUTPUT, false);
	struct comparison found;

	CHECK(!look(scene).wrong);
	scene->out[STRIDE + 1] = 99;
	found = look(scene);
	CHECK(found.wrong && !found.outside && !found.unwritten);
	CHECK_INT(found.index, COLS + 1);
	CHECK(found.got == 99 && found.want == COLS + 1);
	close_scene(scene);
}

TEST(an_element_of_a_padded_row_that_nobody_wrote_is_unwritten)
{
	struct scene *scene = open_scene(MARKING_OUTPUT, false);
	uint8_t *at = (uint8_t *) &scene->out[3 * STRIDE + 2];
	struct comparison found;

	for (uint64_t i = 0; i < 4; i++)
		at[i] = poison_byte(SEED, (uint64_t) (at - scene->snapshot) + i);
	found = look(scene);
	CHECK(found.wrong && found.unwritten);
	CHECK_INT(found.index, 3 * COLS + 2);
	close_scene(scene);
}

/* Every byte of padding, of an output and of an inout. */
TEST(a_byte_of_padding_that_changed_is_outside)
{
	static const uint32_t uses[] = { MARKING_OUTPUT, MARKING_INOUT };

	for (size_t i = 0; i < ARRAY_LEN(uses); i++) {
		struct scene *scene = open_scene(uses[i], false);
		uint8_t *bytes = (uint8_t *) scene->out;

		CHECK(!look(scene).wrong);
		for (int row = 0; row + 1 < ROWS; row++) {
			for (int k = 4 * COLS; k < 4 * STRIDE; k++) {
				struct comparison found;

				bytes[4 * row * STRIDE + k] ^= 0x20;
				found = look(scene);
				CHECK(found.wrong && found.outside);
				CHECK_INT(found.index, scene->shape.outputs.offset[0] +
							       (uint64_t) (4 * row * STRIDE + k));
				bytes[4 * row * STRIDE + k] ^= 0x20;
			}
		}
		close_scene(scene);
	}
}

TEST(a_row_that_is_not_named_must_stay_to_the_last_bit)
{
	struct scene *scene = open_scene(MARKING_INOUT, true);
	struct comparison found;

	CHECK(!look(scene).wrong);
	/* The same number, and another bit. */
	CHECK(scene->out[0] == 0);
	scene->out[0] = -0.0f;
	found = look(scene);
	CHECK(found.wrong && found.outside);
	CHECK_INT(found.index, scene->shape.outputs.offset[0] + 3);
	scene->out[0] = 0;
	/* A named one is judged by its values. */
	scene->out[2 * STRIDE] = 7;
	found = look(scene);
	CHECK(found.wrong && !found.outside);
	CHECK_INT(found.index, 2 * COLS);
	close_scene(scene);
}

TEST(an_inout_that_stays_as_it_was_is_no_poison)
{
	struct scene *scene = open_scene(MARKING_INOUT, false);
	double *want = (double *) (void *) (scene->expected + scene->wide.outputs.offset[0]);
	uint32_t word = poison_word(SEED, scene->shape.outputs.offset[0] / 4);
	struct comparison found;

	/* By chance it held what would have been its poison. */
	memcpy(scene->out, &word, sizeof(word));
	want[0] = __builtin_nan("");
	found = look(scene);
	CHECK(!found.wrong);
	close_scene(scene);
}
