/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/seccomp.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(sizeof(struct sock_filter) == sizeof(uint64_t), "an instruction is 8 bytes");

static void refuse_at_once(struct sock_filter *instructions, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (instructions[i].code == (BPF_RET | BPF_K) &&
		    instructions[i].k == SECCOMP_RET_USER_NOTIF)
			instructions[i].k = SECCOMP_RET_ERRNO | EPERM;
}

int seccomp_install(const struct seccomp_program *program, int *listener_fd, struct err *err)
{
	struct sock_filter instructions[SECCOMP_PROGRAM_MAX];
	const struct sock_fprog filter = {
		.len = (unsigned short) program->count,
		.filter = instructions,
	};

	if (program->count == 0 || program->count > SECCOMP_PROGRAM_MAX)
		return err_set(err, ERR_SYS, "a system call filter of %u instructions is malformed",
			       program->count);
	memcpy(instructions, program->instructions, program->count * sizeof(instructions[0]));
	if (listener_fd) {
		*listener_fd = (int) syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
					     SECCOMP_FILTER_FLAG_NEW_LISTENER |
						     SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
					     &filter);
		if (*listener_fd >= 0)
			return 0;
		if (errno != EBUSY)
			return err_sys(err, "install the system call filter");
	}
	refuse_at_once(instructions, program->count);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) < 0)
		return err_sys(err, "install the system call filter");
	return 0;
}
