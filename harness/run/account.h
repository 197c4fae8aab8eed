/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/types.h>

#include "sandbox/base/err.h"

/*
 * The operator's account: who proctor is once it has opened its folders and started its launcher.
 *
 * With sudo it is the account that called sudo; for plain root it is the system account "proctor".
 * Dropping is for good: no id, group or capability of root is left, and none can come back.
 */
struct account {
	char name[64];
	uid_t uid;
	gid_t gid;
};

/**
 * account_find() - the account to become
 * @sudo_uid: the value of SUDO_UID, or NULL
 *
 * Return: 0, or -1 with an ERR_HOST error that says how to make the account.
 */
int account_find(const char *sudo_uid, struct account *out, struct err *err) must_check;

/**
 * account_become() - become it: groups, ids, no_new_privs, not dumpable
 */
int account_become(const struct account *account, struct err *err) must_check;
