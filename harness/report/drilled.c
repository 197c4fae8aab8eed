/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/report/drilled.h"

#include <string.h>
#include <time.h>

#include "harness/build_config.h"
#include "sandbox/base/clock.h"

/* clang-format off */
static const struct table_column columns[] = {
	{ "attack",   "ATTACK",   TABLE_LEFT },
	{ "wall",     "WALL",     TABLE_LEFT },
	{ "expected", "EXPECTED", TABLE_LEFT },
	{ "seen",     "SEEN",     TABLE_LEFT },
	{ "time",     "TIME",     TABLE_RIGHT },
	{ "what",     "WHAT",     TABLE_LEFT },
};

static const struct table_column list_columns[] = {
	{ "attack",   "ATTACK",   TABLE_LEFT },
	{ "wall",     "WALL",     TABLE_LEFT },
	{ "expected", "EXPECTED", TABLE_LEFT },
	{ "control",  "CONTROL",  TABLE_LEFT },
	{ "gain",     "IF IT GETS THROUGH IT HAS", TABLE_LEFT },
};
/* clang-format on */

static const char *seen_text(const struct drill_result *result)
{
	if (result->seen == DRILL_GOT && corpus_is_known(result->attack))
		return "known";
	return names_text(drill_seen_names, (int) result->seen);
}

static enum table_tone tone_of(const struct drill_result *result)
{
	switch (result->seen) {
	case DRILL_HELD:
		return TABLE_GOOD;
	case DRILL_GOT:
		return corpus_is_known(result->attack) ? TABLE_DOUBTFUL : TABLE_BAD;
	case DRILL_NOT_HERE:
		return TABLE_DIM;
	case DRILL_BROKEN:
	case DRILL_SEEN_KINDS:
		break;
	}
	return TABLE_DOUBTFUL;
}

static size_t count_known(const struct drill_report *report)
{
	size_t count = 0;

	for (size_t i = 0; i < report->count; i++)
		count += report->results[i].seen == DRILL_GOT &&
			 corpus_is_known(report->results[i].attack);
	return count;
}

size_t drilled_count(const struct drill_report *report, enum drill_seen seen)
{
	size_t count = 0;

	for (size_t i = 0; i < report->count; i++)
		count += report->results[i].seen == seen;
	return seen == DRILL_GOT ? count - count_known(report) : count;
}

/* What the reader is here for: each that got through, and what it had then. */
static void add_failures(const struct drill_report *report, enum drill_seen seen, const char *title,
			 struct str *out)
{
	if (drilled_count(report, seen) == 0)
		return;
	str_addf(out, "%s\n", title);
	for (size_t i = 0; i < report->count; i++) {
		const struct drill_result *result = &report->results[i];

		if (result->seen != seen || (seen == DRILL_GOT && corpus_is_known(result->attack)))
			continue;
		str_addf(out, "  %s: ", result->attack->id);
		str_add_shown(out, result->text, strlen(result->text));
		str_addf(out, " (wall: %s)\n", drill_threats[result->attack->threat].wall);
	}
	str_addf(out, "\n");
}

static void add_summary(const struct drill_report *report, struct str *out)
{
	const size_t known = count_known(report);

	str_addf(out, "\n%zu held, %zu got through, %zu broken, %zu n/a",
		 drilled_count(report, DRILL_HELD), drilled_count(report, DRILL_GOT),
		 drilled_count(report, DRILL_BROKEN), drilled_count(report, DRILL_NOT_HERE));
	if (known > 0)
		str_addf(out, "; %zu known to get through everywhere", known);
	str_addf(out, "\n");
	for (const struct name *limit = spec_limit_names; limit->text; limit++)
		if (report->without & 1U << limit->value)
			str_addf(out,
				 "the policy does without %s, which this host does not limit\n",
				 limit->text);
	if (report->stopped)
		str_addf(out, "stopped before the end\n");
}

static void write_time(int64_t ns, char *out, size_t room)
{
	const time_t seconds = (time_t) (ns / NS_PER_S);
	struct tm utc;

	gmtime_r(&seconds, &utc);
	strftime(out, room, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

/* Digests are cut here, to be compared with others by eye; the object has all of them. */
static void add_facts(const struct drill_report *report, const struct drilled_facts *facts,
		      struct str *out)
{
	char began[32];

	write_time(facts->began_ns, began, sizeof(began));
	str_addf(out, "%zu of the %zu attacks of proctor %s (%.12s, launcher %.12s),\n",
		 report->count, facts->corpus, BUILD_VERSION, facts->program ? facts->program : "?",
		 facts->launcher ? facts->launcher : "?");
	str_addf(out, "under policy '%s' (%.12s", facts->policy, facts->policy_sha256);
	for (size_t i = 0; i < facts->weaker_count; i++)
		str_addf(out, "%s%s",
			 i > 0 ? ", " : "; weaker than the shipped default: ", facts->weaker[i]);
	str_addf(out, "), on ");
	str_add_shown(out, facts->host, strlen(facts->host));
	str_addf(out, ", Linux %s, %s\n", facts->kernel, began);
}

static void put_facts(const struct drilled_facts *facts, struct json_writer *json)
{
	char began[32];

	write_time(facts->began_ns, began, sizeof(began));
	json_put_text(json, "schema", DRILLED_SCHEMA);
	json_put_text(json, "began", began);
	json_put_text(json, "host", facts->host);
	json_put_text(json, "kernel", facts->kernel);
	json_put_text(json, "version", BUILD_VERSION);
	json_put_text(json, "program_sha256", facts->program);
	json_put_text(json, "launcher_sha256", facts->launcher);
	json_put_text(json, "policy", facts->policy);
	json_put_text(json, "policy_sha256", facts->policy_sha256);
	json_put_array(json, "weaker");
	for (size_t i = 0; i < facts->weaker_count; i++)
		json_put_text(json, NULL, facts->weaker[i]);
	json_put_end(json);
	json_put_int(json, "corpus", (int64_t) facts->corpus);
}

void drilled_print(const struct drill_report *report, const struct drilled_facts *facts,
		   const struct table_style *style, struct str *out)
{
	cleanup(table_done) struct table table = TABLE_INIT;

	add_failures(report, DRILL_GOT, "got through:", out);
	add_failures(report, DRILL_BROKEN, "nothing can be said of:", out);
	table_init(&table, columns, ARRAY_LEN(columns));
	for (size_t i = 0; i < report->count; i++) {
		const struct drill_result *result = &report->results[i];

		table_text(&table, result->attack->id);
		table_text(&table, drill_threats[result->attack->threat].brief);
		table_text(&table, corpus_expected(result->attack).text);
		table_text(&table, seen_text(result));
		table_tone(&table, tone_of(result));
		table_duration(&table, result->ns);
		table_text(&table, result->text);
	}
	table_print(&table, style, out);
	add_summary(report, out);
	add_facts(report, facts, out);
}

void drilled_put(const struct drill_report *report, const struct drilled_facts *facts,
		 struct json_writer *json)
{
	json_put_object(json, NULL);
	put_facts(facts, json);
	json_put_int(json, "held", (int64_t) drilled_count(report, DRILL_HELD));
	json_put_int(json, "got_through", (int64_t) drilled_count(report, DRILL_GOT));
	json_put_int(json, "broken", (int64_t) drilled_count(report, DRILL_BROKEN));
	json_put_int(json, "not_tried", (int64_t) drilled_count(report, DRILL_NOT_HERE));
	json_put_int(json, "known", (int64_t) count_known(report));
	json_put_bool(json, "stopped", report->stopped);
	json_put_array(json, "without");
	for (const struct name *limit = spec_limit_names; limit->text; limit++)
		if (report->without & 1U << limit->value)
			json_put_text(json, NULL, limit->text);
	json_put_end(json);
	json_put_array(json, "attacks");
	for (size_t i = 0; i < report->count; i++) {
		const struct drill_result *result = &report->results[i];
		const struct drill_threat_row *threat = &drill_threats[result->attack->threat];

		json_put_object(json, NULL);
		json_put_text(json, "attack", result->attack->id);
		json_put_text(json, "threat", threat->threat);
		json_put_text(json, "wall", threat->wall);
		json_put_text(json, "expected", corpus_expected(result->attack).text);
		json_put_text(json, "seen", seen_text(result));
		json_put_text(json, "what", result->text);
		json_put_int(json, "us", result->ns / NS_PER_US);
		json_put_end(json);
	}
	json_put_end(json);
	json_put_end(json);
}

static const char *control_text(const struct drill_attack *attack)
{
	if (attack->no_control)
		return "none";
	return attack->flags & DRILL_HARMFUL ? "in a virtual machine" : "yes";
}

void drilled_list(const struct drill_attack *const *attacks, size_t count,
		  const struct table_style *style, struct str *out)
{
	cleanup(table_done) struct table table = TABLE_INIT;

	table_init(&table, list_columns, ARRAY_LEN(list_columns));
	for (size_t i = 0; i < count; i++) {
		table_text(&table, attacks[i]->id);
		table_text(&table, drill_threats[attacks[i]->threat].brief);
		table_text(&table, corpus_expected(attacks[i]).text);
		table_text(&table, control_text(attacks[i]));
		table_text(&table, attacks[i]->gain);
	}
	table_print(&table, style, out);
}

void drilled_list_put(const struct drill_attack *const *attacks, size_t count,
		      struct json_writer *json)
{
	json_put_object(json, NULL);
	json_put_array(json, "attacks");
	for (size_t i = 0; i < count; i++) {
		const struct drill_threat_row *threat = &drill_threats[attacks[i]->threat];

		json_put_object(json, NULL);
		json_put_text(json, "attack", attacks[i]->id);
		json_put_text(json, "threat", threat->threat);
		json_put_text(json, "wall", threat->wall);
		json_put_text(json, "expected", corpus_expected(attacks[i]).text);
		json_put_text(json, "gain", attacks[i]->gain);
		json_put_text(json, "control", control_text(attacks[i]));
		json_put_text(json, "no_control", attacks[i]->no_control);
		json_put_end(json);
	}
	json_put_end(json);
	json_put_end(json);
}
