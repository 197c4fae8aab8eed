/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/task_given.h"

#include <string.h>

static const char head[] = "# The task as its agent is given it. It is marked on hidden cases as "
			   "well, which keep the\n"
			   "# constraints in `where`.\n";

/* All of it is what a kernel has to keep to, or what the agent's own jail is made of. */
static const char *const given[] = {
	"schema", "name", "kind",  "summary", "editable", "build", "baseline", "entry",
	"oracle", "dims", "where", "args",    "seen",     "check", "mark",     "limits",
};

bool task_given_has(const char *key)
{
	for (size_t i = 0; i < ARRAY_LEN(given); i++)
		if (strcmp(given[i], key) == 0)
			return true;
	return false;
}

/* A text that means itself wherever it stands. */
static bool is_plain(const char *text)
{
	static const char safe[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-";

	return text[0] != '\0' && strspn(text, safe) == strlen(text) &&
	       (text[0] != '-' || (text[1] != '\0' && text[1] != '-'));
}

/* Every JSON text is a YAML text in double quotes. */
static void add_text(const char *text, struct str *out)
{
	if (is_plain(text))
		str_addf(out, "%s", text);
	else
		str_add_json(out, text, strlen(text));
}

/* On one line; depth is bounded by the parser. */
static void add_flow(const struct yaml_node *node, struct str *out)
{
	const bool is_map = node->kind == YAML_MAP;

	if (node->kind == YAML_TEXT) {
		add_text(node->text, out);
		return;
	}
	str_addf(out, is_map ? "{" : "[");
	for (const struct yaml_node *child = node->first; child; child = child->next) {
		str_addf(out, child == node->first ? (is_map ? " " : "") : ", ");
		if (is_map) {
			add_text(child->key, out);
			str_addf(out, ": ");
		}
		add_flow(child, out);
	}
	str_addf(out, is_map ? " }" : "]");
}

static bool has_maps(const struct yaml_node *node)
{
	for (const struct yaml_node *child = node->first; child; child = child->next)
		if (child->kind == YAML_MAP)
			return true;
	return false;
}

/* A key of the file: what holds mappings has a line for each thing in it. */
static void add_member(const struct yaml_node *node, struct str *out)
{
	add_text(node->key, out);
	if (node->kind == YAML_TEXT || !has_maps(node)) {
		str_addf(out, ": ");
		add_flow(node, out);
		str_addf(out, "\n");
		return;
	}
	str_addf(out, ":\n");
	for (const struct yaml_node *child = node->first; child; child = child->next) {
		str_addf(out, node->kind == YAML_MAP ? "  " : "  - ");
		if (node->kind == YAML_MAP) {
			add_text(child->key, out);
			str_addf(out, ": ");
		}
		add_flow(child, out);
		str_addf(out, "\n");
	}
}

int task_given_text(const char *file, const char *text, size_t len, struct str *out,
		    struct err *err)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	const struct yaml_node *root = yaml_parse(&arena, file, text, len, err);

	if (!root)
		return -1;
	str_addf(out, "%s", head);
	for (const struct yaml_node *node = root->first; node; node = node->next)
		if (node->key && task_given_has(node->key))
			add_member(node, out);
	return 0;
}
