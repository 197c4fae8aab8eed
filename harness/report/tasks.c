/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/report/tasks.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const struct name kind_names[] = { { "c2c", TASK_C2C }, { NULL, 0 } };
static void add_words(struct str *out, const char *const *words, size_t count, const char *between)
{
	for (size_t i = 0; i < count; i++) {
		str_addf(out, "%s", i > 0 ? between : "");
		str_add_shown(out, words[i], strlen(words[i]));
	}
}

/* ---- a list ---- */

static const struct table_column columns[] = {
	/* clang-format off */
	{ "task",      "TASK",      TABLE_LEFT },
	{ "kind",      "KIND",      TABLE_LEFT },
	{ "seen",      "SEEN",      TABLE_RIGHT },
	{ "hidden",    "HIDDEN",    TABLE_LEFT },
	{ "editable",  "EDITABLE",  TABLE_LEFT },
	{ "solutions", "SOLUTIONS", TABLE_RIGHT },
	{ "folder",    "FOLDER",    TABLE_LEFT },
	{ "summary",   "SUMMARY",   TABLE_LEFT },
	/* clang-format on */
};

void tasks_table(struct table *out)
{
	table_init(out, columns, ARRAY_LEN(columns));
}

void tasks_add(struct table *table, const struct tasks_shown *shown)
{
	const struct task *task = shown->task;
	cleanup(str_done) struct str hidden = STR_INIT, editable = STR_INIT;

	for (size_t i = 0; i < task->cases.hidden_count; i++)
		str_addf(&hidden, "%s%s", i > 0 ? "," : "",
			 names_text(category_names, task->cases.hidden[i].category));
	for (size_t i = 0; i < task->editable.count; i++)
		str_addf(&editable, "%s%s", i > 0 ? "," : "", task->editable.items[i]);
	table_text(table, task->name);
	table_text(table, names_text(kind_names, task->kind));
	table_int(table, (int64_t) task->cases.seen_count);
	table_bytes(table, hidden.text, hidden.len);
	table_bytes(table, editable.text, editable.len);
	table_int(table, (int64_t) shown->solution_count);
	table_text(table, shown->folder);
	table_text(table, task->summary);
}

/* ---- one, as text ---- */

static void add_field(struct str *out, const char *name)
{
	str_addf(out, "%-10s ", name);
}

static void add_build(struct str *out, const char *name, const struct task_build *build)
{
	add_field(out, name);
	add_words(out, build->argv.items, build->argv.count, " ");
	str_addf(out, " -> ");
	add_words(out, build->out.items, build->out.count, " ");
	str_addf(out, " (at most %" PRIu64 " s)\n", build->wall_ms / 1000);
}

static bool is_same(const struct argv *one, const struct argv *other)
{
	for (size_t i = 0; i < one->count && i < other->count; i++)
		if (strcmp(one->items[i], other->items[i]) != 0)
			return false;
	return one->count == other->count;
}

static void add_baseline(struct str *out, const struct task *task)
{
	if (!is_same(&task->baseline.argv, &task->build.argv) ||
	    !is_same(&task->baseline.out, &task->build.out) ||
	    task->baseline.wall_ms != task->build.wall_ms)
		add_build(out, "baseline", &task->baseline);
}

static void add_expr(struct str *out, const struct expr *expr)
{
	str_add_shown(out, expr->source.text, strlen(expr->source.text));
}

static void add_dims(struct str *out, const struct dims *dims)
{
	add_field(out, "dims");
	add_words(out, dims->names, dims->given, ", ");
	for (size_t i = dims->given; i < dims->count; i++) {
		str_addf(out, "; %s = ", dims->names[i]);
		add_expr(out, &dims->derived[i]);
	}
	str_addf(out, "\n");
	for (size_t i = 0; i < dims->where_count; i++) {
		add_field(out, i == 0 ? "where" : "");
		add_expr(out, &dims->where[i]);
		str_addf(out, "\n");
	}
}

/* Where an argument's values come from, and how they are judged. */
static void add_rule(struct str *out, const struct arg *arg)
{
	if (arg->role == ARG_SCALAR)
		add_expr(out, &arg->value);
	if (arg_has_values(arg))
		str_add_shown(out, arg->values.text, strlen(arg->values.text));
	if (arg->role == ARG_INOUT)
		str_addf(out, "; ");
	if (arg_has_result(arg))
		str_add_shown(out, arg->compare_text, strlen(arg->compare_text));
	if (arg->writes)
		str_addf(out, "; writes rows(%s)", arg->rows);
}

static bool is_close(const struct arg *arg)
{
	return arg_has_result(arg) && arg->compare.kind == COMPARER_CLOSE;
}

static void add_exprs(struct str *out, const struct expr *exprs, uint64_t count)
{
	str_addf(out, "[");
	for (uint64_t i = 0; i < count; i++) {
		str_addf(out, "%s", i == 0 ? "" : ", ");
		add_expr(out, &exprs[i]);
	}
	str_addf(out, "]");
}

/* A scalar has no shape, and neither has a buffer of one element. */
static void add_shape(struct str *out, const struct arg *arg)
{
	if (arg->rank > 0)
		add_exprs(out, arg->shape, arg->rank);
	if (arg->stride_count > 0) {
		str_addf(out, " strides ");
		add_exprs(out, arg->strides, arg->stride_count);
	}
	if (arg->align > 0)
		str_addf(out, "%salign %" PRIu64, out->len > 0 ? " " : "", arg->align);
}

static void add_args(struct str *out, const struct cases *cases, const struct table_style *style)
{
	static const struct table_column arg_columns[] = {
		{ "name", "ARGUMENT", TABLE_LEFT }, { "role", "ROLE", TABLE_LEFT },
		{ "type", "TYPE", TABLE_LEFT },     { "shape", "SHAPE", TABLE_LEFT },
		{ "rule", "RULE", TABLE_LEFT },
	};
	cleanup(table_done) struct table table = TABLE_INIT;
	cleanup(str_done) struct str text = STR_INIT;

	table_init(&table, arg_columns, ARRAY_LEN(arg_columns));
	for (size_t i = 0; i < cases->arg_count; i++) {
		const struct arg *arg = &cases->args[i];

		table_text(&table, arg->name);
		table_text(&table, names_text(arg_role_names, arg->role));
		table_text(&table, names_text(element_names, arg->element));
		str_clear(&text);
		add_shape(&text, arg);
		if (text.len > 0)
			table_bytes(&table, text.text, text.len);
		else
			table_text(&table, NULL);
		str_clear(&text);
		add_rule(&text, arg);
		table_bytes(&table, text.text, text.len);
	}
	str_addf(out, "\n");
	table_print(&table, style, out);
	str_addf(out, "\n");
}

static void add_cases(struct str *out, const struct cases *cases)
{
	const struct dims *dims = &cases->dims;

	for (size_t i = 0; i < cases->seen_count; i++) {
		add_field(out, i == 0 ? "seen" : "");
		for (size_t j = 0; j < dims->given; j++)
			str_addf(out, "%s%s=%" PRId64, j > 0 ? " " : "", dims->names[j],
				 cases->seen[i].dims[j]);
		str_addf(out, "\n");
	}
	for (size_t i = 0; i < cases->hidden_count; i++) {
		const struct hidden_category *hidden = &cases->hidden[i];

		add_field(out, i == 0 ? "hidden" : "");
		str_addf(out, "%" PRIu64 " %s:", hidden->cases,
			 names_text(category_names, hidden->category));
		for (size_t j = 0; j < hidden->range_count; j++) {
			str_addf(out, "%s %s=", j > 0 ? "," : "",
				 dims->names[hidden->ranges[j].dim]);
			add_expr(out, &hidden->ranges[j].value);
		}
		str_addf(out, "\n");
	}
}

/* 0 is what the policy says. */
static void add_limits(struct str *out, const struct task_limits *limits)
{
	const struct {
		const char *name, *unit;
		uint64_t value;
	} rows[] = {
		{ "wall", " s", limits->wall_ms / 1000 },
		{ "memory", " MiB", limits->memory / MIB },
		{ "pids", "", limits->pids },
		{ "workspace", " MiB", limits->workspace / MIB },
		{ "inodes", "", limits->inodes },
		{ "output", " KiB", limits->output / KIB },
	};
	bool any = false;

	add_field(out, "limits");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (rows[i].value == 0)
			continue;
		str_addf(out, "%s%s %" PRIu64 "%s", any ? ", " : "", rows[i].name, rows[i].value,
			 rows[i].unit);
		any = true;
	}
	str_addf(out, "%s\n", any ? "" : "those of the policy");
}

static void add_entry(struct str *out, const struct task *task)
{
	add_field(out, "entry");
	str_addf(out, "%s(", task->entry.symbol);
	for (size_t i = 0; i < task->cases.arg_count; i++)
		str_addf(out, "%s%s", i > 0 ? ", " : "", task->cases.args[i].name);
	str_addf(out, ")\n");
}

void tasks_print(const struct tasks_shown *shown, const struct table_style *style, struct str *out)
{
	const struct task *task = shown->task;

	str_addf(out, "%s (%s): ", task->name, names_text(kind_names, task->kind));
	str_add_shown(out, task->summary, strlen(task->summary));
	str_addf(out, "\n");
	add_field(out, "folder");
	str_add_shown(out, shown->folder, strlen(shown->folder));
	str_addf(out, "\n");
	add_field(out, "editable");
	add_words(out, task->editable.items, task->editable.count, " ");
	str_addf(out, "\n");
	add_entry(out, task);
	add_build(out, "build", &task->build);
	add_baseline(out, task);
	add_build(out, "oracle", &task->oracle.build);
	add_field(out, "check");
	add_words(out, task->check.items, task->check.count, " ");
	str_addf(out, "\n");
	add_dims(out, &task->cases.dims);
	add_args(out, &task->cases, style);
	add_cases(out, &task->cases);
	add_field(out, "mark");
	str_addf(out, "a call at most %" PRIu64 " ms, all at most %" PRIu64 " s, cold caches\n",
		 task->mark.call_wall_ms, task->mark.wall_ms / 1000);
	add_limits(out, &task->limits);
	add_field(out, "solutions");
	add_words(out, shown->solutions, shown->solution_count, " ");
	str_addf(out, "%s\n", shown->solution_count == 0 ? "none" : "");
}

/* ---- one, as JSON ---- */

static void put_words(struct json_writer *json, const char *key, const char *const *words,
		      size_t count)
{
	json_put_array(json, key);
	for (size_t i = 0; i < count; i++)
		json_put_text(json, NULL, words[i]);
	json_put_end(json);
}

static void put_build(struct json_writer *json, const char *key, const struct task_build *build)
{
	json_put_object(json, key);
	put_words(json, "argv", build->argv.items, build->argv.count);
	put_words(json, "out", build->out.items, build->out.count);
	json_put_int(json, "wall_ms", (int64_t) build->wall_ms);
	json_put_end(json);
}

static void put_dims(struct json_writer *json, const struct dims *dims)
{
	put_words(json, "dims", dims->names, dims->given);
	json_put_array(json, "derived");
	for (size_t i = dims->given; i < dims->count; i++) {
		json_put_object(json, NULL);
		json_put_text(json, "name", dims->names[i]);
		json_put_text(json, "value", dims->derived[i].source.text);
		json_put_end(json);
	}
	json_put_end(json);
	json_put_array(json, "where");
	for (size_t i = 0; i < dims->where_count; i++)
		json_put_text(json, NULL, dims->where[i].source.text);
	json_put_end(json);
}

static void put_exprs(struct json_writer *json, const char *key, const struct expr *exprs,
		      uint64_t count)
{
	json_put_array(json, key);
	for (uint64_t i = 0; i < count; i++)
		json_put_text(json, NULL, exprs[i].source.text);
	json_put_end(json);
}

static void put_args(struct json_writer *json, const struct cases *cases)
{
	json_put_array(json, "args");
	for (size_t i = 0; i < cases->arg_count; i++) {
		const struct arg *arg = &cases->args[i];
		cleanup(str_done) struct str rule = STR_INIT;

		json_put_object(json, NULL);
		json_put_text(json, "name", arg->name);
		json_put_text(json, "role", names_text(arg_role_names, arg->role));
		json_put_text(json, "type", names_text(element_names, arg->element));
		put_exprs(json, "shape", arg->shape, arg->rank);
		put_exprs(json, "strides", arg->strides, arg->stride_count);
		json_put_int(json, "align", (int64_t) arg->align);
		add_rule(&rule, arg);
		json_put_bytes(json, "rule", rule.text, rule.len);
		/* A tolerance of an exact result is none. */
		json_put_double(json, "rel", is_close(arg) ? arg->compare.rel : NAN);
		json_put_double(json, "abs", is_close(arg) ? arg->compare.abs : NAN);
		json_put_end(json);
	}
	json_put_end(json);
}

static void put_cases(struct json_writer *json, const struct cases *cases)
{
	json_put_array(json, "seen");
	for (size_t i = 0; i < cases->seen_count; i++) {
		json_put_object(json, NULL);
		for (size_t j = 0; j < cases->dims.given; j++)
			json_put_int(json, cases->dims.names[j], cases->seen[i].dims[j]);
		json_put_end(json);
	}
	json_put_end(json);
	json_put_array(json, "hidden");
	for (size_t i = 0; i < cases->hidden_count; i++) {
		const struct hidden_category *hidden = &cases->hidden[i];

		json_put_object(json, NULL);
		json_put_text(json, "category", names_text(category_names, hidden->category));
		json_put_int(json, "cases", (int64_t) hidden->cases);
		json_put_object(json, "ranges");
		for (size_t j = 0; j < hidden->range_count; j++)
			json_put_text(json, cases->dims.names[hidden->ranges[j].dim],
				      hidden->ranges[j].value.source.text);
		json_put_end(json);
		json_put_end(json);
	}
	json_put_end(json);
}

static void put_limits(struct json_writer *json, const struct task *task)
{
	json_put_object(json, "mark");
	json_put_int(json, "call_wall_ms", (int64_t) task->mark.call_wall_ms);
	json_put_int(json, "wall_ms", (int64_t) task->mark.wall_ms);
	json_put_text(json, "cache", "cold");
	json_put_end(json);
	json_put_object(json, "limits");
	json_put_int(json, "wall_ms", (int64_t) task->limits.wall_ms);
	json_put_int(json, "memory", (int64_t) task->limits.memory);
	json_put_int(json, "pids", (int64_t) task->limits.pids);
	json_put_int(json, "workspace", (int64_t) task->limits.workspace);
	json_put_int(json, "inodes", (int64_t) task->limits.inodes);
	json_put_int(json, "output", (int64_t) task->limits.output);
	json_put_end(json);
}

void tasks_put(const struct tasks_shown *shown, struct json_writer *json)
{
	const struct task *task = shown->task;

	json_put_object(json, NULL);
	json_put_text(json, "task", task->name);
	json_put_text(json, "kind", names_text(kind_names, task->kind));
	json_put_text(json, "summary", task->summary);
	json_put_text(json, "folder", shown->folder);
	put_words(json, "editable", task->editable.items, task->editable.count);
	json_put_text(json, "entry", task->entry.symbol);
	put_build(json, "build", &task->build);
	put_build(json, "baseline", &task->baseline);
	put_build(json, "oracle", &task->oracle.build);
	put_words(json, "check", task->check.items, task->check.count);
	put_dims(json, &task->cases.dims);
	put_args(json, &task->cases);
	put_cases(json, &task->cases);
	put_limits(json, task);
	put_words(json, "solutions", shown->solutions, shown->solution_count);
	json_put_end(json);
}
