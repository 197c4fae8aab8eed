/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/caps.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "sandbox/base/io.h"
#include "tests/lib/check.h"

static void need_root(void)
{
	if (geteuid() != 0)
		SKIP("needs root");
}

static uint64_t mask_of(const char *key)
{
	struct err err = ERR_INIT;
	char text[8192], *line;

	CHECK_OK(io_read_kernel_file(AT_FDCWD, "/proc/self/status", text, sizeof(text), &err));
	line = strstr(text, key);
	CHECK(line);
	return strtoull(line + strlen(key), NULL, 16);
}

TEST(after_a_drop_nothing_is_left_and_nothing_comes_back)
{
	struct err err = ERR_INIT;

	need_root();
	CHECK(mask_of("CapEff:\t") != 0); /* or the rest would show nothing */
	CHECK_OK(caps_drop(0, &err));
	CHECK_INT(mask_of("CapEff:\t"), 0);
	CHECK_INT(mask_of("CapPrm:\t"), 0);
	CHECK_INT(mask_of("CapInh:\t"), 0);
	CHECK_INT(mask_of("CapBnd:\t"), 0);
	CHECK_INT(mask_of("CapAmb:\t"), 0);
	CHECK_INT(setuid(0), 0); /* still uid 0, and that means nothing now */
	CHECK_INT(unshare(CLONE_NEWNS), -1);
	CHECK_INT(errno, EPERM);
}

/* uid 0 would get all of its bounding set back at execve if the securebits were not there. */
TEST(root_executes_a_program_without_capabilities)
{
	char *const argv[] = { (char *) (uintptr_t) "/bin/sh", (char *) (uintptr_t) "-c",
			       (char *) (uintptr_t) "grep -q '^CapEff:.0*$' /proc/self/status",
			       NULL };
	struct err err = ERR_INIT;

	need_root();
	CHECK_OK(caps_limit(0, &err));
	CHECK(mask_of("CapBnd:\t") != 0);
	execv(argv[0], argv);
	check_fail(__FILE__, __LINE__, "no shell");
}

TEST(the_securebits_are_locked)
{
	struct err err = ERR_INIT;
	int bits;

	need_root();
	CHECK_OK(caps_drop(CAPS_MASK(CAP_SETPCAP), &err));
	bits = prctl(PR_GET_SECUREBITS);
	CHECK((bits & SECBIT_NOROOT) && (bits & SECBIT_NO_SETUID_FIXUP));
	CHECK((bits & SECURE_ALL_LOCKS) == SECURE_ALL_LOCKS);
	CHECK_INT(bits, caps_locked_bits());
	/* With CAP_SETPCAP kept it is the lock alone that refuses. */
	CHECK_INT(prctl(PR_SET_SECUREBITS, 0), -1);
	CHECK_INT(prctl(PR_SET_KEEPCAPS, 1), -1);
}

TEST(kept_capabilities_survive_a_change_of_uid_and_no_others)
{
	const uint64_t keep = CAPS_MASK(CAP_DAC_READ_SEARCH);
	struct err err = ERR_INIT;

	need_root();
	CHECK_OK(caps_bound(keep, &err));
	CHECK_INT(mask_of("CapBnd:\t"), keep);
	CHECK(caps_has(CAP_SETUID));
	CHECK(prctl(PR_SET_KEEPCAPS, 1) == 0);
	CHECK(setresgid(1000, 1000, 1000) == 0 && setresuid(1000, 1000, 1000) == 0);
	CHECK_OK(caps_limit(keep, &err));
	CHECK_INT(mask_of("CapPrm:\t"), keep);
	CHECK_INT(mask_of("CapEff:\t"), keep);
	CHECK_INT(mask_of("CapInh:\t"), 0);
	CHECK(caps_has(CAP_DAC_READ_SEARCH));
	CHECK(!caps_has(CAP_SETUID));
}

TEST(what_is_not_there_can_not_be_kept)
{
	struct err err = ERR_INIT;

	need_root();
	CHECK_OK(caps_limit(0, &err));
	CHECK_INT(caps_limit(CAPS_MASK(CAP_CHOWN), &err), -1);
	CHECK_STR(err.text, "reduce the capabilities to 0x1: Operation not permitted");
	CHECK_INT(caps_bound(0, &err), -1);
	CHECK_STR(err.text, "drop capability 0 from the bounding set: Operation not permitted");
}

TEST(no_new_privs_stays)
{
	struct err err = ERR_INIT;

	CHECK_OK(caps_no_new_privs(&err));
	CHECK_INT(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 1);
	CHECK_INT(prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0), -1);
}

TEST(a_missing_capability_is_named_with_what_to_do)
{
	struct err err = ERR_INIT;

	need_root();
	CHECK_OK(caps_require(CAPS_MASK(CAP_SETUID) | CAPS_MASK(CAP_KILL), &err));
	CHECK_OK(caps_limit(CAPS_MASK(CAP_SETUID), &err));
	CHECK_INT(caps_require(CAPS_MASK(CAP_SETUID) | CAPS_MASK(CAP_SYS_ADMIN), &err), -1);
	CHECK_INT(err.kind, ERR_HOST);
	CHECK_STR(err.text,
		  "the capability cap_sys_admin (21) is missing: start as root, and where "
		  "a container or a service manager took it away, give it back "
		  "(--cap-add, CapabilityBoundingSet=)");
}
