/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Part of proctor-worker and proctor-check in builds with the address sanitizer, which in a jail
 * may neither set a limit on core files nor trace itself to look for leaks, and would end the
 * program for it. A crash has to be the signal that it is without a sanitizer.
 */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "disable_coredump=0:detect_leaks=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0";
}
