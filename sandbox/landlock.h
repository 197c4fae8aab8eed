/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "sandbox/base/err.h"

/*
 * Landlock, the second wall behind the mounts
 *
 * Whatever a rule does not grant is denied to the process and all its children, for ever, as far
 * as the running kernel knows the right: ABI 1 (5.13) files, 2 moving between folders, 3
 * truncation, 5 device ioctls, 6 signals and abstract Unix sockets out of the jail. A kernel
 * without Landlock has ABI 0: landlock_restrict() then does nothing, and the caller decides
 * what that means.
 */
#define LANDLOCK_RULES_MAX 32

/* The newest ABI whose rules are made use of. */
enum { LANDLOCK_KNOWN = 6 };

enum landlock_access {
	LANDLOCK_READ_EXEC, /* read, list, execute */
	LANDLOCK_WRITE,     /* and everything else that files and folders allow; no device ioctls */
	LANDLOCK_OWN_PROC,  /* read, and write files that exist: for /proc, where ids decide */
	LANDLOCK_DEVICE,    /* read, write, ioctl: device nodes and pts */
};

struct landlock_rule {
	char path[64];   /* a file, or a folder and all beneath it */
	uint32_t access; /* enum landlock_access */
};

struct landlock_slice {
	uint32_t count;
	struct landlock_rule rules[LANDLOCK_RULES_MAX];
};

/**
 * landlock_abi() - the ABI version of the running kernel, 0 if it has no Landlock
 */
int landlock_abi(void);

/**
 * landlock_rights() - what a rule for a folder allows, the @index-th right
 * @abi: of the kernel; what an older one does not know, it does not restrict
 *
 * Return: its name, "read_file"; NULL if there are no so many.
 */
const char *landlock_rights(enum landlock_access access, int abi, size_t index);

/**
 * landlock_scopes() - what a process can not reach outside of its jail, the @index-th; as
 * landlock_rights()
 */
const char *landlock_scopes(int abi, size_t index);

/**
 * landlock_add() - append a rule
 *
 * A path that does not fit, or a rule too many, is an ERR_INPUT error.
 */
int landlock_add(struct landlock_slice *slice, const char *path, enum landlock_access access,
		 struct err *err) must_check;

/**
 * landlock_restrict() - put this process under the rules
 *
 * Needs no_new_privs or CAP_SYS_ADMIN in the process's user namespace, and a root whose mounts
 * are finished: mount calls fail from here on. A rule's path that does not exist is an error.
 */
int landlock_restrict(const struct landlock_slice *slice, struct err *err) must_check;
