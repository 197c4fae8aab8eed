/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/account.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/securebits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/io.h"
#include "tests/lib/check.h"

/* An account that every Debian system has, and that is not root's. */
#define OTHER "nobody"

static struct account account;
static struct err err;

static void check_refused(const char *sudo_uid, const char *text)
{
	err = (struct err) ERR_INIT;
	CHECK_INT(account_find(sudo_uid, &account, &err), -1);
	CHECK_INT(err.kind, ERR_HOST);
	CHECK_STR(err.text, text);
	CHECK_STR(account.name, "");
}

TEST(sudo_says_who_it_is)
{
	const struct passwd *entry = getpwnam(OTHER);
	char uid[32];

	CHECK(entry);
	snprintf(uid, sizeof(uid), "%u", entry->pw_uid);
	CHECK_OK(account_find(uid, &account, &err));
	CHECK_STR(account.name, OTHER);
	CHECK_INT(account.uid, entry->pw_uid);
	CHECK_INT(account.gid, entry->pw_gid);
}

TEST(what_is_no_uid_is_refused_as_it_stands)
{
	check_refused("", "SUDO_UID is '', which is no uid");
	check_refused("nobody", "SUDO_UID is 'nobody', which is no uid");
	check_refused("12x", "SUDO_UID is '12x', which is no uid");
	check_refused(" 12", "SUDO_UID is ' 12', which is no uid");
	check_refused("+12", "SUDO_UID is '+12', which is no uid");
	check_refused("-1", "SUDO_UID is '-1', which is no uid");
	check_refused("-18446744073709551604",
		      "SUDO_UID is '-18446744073709551604', which is no uid");
	check_refused("4294967295", "SUDO_UID is '4294967295', which is no uid");
	check_refused("99999999999999999999",
		      "SUDO_UID is '99999999999999999999', which is no uid");
}

TEST(a_uid_without_an_account_is_refused)
{
	check_refused("4294967294", "SUDO_UID is 4294967294, which has no account");
}

TEST(plain_root_becomes_the_system_account_or_learns_how_to_make_it)
{
	static const char *const roots[] = { NULL, "0" };

	for (size_t i = 0; i < ARRAY_LEN(roots); i++) {
		if (getpwnam("proctor")) {
			CHECK_OK(account_find(roots[i], &account, &err));
			CHECK_STR(account.name, "proctor");
			CHECK(account.uid != 0 && account.gid != 0);
		} else {
			CHECK_INT(account_find(roots[i], &account, &err), -1);
			CHECK_INT(err.kind, ERR_HOST);
			CHECK(strstr(err.text, "useradd --system"));
		}
	}
}

/* The value of a line of /proc/self/status, which a process that can not be dumped still reads. */
static void check_status(const char *key, const char *want)
{
	char text[8192], value[256];
	struct err none = ERR_INIT;
	const char *line;

	if (io_read_kernel_file(AT_FDCWD, "/proc/self/status", text, sizeof(text), &none) < 0)
		check_fail(__FILE__, __LINE__, "%s", none.text);
	line = strstr(text, key);
	CHECK(line);
	line += strlen(key) + 1;
	snprintf(value, sizeof(value), "%.*s", (int) strcspn(line, "\n"), line);
	if (strcmp(value, want) != 0)
		check_fail(__FILE__, __LINE__, "%s is '%s', not '%s'", key, value, want);
}

static void check_dropped(void)
{
	static const char none[] = "0000000000000000";
	uid_t uids[3];
	gid_t gids[3];

	CHECK(getresuid(&uids[0], &uids[1], &uids[2]) == 0);
	CHECK(getresgid(&gids[0], &gids[1], &gids[2]) == 0);
	for (int i = 0; i < 3; i++) {
		CHECK_INT(uids[i], account.uid);
		CHECK_INT(gids[i], account.gid);
	}
	check_status("\nCapPrm:", none);
	check_status("\nCapEff:", none);
	check_status("\nCapAmb:", none);
	check_status("\nNoNewPrivs:", "1");
	CHECK_INT(prctl(PR_GET_DUMPABLE), 0);
	CHECK(setuid(0) < 0 && seteuid(0) < 0 && setgid(0) < 0);
	CHECK(setresuid((uid_t) -1, 0, (uid_t) -1) < 0);
}

static void become(void)
{
	const struct passwd *entry = getpwnam(OTHER);

	CHECK(entry);
	account = (struct account){ .uid = entry->pw_uid, .gid = entry->pw_gid };
	snprintf(account.name, sizeof(account.name), OTHER);
	if (geteuid() != 0)
		SKIP("needs root");
}

TEST(nothing_of_root_is_left)
{
	const gid_t groups[] = { 0, 4 };

	become();
	CHECK(setgroups(ARRAY_LEN(groups), groups) == 0);
	CHECK_OK(account_become(&account, &err));
	check_dropped();
	check_status("\nGroups:", "65534 ");
	_exit(0); /* a leak check could not look at us */
}

TEST(capabilities_do_not_outlive_the_change_of_user)
{
	static const unsigned long ways[] = { SECBIT_KEEP_CAPS, SECBIT_NO_SETUID_FIXUP };

	become();
	for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
		if (fork() == 0) {
			CHECK(prctl(PR_SET_SECUREBITS, ways[i]) == 0);
			CHECK_OK(account_become(&account, &err));
			check_dropped();
			_exit(0);
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
		int status;

		CHECK(wait(&status) > 0);
		CHECK_INT(status, 0);
	}
}

TEST(where_they_can_not_be_dropped_nothing_goes_on)
{
	become();
	CHECK(prctl(PR_SET_SECUREBITS, SECBIT_KEEP_CAPS | SECBIT_NO_SETUID_FIXUP |
					       SECBIT_NO_SETUID_FIXUP_LOCKED) == 0);
	CHECK_INT(account_become(&account, &err), -1);
	CHECK_INT(err.kind, ERR_HOST);
	CHECK_STR(err.text, "give up root's capabilities: the securebits are locked: Operation not "
			    "permitted");
}

TEST(who_is_not_root_is_who_he_is_and_needs_no_entry)
{
	become();
	CHECK(setresgid(61009, 61009, 61009) == 0 && setresuid(61009, 61009, 61009) == 0);
	CHECK_OK(account_find(NULL, &account, &err));
	CHECK_INT(account.uid, 61009);
	CHECK_INT(account.gid, 61009);
	CHECK_STR(account.name, "61009");
	CHECK(account.is_callers);
	CHECK_OK(account_enter(&account, &err));
	CHECK_OK(account_leave(&err));
	CHECK_OK(account_become(&account, &err));
	check_dropped();
	_exit(0); /* a leak check could not look at us */
}

TEST(who_is_not_root_can_not_become_another)
{
	become();
	CHECK(setresgid(65534, 65534, 65534) == 0 && setresuid(1, 1, 1) == 0);
	CHECK_INT(account_become(&account, &err), -1);
	CHECK_STR(err.text, "take the groups of '" OTHER "': Operation not permitted");
}
