/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/base/mem.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/lib/check.h"

/* Neither the compiler nor a sanitizer may know the size beforehand. */
static volatile size_t half = SIZE_MAX / 2 + 1;

TEST(memory_is_zeroed_and_never_null)
{
	cleanup(mem_free) unsigned char *bytes = mem_alloc(100, 3);
	cleanup(mem_free) void *nothing = mem_alloc(0, 0);

	for (size_t i = 0; i < 300; i++)
		CHECK_INT(bytes[i], 0);
	CHECK(nothing);
}

TEST(resizing_keeps_what_was_there)
{
	cleanup(mem_free) int *numbers = mem_resize(NULL, 2, sizeof(int));

	numbers[0] = 7;
	numbers[1] = 9;
	numbers = mem_resize(numbers, 1000, sizeof(int));
	CHECK_INT(numbers[0], 7);
	CHECK_INT(numbers[1], 9);
	numbers = mem_resize(numbers, 0, sizeof(int));
	CHECK(numbers);
}

/* By abort(), or in a sanitizer's own way. */
static bool ends(void (*act)(void))
{
	const struct rlimit no_core = { 0 };
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &no_core);
		act();
		_exit(0);
	}
	CHECK_INT(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) == SIGABRT : WEXITSTATUS(status) == 1;
}

static void allocate_too_much(void)
{
	mem_alloc(half, 2);
}

static void resize_too_much(void)
{
	mem_resize(NULL, half, 2);
}

TEST(a_size_that_overflows_ends_the_program)
{
	CHECK(ends(allocate_too_much));
	CHECK(ends(resize_too_much));
}
