/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/documents.h"

struct writer {
	const struct edit *edits;
	size_t count;
	struct str *out;
	int line, line_of_edit;
};

static void end_line(struct writer *writer)
{
	str_addf(writer->out, "\n");
	writer->line++;
}

static const struct edit *find_edit(const struct writer *writer, const struct yaml_node *node)
{
	for (size_t i = 0; i < writer->count; i++)
		if (writer->edits[i].at == node)
			return &writer->edits[i];
	return NULL;
}

static void note_line(struct writer *writer, const struct edit *edit, int line)
{
	if (edit && edit == writer->edits)
		writer->line_of_edit = line;
}

static void write_text(struct writer *writer, const struct yaml_node *node)
{
	str_addf(writer->out, node->quoted ? "'" : "");
	for (const char *at = node->text; *at; at++)
		str_addf(writer->out, node->quoted && *at == '\'' ? "''" : "%c", *at);
	str_addf(writer->out, node->quoted ? "'" : "");
	end_line(writer);
}

static void write_map(struct writer *writer, const struct yaml_node *map, int indent);

static void write_items(struct writer *writer, const struct yaml_node *list, int indent)
{
	for (const struct yaml_node *item = list->first; item; item = item->next) {
		str_addf(writer->out, "%*s- ", indent, "");
		if (item->kind == YAML_TEXT) {
			write_text(writer, item);
		} else {
			end_line(writer);
			write_map(writer, item, indent + 4);
		}
	}
}

static void write_value(struct writer *writer, const struct yaml_node *node, int indent)
{
	const struct edit *first = node->first ? find_edit(writer, node->first) : NULL;

	if (node->kind == YAML_TEXT) {
		write_text(writer, node);
	} else if (node->count == 0 || (node->count == 1 && first && first->is_left_out)) {
		note_line(writer, first, writer->line);
		str_addf(writer->out, node->kind == YAML_LIST ? "[]" : "{}");
		end_line(writer);
	} else {
		end_line(writer);
		if (node->kind == YAML_LIST)
			write_items(writer, node, indent + 2);
		else
			write_map(writer, node, indent + 2);
	}
}

static void write_map(struct writer *writer, const struct yaml_node *map, int indent)
{
	int begun = writer->line;

	for (const struct yaml_node *child = map->first; child; child = child->next) {
		const struct edit *edit = find_edit(writer, child);

		if (edit && edit->is_left_out) {
			note_line(writer, edit, begun);
			continue;
		}
		if (edit)
			note_line(writer, edit, writer->line);
		str_addf(writer->out, "%*s%s: ", indent, "", child->key);
		if (edit && edit->value) {
			str_addf(writer->out, "%s", edit->value);
			end_line(writer);
		} else {
			write_value(writer, child, indent);
		}
		if (edit && edit->more) {
			note_line(writer, edit, writer->line);
			str_addf(writer->out, "%*s%s", indent, "", edit->more);
			end_line(writer);
		}
	}
}

int documents_write(const struct yaml_node *root, const struct edit *edits, size_t count,
		    struct str *out)
{
	struct writer writer = { .edits = edits, .count = count, .out = out, .line = 1 };

	write_map(&writer, root, 0);
	return writer.line_of_edit;
}
