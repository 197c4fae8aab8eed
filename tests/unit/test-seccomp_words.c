/* SPDX-License-Identifier: Apache-2.0 */

/* What is said of a filter against what it does, which an interpreter of its instructions finds. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>

#include "sandbox/seccomp.h"
#include "tests/lib/check.h"

/* What a filter answers to a call whose arguments are all 0, by interpreting it. */
static uint32_t answer(const struct seccomp_program *program, int number)
{
	const struct seccomp_data data = {
		.nr = number,
#ifdef __x86_64__
		.arch = AUDIT_ARCH_X86_64,
#else
		.arch = AUDIT_ARCH_AARCH64,
#endif
	};
	const struct sock_filter *code = (const void *) program->instructions;
	uint32_t a = 0;

	for (uint32_t at = 0; at < program->count; at++) {
		bool is_true = false;

		switch (code[at].code) {
		case BPF_LD | BPF_W | BPF_ABS:
			memcpy(&a, (const char *) &data + code[at].k, sizeof(a));
			continue;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= code[at].k;
			continue;
		case BPF_RET | BPF_K:
			return code[at].k;
		case BPF_JMP | BPF_JA:
			at += code[at].k;
			continue;
		case BPF_JMP | BPF_JEQ | BPF_K:
			is_true = a == code[at].k;
			break;
		case BPF_JMP | BPF_JGT | BPF_K:
			is_true = a > code[at].k;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			is_true = a >= code[at].k;
			break;
		case BPF_JMP | BPF_JSET | BPF_K:
			is_true = (a & code[at].k) != 0;
			break;
		default:
			check_fail(__FILE__, __LINE__, "instruction %#x", code[at].code);
		}
		at += is_true ? code[at].jt : code[at].jf;
	}
	check_fail(__FILE__, __LINE__, "it has no end");
}

enum { CALLS_MAX = 512, RULES_MAX = 64 };

static bool has_rule(const struct seccomp_rule *rules, size_t count, const char *call)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(rules[i].call, call) == 0)
			return true;
	return false;
}

/* Every number that there is: as the list says, and ENOSYS for those that it does not have. */
static void check_words(enum seccomp_profile profile, uint32_t extras)
{
	static struct seccomp_program program;
	static struct seccomp_call calls[CALLS_MAX];
	static struct seccomp_rule rules[RULES_MAX];
	const uint32_t refused = profile == SECCOMP_PROFILE_WORKER ? SECCOMP_RET_ERRNO | EPERM
								   : SECCOMP_RET_USER_NOTIF;
	const size_t count = seccomp_calls(profile, extras, calls, CALLS_MAX);
	const size_t rule_count = seccomp_rules(profile, extras, rules, RULES_MAX);
	size_t known = 0, there = 0;
	struct err err = ERR_INIT;

	CHECK(count > 200 && count <= CALLS_MAX && rule_count <= RULES_MAX);
	CHECK_INT(seccomp_calls(profile, extras, NULL, 0), count);
	CHECK_INT(seccomp_rules(profile, extras, NULL, 0), rule_count);
	CHECK_OK(seccomp_compile(profile, extras, &program, &err));
	for (size_t i = 0; i < count; i++)
		there += calls[i].number >= 0;
	for (int number = 0; number < 1024; number++) {
		const struct seccomp_call *call = NULL;
		uint32_t got = answer(&program, number);

		for (size_t i = 0; i < count; i++)
			if (calls[i].number == number)
				call = &calls[i];
		known += call != NULL;
		if (call && has_rule(rules, rule_count, call->name))
			continue;
		if (got != (!call              ? SECCOMP_RET_ERRNO | ENOSYS
			    : call->is_refused ? refused
					       : SECCOMP_RET_ALLOW))
			check_fail(__FILE__, __LINE__, "%d (%s): %#x", number,
				   call ? call->name : "not listed", got);
	}
	CHECK_INT(known, there);
	for (size_t i = 0; i < rule_count; i++)
		CHECK(strcmp(rules[i].call, "?") != 0 && rules[i].when[0] != '\0');
}

TEST(what_is_said_of_a_filter_is_what_it_does)
{
	for (uint32_t extras = 0; extras < SECCOMP_BIT(SECCOMP_EXTRAS); extras++) {
		check_words(SECCOMP_PROFILE_PLAIN, extras);
		check_words(SECCOMP_PROFILE_WORKER, extras);
	}
}

TEST(each_rule_of_arguments_is_put_in_words)
{
	static const struct {
		const char *call, *when;
		int error;
	} some[] = {
		{ "ioctl", "argument 1 is TIOCSTI", EPERM },
		{ "clone", "argument 0 has a flag for a new namespace", EPERM },
		{ "socket", "argument 1 & 0xf is SOCK_PACKET", EPERM },
		{ "socket", "argument 0 is AF_NETLINK and argument 2 is NETLINK_ROUTE", 0 },
		{ "socket", "otherwise", EAFNOSUPPORT },
		{ "prctl", "otherwise", EPERM },
		{ "perf_event_open", "argument 1 is -1", EPERM },
		{ "ioctl", "argument 1 & 0xff is KFD_CRIU_OP", EPERM },
		{ "ioctl", "argument 1 & 0xff00 is any other of KFD's", EPERM },
		{ "ioctl",
		  "argument 1 & 0xffff is at least KFD_SET_SCRATCH_BACKING_VA and argument 1 & "
		  "0xffff is at most KFD_UNMAP_MEMORY_FROM_GPU",
		  0 },
		{ "ioctl", "argument 1 & 0xffff is KFD_DBG_TRAP", 0 },
	};
	struct seccomp_rule rules[RULES_MAX];
	const uint32_t extras =
		SECCOMP_BIT(SECCOMP_EXTRA_GPU) | SECCOMP_BIT(SECCOMP_EXTRA_PROFILER);
	const size_t all = seccomp_rules(SECCOMP_PROFILE_PLAIN, extras, rules, RULES_MAX);

	for (size_t i = 0; i < ARRAY_LEN(some); i++) {
		size_t found = 0;

		for (size_t k = 0; k < all; k++)
			found += strcmp(rules[k].call, some[i].call) == 0 &&
				 strcmp(rules[k].when, some[i].when) == 0 &&
				 rules[k].error == some[i].error;
		CHECK_INT(found, 1);
	}
	CHECK_STR(rules[0].refused, "TIOCSTI");
	CHECK(!has_rule(rules, seccomp_rules(SECCOMP_PROFILE_WORKER, 0, rules, RULES_MAX),
			"socket"));
	CHECK_INT(seccomp_rules(SECCOMP_PROFILE_PLAIN, 0, rules, RULES_MAX), all - 17);
}
