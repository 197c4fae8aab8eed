/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/cli/opened_aka.h"

#include <fcntl.h>
#include <string.h>

#include "harness/aka/aka_set.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/log.h"

enum { CONFIG_MAX = 1 << 20 };

static int open_set(struct run_aka *aka, const char *set, struct err *err)
{
	size_t len;

	aka->set = set;
	if (!set || (!strchr(set, '/') && aka_set_shipped(set, &len)))
		return 0;
	aka->set_fd = opened_file(AT_FDCWD, set, "option --set:", err);
	return aka->set_fd < 0 ? -1 : 0;
}

int opened_aka_open(struct opened *opened, const struct opened_aka *options,
		    const struct argv *selectors, struct err *err)
{
	struct run_aka *aka = &opened->plan.aka;

	aka->path = options->folder;
	aka->selectors = *selectors;
	aka->arch = options->arch;
	aka->gpu = options->gpu_model;
	aka->python = options->python;
	aka->rounds = (uint32_t) options->rounds;
	aka->fd = opened_input(AT_FDCWD, options->folder, O_DIRECTORY, "option --aka:", err);
	if (aka->fd < 0 || open_set(aka, options->set, err) < 0)
		return -1;
	aka->heldout = options->heldout;
	if (options->heldout) {
		aka->heldout_fd = opened_input(AT_FDCWD, options->heldout, O_DIRECTORY,
					       "option --held-out:", err);
		if (aka->heldout_fd < 0)
			return -1;
	}
	opened->aka_config_path = options->config;
	if (!options->config)
		return 0;
	opened->aka_config_fd = opened_file(AT_FDCWD, options->config, "run configuration", err);
	return opened->aka_config_fd < 0 ? -1 : 0;
}

int opened_gpus(struct opened *opened, const char *what, const char *text, struct err *err)
{
	const char **names = arena_alloc(&opened->arena, RUN_GPUS_MAX, sizeof(*names));
	struct run_plan *plan = &opened->plan;

	for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		const size_t len = strcspn(at, ",");

		if (len == 0 || plan->gpu_count == RUN_GPUS_MAX)
			return err_set(err, ERR_USAGE,
				       "%s: '%s' is not 1 to %d names with commas between", what,
				       text, (int) RUN_GPUS_MAX);
		names[plan->gpu_count++] = arena_copy(&opened->arena, at, len);
		for (size_t i = 0; i + 1 < plan->gpu_count; i++)
			if (strcmp(names[i], names[plan->gpu_count - 1]) == 0)
				return err_set(err, ERR_USAGE, "%s: '%s' is named twice", what,
					       names[i]);
	}
	plan->gpus = names;
	return 0;
}

static int read_config(struct opened *opened, struct err *err)
{
	const char *path = opened->aka_config_path;
	cleanup(str_done) struct str text = STR_INIT;

	if (io_read_fd(opened->aka_config_fd, CONFIG_MAX, path, &text, err) < 0)
		return -1;
	if (!aka_config_is(text.text, text.len))
		return err_set(err, ERR_INPUT,
			       "'%s' is no run configuration of AgentKernelArena, which has an "
			       "agent with a template; a run plan of ours goes without --aka",
			       path);
	return aka_config_parse(path, text.text, text.len, &opened->aka_config, err);
}

int opened_aka_read(struct opened *opened, bool has_seats, struct err *err)
{
	const struct aka_config *config = &opened->aka_config;
	struct run_plan *plan = &opened->plan;

	if (!opened->aka_config_path)
		return 0;
	if (read_config(opened, err) < 0)
		return -1;
	for (size_t i = 0; i < config->remark_count; i++)
		log_say(LOG_NOTICE, "config.remark", "%s", config->remarks[i]);
	plan->aka.selectors = config->selectors;
	if (!plan->aka.gpu)
		plan->aka.gpu = config->gpu;
	if (config->gpu_ids && plan->gpu_count == 0 &&
	    opened_gpus(opened, "gpu_ids", config->gpu_ids, err) < 0)
		return -1;
	if (config->parallel > 0 && !has_seats)
		plan->seats = (uint32_t) MIN_OF(config->parallel, (uint64_t) RUN_SEATS_MAX);
	log_say(LOG_NOTICE, "config.agent",
		"%s names the agent '%s', which proctor does not have yet: '%s' takes its place",
		opened->aka_config_path, config->agent,
		plan->agent_count > 0 ? plan->agents[0].name : "nothing");
	return 0;
}
