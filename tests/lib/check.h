/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sandbox/base/compiler.h"

/*
 * The test library: each TEST() is a process of its own, since what we test (credentials,
 * namespaces, filters) can not be taken back. Output is TAP. Names of tests are sentences.
 *
 *	TEST(a_failure_half_way_leaves_nothing_behind)
 *	{
 *		CHECK(thing_is_gone());
 *		CHECK_INT(count(), 3);
 *	}
 *
 * A failed check ends its test. A test that can not run here says SKIP("why"); tools/test lists
 * the reasons and accepts only those of its allow list.
 */
struct check_test {
	const char *name;
	void (*run)(void);
	struct check_test *next;
};

void check_register(struct check_test *test);

no_return void check_fail(const char *file, int line, const char *format, ...) printf_like(3, 4);
no_return void check_skip(const char *format, ...) printf_like(1, 2);

/**
 * check_folder() - a fresh, empty folder, removed with all that is in it when the test ends
 *
 * Return: its descriptor; the test's first call makes the folder, later calls give the same one.
 */
int check_folder(void);

/**
 * check_folder_path() - the path of that folder
 */
const char *check_folder_path(void);

/**
 * check_note() - a line of explanation in the test's output ("# …"), figures for instance
 */
void check_note(const char *format, ...) printf_like(1, 2);

void check_str(const char *file, int line, const char *what, const char *got, const char *want);
void check_int(const char *file, int line, const char *what, int64_t got, int64_t want);

#define TEST(name_)                                                               \
	static void name_(void);                                                  \
	__attribute__((constructor)) static void register_##name_(void)           \
	{                                                                         \
		static struct check_test test = { .name = #name_, .run = name_ }; \
		check_register(&test);                                            \
	}                                                                         \
	static void name_(void)

#define CHECK(condition)                                                  \
	do {                                                              \
		if (!(condition))                                         \
			check_fail(__FILE__, __LINE__, "%s", #condition); \
	} while (0)

/* A call that must return 0 or more; otherwise the text of `err` is shown. */
#define CHECK_OK(call)                                                             \
	do {                                                                       \
		if ((call) < 0)                                                    \
			check_fail(__FILE__, __LINE__, "%s: %s", #call, err.text); \
	} while (0)

#define CHECK_STR(got, want) check_str(__FILE__, __LINE__, #got, got, want)
#define CHECK_INT(got, want) check_int(__FILE__, __LINE__, #got, (int64_t) (got), (int64_t) (want))
#define SKIP(...)            check_skip(__VA_ARGS__)
