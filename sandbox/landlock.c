/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/base/fd.h"

/* What linux-libc-dev 6.1 lacks. */
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif
#ifndef LANDLOCK_ACCESS_FS_IOCTL_DEV
#define LANDLOCK_ACCESS_FS_IOCTL_DEV (1ULL << 15)
#endif
enum {
	SCOPE_ABSTRACT_UNIX_SOCKET = 1 << 0,
	SCOPE_SIGNAL = 1 << 1,
};

/* struct landlock_ruleset_attr of ABI 6; an older kernel is given its beginning. */
struct ruleset {
	uint64_t files;
	uint64_t network; /* nothing: the network namespace is the wall */
	uint64_t scopes;
};

static const uint64_t read_exec =
	LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;

/* All rights of ABI 1. */
static const uint64_t first_rights = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;

/* Rights that the kernel takes in a rule for a file that is not a folder. */
static const uint64_t file_rights = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |
				    LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE |
				    LANDLOCK_ACCESS_FS_IOCTL_DEV;

/* clang-format off */
/* What each ABI version added, and how long its struct is. */
static const struct {
	uint64_t files, scopes;
	size_t size;
} versions[] = {
	{ first_rights,                 0, offsetof(struct ruleset, network) },
	{ LANDLOCK_ACCESS_FS_REFER,     0, offsetof(struct ruleset, network) },
	{ LANDLOCK_ACCESS_FS_TRUNCATE,  0, offsetof(struct ruleset, network) },
	{ 0,                            0, offsetof(struct ruleset, scopes) },
	{ LANDLOCK_ACCESS_FS_IOCTL_DEV, 0, offsetof(struct ruleset, scopes) },
	{ 0, SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL, sizeof(struct ruleset) },
};
/* clang-format on */
_Static_assert(ARRAY_LEN(versions) == LANDLOCK_KNOWN, "a row for each ABI");

int landlock_abi(void)
{
	long version =
		syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	return version < 0 ? 0 : (int) version;
}

int landlock_add(struct landlock_slice *slice, const char *path, enum landlock_access access,
		 struct err *err)
{
	struct landlock_rule *rule = &slice->rules[slice->count];

	if (slice->count >= LANDLOCK_RULES_MAX)
		return err_set(err, ERR_INPUT, "landlock: more than %d rules", LANDLOCK_RULES_MAX);
	if (strlen(path) >= sizeof(rule->path))
		return err_set(err, ERR_INPUT, "landlock: the path '%s' is longer than %zu bytes",
			       path, sizeof(rule->path) - 1);
	*rule = (struct landlock_rule){ .access = access };
	memcpy(rule->path, path, strlen(path) + 1);
	slice->count++;
	return 0;
}

static uint64_t rights_of(uint32_t access)
{
	switch ((enum landlock_access) access) {
	case LANDLOCK_READ_EXEC:
		return read_exec;
	case LANDLOCK_WRITE:
		return first_rights | LANDLOCK_ACCESS_FS_REFER | LANDLOCK_ACCESS_FS_TRUNCATE;
	case LANDLOCK_OWN_PROC:
		return read_exec | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE;
	case LANDLOCK_DEVICE:
		return LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR |
		       LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE |
		       LANDLOCK_ACCESS_FS_IOCTL_DEV;
	}
	return 0;
}

/* clang-format off */
static const struct {
	uint64_t right;
	const char *name;
} right_names[] = {
	{ LANDLOCK_ACCESS_FS_EXECUTE,     "execute" },
	{ LANDLOCK_ACCESS_FS_READ_FILE,   "read_file" },
	{ LANDLOCK_ACCESS_FS_READ_DIR,    "read_dir" },
	{ LANDLOCK_ACCESS_FS_WRITE_FILE,  "write_file" },
	{ LANDLOCK_ACCESS_FS_TRUNCATE,    "truncate" },
	{ LANDLOCK_ACCESS_FS_REMOVE_DIR,  "remove_dir" },
	{ LANDLOCK_ACCESS_FS_REMOVE_FILE, "remove_file" },
	{ LANDLOCK_ACCESS_FS_MAKE_CHAR,   "make_char" },
	{ LANDLOCK_ACCESS_FS_MAKE_DIR,    "make_dir" },
	{ LANDLOCK_ACCESS_FS_MAKE_REG,    "make_reg" },
	{ LANDLOCK_ACCESS_FS_MAKE_SOCK,   "make_sock" },
	{ LANDLOCK_ACCESS_FS_MAKE_FIFO,   "make_fifo" },
	{ LANDLOCK_ACCESS_FS_MAKE_BLOCK,  "make_block" },
	{ LANDLOCK_ACCESS_FS_MAKE_SYM,    "make_sym" },
	{ LANDLOCK_ACCESS_FS_REFER,       "refer" },
	{ LANDLOCK_ACCESS_FS_IOCTL_DEV,   "ioctl_dev" },
};
/* clang-format on */

/* What a set of rules is made for, as far as the kernel knows it. */
static struct ruleset handled_by(int abi)
{
	const size_t known = MIN_OF((size_t) MAX_OF(abi, 0), ARRAY_LEN(versions));
	struct ruleset ruleset = { 0 };

	for (size_t i = 0; i < known; i++) {
		ruleset.files |= versions[i].files;
		ruleset.scopes |= versions[i].scopes;
	}
	return ruleset;
}

const char *landlock_rights(enum landlock_access access, int abi, size_t index)
{
	const uint64_t rights = rights_of(access) & handled_by(abi).files;

	for (size_t i = 0; i < ARRAY_LEN(right_names); i++)
		if ((rights & right_names[i].right) != 0 && index-- == 0)
			return right_names[i].name;
	return NULL;
}

const char *landlock_scopes(int abi, size_t index)
{
	const uint64_t scopes = handled_by(abi).scopes;

	if ((scopes & SCOPE_ABSTRACT_UNIX_SOCKET) != 0 && index-- == 0)
		return "abstract_unix_socket";
	if ((scopes & SCOPE_SIGNAL) != 0 && index-- == 0)
		return "signal";
	return NULL;
}

static int add_rule(int ruleset_fd, const struct landlock_rule *rule, uint64_t handled,
		    struct err *err)
{
	auto_fd fd = open(rule->path, O_PATH | O_CLOEXEC);
	struct landlock_path_beneath_attr attr = {
		.allowed_access = rights_of(rule->access) & handled,
		.parent_fd = fd,
	};
	struct stat meta;

	if (fd < 0 || fstat(fd, &meta) < 0)
		return err_sys(err, "landlock: open '%s'", rule->path);
	if (!S_ISDIR(meta.st_mode))
		attr.allowed_access &= file_rights;
	if (syscall(SYS_landlock_add_rule, ruleset_fd, LANDLOCK_RULE_PATH_BENEATH, &attr, 0) < 0)
		return err_sys(err, "landlock: add the rule of '%s'", rule->path);
	return 0;
}

int landlock_restrict(const struct landlock_slice *slice, struct err *err)
{
	const int abi = landlock_abi();
	const size_t known = MIN_OF((size_t) abi, ARRAY_LEN(versions));
	const struct ruleset ruleset = handled_by(abi);
	auto_fd fd = -1;

	if (known == 0)
		return 0;
	fd = (int) syscall(SYS_landlock_create_ruleset, &ruleset, versions[known - 1].size, 0);
	if (fd < 0)
		return err_sys(err, "landlock: make a set of rules");
	for (uint32_t i = 0; i < slice->count && i < LANDLOCK_RULES_MAX; i++)
		if (add_rule(fd, &slice->rules[i], ruleset.files, err) < 0)
			return -1;
	if (syscall(SYS_landlock_restrict_self, fd, 0) < 0)
		return err_sys(err, "landlock: restrict the process");
	return 0;
}
