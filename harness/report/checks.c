/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/report/checks.h"

#include <string.h>

static const struct table_column columns[] = {
	/* clang-format off */
	{ "check",   "CHECK",   TABLE_LEFT },
	{ "verdict", "VERDICT", TABLE_LEFT },
	{ "how",     "HOW",     TABLE_LEFT },
	{ "found",   "FOUND",   TABLE_LEFT },
	/* clang-format on */
};

static const char *how(const struct doctor_finding *finding)
{
	return finding->is_tried ? "tried" : "read";
}

static enum table_tone tone_of(const struct doctor_finding *finding)
{
	if (doctor_refuses(finding))
		return TABLE_BAD;
	return finding->verdict == DOCTOR_OK ? TABLE_GOOD : TABLE_DOUBTFUL;
}

static void add_shown(struct str *out, const char *text)
{
	str_add_shown(out, text, strlen(text));
}

bool checks_refuse(const struct doctor *doctor)
{
	for (size_t i = 0; i < doctor->count; i++)
		if (doctor_refuses(&doctor->findings[i]))
			return true;
	return false;
}

/*
 * What is missing in its own words, what could not be seen by name: that often comes of the former,
 * or of not being root.
 */
static void add_reasons(const struct doctor *doctor, struct str *out)
{
	const char *before = "  not seen: ";

	for (size_t i = 0; i < doctor->count; i++) {
		const struct doctor_finding *finding = &doctor->findings[i];

		if (!doctor_refuses(finding) || finding->verdict != DOCTOR_MISSING)
			continue;
		str_addf(out, "  %s: ", finding->name);
		add_shown(out, finding->found);
		str_addf(out, "\n");
	}
	for (size_t i = 0; i < doctor->count; i++) {
		if (!doctor_refuses(&doctor->findings[i]) ||
		    doctor->findings[i].verdict != DOCTOR_UNKNOWN)
			continue;
		str_addf(out, "%s%s", before, doctor->findings[i].name);
		before = ", ";
	}
	str_addf(out, "%s", strcmp(before, ", ") == 0 ? "\n\n" : "\n");
}

/* Are both not seen, for the same reason? */
static bool is_alike(const struct doctor_finding *a, const struct doctor_finding *b)
{
	return a->verdict == DOCTOR_UNKNOWN && b->verdict == DOCTOR_UNKNOWN &&
	       strcmp(a->way_out, b->way_out) == 0;
}

/* Those that have one way out, once. Return: are there others than that at @first? */
static bool add_alike(const struct doctor *doctor, size_t first, struct str *out)
{
	const struct doctor_finding *finding = &doctor->findings[first];
	size_t count = 0;

	for (size_t i = 0; i < doctor->count; i++) {
		if (i == first || !is_alike(finding, &doctor->findings[i]))
			continue;
		if (i < first)
			return true;
		if (count++ == 0)
			str_addf(out, "\n%s", finding->name);
		str_addf(out, ", %s", doctor->findings[i].name);
	}
	if (count > 0)
		str_addf(out, " (unknown): not seen\n  %s\n", finding->way_out);
	return count > 0;
}

static void add_advice(const struct doctor *doctor, bool explain, struct str *out)
{
	for (size_t i = 0; i < doctor->count; i++) {
		const struct doctor_finding *finding = &doctor->findings[i];
		const bool is_ok = finding->verdict == DOCTOR_OK;

		if (!explain && (is_ok || add_alike(doctor, i, out)))
			continue;
		str_addf(out, "\n%s (%s%s): %s\n", finding->name,
			 names_text(doctor_verdict_names, (int) finding->verdict),
			 finding->is_needed ? ", needed" : "", finding->means);
		if (!is_ok)
			str_addf(out, "  %s\n", finding->way_out);
	}
}

void checks_print(const struct doctor *doctor, const struct table_style *style, bool explain,
		  struct str *out)
{
	cleanup(table_done) struct table table = TABLE_INIT;

	if (checks_refuse(doctor)) {
		str_addf(out, "a run under the default policy would be refused:\n");
		add_reasons(doctor, out);
	} else {
		str_addf(out, "all that the default policy needs is there\n\n");
	}
	table_init(&table, columns, ARRAY_LEN(columns));
	for (size_t i = 0; i < doctor->count; i++) {
		const struct doctor_finding *finding = &doctor->findings[i];

		table_text(&table, finding->name);
		table_text(&table, names_text(doctor_verdict_names, (int) finding->verdict));
		table_tone(&table, tone_of(finding));
		table_text(&table, how(finding));
		table_text(&table, finding->found);
	}
	table_print(&table, style, out);
	add_advice(doctor, explain, out);
}

void checks_put(const struct doctor *doctor, struct json_writer *json)
{
	json_put_object(json, NULL);
	json_put_text(json, "run", checks_refuse(doctor) ? "refused" : "possible");
	json_put_array(json, "why");
	for (size_t i = 0; i < doctor->count; i++)
		if (doctor_refuses(&doctor->findings[i]))
			json_put_text(json, NULL, doctor->findings[i].name);
	json_put_end(json);
	json_put_array(json, "checks");
	for (size_t i = 0; i < doctor->count; i++) {
		const struct doctor_finding *finding = &doctor->findings[i];

		json_put_object(json, NULL);
		json_put_text(json, "check", finding->name);
		json_put_text(json, "means", finding->means);
		json_put_text(json, "verdict",
			      names_text(doctor_verdict_names, (int) finding->verdict));
		json_put_bool(json, "needed", finding->is_needed);
		json_put_text(json, "how", how(finding));
		json_put_text(json, "found", finding->found);
		json_put_text(json, "way_out",
			      finding->verdict == DOCTOR_OK ? NULL : finding->way_out);
		json_put_end(json);
	}
	json_put_end(json);
	json_put_end(json);
}
