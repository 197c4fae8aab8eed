/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/base/arena.h"

#include <signal.h>
#include <stdalign.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/lib/check.h"

TEST(pieces_are_zeroed_aligned_and_apart)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	unsigned char *pieces[400];

	for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
		pieces[i] = arena_alloc(&arena, 1, i);
		CHECK_INT((uintptr_t) pieces[i] % alignof(max_align_t), 0);
		for (size_t at = 0; at < i; at++)
			CHECK_INT(pieces[i][at], 0);
		memset(pieces[i], (int) (i & 0xff), i);
	}
	for (size_t i = 0; i < ARRAY_LEN(pieces); i++)
		for (size_t at = 0; at < i; at++)
			CHECK_INT(pieces[i][at], i & 0xff);
}

TEST(a_piece_may_be_larger_than_a_block)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	unsigned char *large = arena_alloc(&arena, 1, MIB), *small = arena_alloc(&arena, 1, 1);

	large[MIB - 1] = 1;
	CHECK_INT(*small, 0);
	CHECK(arena.total >= MIB + 1);
}

TEST(text_is_copied_with_a_zero_behind_it)
{
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	char source[] = { 'a', '\0', 'b' };
	char *copy = arena_copy(&arena, source, sizeof(source));

	source[0] = 'x';
	CHECK(memcmp(copy, "a\0b", sizeof("a\0b")) == 0);
	CHECK_STR(arena_copy(&arena, NULL, 0), "");
	CHECK_STR(arena_printf(&arena, "%d-%s", 42, "x"), "42-x");
	CHECK_STR(arena_printf(&arena, "%s", ""), "");
}

TEST(an_arena_that_is_done_can_be_used_again)
{
	struct arena arena = ARENA_INIT;

	arena_alloc(&arena, 3, MIB);
	arena_done(&arena);
	CHECK(!arena.newest);
	CHECK_INT(arena.total, 0);
	arena_done(&arena);
	arena_alloc(&arena, 1, 1);
	arena_done(&arena);
}

TEST(a_size_that_overflows_ends_the_program)
{
	const struct rlimit no_core = { 0 };
	int status;
	pid_t pid;

	setrlimit(RLIMIT_CORE, &no_core);
	pid = fork();
	if (pid == 0) {
		struct arena arena = ARENA_INIT;

		arena_alloc(&arena, SIZE_MAX / 2, 3);
		_exit(0);
	}
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status));
	CHECK_INT(WTERMSIG(status), SIGABRT);
}
