/* SPDX-License-Identifier: Apache-2.0 */

/* bench-hold: holds 100 inotify instances, says so with a byte, and waits to be ended. */
#include <sys/inotify.h>
#include <unistd.h>

int main(void)
{
	for (int i = 0; i < 100; i++)
		if (inotify_init1(IN_CLOEXEC) < 0)
			return 1;
	if (write(STDOUT_FILENO, "h", 1) != 1)
		return 1;
	for (;;)
		pause();
}
