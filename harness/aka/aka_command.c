/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_command.h"

#include <ctype.h>
#include <string.h>

#include "sandbox/base/str.h"

/* Words and their letters, in memory that holds all that the text can become. */
struct splitter {
	const char *at;
	char *to;
	const char **words;
	size_t count;
	bool needs_shell;
};

/* The letter behind a backslash; a line that goes on leaves none. */
static void take_escaped(struct splitter *split)
{
	if (split->at[1] != '\n')
		*split->to++ = split->at[1];
	split->at += 2;
}

static const char *take_single(struct splitter *split)
{
	const char *end = strchr(split->at + 1, '\'');

	if (!end)
		return "a single quote does not close";
	memcpy(split->to, split->at + 1, (size_t) (end - split->at) - 1);
	split->to += end - split->at - 1;
	split->at = end + 1;
	return NULL;
}

static const char *take_double(struct splitter *split)
{
	for (split->at++; *split->at && *split->at != '"';) {
		if (*split->at == '$' || *split->at == '`')
			split->needs_shell = true;
		if (*split->at == '\\' && split->at[1] && strchr("$`\"\\\n", split->at[1]))
			take_escaped(split);
		else
			*split->to++ = *split->at++;
	}
	if (!*split->at)
		return "a double quote does not close";
	split->at++;
	return NULL;
}

/* Does a shell read more into a bare letter than the letter? */
static bool is_special(char letter, bool is_first)
{
	return strchr("|&;<>()$`\n*?[", letter) || (is_first && (letter == '#' || letter == '~'));
}

static const char *take_word(struct splitter *split)
{
	const char *why = NULL, *begun = split->at;

	split->words[split->count++] = split->to;
	while (!why && *split->at && !strchr(" \t", *split->at)) {
		if (*split->at == '\'') {
			why = take_single(split);
		} else if (*split->at == '"') {
			why = take_double(split);
		} else if (*split->at == '\\') {
			if (!split->at[1])
				return "there is nothing behind its last backslash";
			take_escaped(split);
		} else {
			if (is_special(*split->at, split->at == begun))
				split->needs_shell = true;
			*split->to++ = *split->at++;
		}
	}
	*split->to++ = '\0';
	return why;
}

/* What is no program: an assignment before one, words that only a shell has. */
static bool is_for_shell(const char *word)
{
	static const char *const words[] = {
		"!",   "{",  ".",   "case", "cd",     "eval",  "exec",  "exit",  "export",
		"for", "if", "set", "trap", "ulimit", "umask", "unset", "until", "while"
	};
	size_t len =
		strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcmp(word, words[i]) == 0)
			return true;
	return len > 0 && word[len] == '=';
}

static const char *skip_blanks(const char *text)
{
	while (isspace((unsigned char) *text))
		text++;
	return text;
}

static bool begins_with(const char *text, const char *token)
{
	size_t len = strlen(token);

	return strncmp(text, token, len) == 0 && (text[len] == '\0' || text[len] == ' ');
}

/* How long the leading word is that an interpreter takes the place of. */
static enum aka_tool find_tool(const char *text, size_t *len)
{
	static const struct {
		const char *token;
		enum aka_tool tool;
	} tokens[] = {
		{ "python3", AKA_TOOL_PYTHON },
		{ "python", AKA_TOOL_PYTHON },
		{ "pytest", AKA_TOOL_PYTEST },
	};

	for (size_t i = 0; i < ARRAY_LEN(tokens); i++) {
		if (begins_with(text, tokens[i].token)) {
			*len = strlen(tokens[i].token);
			return tokens[i].tool;
		}
	}
	*len = 0;
	return AKA_TOOL_OTHER;
}

const char *aka_command_parse(const char *text, struct arena *arena, struct aka_command *out)
{
	size_t room = strlen(text) + 2, ignored;
	struct splitter split = {
		.at = text,
		.to = arena_alloc(arena, room, 1),
		.words = arena_alloc(arena, room / 2 + 2, sizeof(char *)),
	};

	for (split.at += strspn(split.at, " \t"); *split.at; split.at += strspn(split.at, " \t")) {
		const char *why = take_word(&split);

		if (why)
			return why;
	}
	if (split.count == 0 || skip_blanks(text)[0] == '\0')
		return "it is empty";
	split.needs_shell = split.needs_shell || is_for_shell(split.words[0]);
	if (!split.needs_shell && split.words[0][0] == '\0')
		return "its first word is empty";
	*out = (struct aka_command){ .text = text, .needs_shell = split.needs_shell };
	out->tool = find_tool(skip_blanks(text), &ignored);
	if (!split.needs_shell)
		out->argv = (struct argv){ split.words, split.count };
	return NULL;
}

struct aka_command aka_command_of(struct argv argv)
{
	const char *program = argv.items[0];
	struct aka_command command = { .text = program, .argv = argv };

	if (strcmp(program, "python3") == 0 || strcmp(program, "python") == 0)
		command.tool = AKA_TOOL_PYTHON;
	else if (strcmp(program, "pytest") == 0)
		command.tool = AKA_TOOL_PYTEST;
	return command;
}

static void add_quoted(struct str *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789@%+=:,./-_";

	if (*word && word[strspn(word, plain)] == '\0') {
		str_addf(out, "%s", word);
		return;
	}
	str_add(out, "'", 1);
	for (; *word; word++)
		str_addf(out, *word == '\'' ? "'\"'\"'" : "%c", *word);
	str_add(out, "'", 1);
}

static struct argv plan_shell(const struct aka_command *command, const char *interpreter,
			      const char *extra, struct arena *arena)
{
	const char *rest = skip_blanks(command->text),
		   **words = arena_alloc(arena, 4, sizeof(*words));
	cleanup(str_done) struct str text = STR_INIT;
	size_t len = 0;

	if (interpreter && find_tool(rest, &len) != AKA_TOOL_OTHER) {
		str_add(&text, command->text, (size_t) (rest - command->text));
		add_quoted(&text, interpreter);
		str_addf(&text, "%s", command->tool == AKA_TOOL_PYTEST ? " -m pytest" : "");
		str_addf(&text, "%s", rest + len);
	} else {
		str_addf(&text, "%s", command->text);
	}
	if (extra)
		str_addf(&text, " %s", extra);
	words[0] = "/bin/sh";
	words[1] = "-c";
	words[2] = arena_copy(arena, text.text, text.len);
	return (struct argv){ words, 3 };
}

struct argv aka_command_plan(const struct aka_command *command, const char *interpreter,
			     const char *extra, struct arena *arena)
{
	enum aka_tool tool = interpreter ? command->tool : AKA_TOOL_OTHER;
	const char **words;
	size_t count = 0;

	if (command->needs_shell)
		return plan_shell(command, interpreter, extra, arena);
	words = arena_alloc(arena, command->argv.count + 4, sizeof(*words));
	words[count++] = tool == AKA_TOOL_OTHER ? command->argv.items[0] : interpreter;
	if (tool == AKA_TOOL_PYTEST) {
		words[count++] = "-m";
		words[count++] = "pytest";
	}
	for (size_t i = 1; i < command->argv.count; i++)
		words[count++] = command->argv.items[i];
	if (extra)
		words[count++] = extra;
	return (struct argv){ words, count };
}

static bool is_python_file(const char *word, size_t *len)
{
	const char *test = strstr(word, "::");

	*len = test ? (size_t) (test - word) : strlen(word);
	return word[0] != '-' && *len > 3 && strncmp(word + *len - 3, ".py", 3) == 0;
}

/* The file in the words from the i-th on that is run, or the words' count. Python runs one. */
static size_t find_file(const struct aka_command *command, size_t i, size_t *len)
{
	const struct argv *argv = &command->argv;

	if (command->tool == AKA_TOOL_OTHER || (command->tool == AKA_TOOL_PYTHON && i > 1))
		return argv->count;
	for (; i < argv->count; i++) {
		const char *word = argv->items[i];

		if (is_python_file(word, len))
			return i;
		if (command->tool == AKA_TOOL_PYTHON &&
		    (word[0] != '-' || word[1] == 'c' || word[1] == 'm'))
			break;
	}
	return argv->count;
}

bool aka_command_runs(const struct aka_command *command, const char *path)
{
	size_t len = 0;

	for (size_t i = find_file(command, 1, &len); i < command->argv.count;
	     i = find_file(command, i + 1, &len))
		if (strncmp(command->argv.items[i], path, len) == 0 && path[len] == '\0')
			return true;
	return false;
}

const char *aka_command_file(const struct aka_command *command, struct arena *arena)
{
	size_t len = 0, i = find_file(command, 1, &len);

	return i < command->argv.count ? arena_copy(arena, command->argv.items[i], len) : NULL;
}
