/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/account.h"

#include <grp.h>
#include <linux/securebits.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "harness/config/types.h"

#define SYSTEM_ACCOUNT "proctor"

static int take_entry(const struct passwd *entry, struct account *out, struct err *err)
{
	if (entry->pw_uid == 0 || entry->pw_gid == 0)
		return err_set(err, ERR_HOST, "the account '%s' is root's", entry->pw_name);
	*out = (struct account){ .uid = entry->pw_uid, .gid = entry->pw_gid };
	snprintf(out->name, sizeof(out->name), "%s", entry->pw_name);
	return 0;
}

/* A member of the launcher's group, who needs no entry of his own in the lists. */
static void take_own(struct account *out)
{
	const struct passwd *entry = getpwuid(geteuid());

	*out = (struct account){ .uid = geteuid(), .gid = getegid(), .is_callers = true };
	if (entry)
		snprintf(out->name, sizeof(out->name), "%s", entry->pw_name);
	else
		snprintf(out->name, sizeof(out->name), "%u", out->uid);
}

int account_find(const char *sudo_uid, struct account *out, struct err *err)
{
	const struct passwd *entry;
	uint64_t uid = 0;

	if (!sudo_uid && geteuid() != 0) {
		take_own(out);
		return 0;
	}
	if (sudo_uid && (types_parse_count(sudo_uid, &uid) < 0 || uid >= UINT32_MAX))
		return err_set(err, ERR_HOST, "SUDO_UID is '%s', which is no uid", sudo_uid);
	if (uid != 0) {
		entry = getpwuid((uid_t) uid);
		if (!entry)
			return err_set(err, ERR_HOST, "SUDO_UID is %s, which has no account",
				       sudo_uid);
		if (take_entry(entry, out, err) < 0)
			return -1;
		out->is_callers = true;
		return 0;
	}
	entry = getpwnam(SYSTEM_ACCOUNT);
	if (!entry)
		return err_set(err, ERR_HOST,
			       "there is no account '" SYSTEM_ACCOUNT "' to drop root for: make it "
			       "with useradd --system --user-group --no-create-home "
			       "--shell /usr/sbin/nologin " SYSTEM_ACCOUNT
			       ", or call proctor through sudo");
	return take_entry(entry, out, err);
}

int account_enter(const struct account *account, struct err *err)
{
	/* Who is not root is told so by what needs it. */
	if (!account->is_callers || geteuid() != 0)
		return 0;
	/* The user id last: with it go the capabilities over files. */
	if (initgroups(account->name, account->gid) < 0 || setegid(account->gid) < 0 ||
	    seteuid(account->uid) < 0)
		return err_sys(err, "open files as '%s'", account->name);
	return 0;
}

int account_leave(struct err *err)
{
	if (geteuid() == 0 || getuid() != 0)
		return 0;
	if (seteuid(0) < 0 || setegid(0) < 0 || setgroups(0, NULL) < 0)
		return err_sys(err, "be root again");
	return 0;
}

/* Bits that whoever started us may have set, and that would keep capabilities over the change. */
static int clear_securebits(struct err *err)
{
	const unsigned int keeping = SECBIT_KEEP_CAPS | SECBIT_NO_SETUID_FIXUP;
	int bits = prctl(PR_GET_SECUREBITS);

	if (bits < 0)
		return err_sys(err, "ask for the securebits");
	if (((unsigned int) bits & keeping) == 0)
		return 0;
	if (prctl(PR_SET_SECUREBITS, (unsigned int) bits & ~keeping) < 0)
		return err_host(err, "give up root's capabilities: the securebits are locked");
	return 0;
}

static int change_ids(const struct account *account, struct err *err)
{
	if (initgroups(account->name, account->gid) < 0)
		return err_sys(err, "take the groups of '%s'", account->name);
	if (clear_securebits(err) < 0)
		return -1;
	if (setresgid(account->gid, account->gid, account->gid) < 0 ||
	    setresuid(account->uid, account->uid, account->uid) < 0)
		return err_sys(err, "become '%s'", account->name);
	return 0;
}

int account_become(const struct account *account, struct err *err)
{
	const bool is_already =
		geteuid() != 0 && getuid() == account->uid && geteuid() == account->uid;

	if (!is_already && change_ids(account, err) < 0)
		return -1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(err, "give up new privileges");
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return err_sys(err, "forbid core dumps and tracing");
	if (setresuid((uid_t) -1, 0, (uid_t) -1) == 0)
		return err_set(err, ERR_SYS, "root was dropped and came back");
	return 0;
}

int account_drop(const char *sudo_uid, struct err *err)
{
	struct account account;

	if (geteuid() != 0)
		return 0;
	if (account_find(sudo_uid, &account, err) < 0)
		return -1;
	return account_become(&account, err);
}
