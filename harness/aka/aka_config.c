/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_config.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "harness/aka/aka_read.h"
#include "harness/aka/aka_scalar.h"
#include "harness/aka/aka_select.h"

static const char *const agents[] = {
	"cursor",  "claude_code",    "codex",           "task_validator", "geak_v4",
	"geak_v3", "geak_v3_triton", "mini_swe_triton", "forge",
};

/* What its main.py reads, then what some of its agents do. */
static const char *const keys[] = {
	"agent",
	"tasks",
	"target_gpu_model",
	"log_directory",
	"workspace_directory_prefix",
	"gpu_ids",
	"num_parallel",
	"run_mode",
	NULL,
};
static const char *const agent_keys[] = { "template", NULL };

void aka_config_done(struct aka_config *config)
{
	arena_done(&config->arena);
	*config = AKA_CONFIG_INIT;
}

bool aka_config_is(const char *text, size_t len)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	struct err none = ERR_INIT;
	const struct yaml_node *root = yaml_parse(&arena, "", text, len, &none), *agent;

	if (!root || root->kind != YAML_MAP || yaml_find(root, "schema"))
		return false;
	agent = yaml_find(root, "agent");
	return agent && agent->kind == YAML_MAP && yaml_find(agent, "template");
}

static void remark(struct aka_config *config, const struct yaml_node *node, const char *format, ...)
	printf_like(3, 4);

static void remark(struct aka_config *config, const struct yaml_node *node, const char *format, ...)
{
	struct err text = ERR_INIT;
	char what[256];
	va_list args;

	if (config->remark_count >= AKA_CONFIG_REMARKS_MAX)
		return;
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	(void) yaml_err(node, &text, "%s", what);
	config->remarks[config->remark_count++] =
		arena_copy(&config->arena, text.text, strlen(text.text));
}

static void remark_unknown(struct aka_config *config, const struct yaml_node *map,
			   const char *const *known)
{
	for (const struct yaml_node *node = map->first; node; node = node->next) {
		size_t i = 0;

		while (known[i] && strcmp(known[i], node->key) != 0)
			i++;
		if (!known[i])
			remark(config, node, "it has no effect: nothing reads it in such a file");
	}
}

/* A key without which there is nothing to run. */
static int need(const struct yaml_node *map, const char *key, const struct yaml_node **out,
		struct err *err)
{
	*out = yaml_find(map, key);
	if (!*out)
		return yaml_err(map, err,
				"the key '%s' is missing; AgentKernelArena ends with a KeyError",
				key);
	return 0;
}

/* What its agents' names know no difference of: letters of either case, '-' and '_'. */
static int fold(char letter)
{
	return letter == '-' ? '_' : tolower((unsigned char) letter);
}

static bool is_agent(const char *text, const char *agent)
{
	size_t len = strlen(agent);

	if (strlen(text) != len)
		return false;
	for (size_t i = 0; i < len; i++)
		if (fold(text[i]) != agent[i])
			return false;
	return true;
}

static int read_agent(const struct yaml_node *root, struct aka_config *out, struct err *err)
{
	cleanup(str_done) struct str known = STR_INIT;
	const struct yaml_node *agent, *node;
	char room[YAML_SHOWN];
	const char *text;

	if (need(root, "agent", &agent, err) < 0)
		return -1;
	if (agent->kind != YAML_MAP)
		return yaml_err(agent, err, "a mapping with the key 'template' is meant, not %s",
				aka_read_kind(agent));
	if (need(agent, "template", &node, err) < 0 || aka_read_item(node, &text, err) < 0)
		return -1;
	remark_unknown(out, agent, agent_keys);
	for (size_t i = 0; i < ARRAY_LEN(agents); i++) {
		if (is_agent(text, agents[i])) {
			out->agent = agents[i];
			return 0;
		}
		str_addf(&known, "%s%s", i > 0 ? ", " : "", agents[i]);
	}
	return yaml_err(node, err, "'%s' is none of %s", yaml_shown(text, room), known.text);
}

static int read_tasks(const struct yaml_node *root, struct aka_config *out, struct err *err)
{
	const struct yaml_node *list;
	const char **items;
	size_t count = 0;
	char room[YAML_SHOWN];

	if (need(root, "tasks", &list, err) < 0)
		return -1;
	if (list->kind == YAML_TEXT && !aka_scalar_is_null(list))
		return yaml_err(list, err, "'%s' is a plain text; write a list: - %s",
				yaml_shown(list->text, room), room);
	if (list->kind == YAML_MAP)
		return yaml_err(list, err, "a list of tasks is meant, not a mapping");
	if (list->count == 0)
		return yaml_err(list, err, "it has no selector, such as - all or - hip2hip");
	if (list->count > AKA_CONFIG_SELECTORS_MAX)
		return yaml_err(list, err, "it has more than %d items",
				(int) AKA_CONFIG_SELECTORS_MAX);
	items = arena_alloc(&out->arena, list->count + 1, sizeof(*items));
	for (const struct yaml_node *item = list->first; item; item = item->next) {
		struct err why = ERR_INIT;

		if (aka_read_item(item, &items[count], err) < 0)
			return -1;
		if (aka_select_check(items[count++], &why) < 0)
			return yaml_err(item, err, "%s", why.text);
	}
	out->selectors = (struct argv){ items, count };
	return 0;
}

/* A text that has to be there; of the name of a folder a part. */
static int read_word(const struct yaml_node *root, const char *key, const char **out,
		     struct err *err)
{
	static const char signs[] = "._-+";
	const struct yaml_node *node;
	const char *text = "";
	char room[YAML_SHOWN];

	if (need(root, key, &node, err) < 0 || aka_read_needed(root, key, &text, err) < 0)
		return -1;
	for (const char *at = text; *at; at++)
		if (!isalnum((unsigned char) *at) && !strchr(signs, *at))
			return yaml_err(node, err,
					"'%s' is no part of a folder's name: letters, digits and "
					"%s alone. Where runs are put is said on the command line",
					yaml_shown(text, room), signs);
	if (strlen(text) > AKA_CONFIG_WORD_MAX)
		return yaml_err(node, err, "'%s' is longer than %d bytes", yaml_shown(text, room),
				(int) AKA_CONFIG_WORD_MAX);
	*out = text;
	return 0;
}

static int read_log_folder(const struct yaml_node *root, struct aka_config *out, struct err *err)
{
	const struct yaml_node *node;

	if (need(root, "log_directory", &node, err) < 0)
		return -1;
	return aka_read_needed(root, "log_directory", &out->log_folder, err);
}

static bool is_gpu_list(const char *text)
{
	size_t digits = 0;

	for (; *text; text++) {
		if (isdigit((unsigned char) *text)) {
			digits++;
		} else if (*text == ',' && digits > 0) {
			digits = 0;
		} else {
			return false;
		}
	}
	return digits > 0;
}

/* A number, "0,1", or a list of numbers. */
static int read_gpu_ids(const struct yaml_node *root, struct aka_config *out, struct err *err)
{
	const struct yaml_node *node = yaml_find(root, "gpu_ids"), *item;
	cleanup(str_done) struct str text = STR_INIT;
	char room[YAML_SHOWN];

	if (aka_scalar_is_null(node))
		return 0;
	if (node->kind == YAML_MAP)
		return yaml_err(node, err, "numbers of GPUs are meant, not a mapping");
	for (item = node->kind == YAML_LIST ? node->first : node; item;
	     item = node->kind == YAML_LIST ? item->next : NULL) {
		if (item->kind != YAML_TEXT || !is_gpu_list(item->text))
			return yaml_err(item, err, "'%s' is no list of GPU numbers, such as 0,1",
					item->kind == YAML_TEXT ? yaml_shown(item->text, room)
								: aka_read_kind(item));
		str_addf(&text, "%s%s", text.len > 0 ? "," : "", item->text);
	}
	if (text.len == 0)
		return 0;
	out->gpu_ids = arena_copy(&out->arena, text.text, text.len);
	return 0;
}

/* Its agents fall back to another number than a wrong one, and say so. */
static void read_parallel(const struct yaml_node *root, struct aka_config *out)
{
	const struct yaml_node *node = yaml_find(root, "num_parallel");
	char room[YAML_SHOWN];

	if (aka_scalar_is_null(node))
		return;
	if (node->kind != YAML_TEXT || types_parse_count(node->text, &out->parallel) < 0)
		remark(out, node, "'%s' is no number: it has no effect",
		       node->kind == YAML_TEXT ? yaml_shown(node->text, room)
					       : aka_read_kind(node));
}

static int read_mode(const struct yaml_node *root, struct aka_config *out, struct err *err)
{
	const char *text = NULL;
	size_t len;
	char *mode;

	if (aka_read_text(root, "run_mode", &text, err) < 0)
		return -1;
	if (!text)
		return 0;
	text += strspn(text, " \t\r\n\v\f");
	len = strlen(text);
	while (len > 0 && isspace((unsigned char) text[len - 1]))
		len--;
	mode = arena_copy(&out->arena, text, len);
	for (size_t i = 0; i < len; i++)
		mode[i] = (char) tolower((unsigned char) mode[i]);
	out->mode = len > 0 ? mode : NULL;
	return 0;
}

/* In the order in which main.py comes across what is missing. */
static int read_keys(const struct yaml_node *root, struct aka_config *out, struct err *err)
{
	if (read_tasks(root, out, err) < 0 || read_agent(root, out, err) < 0 ||
	    read_word(root, "workspace_directory_prefix", &out->prefix, err) < 0 ||
	    read_word(root, "target_gpu_model", &out->gpu, err) < 0 ||
	    read_log_folder(root, out, err) < 0 || read_gpu_ids(root, out, err) < 0 ||
	    read_mode(root, out, err) < 0)
		return -1;
	read_parallel(root, out);
	remark_unknown(out, root, keys);
	if (strcmp(out->prefix, "workspace") != 0)
		remark(out, yaml_find(root, "workspace_directory_prefix"),
		       "reports say 'unknown' for agent and GPU where it is not 'workspace'");
	return 0;
}

int aka_config_parse(const char *file, const char *text, size_t len, struct aka_config *out,
		     struct err *err)
{
	cleanup(aka_config_done) struct aka_config made = AKA_CONFIG_INIT;
	const struct yaml_node *root;

	made.remarks = arena_alloc(&made.arena, AKA_CONFIG_REMARKS_MAX, sizeof(*made.remarks));
	root = yaml_parse(&made.arena, arena_copy(&made.arena, file, strlen(file)), text, len, err);
	if (!root)
		return -1;
	if (root->kind != YAML_MAP)
		return yaml_err(root, err, "the file has to be a mapping of keys such as agent");
	if (read_keys(root, &made, err) < 0)
		return -1;
	*out = take(made, AKA_CONFIG_INIT);
	return 0;
}

void aka_config_workspace(const struct aka_config *config, struct str *out)
{
	str_addf(out, "%s_%s_%s", config->prefix, config->gpu, config->agent);
}

static void add_time(struct str *out, const struct tm *time)
{
	char text[32];

	strftime(text, sizeof(text), "%Y%m%d_%H%M%S", time);
	str_addf(out, "%s", text);
}

void aka_config_run(const struct tm *time, const char *suffix, struct str *out)
{
	str_addf(out, "run_");
	add_time(out, time);
	if (suffix)
		str_addf(out, "_%s", suffix);
}

void aka_config_task(const char *task, const struct tm *time, struct str *out)
{
	for (; *task; task++)
		str_add(out, *task == '/' ? "_" : task, 1);
	str_addf(out, "_");
	add_time(out, time);
}
