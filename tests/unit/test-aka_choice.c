/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/aka_choice.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "tests/lib/check.h"
#include "tests/lib/tree.h"

#define CONFIG                                                           \
	"task_type: triton2triton\nsource_file_path: [k.py]\n"           \
	"target_kernel_functions: [k]\ncompile_command: ['python3 a']\n" \
	"correctness_command: ['python3 b']\nperformance_command: ['python3 c']\n"

static struct arena arena;
static struct err err;
static struct aka_choice choice;
static struct run_aka aka;

static void make(const char *name, const char *more)
{
	cleanup(str_done) struct str text = STR_INIT;
	char path[64];
	auto_fd folder = -1;

	mkdirat(check_folder(), "tasks", 0755);
	mkdirat(check_folder(), "tasks/triton2triton", 0755);
	snprintf(path, sizeof(path), "tasks/triton2triton/%s", name);
	CHECK(mkdirat(check_folder(), path, 0755) == 0);
	folder = openat(check_folder(), path, O_RDONLY | O_DIRECTORY);
	str_addf(&text, "%s%s", CONFIG, more);
	tree_make_file(folder, "config.yaml", text.text, 0644);
}

static int choose(const char *set)
{
	aka.path = "here";
	aka.fd = check_folder();
	aka.set_fd = -1;
	if (set) {
		aka.set = "mine";
		aka.set_fd = memfd_create("set", MFD_CLOEXEC);
		CHECK_INT(write(aka.set_fd, set, strlen(set)), strlen(set));
		CHECK_INT(lseek(aka.set_fd, 0, SEEK_SET), 0);
	}
	choice = AKA_CHOICE_INIT;
	return aka_choice_make(&aka, &arena, &choice, &err);
}

TEST(all_are_meant_where_none_is_named)
{
	make("a", "");
	make("b", "");
	CHECK_OK(choose(NULL));
	CHECK_INT(choice.count, 2);
	CHECK_STR(choice.entries[0].name, "triton2triton/a");
	aka_choice_done(&choice);
}

TEST(what_could_not_be_read_again_or_is_the_candidates_is_refused)
{
	static const char *const bad[] = { "",           "./python3", "bin/python3", "/work/py",
					   "/work/../x", "/opt/\xff", "py\nthon",    "/work" };
	static const char *const good[] = { "python3", "/opt/x/bin/python3", "/workshop/python3" };
	cleanup(str_done) struct str text = STR_INIT;

	make("a", "");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		aka.python = bad[i];
		if (choose(NULL) == 0)
			check_fail(__FILE__, __LINE__, "'%s' is taken", bad[i]);
		CHECK_INT(err.kind, ERR_INPUT);
	}
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		aka.python = good[i];
		CHECK_OK(choose(NULL));
		aka_choice_done(&choice);
	}
	for (size_t i = 0; i < 256; i++)
		str_add(&text, "x", 1);
	aka.gpu = text.text;
	CHECK_INT(choose(NULL), -1);
	CHECK(strstr(err.text, "option --gpu-model: "));
}

TEST(a_set_names_them)
{
	make("a", "");
	make("b", "");
	CHECK_OK(choose("triton2triton/b # the second\n"));
	CHECK_INT(choice.count, 1);
	CHECK_STR(choice.entries[0].name, "triton2triton/b");
	aka_choice_done(&choice);
	fd_close(&aka.set_fd);
}

TEST(what_a_set_has_beside_is_listed)
{
	make("a", "");
	CHECK_OK(choose("triton2triton/a\nhip2hip/x\nhip2hip/y\n"));
	CHECK_INT(choice.count, 1);
	CHECK_INT(choice.absent.count, 2);
	CHECK_STR(choice.absent.items[1], "hip2hip/y");
	aka_choice_done(&choice);
	fd_close(&aka.set_fd);
}

static void check_dropped(const char *more, const char *arch, const char *why)
{
	cleanup(aka_task_done) struct aka_task task = AKA_TASK_INIT;
	const char *got;

	make("x", more);
	CHECK_OK(choose(NULL));
	CHECK_OK(aka_choice_load(&choice, 0, &task, &err));
	got = aka_choice_why_dropped(&task, arch, &arena);
	if (why)
		CHECK(got && strstr(got, why));
	else
		CHECK(!got);
	aka_choice_done(&choice);
	CHECK(unlinkat(check_folder(), "tasks/triton2triton/x/config.yaml", 0) == 0 &&
	      unlinkat(check_folder(), "tasks/triton2triton/x", AT_REMOVEDIR) == 0);
}

TEST(what_a_run_leaves_out_has_a_reason)
{
	check_dropped("", NULL, NULL);
	check_dropped("platform_support: { required_arch: gfx942 }\n", "gfx942", NULL);
	check_dropped("platform_support: { required_arch: gfx942 }\n", "gfx950", "gfx942");
	check_dropped("platform_support: { required_arch: gfx942 }\n", NULL, "gfx942");
	check_dropped("repo_url: https://example.org/x.git\nrepository_language: triton\n", NULL,
		      "its sources come from https://example.org/x.git");
}
