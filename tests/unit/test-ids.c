/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/ids.h"

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/io.h"
#include "tests/lib/check.h"

static const struct ids ids = { .base = 0x70000000 };

static void need_root(void)
{
	if (geteuid() != 0)
		SKIP("needs root");
}

TEST(no_id_of_before_is_left_behind)
{
	struct err err = ERR_INIT;
	uid_t real, effective, saved;

	need_root();
	CHECK(setgroups(0, NULL) == 0);
	CHECK_OK(ids_become(&ids, IDS_KEEPER, 1, &err));
	CHECK(getresuid(&real, &effective, &saved) == 0);
	CHECK(real == 0x70000000 + IDS_KEEPER && effective == real && saved == real);
	CHECK(getresgid(&real, &effective, &saved) == 0);
	CHECK(real == 0x70000000 + IDS_KEEPER && effective == real && saved == real);
	CHECK(setuid(0) < 0);
}

TEST(a_new_user_namespace_gets_one_range_and_not_the_hosts_root)
{
	struct err err = ERR_INIT;
	int ready[2], go[2];
	char path[64], map[128], byte;
	int proc;
	pid_t pid;

	need_root();
	CHECK(pipe(ready) == 0 && pipe(go) == 0);
	pid = fork();
	if (pid == 0) {
		CHECK(unshare(CLONE_NEWUSER) == 0);
		CHECK(write(ready[1], "x", 1) == 1);
		CHECK(read(go[0], &byte, 1) == 1);
		CHECK_OK(ids_become(&ids, IDS_PAYLOAD, 0, &err));
		_exit(getuid() == 1000 ? 0 : 1);
	}
	CHECK(read(ready[0], &byte, 1) == 1);
	proc = open("/proc", O_PATH | O_DIRECTORY);
	CHECK_OK(ids_write_maps(&ids, proc, pid, &err));
	snprintf(path, sizeof(path), "%d/uid_map", (int) pid);
	CHECK_OK(io_read_kernel_file(proc, path, map, sizeof(map), &err));
	CHECK_STR(map, "         0 1879048192      65536");
	CHECK(write(go[1], "x", 1) == 1);
	CHECK(waitpid(pid, &ready[0], 0) == pid);
	CHECK_INT(ready[0], 0);
}
