/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/run/vetting_state.h"
#include "sandbox/base/fd.h"
#include "tests/lib/check.h"
#include "tests/lib/tree.h"

/* What needs no jail: mistakes that are found before one. The rest is in test-vetting. */
static struct err err;
static struct progress progress;
static struct run run;
static struct vetting vetting;
static struct vetted vetted;
static struct vetting_state state;
static const char *const editable[] = { "a.c", "sub/" };

static void prepare(void)
{
	progress_start(&progress, -1, false, 0, 0, 0);
	run.progress = &progress;
	vetting = (struct vetting){ .run = &run, .task_fd = check_folder() };
	state = (struct vetting_state){ .vetting = &vetting, .out = &vetted };
	state.task.editable.items = editable;
	state.task.editable.count = 2;
	state.pristine_fd = tree_fd("\nf a.c=old\nf b.h=old");
}

static void add(const char *name, const char *file, const char *content)
{
	char path[256];
	int at = check_folder();

	mkdirat(at, "solutions", 0755);
	snprintf(path, sizeof(path), "solutions/%s", name);
	mkdirat(at, path, 0755);
	snprintf(path, sizeof(path), "solutions/%s/%s", name, file);
	tree_make_file(at, path, content, 0644);
}

static const char *try_one(void)
{
	CHECK_OK(vetting_solutions(&state, &err));
	CHECK_INT(vetted.solution_count, 1);
	CHECK(!vetted.solutions[0].is_expected && !vetted.solutions[0].is_built);
	return vetted.solutions[0].why;
}

TEST(a_task_without_solutions_is_its_authors_mistake)
{
	prepare();
	CHECK_INT(vetting_solutions(&state, &err), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK(strstr(err.text, "there is no folder solutions/"));
}

TEST(a_solution_without_a_note_is_told_so)
{
	prepare();
	add("honest-a", "a.c", "new");
	CHECK(strstr(try_one(), "it has to say in a few lines what it does"));
	CHECK_STR(vetted.solutions[0].name, "honest-a");
}

TEST(a_file_that_no_agent_could_change_is_named)
{
	prepare();
	add("honest-a", NOTE_FILE, "Expected: VALID.");
	add("honest-a", "b.h", "new");
	CHECK(strstr(try_one(), "'b.h' is not editable"));
	CHECK_INT(vetted.solutions[0].expected.seen, MARK_VALID);
}

TEST(a_solution_that_changes_nothing_is_told_so)
{
	prepare();
	add("cheat-a", NOTE_FILE, "Expected: WRONG.");
	CHECK(strstr(try_one(), "it has none of the editable files, such as 'a.c'"));
}
