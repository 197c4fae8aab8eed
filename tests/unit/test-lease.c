/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/lease.h"

#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/str.h"
#include "tests/lib/check.h"

TEST(every_holder_has_a_lease_of_its_own_until_all_are_taken)
{
	struct lease one = LEASE_INIT, two = LEASE_INIT, three = LEASE_INIT;
	struct err err = ERR_INIT;

	CHECK_OK(lease_take(check_folder(), "uids", 2, &one, &err));
	CHECK_OK(lease_take(check_folder(), "uids", 2, &two, &err));
	CHECK(one.number != two.number);
	CHECK_INT(lease_take(check_folder(), "uids", 2, &three, &err), -1);
	CHECK_INT(err.kind, ERR_HOST);
	CHECK_INT(three.lock_fd, -1);
	lease_done(&one);
	CHECK_OK(lease_take(check_folder(), "uids", 2, &three, &err));
}

TEST(a_lease_ends_with_its_holder_however_that_ends)
{
	struct lease lease = LEASE_INIT;
	struct err err = ERR_INIT;
	int ready[2];
	char byte;
	pid_t pid;

	check_folder();
	CHECK(pipe(ready) == 0);
	pid = fork();
	if (pid == 0) {
		CHECK_OK(lease_take(check_folder(), "uids", 1, &lease, &err));
		CHECK(write(ready[1], "x", 1) == 1);
		pause();
	}
	CHECK(read(ready[0], &byte, 1) == 1);
	CHECK_INT(lease_take(check_folder(), "uids", 1, &lease, &err), -1);
	kill(pid, SIGKILL);
	CHECK(waitpid(pid, NULL, 0) == pid);
	CHECK_OK(lease_take(check_folder(), "uids", 1, &lease, &err));
}

TEST(one_lease_is_free_or_another_has_it)
{
	struct lease one = LEASE_INIT, two = LEASE_INIT;
	struct err err = ERR_INIT;

	CHECK_INT(lease_try(check_folder(), "uids", 7, &one, &err), 1);
	CHECK_INT(one.number, 7);
	CHECK_INT(lease_try(check_folder(), "uids", 7, &two, &err), 0);
	CHECK_INT(two.lock_fd, -1);
	CHECK_OK(lease_take(check_folder(), "uids", 8, &two, &err));
	CHECK_INT(two.number, 0);
	lease_done(&one);
	CHECK_INT(lease_try(check_folder(), "uids", 7, &one, &err), 1);
	CHECK_INT(lease_try(-1, "uids", 7, &one, &err), -1);
	CHECK_STR(err.text, "open lease 'uids-0007.lock': Bad file descriptor");
}

TEST(the_next_taker_reads_what_the_last_one_has_noted)
{
	struct lease lease = LEASE_INIT;
	struct err err = ERR_INIT;
	char text[16] = "?";

	CHECK_OK(lease_take(check_folder(), "uids", 1, &lease, &err));
	CHECK_OK(lease_read(&lease, text, sizeof(text), &err));
	CHECK_STR(text, "");
	CHECK_OK(lease_note(&lease, "here or there", &err));
	lease_done(&lease);
	CHECK_OK(lease_take(check_folder(), "uids", 1, &lease, &err));
	CHECK_OK(lease_read(&lease, text, sizeof(text), &err));
	CHECK_STR(text, "here or there");
	CHECK_INT(lease_read(&lease, text, 13, &err), -1);
	CHECK_STR(err.text, "lease 0 holds more than 12 bytes");
	CHECK_OK(lease_note(&lease, "x", &err));
	CHECK_OK(lease_read(&lease, text, sizeof(text), &err));
	CHECK_STR(text, "x");
	CHECK_OK(lease_note(&lease, "", &err));
	CHECK_OK(lease_read(&lease, text, sizeof(text), &err));
	CHECK_STR(text, "");
}

TEST(different_kinds_do_not_meet)
{
	struct lease one = LEASE_INIT, two = LEASE_INIT;
	struct err err = ERR_INIT;

	CHECK_OK(lease_take(check_folder(), "uids", 1, &one, &err));
	CHECK_OK(lease_take(check_folder(), "timing", 1, &two, &err));
}

TEST(the_folder_of_the_leases_is_made_once_and_is_nobody_elses)
{
	cleanup(str_done) struct str path = STR_INIT;
	struct err err = ERR_INIT;
	auto_fd first = -1, second = -1;
	struct stat info;

	check_folder();
	str_addf(&path, "%s/leases", check_folder_path());
	first = lease_open_folder(path.text, &err);
	CHECK(first >= 0);
	CHECK_INT(fstat(first, &info), 0);
	CHECK_INT(info.st_mode & 0777, 0700);
	second = lease_open_folder(path.text, &err);
	CHECK(second >= 0);
	CHECK_INT(fchmod(first, 0720), 0);
	CHECK_INT(lease_open_folder(path.text, &err), -1);
	CHECK_INT(err.kind, ERR_HOST);
	CHECK(strstr(err.text, "is not root's alone: remove it"));
	str_addf(&path, "/none/here");
	CHECK_INT(lease_open_folder(path.text, &err), -1);
	CHECK_INT(err.kind, ERR_HOST);
	CHECK(strstr(err.text, "create folder"));
}
