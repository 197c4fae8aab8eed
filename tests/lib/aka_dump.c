/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "harness/aka/aka_helper.h"
#include "harness/aka/aka_scalar.h"
#include "harness/evidence/json.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"

/*
 * A YAML file as we read it, as JSON, for tests/aka/tree.sh to compare with PyYAML: a mapping is
 * {"map": [[key, value]…]}, a list {"list": […]}, a text {"text": …}, another plain one its kind.
 */
static void put(struct json_writer *json, const struct yaml_node *node)
{
	json_put_object(json, NULL);
	if (node->kind == YAML_TEXT) {
		json_put_text(json, names_text(aka_scalar_names, (int) aka_scalar_kind(node)),
			      node->text);
	} else {
		json_put_array(json, node->kind == YAML_MAP ? "map" : "list");
		for (const struct yaml_node *child = node->first; child; child = child->next) {
			if (node->kind == YAML_MAP)
				json_put_text(json, NULL, child->key);
			put(json, child);
		}
		json_put_end(json);
	}
	json_put_end(json);
}

/* A runner on standard input, with the helpers of a checkout put in. */
static int replace(const char *checkout)
{
	cleanup(str_done) struct str text = STR_INIT, out = STR_INIT;
	cleanup(aka_helper_done) struct aka_helpers helpers = AKA_HELPERS_INIT;
	auto_fd folder_fd = open(checkout, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct err err = ERR_INIT;

	if (aka_helper_read(folder_fd, &helpers, &err) < 0 ||
	    io_read_fd(STDIN_FILENO, MIB, "standard input", &text, &err) < 0 ||
	    aka_helper_replace(&helpers, text.text, text.len, &out, &err) < 0 ||
	    io_write_all(STDOUT_FILENO, out.text, out.len, "standard output", &err) < 0) {
		fprintf(stderr, "aka-dump: %s\n", err.text);
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	cleanup(str_done) struct str text = STR_INIT, out = STR_INIT;
	const struct yaml_node *root;
	struct json_writer json;
	struct err err = ERR_INIT;

	if (argc > 1)
		return replace(argv[1]);
	if (io_read_fd(STDIN_FILENO, yaml_limits.bytes, "standard input", &text, &err) < 0)
		root = NULL;
	else
		root = yaml_parse(&arena, "standard input", text.text, text.len, &err);
	if (!root) {
		fprintf(stderr, "aka-dump: %s\n", err.text);
		return 1;
	}
	json_writer_init(&json, &out);
	put(&json, root);
	return puts(out.text) < 0;
}
