/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/console/table.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "sandbox/base/mem.h"

enum cell_kind {
	CELL_NONE,
	CELL_TEXT,
	CELL_INT,
	CELL_DOUBLE,
	CELL_SHARE,
	CELL_INTERVAL,
	CELL_DURATION
};

struct table_cell {
	enum cell_kind kind;
	enum table_tone tone;
	int decimals;
	int64_t number;
	double real, low, high;
	struct str text;
};

enum { GAP = 2, LAST_LEAST = 8 };

#define CUT_MARK "…"

void table_init(struct table *table, const struct table_column *columns, size_t column_count)
{
	*table = (struct table){ .columns = columns, .column_count = column_count };
}

void table_done(struct table *table)
{
	for (size_t i = 0; i < table->cell_count; i++)
		str_done(&table->cells[i].text);
	mem_free(&table->cells);
	*table = TABLE_INIT;
}

/* ---- cells ---- */

static struct table_cell *add(struct table *table, enum cell_kind kind)
{
	struct table_cell *cell;

	if (table->cell_count == table->room) {
		table->room = MAX_OF(2 * table->room, 8 * table->column_count);
		table->cells = mem_resize(table->cells, table->room, sizeof(*table->cells));
	}
	cell = &table->cells[table->cell_count++];
	*cell = (struct table_cell){ .kind = kind, .text = STR_INIT };
	return cell;
}

void table_bytes(struct table *table, const void *bytes, size_t len)
{
	str_add(&add(table, CELL_TEXT)->text, bytes, len);
}

void table_text(struct table *table, const char *text)
{
	if (text)
		table_bytes(table, text, strlen(text));
	else
		add(table, CELL_NONE);
}

void table_int(struct table *table, int64_t value)
{
	add(table, CELL_INT)->number = value;
}

void table_double(struct table *table, double value, int decimals)
{
	struct table_cell *cell = add(table, isfinite(value) ? CELL_DOUBLE : CELL_NONE);

	cell->real = value;
	cell->decimals = decimals;
}

void table_share(struct table *table, double value)
{
	add(table, isfinite(value) ? CELL_SHARE : CELL_NONE)->real = value;
}

void table_interval(struct table *table, double center, double low, double high)
{
	struct table_cell *cell = add(table, isfinite(center) ? CELL_INTERVAL : CELL_NONE);

	cell->real = center;
	cell->low = low;
	cell->high = high;
}

void table_duration(struct table *table, int64_t ns)
{
	add(table, ns >= 0 ? CELL_DURATION : CELL_NONE)->number = ns;
}

void table_tone(struct table *table, enum table_tone tone)
{
	assert(table->cell_count > 0);
	table->cells[table->cell_count - 1].tone = tone;
}

/* ---- text ---- */

void table_add_duration(struct str *out, int64_t ns)
{
	const int64_t seconds = ns / NS_PER_S + (ns % NS_PER_S >= NS_PER_S / 2);

	if (ns < 10 * NS_PER_S - NS_PER_S / 2)
		str_addf(out, "%.2f s", (double) ns / 1e9);
	else if (seconds < 60)
		str_addf(out, "%lld s", (long long) seconds);
	else if (seconds < 3600)
		str_addf(out, "%lld:%02d", (long long) (seconds / 60), (int) (seconds % 60));
	else
		str_addf(out, "%lld:%02d:%02d", (long long) (seconds / 3600),
			 (int) (seconds / 60 % 60), (int) (seconds % 60));
}

void table_add_double(struct str *out, double value, int decimals)
{
	if (fabs(value) < 1e6)
		str_addf(out, "%.*f", decimals, value);
	else
		str_addf(out, "%.3g", value);
}

static void add_bound(struct str *out, double bound)
{
	if (isfinite(bound))
		table_add_double(out, bound, 2);
	else
		str_addf(out, "?");
}

static void show(const struct table_cell *cell, struct str *out)
{
	switch (cell->kind) {
	case CELL_NONE:
		str_addf(out, "-");
		break;
	case CELL_TEXT:
		str_add_shown(out, cell->text.text, cell->text.len);
		break;
	case CELL_INT:
		str_addf(out, "%lld", (long long) cell->number);
		break;
	case CELL_DOUBLE:
		table_add_double(out, cell->real, cell->decimals);
		break;
	case CELL_SHARE:
		str_addf(out, "%.0f %%", 100 * cell->real);
		break;
	case CELL_INTERVAL:
		table_add_double(out, cell->real, 2);
		str_addf(out, " [");
		add_bound(out, cell->low);
		str_addf(out, ", ");
		add_bound(out, cell->high);
		str_addf(out, "]");
		break;
	case CELL_DURATION:
		table_add_duration(out, cell->number);
		break;
	}
}

/* The code point at the start of valid UTF-8, and its length. */
static uint32_t decode(const uint8_t *at, size_t len, size_t *used)
{
	const size_t need = at[0] < 0x80 ? 1 : at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
	uint32_t code = need == 1 ? at[0] : at[0] & (0xffu >> (need + 1));

	*used = MIN_OF(need, len);
	for (size_t i = 1; i < *used; i++)
		code = code << 6 | (at[i] & 0x3f);
	return code;
}

/* Blocks of the Unicode tables, not single code points: enough to keep columns aligned. */
static size_t code_width(uint32_t code)
{
	/* clang-format off */
	static const struct range { uint32_t first, last; } none[] = {
		{ 0x300, 0x36f },   { 0x200b, 0x200d }, { 0x20d0, 0x20ff },
		{ 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f }, { 0xfeff, 0xfeff },
	}, two[] = {
		{ 0x1100, 0x115f },   { 0x2e80, 0x303e },   { 0x3041, 0xa4cf },  { 0xac00, 0xd7a3 },
		{ 0xf900, 0xfaff },   { 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },  { 0xffe0, 0xffe6 },
		{ 0x1f300, 0x1f64f }, { 0x1f680, 0x1f6ff }, { 0x1f900, 0x1f9ff },
		{ 0x20000, 0x3fffd },
	};
	/* clang-format on */

	for (size_t i = 0; i < ARRAY_LEN(none); i++)
		if (code >= none[i].first && code <= none[i].last)
			return 0;
	for (size_t i = 0; i < ARRAY_LEN(two); i++)
		if (code >= two[i].first && code <= two[i].last)
			return 2;
	return 1;
}

size_t table_text_width(const char *text, size_t len)
{
	const uint8_t *at = (const uint8_t *) text;
	size_t width = 0;

	while (len > 0) {
		size_t used = 0;

		width += code_width(decode(at, len, &used));
		at += used;
		len -= used;
	}
	return width;
}

void table_cut(struct str *text, size_t width)
{
	cleanup(str_done) struct str cut = STR_INIT;
	size_t at = 0, taken = 1; /* the mark */

	if (table_text_width(text->text, text->len) <= width)
		return;
	while (at < text->len) {
		size_t used = 0;
		size_t more = code_width(
			decode((const uint8_t *) text->text + at, text->len - at, &used));

		if (taken + more > width)
			break;
		taken += more;
		at += used;
	}
	str_add(&cut, text->text, at);
	str_addf(&cut, CUT_MARK);
	str_clear(text);
	str_add(text, cut.text, cut.len);
}

static void add_spaces(struct str *out, size_t count)
{
	for (size_t i = 0; i < count; i++)
		str_add(out, " ", 1);
}

static const char *tone_code(enum table_tone tone)
{
	switch (tone) {
	case TABLE_GOOD:
		return "\033[32m";
	case TABLE_BAD:
		return "\033[31m";
	case TABLE_DOUBTFUL:
		return "\033[33m";
	case TABLE_DIM:
		return "\033[2m";
	case TABLE_PLAIN:
		break;
	}
	return "";
}

struct layout {
	const struct table *table;
	const struct table_style *style;
	size_t *columns; /* which are shown */
	size_t *widths;  /* of each of them */
	size_t count;
	size_t last_width;
};

static void add_cell(const struct layout *layout, size_t shown, const char *tone, struct str *text,
		     struct str *out)
{
	const struct table_column *column = &layout->table->columns[layout->columns[shown]];
	const bool is_last = shown + 1 == layout->count;
	size_t pad;

	if (is_last && layout->style->width > 0)
		table_cut(text, layout->last_width);
	pad = layout->widths[shown];
	pad -= MIN_OF(pad, table_text_width(text->text, text->len));
	if (column->align == TABLE_RIGHT)
		add_spaces(out, pad);
	/* Escapes are put around the text alone, so they do not disturb the widths. */
	if (layout->style->has_color && tone[0] != '\0')
		str_addf(out, "%s%s\033[0m", tone, text->text);
	else
		str_add(out, text->text, text->len);
	if (is_last) {
		str_add(out, "\n", 1);
		return;
	}
	if (column->align == TABLE_LEFT)
		add_spaces(out, pad);
	add_spaces(out, GAP);
}

static const struct table_cell *cell_at(const struct layout *layout, size_t row, size_t shown)
{
	const struct table *table = layout->table;

	return &table->cells[row * table->column_count + layout->columns[shown]];
}

static void measure(struct layout *layout, size_t rows)
{
	cleanup(str_done) struct str text = STR_INIT;
	size_t before_last = 0;

	for (size_t i = 0; i < layout->count; i++) {
		const char *title = layout->table->columns[layout->columns[i]].title;

		layout->widths[i] = table_text_width(title, strlen(title));
		for (size_t row = 0; row < rows; row++) {
			str_clear(&text);
			show(cell_at(layout, row, i), &text);
			layout->widths[i] =
				MAX_OF(layout->widths[i], table_text_width(text.text, text.len));
		}
	}
	for (size_t i = 0; i + 1 < layout->count; i++)
		before_last += layout->widths[i] + GAP;
	layout->last_width = layout->style->width > before_last + LAST_LEAST
				   ? layout->style->width - before_last
				   : LAST_LEAST;
}

static void print(struct layout *layout, struct str *out)
{
	const struct table *table = layout->table;
	cleanup(mem_free) size_t *widths = mem_alloc(layout->count + 1, sizeof(*widths));
	cleanup(str_done) struct str text = STR_INIT;
	size_t rows;

	assert(table->column_count > 0 && table->cell_count % table->column_count == 0);
	rows = table->cell_count / table->column_count;
	layout->widths = widths;
	measure(layout, rows);
	for (size_t i = 0; i < layout->count; i++) {
		str_clear(&text);
		str_addf(&text, "%s", table->columns[layout->columns[i]].title);
		add_cell(layout, i, "\033[1m", &text, out);
	}
	for (size_t row = 0; row < rows; row++) {
		for (size_t i = 0; i < layout->count; i++) {
			const struct table_cell *cell = cell_at(layout, row, i);

			str_clear(&text);
			show(cell, &text);
			add_cell(layout, i, tone_code(cell->tone), &text, out);
		}
	}
}

void table_print(const struct table *table, const struct table_style *style, struct str *out)
{
	cleanup(mem_free) size_t *columns = mem_alloc(table->column_count, sizeof(*columns));
	struct layout layout = {
		.table = table,
		.style = style,
		.columns = columns,
		.count = table->column_count,
	};

	for (size_t i = 0; i < table->column_count; i++)
		columns[i] = i;
	print(&layout, out);
}

void table_print_some(const struct table *table, const char *const *keys, size_t key_count,
		      const struct table_style *style, struct str *out)
{
	cleanup(mem_free) size_t *columns = mem_alloc(key_count + 1, sizeof(*columns));
	struct layout layout = { .table = table, .style = style, .columns = columns };

	for (size_t i = 0; i < key_count; i++)
		for (size_t column = 0; column < table->column_count; column++)
			if (strcmp(keys[i], table->columns[column].key) == 0)
				columns[layout.count++] = column;
	print(&layout, out);
}

/* ---- JSON ---- */

static void put_cell(const struct table_cell *cell, struct json_writer *json, const char *key)
{
	switch (cell->kind) {
	case CELL_NONE:
		json_put_null(json, key);
		break;
	case CELL_TEXT:
		json_put_bytes(json, key, cell->text.text, cell->text.len);
		break;
	case CELL_INT:
	case CELL_DURATION:
		json_put_int(json, key, cell->number);
		break;
	case CELL_DOUBLE:
	case CELL_SHARE:
		json_put_double(json, key, cell->real);
		break;
	case CELL_INTERVAL:
		json_put_array(json, key);
		json_put_double(json, NULL, cell->real);
		json_put_double(json, NULL, cell->low);
		json_put_double(json, NULL, cell->high);
		json_put_end(json);
		break;
	}
}

void table_put(const struct table *table, struct json_writer *json, const char *key)
{
	assert(table->cell_count % table->column_count == 0);
	json_put_array(json, key);
	for (size_t i = 0; i < table->cell_count; i++) {
		const size_t column = i % table->column_count;

		if (column == 0)
			json_put_object(json, NULL);
		put_cell(&table->cells[i], json, table->columns[column].key);
		if (column + 1 == table->column_count)
			json_put_end(json);
	}
	json_put_end(json);
}

/* ---- CSV ---- */

/* The shortest decimal that reads back, as in JSON; what is not finite is nothing to say. */
static void add_number(struct str *out, double value)
{
	cleanup(str_done) struct str text = STR_INIT;
	struct json_writer json;

	if (!isfinite(value))
		return;
	json_writer_init(&json, &text);
	json_put_array(&json, NULL);
	json_put_double(&json, NULL, value);
	json_put_end(&json);
	str_add(out, text.text + 1, text.len - 2); /* without the brackets */
}

/*
 * A spreadsheet takes a text that begins so for a formula, and evaluates it: what others have
 * written is marked as a text. A tab or a line's end is escaped already.
 */
static bool is_formula(const struct str *text)
{
	return text->len > 0 && strchr("=+-@", text->text[0]);
}

static void add_field(struct str *out, const struct str *text)
{
	cleanup(str_done) struct str shown = STR_INIT;

	if (is_formula(text))
		str_add(&shown, "'", 1);
	str_add_shown(&shown, text->text, text->len);
	if (!strpbrk(shown.text, ",\"\r\n")) {
		str_add(out, shown.text, shown.len);
		return;
	}
	str_add(out, "\"", 1);
	for (size_t i = 0; i < shown.len; i++)
		str_add(out, shown.text[i] == '"' ? "\"\"" : &shown.text[i],
			shown.text[i] == '"' ? 2 : 1);
	str_add(out, "\"", 1);
}

static void add_fields(struct str *out, const struct table_cell *cell, bool is_interval)
{
	switch (cell->kind) {
	case CELL_NONE:
		break;
	case CELL_TEXT:
		add_field(out, &cell->text);
		break;
	case CELL_INT:
	case CELL_DURATION:
		str_addf(out, "%lld", (long long) cell->number);
		break;
	case CELL_DOUBLE:
	case CELL_SHARE:
	case CELL_INTERVAL:
		add_number(out, cell->real);
		break;
	}
	if (!is_interval)
		return;
	str_add(out, ",", 1);
	if (cell->kind == CELL_INTERVAL)
		add_number(out, cell->low);
	str_add(out, ",", 1);
	if (cell->kind == CELL_INTERVAL)
		add_number(out, cell->high);
}

static void add_end(struct str *out, bool is_last)
{
	str_add(out, is_last ? "\n" : ",", 1);
}

void table_add_csv(const struct table *table, struct str *out)
{
	const size_t columns = table->column_count;

	assert(table->cell_count % columns == 0);
	for (size_t i = 0; i < columns; i++) {
		const char *key = table->columns[i].key;

		str_addf(out, "%s", key);
		if (table->columns[i].is_interval)
			str_addf(out, ",%s_low,%s_high", key, key);
		add_end(out, i + 1 == columns);
	}
	for (size_t i = 0; i < table->cell_count; i++) {
		add_fields(out, &table->cells[i], table->columns[i % columns].is_interval);
		add_end(out, (i + 1) % columns == 0);
	}
}
