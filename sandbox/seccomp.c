/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/seccomp.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"

/*
 * Theory of operation
 *
 * A program is two parts. The second is libseccomp's: the lists as a binary tree over call
 * numbers, no arguments. The first is ours and looks at arguments: libseccomp compares 64 bits
 * where the kernel uses 32, and can not say "all but these" in a filter that allows by name. It
 * falls through into the second part where it has nothing to refuse. Calls whose arguments are
 * not compared are answered from the kernel's own bitmap and never run either part.
 */
#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "the byte order and the audit number of this machine are not known here"
#endif

enum list { LIST_BASE, LIST_CHANNELS, LIST_FILES, LIST_PROCESS, LIST_GPU, LIST_REFUSED };

/* Each list that a profile has no bit for is left out, that is, ENOSYS. */
static const unsigned int lists_of[SECCOMP_PROFILES] = {
	[SECCOMP_PROFILE_PLAIN] = 1U << LIST_BASE | 1U << LIST_CHANNELS | 1U << LIST_FILES |
				  1U << LIST_PROCESS | 1U << LIST_REFUSED,
	[SECCOMP_PROFILE_WORKER] =
		1U << LIST_BASE | 1U << LIST_FILES | 1U << LIST_PROCESS | 1U << LIST_REFUSED,
	[SECCOMP_PROFILE_GPU] = 1U << LIST_BASE | 1U << LIST_CHANNELS | 1U << LIST_FILES |
				1U << LIST_PROCESS | 1U << LIST_GPU | 1U << LIST_REFUSED,
};

static const struct {
	int call; /* negative: this machine has no such call */
	enum list list;
} listed[] = {
#include "sandbox/syscall_table.h"
};

#define NEW_NAMESPACES                                                                 \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
	 CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWTIME)

/* What linux-libc-dev 6.1 lacks. */
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

enum test {
	ALWAYS, /* the rest of the row is empty */
	IS,     /* equal */
	HAS,    /* any bit in common */
};

struct condition {
	enum test test;
	uint8_t arg;
	bool high; /* the upper half of the argument */
	uint32_t value;
	uint32_t mask; /* applied to the argument first; 0: none */
};

/*
 * The first row of a call whose conditions hold decides: an errno, or PASS to the lists. A call
 * without such a row passes. Rows of one call stand together.
 */
enum { PASS = 0 };

/* clang-format off */
static const struct row {
	int call;
	uint16_t verdict;
	struct condition first, second;
} rows[] = {
	/* Typing into somebody's terminal. The request is an unsigned int to the kernel. */
	{ SCMP_SYS(ioctl),     EPERM, { IS, 1, .value = TIOCSTI } },
	{ SCMP_SYS(ioctl),     EPERM, { IS, 1, .value = TIOCLINUX } },

	{ SCMP_SYS(clone),     EPERM, { HAS, 0, .value = NEW_NAMESPACES } },

	/* AF_INET with SOCK_PACKET is AF_PACKET by its oldest name. */
	{ SCMP_SYS(socket),    EPERM, { IS, 1, .value = SOCK_PACKET, .mask = 0xf } },
	{ SCMP_SYS(socket),    PASS,  { IS, 0, .value = AF_UNIX } },
	{ SCMP_SYS(socket),    PASS,  { IS, 0, .value = AF_INET } },
	{ SCMP_SYS(socket),    PASS,  { IS, 0, .value = AF_INET6 } },
	{ SCMP_SYS(socket),    PASS,  { IS, 0, .value = AF_NETLINK }, { IS, 2, .value = NETLINK_ROUTE } },
	{ SCMP_SYS(socket),    EAFNOSUPPORT, { ALWAYS } },
	{ SCMP_SYS(socketpair), PASS, { IS, 0, .value = AF_UNIX } },
	{ SCMP_SYS(socketpair), EAFNOSUPPORT, { ALWAYS } },

	/* RLIMIT_CORE stays 1: see sandbox/rlimits.h. */
	{ SCMP_SYS(setrlimit), EPERM, { IS, 0, .value = RLIMIT_CORE } },
	{ SCMP_SYS(prlimit64), EPERM, { IS, 1, .value = RLIMIT_CORE }, { HAS, 2, .value = UINT32_MAX } },
	{ SCMP_SYS(prlimit64), EPERM, { IS, 1, .value = RLIMIT_CORE }, { HAS, 2, .high = true, .value = UINT32_MAX } },

	/* What threads, libraries and crash handlers ask for; what changes credentials, memory maps
	   or mitigations does not pass. */
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, .value = PR_SET_NAME } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, .value = PR_GET_NAME } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, .value = PR_SET_VMA } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, .value = PR_SET_PDEATHSIG } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, .value = PR_GET_PDEATHSIG } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, .value = PR_SET_DUMPABLE } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, .value = PR_GET_DUMPABLE } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, .value = PR_SET_NO_NEW_PRIVS } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, .value = PR_GET_NO_NEW_PRIVS } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, .value = PR_GET_SECCOMP } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, .value = PR_CAPBSET_READ } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, .value = PR_GET_SECUREBITS } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, .value = PR_GET_KEEPCAPS } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, .value = PR_SET_CHILD_SUBREAPER } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, .value = PR_GET_CHILD_SUBREAPER } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, .value = PR_SET_TIMERSLACK } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, .value = PR_GET_TIMERSLACK } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, .value = PR_SET_THP_DISABLE } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, .value = PR_GET_THP_DISABLE } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, .value = PR_GET_TSC } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, .value = PR_GET_SPECULATION_CTRL } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, .value = PR_CAP_AMBIENT }, { IS, 1, .value = PR_CAP_AMBIENT_IS_SET } },
	{ SCMP_SYS(prctl),     EPERM, { ALWAYS } },
};
/* clang-format on */

/* -- the part that looks at arguments -- */

struct assembler {
	struct sock_filter code[SECCOMP_PROGRAM_MAX];
	uint32_t count; /* may pass the end: then nothing more was stored */
};

static void emit(struct assembler *as, uint16_t code, uint32_t operand, uint8_t yes, uint8_t no)
{
	if (as->count < SECCOMP_PROGRAM_MAX)
		as->code[as->count] = (struct sock_filter){ code, yes, no, operand };
	as->count++;
}

static void emit_load(struct assembler *as, size_t offset)
{
	emit(as, BPF_LD | BPF_W | BPF_ABS, (uint32_t) offset, 0, 0);
}

/* Both machines that we know are little endian: the lower half comes first. */
static size_t offset_of(const struct condition *condition)
{
	return offsetof(struct seccomp_data, args) + condition->arg * sizeof(uint64_t) +
	       (condition->high ? sizeof(uint32_t) : 0);
}

/* How many instructions a condition takes, so that the one before it can jump over it. */
static uint8_t length_of(const struct condition *condition)
{
	if (condition->test == ALWAYS)
		return 0;
	return condition->mask != 0 ? 3 : 2;
}

/* @skip: how many instructions to jump over when the condition does not hold */
static void emit_condition(struct assembler *as, const struct condition *condition, uint8_t skip)
{
	if (condition->test == ALWAYS)
		return;
	emit_load(as, offset_of(condition));
	if (condition->mask != 0)
		emit(as, BPF_ALU | BPF_AND | BPF_K, condition->mask, 0, 0);
	emit(as, BPF_JMP | (condition->test == HAS ? BPF_JSET : BPF_JEQ) | BPF_K, condition->value,
	     0, skip);
}

static void emit_row(struct assembler *as, const struct row *row)
{
	emit_condition(as, &row->first, (uint8_t) (length_of(&row->second) + 1));
	emit_condition(as, &row->second, 1);
	if (row->verdict == PASS)
		emit(as, BPF_JMP | BPF_JA, UINT32_MAX, 0, 0); /* where to is patched later */
	else
		emit(as, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | row->verdict, 0, 0);
}

/*
 * All rows of one call, behind a comparison of the call's number, which is in the accumulator.
 * Return: how many rows there were.
 */
static size_t emit_call(struct assembler *as, size_t from)
{
	uint32_t start = as->count;
	size_t row = from;

	emit(as, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t) rows[from].call, 1, 0);
	emit(as, BPF_JMP | BPF_JA, 0, 0, 0);
	for (; row < ARRAY_LEN(rows) && rows[row].call == rows[from].call; row++)
		emit_row(as, &rows[row]);
	emit(as, BPF_JMP | BPF_JA, UINT32_MAX, 0, 0); /* nothing refused it */
	if (as->count <= SECCOMP_PROGRAM_MAX)
		as->code[start + 1].k = as->count - start - 2;
	return row - from;
}

/* A foreign ABI has other numbers: it goes straight to the lists, which end it. */
static void emit_arguments(struct assembler *as)
{
	emit_load(as, offsetof(struct seccomp_data, arch));
	emit(as, BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCH, 1, 0);
	emit(as, BPF_JMP | BPF_JA, UINT32_MAX, 0, 0);
	emit_load(as, offsetof(struct seccomp_data, nr));
	for (size_t row = 0; row < ARRAY_LEN(rows);)
		row += emit_call(as, row);

	for (uint32_t i = 0; i < as->count && i < SECCOMP_PROGRAM_MAX; i++)
		if (as->code[i].code == (BPF_JMP | BPF_JA) && as->code[i].k == UINT32_MAX)
			as->code[i].k = as->count - i - 1;
}

/* -- the part that is libseccomp's -- */

static void free_filter(scmp_filter_ctx *filter)
{
	if (*filter)
		seccomp_release(*filter);
}

/* libseccomp returns the negative errno; 2.5 gives EINVAL for a call that it does not know. */
static int raise_from(int result, const char *what, struct err *err)
{
	errno = -result;
	return err_sys(err, "system call filter: %s", what);
}

static int add_lists(scmp_filter_ctx filter, unsigned int lists, uint32_t refusal, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(listed); i++) {
		bool refused = listed[i].list == LIST_REFUSED;
		int result;

		if (listed[i].call < 0 || (lists & 1U << listed[i].list) == 0)
			continue;
		result = seccomp_rule_add(filter, refused ? refusal : SCMP_ACT_ALLOW,
					  listed[i].call, 0);
		if (result < 0)
			return raise_from(result, "add a rule", err);
	}
	return 0;
}

static int read_back(int fd, struct assembler *as, struct err *err)
{
	struct sock_filter *rest = as->code + as->count;
	off_t size = lseek(fd, 0, SEEK_END);
	size_t count = size < 0 ? 0 : (size_t) size / sizeof(*rest);

	if (count == 0 || lseek(fd, 0, SEEK_SET) < 0)
		return err_sys(err, "system call filter: find its size");
	if (as->count + count > SECCOMP_PROGRAM_MAX)
		return err_set(err, ERR_SYS, "system call filter: %zu instructions are too many",
			       as->count + count);
	as->count += (uint32_t) count;
	return io_read_exact(fd, rest, count * sizeof(*rest), "the system call filter", err);
}

/* libseccomp 2.5 exports to a descriptor only. */
static int append_lists(scmp_filter_ctx filter, struct assembler *as, struct err *err)
{
	auto_fd fd = memfd_create("filter", MFD_CLOEXEC);
	int result;

	if (fd < 0)
		return err_sys(err, "system call filter: make a memory file");
	result = seccomp_export_bpf(filter, fd);
	if (result < 0)
		return raise_from(result, "export it", err);
	return read_back(fd, as, err);
}

int seccomp_compile(enum seccomp_profile profile, struct seccomp_program *out, struct err *err)
{
	cleanup(free_filter) scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	struct assembler as = { .count = 0 };
	int result;

	if (!filter)
		return err_set(err, ERR_SYS, "system call filter: libseccomp can not start one");
	result = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	if (result < 0)
		return raise_from(result, "kill foreign calls", err);
	result = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (result < 0)
		return raise_from(result, "ask for a binary tree", err);
	/* A worker is held by the freezer, and a call that waits for pid 1, held as well, is not.
	 */
	if (add_lists(filter, lists_of[profile],
		      profile == SECCOMP_PROFILE_WORKER ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_NOTIFY,
		      err) < 0)
		return -1;

	emit_arguments(&as);
	if (append_lists(filter, &as, err) < 0)
		return -1;
	*out = (struct seccomp_program){ .count = as.count };
	memcpy(out->instructions, as.code, as.count * sizeof(as.code[0]));
	return 0;
}

uint32_t seccomp_refused(int32_t *out, uint32_t room)
{
	uint32_t count = 0;

	for (size_t i = 0; i < ARRAY_LEN(listed) && count < room; i++)
		if (listed[i].list == LIST_REFUSED)
			out[count++] = listed[i].call;
	return count;
}
