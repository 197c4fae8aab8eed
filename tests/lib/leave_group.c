/* SPDX-License-Identifier: Apache-2.0 */

/*
 * leave-group COMMAND [ARGUMENT]…: executes COMMAND in its parent's process group, and without the
 * signal that it would get at its parent's end
 */

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc < 2)
		return 125;
	if (prctl(PR_SET_PDEATHSIG, 0) < 0 || setpgid(0, getpgid(getppid())) < 0) {
		perror("leave-group");
		return 125;
	}
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
