/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_heldout.h"

#include <string.h>

#include "harness/aka/aka_read.h"
#include "harness/aka/aka_scalar.h"

void aka_heldout_done(struct aka_heldout *heldout)
{
	arena_done(&heldout->arena);
	*heldout = AKA_HELDOUT_INIT;
}

/* Code may be longer than other texts, and empty; the limit is the file's. */
static int read_code(const struct yaml_node *map, const char *key, const char **out,
		     struct err *err)
{
	const struct yaml_node *node = yaml_find(map, key);
	char room[YAML_SHOWN];

	if (!node)
		return yaml_err(map, err, "the key '%s' is missing", key);
	if (node->kind != YAML_TEXT)
		return yaml_err(node, err, "a text is meant, not %s", aka_read_kind(node));
	if (aka_scalar_kind(node) != AKA_SCALAR_TEXT)
		return yaml_err(node, err, "'%s' is %s and no text; write it as a block: %s: |",
				yaml_shown(node->text, room), aka_read_kind(node), key);
	*out = node->text;
	return 0;
}

static int read_marker(const struct yaml_node *map, enum aka_marker *out, struct err *err)
{
	static const char inputs[] = "def get_inputs";
	char room[YAML_SHOWN];
	const char *text = "";

	if (read_code(map, "find_marker", &text, err) < 0)
		return -1;
	if (strcmp(text, "TEST_SHAPES") == 0)
		*out = AKA_MARKER_SHAPES;
	else if (strncmp(text, inputs, strlen(inputs)) == 0)
		*out = AKA_MARKER_INPUTS;
	else if (strcmp(text, "raw_replace") == 0)
		*out = AKA_MARKER_RAW;
	else
		return yaml_err(yaml_find(map, "find_marker"), err,
				"'%s' is none of TEST_SHAPES, %s, raw_replace",
				yaml_shown(text, room), inputs);
	return 0;
}

static int read_injection(const struct yaml_node *node, struct aka_injection *out, struct err *err)
{
	if (node->kind != YAML_MAP)
		return yaml_err(node, err,
				"a mapping of file, find_marker and replacement_code is "
				"meant, not %s",
				aka_read_kind(node));
	if (aka_read_needed(node, "file", &out->file, err) < 0 ||
	    aka_read_path(node, "file", &out->file, err) < 0 ||
	    read_marker(node, &out->marker, err) < 0 ||
	    read_code(node, "replacement_code", &out->replacement, err) < 0)
		return -1;
	if (out->marker != AKA_MARKER_RAW)
		return 0;
	if (read_code(node, "old_code", &out->old_code, err) < 0)
		return -1;
	if (out->old_code[0] == '\0')
		return yaml_err(yaml_find(node, "old_code"), err,
				"it is empty, and raw_replace looks for it");
	return 0;
}

static int read_injections(const struct yaml_node *root, struct aka_heldout *out, struct err *err)
{
	const struct yaml_node *list = NULL;
	struct aka_injection *made;

	if (!yaml_find(root, "injections"))
		return yaml_err(root, err, "the key 'injections' is missing");
	if (aka_read_list(root, "injections", &list, err) < 0)
		return -1;
	if (!list || list->count == 0)
		return yaml_err(yaml_find(root, "injections"), err,
				"it is empty: nothing would be held out");
	if (list->count > AKA_HELDOUT_INJECTIONS_MAX)
		return yaml_err(list, err, "it has more than %d items",
				(int) AKA_HELDOUT_INJECTIONS_MAX);
	made = arena_alloc(&out->arena, list->count, sizeof(*made));
	for (const struct yaml_node *item = list->first; item; item = item->next)
		if (read_injection(item, &made[out->count++], err) < 0)
			return -1;
	out->injections = made;
	return 0;
}

int aka_heldout_parse(const char *file, const char *text, size_t len, struct aka_heldout *out,
		      struct err *err)
{
	cleanup(aka_heldout_done) struct aka_heldout made = AKA_HELDOUT_INIT;
	const struct yaml_node *root, *count;

	file = arena_copy(&made.arena, file, strlen(file));
	root = yaml_parse(&made.arena, file, text, len, err);
	if (!root)
		return -1;
	if (root->kind != YAML_MAP)
		return yaml_err(root, err,
				"the file has to be a mapping of keys such as injections");
	if (aka_read_text(root, "task_type", &made.task_type, err) < 0 ||
	    read_injections(root, &made, err) < 0)
		return -1;
	/* Nobody reads it: what is no number is as good as nothing. */
	count = yaml_find(root, "num_original_shapes");
	if (count && count->kind == YAML_TEXT &&
	    types_parse_count(count->text, &made.shape_count) < 0)
		made.shape_count = 0;
	made.init_constraints = yaml_find(root, "init_constraints");
	*out = take(made, AKA_HELDOUT_INIT);
	return 0;
}

bool aka_heldout_changes(const struct aka_heldout *heldout, const char *path)
{
	for (size_t i = 0; i < heldout->count; i++)
		if (strcmp(heldout->injections[i].file, path) == 0)
			return true;
	return false;
}

enum aka_injected aka_heldout_apply(struct str *out, const struct aka_heldout *heldout,
				    const char *path, const void *bytes, size_t len)
{
	cleanup(str_done) struct str before = STR_INIT, after = STR_INIT;

	str_add(&before, bytes, len);
	for (size_t i = 0; i < heldout->count; i++) {
		enum aka_injected outcome;

		if (strcmp(heldout->injections[i].file, path) != 0)
			continue;
		str_clear(&after);
		outcome = aka_inject(&after, &heldout->injections[i], before.text, before.len);
		if (outcome != AKA_INJECTED)
			return outcome;
		str_clear(&before);
		str_add(&before, after.text, after.len);
	}
	str_add(out, before.text, before.len);
	return AKA_INJECTED;
}
