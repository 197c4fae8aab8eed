/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/planned.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "harness/aka/aka_timing.h"
#include "harness/run/run.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/path.h"

enum {
	FILE_MAX = 16 << 20,
	TEXT_MAX = 2 * PLANNED_NAME_MAX, /* what is no UTF-8 becomes longer by being written */
	CHUNK = 1 << 16,
	RETRIES_MAX = 1000,
	PLANNED_FOLDER_MAX = 240, /* an attempt's folder has its number behind it */
};

/* The native kind is not named, as in plans from before there was another one. */
static const struct name kind_names[] = {
	{ "agentkernelarena", PLANNED_AKA },
	{ NULL, 0 },
};

const char *planned_file_name(enum planned_kind kind, enum planned_file file)
{
	static const char *const names[][PLANNED_FILES] = {
		[PLANNED_NATIVE] = {
			[PLANNED_TASK] = "task.yaml",         [PLANNED_PRISTINE] = "pristine.tree",
			[PLANNED_BASELINE] = "baseline.tree", [PLANNED_ORACLE] = "oracle.tree",
			[PLANNED_GIVEN] = "given.tree",
		},
		[PLANNED_AKA] = {
			[PLANNED_TASK] = "config.yaml",       [PLANNED_PRISTINE] = "pristine.tree",
			[PLANNED_GIVEN] = PLANNED_HELDOUT,
		},
	};

	return names[kind][file];
}

/* One name below tasks/, whatever folders the task lies in. */
const char *planned_folder(enum planned_kind kind, const char *name, struct arena *arena)
{
	const size_t len = strlen(name);
	cleanup(str_done) struct str shown = STR_INIT;
	char *folder;

	/* It has to come out of JSON as it went in. */
	str_add_shown(&shown, name, len);
	if (strcmp(shown.text, name) != 0)
		return NULL;

	if (!path_is_relative(name) || len > PLANNED_FOLDER_MAX ||
	    strchr(name, kind == PLANNED_AKA ? '+' : '/'))
		return NULL;
	folder = arena_copy(arena, name, len);
	for (char *at = folder; *at; at++)
		if (*at == '/')
			*at = '+';
	return folder;
}

void planned_path(const struct planned *planned, size_t task, size_t agent,
		  char out[PLANNED_PATH_MAX])
{
	if (planned->agents[agent].is_solution)
		snprintf(out, PLANNED_PATH_MAX, "tasks/%s/agent-%zu.tree",
			 planned->tasks[task].folder, agent + 1);
	else
		snprintf(out, PLANNED_PATH_MAX, "agents/%zu.tree", agent + 1);
}

int planned_digest_fd(int fd, const char *what, struct digest *out, struct err *err)
{
	cleanup(digest_done) struct digest_state state = DIGEST_STATE_INIT;
	uint8_t chunk[CHUNK];
	ssize_t got;

	digest_begin(&state);
	while ((got = io_read_some(fd, chunk, sizeof(chunk))) > 0)
		digest_add(&state, chunk, (size_t) got);
	if (got < 0)
		return err_sys(err, "read '%s'", what);
	*out = digest_end(&state);
	return 0;
}

int planned_digest_file(int folder_fd, const char *path, struct digest *out, struct err *err)
{
	auto_fd fd = path_open_file(folder_fd, path, err);

	if (fd < 0)
		return -1;
	return planned_digest_fd(fd, path, out, err);
}

/* --- writing --- */

static void put_task(struct json_writer *json, const struct planned *planned,
		     const struct planned_task *task)
{
	json_put_object(json, NULL);
	json_put_text(json, "name", task->name);
	json_put_digest(json, "tree", &task->tree);
	json_put_digest(json, "built", planned->kind == PLANNED_NATIVE ? &task->built : NULL);
	json_put_array(json, "files");
	for (size_t i = 0; i < PLANNED_FILES; i++) {
		const char *name = planned_file_name(planned->kind, (enum planned_file) i);

		if (!name)
			continue;
		json_put_object(json, NULL);
		json_put_text(json, "name", name);
		json_put_digest(json, "sha256", &task->files[i]);
		json_put_end(json);
	}
	json_put_end(json);
	json_put_array(json, "agents");
	for (size_t i = 0; i < planned->agent_count; i++) {
		json_put_object(json, NULL);
		json_put_digest(json, "sha256", &task->agents[i]);
		json_put_end(json);
	}
	json_put_end(json);
	json_put_end(json);
}

void planned_put_labels(struct json_writer *json, const struct planned *planned)
{
	json_put_text(json, "name", planned->name);
	json_put_array(json, "labels");
	for (size_t i = 0; i < planned->label_count; i++) {
		json_put_object(json, NULL);
		json_put_text(json, "key", planned->labels[i].key);
		json_put_text(json, "value", planned->labels[i].value);
		json_put_end(json);
	}
	json_put_end(json);
}

static void put_aka(struct json_writer *json, const struct planned_aka *aka)
{
	json_put_text(json, "python", aka->python);
	json_put_text(json, "gpu_model", aka->gpu);
	json_put_int(json, "rounds", aka->rounds);
	json_put_array(json, "dropped");
	for (size_t i = 0; i < aka->dropped_count; i++) {
		json_put_object(json, NULL);
		json_put_text(json, "task", aka->dropped[i].name);
		json_put_text(json, "why", aka->dropped[i].why);
		json_put_end(json);
	}
	json_put_end(json);
}

static void put_gpus(struct json_writer *json, const struct planned *planned)
{
	json_put_array(json, "gpus");
	for (size_t i = 0; i < planned->gpu_count; i++)
		json_put_text(json, NULL, planned->gpus[i]);
	json_put_end(json);
}

void planned_put(struct json_writer *json, const struct planned *planned)
{
	json_put_text(json, "run", planned->run);
	planned_put_labels(json, planned);
	if (planned->kind == PLANNED_AKA) {
		json_put_text(json, "kind", names_text(kind_names, (int) planned->kind));
		put_aka(json, &planned->aka);
	}
	if (planned->gpu_count > 0)
		put_gpus(json, planned);
	json_put_digest(json, "policy", &planned->policy);
	json_put_digest(json, "judge", &planned->judge);
	json_put_int(json, "repeats", planned->repeats);
	json_put_int(json, "retries", planned->retries);
	json_put_int(json, "seats", planned->seats);
	json_put_array(json, "tasks");
	for (size_t i = 0; i < planned->task_count; i++)
		put_task(json, planned, &planned->tasks[i]);
	json_put_end(json);
	json_put_array(json, "agents");
	for (size_t i = 0; i < planned->agent_count; i++) {
		json_put_object(json, NULL);
		json_put_text(json, "name", planned->agents[i].name);
		json_put_bool(json, "solution", planned->agents[i].is_solution);
		json_put_end(json);
	}
	json_put_end(json);
}

int planned_write(const struct planned *planned, int folder_fd, struct digest *digest_out,
		  struct err *err)
{
	cleanup(str_done) struct str text = STR_INIT;
	struct json_writer json;

	json_writer_init(&json, &text);
	json_put_object(&json, NULL);
	json_put_text(&json, "schema", PLANNED_SCHEMA);
	planned_put(&json, planned);
	json_put_end(&json);
	str_add(&text, "\n", 1);
	*digest_out = digest_sha256(text.text, text.len);
	return io_replace_file(folder_fd, PLANNED_FILE, text.text, text.len, 0644, err);
}

/* --- reading --- */

static int get_text(const struct json_value *object, const char *key, struct planned *planned,
		    const char **out, struct err *err)
{
	const char *text = NULL;

	if (json_get_text(object, key, TEXT_MAX, &text, err) < 0)
		return -1;
	*out = arena_copy(&planned->arena, text, strlen(text));
	return 0;
}

static int get_count(const struct json_value *object, const char *key, uint32_t min, uint32_t max,
		     uint32_t *out, struct err *err)
{
	int64_t value = 0;

	if (json_get_int(object, key, min, max, &value, err) < 0)
		return -1;
	*out = (uint32_t) value;
	return 0;
}

static int get_files(const struct json_value *files, enum planned_kind kind,
		     struct planned_task *out, struct err *err)
{
	size_t at = 0;

	for (size_t i = 0; i < PLANNED_FILES; i++) {
		const char *name = planned_file_name(kind, (enum planned_file) i);

		if (name &&
		    json_get_digest(json_item(files, at++), "sha256", &out->files[i], err) < 0)
			return err_wrap(err, "file '%s'", name);
	}
	return 0;
}

static int get_task(const struct json_value *value, struct planned *planned,
		    struct planned_task *out, struct err *err)
{
	if (get_text(value, "name", planned, &out->name, err) < 0 ||
	    json_get_digest(value, "tree", &out->tree, err) < 0 ||
	    (planned->kind == PLANNED_NATIVE &&
	     json_get_digest(value, "built", &out->built, err) < 0))
		return -1;
	/* It becomes part of paths. */
	out->folder = planned_folder(planned->kind, out->name, &planned->arena);
	if (!out->folder)
		return err_set(err, ERR_INPUT, "a task's name is no name of a folder");
	if (get_files(json_member(value, "files"), planned->kind, out, err) < 0)
		return -1;
	out->agents = arena_alloc(&planned->arena, planned->agent_count, sizeof(*out->agents));
	for (size_t i = 0; i < planned->agent_count; i++)
		if (json_get_digest(json_item(json_member(value, "agents"), i), "sha256",
				    &out->agents[i], err) < 0)
			return err_wrap(err, "agent %zu", i + 1);
	return 0;
}

static int get_agent(const struct json_value *value, struct planned *planned,
		     struct planned_agent *out, struct err *err)
{
	if (get_text(value, "name", planned, &out->name, err) < 0)
		return -1;
	return json_get_bool(value, "solution", &out->is_solution, err);
}

static int get_labels(const struct json_value *root, struct planned *out, struct err *err)
{
	const struct json_value *labels = json_member(root, "labels");

	out->label_count = json_count(labels);
	out->labels = arena_alloc(&out->arena, out->label_count + 1, sizeof(*out->labels));
	for (size_t i = 0; i < out->label_count; i++)
		if (get_text(json_item(labels, i), "key", out, &out->labels[i].key, err) < 0 ||
		    get_text(json_item(labels, i), "value", out, &out->labels[i].value, err) < 0)
			return err_wrap(err, "label %zu", i + 1);
	if (json_is_absent(json_member(root, "name")))
		return 0;
	return get_text(root, "name", out, &out->name, err);
}

static int get_lists(const struct json_value *root, struct planned *out, struct err *err)
{
	const struct json_value *tasks = json_member(root, "tasks");
	const struct json_value *agents = json_member(root, "agents");

	out->task_count = json_count(tasks);
	out->agent_count = json_count(agents);
	if (out->task_count == 0 || out->agent_count == 0 || out->task_count > RUN_TASKS_MAX ||
	    out->agent_count > RUN_AGENTS_MAX)
		return err_set(err, ERR_INPUT, "no tasks, no agents, or too many");
	out->tasks = arena_alloc(&out->arena, out->task_count, sizeof(*out->tasks));
	out->agents = arena_alloc(&out->arena, out->agent_count, sizeof(*out->agents));
	for (size_t i = 0; i < out->task_count; i++)
		if (get_task(json_item(tasks, i), out, &out->tasks[i], err) < 0)
			return err_wrap(err, "task %zu", i + 1);
	for (size_t i = 0; i < out->agent_count; i++)
		if (get_agent(json_item(agents, i), out, &out->agents[i], err) < 0)
			return err_wrap(err, "agent %zu", i + 1);
	return 0;
}

static int get_gpus(const struct json_value *root, struct planned *out, struct err *err)
{
	const struct json_value *list = json_member(root, "gpus");
	const size_t count = json_count(list);
	const char **gpus;

	if (count > RUN_GPUS_MAX)
		return err_set(err, ERR_INPUT, "%zu GPUs, more than %d", count, (int) RUN_GPUS_MAX);
	gpus = arena_alloc(&out->arena, count + 1, sizeof(*gpus));
	for (size_t i = 0; i < count; i++) {
		const char *name = json_as_text(json_item(list, i));

		if (!name)
			return err_set(err, ERR_INPUT, "gpus: item %zu is no text", i + 1);
		gpus[i] = arena_copy(&out->arena, name, strlen(name));
	}
	out->gpus = gpus;
	out->gpu_count = count;
	return 0;
}

static int get_dropped(const struct json_value *list, struct planned *out, struct err *err)
{
	const size_t count = json_count(list);
	struct planned_dropped *dropped;

	dropped = arena_alloc(&out->arena, count + 1, sizeof(*dropped));
	for (size_t i = 0; i < count; i++)
		if (get_text(json_item(list, i), "task", out, &dropped[i].name, err) < 0 ||
		    get_text(json_item(list, i), "why", out, &dropped[i].why, err) < 0)
			return err_wrap(err, "dropped: item %zu", i + 1);
	out->aka.dropped = dropped;
	out->aka.dropped_count = count;
	return 0;
}

static int get_aka(const struct json_value *root, struct planned *out, struct err *err)
{
	if (get_text(root, "python", out, &out->aka.python, err) < 0 ||
	    (!json_is_absent(json_member(root, "gpu_model")) &&
	     get_text(root, "gpu_model", out, &out->aka.gpu, err) < 0) ||
	    get_count(root, "rounds", 1, AKA_ROUNDS_MAX, &out->aka.rounds, err) < 0)
		return -1;
	return get_dropped(json_member(root, "dropped"), out, err);
}

/* What the lists need to be read. */
static int get_kind(const struct json_value *root, struct planned *out, struct err *err)
{
	const char *text = NULL;
	int kind;

	if (get_gpus(root, out, err) < 0)
		return -1;
	if (json_is_absent(json_member(root, "kind")))
		return 0;
	if (json_get_text(root, "kind", TEXT_MAX, &text, err) < 0)
		return -1;
	if (names_find(kind_names, text, &kind) < 0)
		return err_set(err, ERR_INPUT, "its kind is '%s', which nobody knows here", text);
	out->kind = (enum planned_kind) kind;
	return get_aka(root, out, err);
}

static int get_all(const struct json_value *root, struct planned *out, struct err *err)
{
	const char *schema = NULL;

	if (json_get_text(root, "schema", TEXT_MAX, &schema, err) < 0)
		return -1;
	if (strcmp(schema, PLANNED_SCHEMA) != 0)
		return err_set(err, ERR_INPUT, "its schema is '%s', not '" PLANNED_SCHEMA "'",
			       schema);
	if (get_text(root, "run", out, &out->run, err) < 0 || get_kind(root, out, err) < 0 ||
	    get_labels(root, out, err) < 0 ||
	    json_get_digest(root, "policy", &out->policy, err) < 0 ||
	    json_get_digest(root, "judge", &out->judge, err) < 0 ||
	    get_count(root, "repeats", 1, RUN_ATTEMPTS_MAX, &out->repeats, err) < 0 ||
	    get_count(root, "retries", 0, RETRIES_MAX, &out->retries, err) < 0 ||
	    get_count(root, "seats", 1, RUN_SEATS_MAX, &out->seats, err) < 0)
		return -1;
	return get_lists(root, out, err);
}

static int check_file(int folder_fd, const char *path, const struct digest *wanted, struct err *err)
{
	struct digest is;

	if (planned_digest_file(folder_fd, path, &is, err) < 0) {
		err->kind = ERR_INPUT;
		err->sys = 0; /* it is not PLANNED_FILE that is missing */
		return err_wrap(err, "what was planned is not there any more");
	}
	if (!digest_equal(&is, wanted))
		return err_set(err, ERR_INPUT, "'%s' is not what was planned: it was changed",
			       path);
	return 0;
}

static int check_files(int folder_fd, const struct planned *planned, struct err *err)
{
	char path[PLANNED_PATH_MAX];

	if (check_file(folder_fd, PLANNED_POLICY, &planned->policy, err) < 0)
		return -1;
	for (size_t i = 0; i < planned->task_count; i++) {
		for (size_t j = 0; j < PLANNED_FILES; j++) {
			const char *name = planned_file_name(planned->kind, (enum planned_file) j);

			if (!name)
				continue;
			snprintf(path, sizeof(path), "tasks/%s/%s", planned->tasks[i].folder, name);
			if (check_file(folder_fd, path, &planned->tasks[i].files[j], err) < 0)
				return -1;
		}
		for (size_t j = 0; j < planned->agent_count; j++) {
			planned_path(planned, i, j, path);
			if (check_file(folder_fd, path, &planned->tasks[i].agents[j], err) < 0)
				return -1;
		}
	}
	return 0;
}

int planned_read(int folder_fd, const struct digest *expected, struct planned *out,
		 struct digest *digest_out, struct err *err)
{
	cleanup(planned_done) struct planned made = PLANNED_INIT;
	cleanup(str_done) struct str text = STR_INIT;
	cleanup(json_done) struct json json = JSON_INIT;

	if (io_read_file(folder_fd, PLANNED_FILE, FILE_MAX, &text, err) < 0)
		return -1;
	*digest_out = digest_sha256(text.text, text.len);
	if (expected && !digest_equal(expected, digest_out))
		return err_set(err, ERR_INPUT,
			       "'" PLANNED_FILE "' is not what the journal says: it was changed");
	if (json_parse(&json, text.text, text.len, FILE_MAX, err) < 0 ||
	    get_all(json_root(&json), &made, err) < 0) {
		return err_wrap(err, PLANNED_FILE);
	}
	if (check_files(folder_fd, &made, err) < 0)
		return -1;
	*out = take(made, PLANNED_INIT);
	return 0;
}

void planned_done(struct planned *planned)
{
	arena_done(&planned->arena);
	*planned = PLANNED_INIT;
}
