/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/format.h"

#include <string.h>

#include "harness/config/policy.h"
#include "harness/config/run_config.h"
#include "harness/config/task.h"

static int check_task(const char *file, const char *text, size_t len, struct err *err)
{
	cleanup(task_done) struct task task = TASK_INIT;

	return task_parse(file, text, len, &task, err);
}

/* Stands for the set that a plan names. */
static int read_a_set(void *user, const char *path, struct str *text, struct err *err)
{
	(void) user;
	(void) path;
	(void) err;
	str_addf(text, "schema: proctor/set/1\ntasks: [task]\n");
	return 0;
}

static void text_done(struct str *text)
{
	str_done(text);
}

static int check_run_config(const char *file, const char *text, size_t len, struct err *err)
{
	cleanup(run_config_done) struct run_config config = run_config_default();
	cleanup(text_done) struct str copy = STR_INIT;

	str_add(&copy, text, len);
	return run_config_parse(file, &copy, read_a_set, NULL, &config, err);
}

/* clang-format off */
const struct format formats[] = {
	{ "policy",   &policy_schema,         &policy_keys,         policy_check_keys },
	{ "run-plan", &run_config_schema,     &run_config_keys,     check_run_config },
	{ "set",      &run_config_set_schema, &run_config_set_keys, run_config_check_set },
	{ "task",     &task_schema,           &task_keys,           check_task },
};
/* clang-format on */
const size_t format_count = ARRAY_LEN(formats);

const struct format *format_find(const char *name, size_t len)
{
	for (size_t i = 0; i < format_count; i++)
		if (strlen(formats[i].name) == len && strncmp(formats[i].name, name, len) == 0)
			return &formats[i];
	return NULL;
}
