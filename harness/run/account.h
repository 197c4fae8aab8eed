/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "sandbox/base/err.h"

/*
 * The operator's account: who proctor is once it has opened its folders and started its launcher.
 *
 * With sudo it is the account that called sudo; for plain root it is the system account "proctor";
 * whoever is not root is it already.
 * Dropping is for good: no id, group or capability of root is left, and none can come back.
 */
struct account {
	char name[64];
	uid_t uid;
	gid_t gid;
	bool is_callers; /* that of whoever called sudo: what they name, they must be able to reach
			  */
};

/**
 * account_find() - the account to become
 * @sudo_uid: the value of SUDO_UID, or NULL; whoever is not root is who he is with NULL
 *
 * Return: 0, or -1 with an ERR_HOST error that says how to make the account.
 */
int account_find(const char *sudo_uid, struct account *out, struct err *err) must_check;

/**
 * account_enter() - open and create files as the account, if it is the caller's
 *
 * Who may call proctor through sudo gets no file by it that they could not have opened themselves.
 * Plain root stays root. account_leave() ends it.
 */
int account_enter(const struct account *account, struct err *err) must_check;

/**
 * account_leave() - be root again; nothing happens if we are
 */
int account_leave(struct err *err) must_check;

/**
 * account_drop() - find the account and become it, if we are root: before what others wrote is
 * parsed, by a command that needs no privilege
 */
int account_drop(const char *sudo_uid, struct err *err) must_check;

/**
 * account_become() - become it: groups, ids, no_new_privs, not dumpable
 */
int account_become(const struct account *account, struct err *err) must_check;
