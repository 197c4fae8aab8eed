/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/images.h"

#include <string.h>

#include "harness/run/compose.h"
#include "harness/run/jail.h"
#include "sandbox/base/mem.h"

/* What is to be executed and is never executable: the jail is built, and that is all. */
#define NO_PROGRAM "/"

static int make_spec(const struct policy *policy, const struct policy_role *role,
		     struct jail_spec *spec, struct err *err)
{
	spec_init(spec, "image");
	compose_role(policy, role, spec);
	compose_image(role, spec);
	if (spec_add_arg(spec, NO_PROGRAM, err) < 0)
		return -1;
	return spec_check(spec, err);
}

/* Return: a SHA-256 in hexadecimal, "" for a folder; NULL. */
static const char *look(const struct policy *policy, const struct policy_role *role,
			int launcher_fd, int stop_fd, struct arena *arena, struct err *err)
{
	cleanup(mem_free) struct jail_spec *spec = mem_alloc(1, sizeof(*spec));
	const struct jail_io io = { .folder_fd = -1, .output_max = 4 * KIB, .stop_fd = stop_fd };
	struct jail_outcome outcome;
	struct spec_fds fds;

	spec_fds_init(&fds);
	if (make_spec(policy, role, spec, err) < 0 ||
	    jail_run(launcher_fd, spec, &fds, &io, &outcome, err) < 0)
		return NULL;
	if (outcome.last.kind != EVENT_NOT_EXECUTABLE) {
		*err = outcome.last.err;
		if (err->kind == ERR_NONE)
			err_set(err, ERR_SYS, "a folder was executed");
		return NULL;
	}
	return arena_printf(arena, "%s", outcome.last.result.image);
}

int images_look(struct policy *policy, int launcher_fd, int stop_fd, struct arena *arena,
		struct image_list *out, struct err *err)
{
	const struct {
		const char *name;
		struct policy_role *role;
	} roles[] = {
		{ "agent", &policy->agent },
		{ "build", &policy->build },
		{ "worker", &policy->worker },
		{ "evaluator", &policy->evaluator },
	};
	const char **images = arena_alloc(arena, ARRAY_LEN(roles), sizeof(*images));
	size_t found = 0;

	for (size_t i = 0; i < ARRAY_LEN(roles); i++) {
		const char *image = roles[i].role->image, *content;
		const bool is_host = strcmp(image, POLICY_IMAGE_HOST) == 0;

		if (is_host && roles[i].role->gpus == 0)
			continue;
		content = look(policy, roles[i].role, launcher_fd, stop_fd, arena, err);
		if (!content)
			return err_wrap(err, "policy '%s': %s", policy->name, roles[i].name);
		if (!is_host)
			images[found++] = arena_printf(arena, "%s %s %s%s", roles[i].name, image,
						       content[0] ? "sha256:" : "folder", content);
		if (content[0] != '\0')
			roles[i].role->content = content;
	}
	*out = (struct image_list){ images, found };
	return 0;
}

int images_check(const struct image_list *planned, const struct image_list *now, struct err *err)
{
	for (size_t i = 0; i < MAX_OF(planned->count, now->count); i++) {
		const char *was = i < planned->count ? planned->items[i] : "none";
		const char *is = i < now->count ? now->items[i] : "none";

		if (strcmp(was, is) != 0)
			return err_set(err, ERR_INPUT,
				       "the run was planned with another image ('%s', now '%s'): "
				       "put that one back, or begin a new run",
				       was, is);
	}
	return 0;
}
