/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/seccomp.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdio.h>
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

enum list {
	LIST_BASE,
	LIST_CHANNELS,
	LIST_FILES,
	LIST_PROCESS,
	LIST_GPU,
	LIST_PROFILER,
	LIST_REFUSED,
};

static const char *const list_names[] = { "base", "channels", "files",  "process",
					  "gpu",  "profiler", "refused" };

/* Each list that a profile has no bit for is left out, that is, ENOSYS. */
static const unsigned int lists_of[SECCOMP_PROFILES] = {
	[SECCOMP_PROFILE_PLAIN] = 1U << LIST_BASE | 1U << LIST_CHANNELS | 1U << LIST_FILES |
				  1U << LIST_PROCESS | 1U << LIST_REFUSED,
	[SECCOMP_PROFILE_WORKER] =
		1U << LIST_BASE | 1U << LIST_FILES | 1U << LIST_PROCESS | 1U << LIST_REFUSED,
};
static const enum list extra_lists[SECCOMP_EXTRAS] = {
	[SECCOMP_EXTRA_GPU] = LIST_GPU,
	[SECCOMP_EXTRA_PROFILER] = LIST_PROFILER,
};

static const struct listed {
	int call; /* negative: this machine has no such call */
	enum list list;
	const char *name, *reason;
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

/*
 * Requests to /dev/kfd by their number, whatever size their argument has in this or that version.
 * From 0x80 on they are those of AMD's own package of the driver. linux/kfd_ioctl.h says what they
 * take, and can not be included without libdrm's headers.
 */
#define KFD(number)  ('K' << 8 | (number))
#define KFD_MASK     0xffff     /* type and number */
#define KFD_ANY_MASK 0xff00     /* type */
#define NUMBER_MASK  0xff       /* number */
#define SIZE_MASK    0x3fff0000 /* how long the argument is */
enum {
	KFD_GET_VERSION = KFD(0x01),
	KFD_WAIT_EVENTS = KFD(0x0c),
	KFD_SET_SCRATCH_BACKING_VA = KFD(0x11),
	KFD_UNMAP_MEMORY_FROM_GPU = KFD(0x19),
	KFD_SET_CU_MASK = KFD(0x1a),
	KFD_GET_QUEUE_WAVE_STATE = KFD(0x1b),
	KFD_GET_DMABUF_INFO = KFD(0x1c),
	KFD_ALLOC_QUEUE_GWS = KFD(0x1e),
	KFD_SMI_EVENTS = KFD(0x1f),
	KFD_SVM = KFD(0x20),
	KFD_SET_XNACK_MODE = KFD(0x21),
	KFD_CRIU_OP = KFD(0x22),
	KFD_AVAILABLE_MEMORY = KFD(0x23),
	KFD_RUNTIME_ENABLE = KFD(0x25),
	KFD_DBG_TRAP = KFD(0x26),
	KFD_IPC_IMPORT_HANDLE = KFD(0x80),
	KFD_IPC_EXPORT_HANDLE = KFD(0x81),
	KFD_DBG_TRAP_OLD = KFD(0x82),
	KFD_CROSS_MEMORY_COPY = KFD(0x83),
	KFD_RLC_SPM = KFD(0x84),
	KFD_PC_SAMPLE = KFD(0x85),
	KFD_PROFILER = KFD(0x86),
};

enum test {
	ALWAYS, /* the rest of the row is empty */
	IS,     /* equal */
	ISNT,   /* not equal */
	HAS,    /* any bit in common */
	FROM,   /* at least, as a number without sign */
	UPTO,   /* at most, the same */
};

struct condition {
	enum test test;
	uint8_t arg;
	bool high; /* the upper half of the argument */
	uint32_t value;
	const char *text; /* the value's name */
	uint32_t mask;    /* applied to the argument first; 0: none */
};

/*
 * The first row of a call whose conditions hold decides: an errno, or PASS to the lists. A call
 * without such a row passes. Rows of one call stand together.
 */
enum { PASS = 0 };

#define NAMED(value_)    .value = (uint32_t) (value_), .text = #value_
#define NUMBERED(value_) .value = NUMBER_MASK & (value_), .text = #value_, .mask = NUMBER_MASK

/* clang-format off */
static const struct row {
	int call;
	uint16_t verdict;
	struct condition first, second;
	enum list with; /* only where this list is in; LIST_BASE is in all */
} rows[] = {
	/* Typing into somebody's terminal. The request is an unsigned int to the kernel. */
	{ SCMP_SYS(ioctl),     EPERM, { IS, 1, NAMED(TIOCSTI) } },
	{ SCMP_SYS(ioctl),     EPERM, { IS, 1, NAMED(TIOCLINUX) } },

	/* What runs kernels is listed, by ranges; a request that is newer than this list is refused.
	   Refused by name: what looks into other processes or saves their state, steers the GPU for
	   all, hands memory to whoever knows a number, and is not in the kernel at all but in AMD's
	   package; these under any letter, since the driver itself looks at the number alone. Without
	   a size it takes all of the argument for zeros, which names nothing of others: of such
	   requests there are many (FIONREAD, all of nvidia-uvm's). Consoles, whose keyboards have the
	   same letter, are in no jail. */
	{ SCMP_SYS(ioctl),     PASS,  { ISNT, 1, .value = KFD(0), .text = "of KFD's letter", .mask = KFD_ANY_MASK }, { IS, 1, .value = 0, .text = "of no size", .mask = SIZE_MASK } },
	{ SCMP_SYS(ioctl),     PASS,  { IS, 1, NAMED(KFD_DBG_TRAP), .mask = KFD_MASK }, .with = LIST_PROFILER },
	{ SCMP_SYS(ioctl),     PASS,  { IS, 1, NAMED(KFD_GET_QUEUE_WAVE_STATE), .mask = KFD_MASK }, .with = LIST_PROFILER },
	{ SCMP_SYS(ioctl),     EPERM, { IS, 1, NUMBERED(KFD_SET_CU_MASK) }, .with = LIST_GPU },
	{ SCMP_SYS(ioctl),     EPERM, { IS, 1, NUMBERED(KFD_GET_QUEUE_WAVE_STATE) }, .with = LIST_GPU },
	{ SCMP_SYS(ioctl),     EPERM, { IS, 1, NUMBERED(KFD_SMI_EVENTS) }, .with = LIST_GPU },
	{ SCMP_SYS(ioctl),     EPERM, { IS, 1, NUMBERED(KFD_SET_XNACK_MODE) }, .with = LIST_GPU },
	{ SCMP_SYS(ioctl),     EPERM, { IS, 1, NUMBERED(KFD_CRIU_OP) }, .with = LIST_GPU },
	{ SCMP_SYS(ioctl),     EPERM, { IS, 1, NUMBERED(KFD_DBG_TRAP) }, .with = LIST_GPU },
	{ SCMP_SYS(ioctl),     EPERM, { IS, 1, NUMBERED(KFD_IPC_IMPORT_HANDLE) }, .with = LIST_GPU },
	{ SCMP_SYS(ioctl),     EPERM, { IS, 1, NUMBERED(KFD_IPC_EXPORT_HANDLE) }, .with = LIST_GPU },
	{ SCMP_SYS(ioctl),     EPERM, { IS, 1, NUMBERED(KFD_DBG_TRAP_OLD) }, .with = LIST_GPU },
	{ SCMP_SYS(ioctl),     EPERM, { IS, 1, NUMBERED(KFD_CROSS_MEMORY_COPY) }, .with = LIST_GPU },
	{ SCMP_SYS(ioctl),     EPERM, { IS, 1, NUMBERED(KFD_RLC_SPM) }, .with = LIST_GPU },
	{ SCMP_SYS(ioctl),     EPERM, { IS, 1, NUMBERED(KFD_PC_SAMPLE) }, .with = LIST_GPU },
	{ SCMP_SYS(ioctl),     EPERM, { IS, 1, NUMBERED(KFD_PROFILER) }, .with = LIST_GPU },
	{ SCMP_SYS(ioctl),     PASS,  { FROM, 1, NAMED(KFD_GET_VERSION), .mask = KFD_MASK }, { UPTO, 1, NAMED(KFD_WAIT_EVENTS), .mask = KFD_MASK } },
	{ SCMP_SYS(ioctl),     PASS,  { FROM, 1, NAMED(KFD_SET_SCRATCH_BACKING_VA), .mask = KFD_MASK }, { UPTO, 1, NAMED(KFD_UNMAP_MEMORY_FROM_GPU), .mask = KFD_MASK } },
	{ SCMP_SYS(ioctl),     PASS,  { FROM, 1, NAMED(KFD_GET_DMABUF_INFO), .mask = KFD_MASK }, { UPTO, 1, NAMED(KFD_ALLOC_QUEUE_GWS), .mask = KFD_MASK } },
	{ SCMP_SYS(ioctl),     PASS,  { IS, 1, NAMED(KFD_SVM), .mask = KFD_MASK } },
	{ SCMP_SYS(ioctl),     PASS,  { FROM, 1, NAMED(KFD_AVAILABLE_MEMORY), .mask = KFD_MASK }, { UPTO, 1, NAMED(KFD_RUNTIME_ENABLE), .mask = KFD_MASK } },
	{ SCMP_SYS(ioctl),     EPERM, { IS, 1, .value = KFD(0), .text = "any other of KFD's", .mask = KFD_ANY_MASK } },

	{ SCMP_SYS(clone),     EPERM, { HAS, 0, .value = NEW_NAMESPACES, .text = "a flag for a new namespace" } },

	/* AF_INET with SOCK_PACKET is AF_PACKET by its oldest name. */
	{ SCMP_SYS(socket),    EPERM, { IS, 1, NAMED(SOCK_PACKET), .mask = 0xf }, .with = LIST_CHANNELS },
	{ SCMP_SYS(socket),    PASS,  { IS, 0, NAMED(AF_UNIX) }, .with = LIST_CHANNELS },
	{ SCMP_SYS(socket),    PASS,  { IS, 0, NAMED(AF_INET) }, .with = LIST_CHANNELS },
	{ SCMP_SYS(socket),    PASS,  { IS, 0, NAMED(AF_INET6) }, .with = LIST_CHANNELS },
	{ SCMP_SYS(socket),    PASS,  { IS, 0, NAMED(AF_NETLINK) }, { IS, 2, NAMED(NETLINK_ROUTE) }, .with = LIST_CHANNELS },
	{ SCMP_SYS(socket),    EAFNOSUPPORT, { ALWAYS }, .with = LIST_CHANNELS },
	{ SCMP_SYS(socketpair), PASS, { IS, 0, NAMED(AF_UNIX) }, .with = LIST_CHANNELS },
	{ SCMP_SYS(socketpair), EAFNOSUPPORT, { ALWAYS }, .with = LIST_CHANNELS },

	/* RLIMIT_CORE stays 1: see sandbox/rlimits.h. */
	{ SCMP_SYS(setrlimit), EPERM, { IS, 0, NAMED(RLIMIT_CORE) } },
	{ SCMP_SYS(prlimit64), EPERM, { IS, 1, NAMED(RLIMIT_CORE) }, { HAS, 2, .value = UINT32_MAX, .text = "a new limit" } },
	{ SCMP_SYS(prlimit64), EPERM, { IS, 1, NAMED(RLIMIT_CORE) }, { HAS, 2, .high = true, .value = UINT32_MAX, .text = "a new limit" } },

	/* What threads, libraries and crash handlers ask for; what changes credentials, memory maps
	   or mitigations does not pass. */
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, NAMED(PR_SET_NAME) } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, NAMED(PR_GET_NAME) } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, NAMED(PR_SET_VMA) } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, NAMED(PR_SET_PDEATHSIG) } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, NAMED(PR_GET_PDEATHSIG) } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, NAMED(PR_SET_DUMPABLE) } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, NAMED(PR_GET_DUMPABLE) } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, NAMED(PR_SET_NO_NEW_PRIVS) } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, NAMED(PR_GET_NO_NEW_PRIVS) } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, NAMED(PR_GET_SECCOMP) } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, NAMED(PR_CAPBSET_READ) } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, NAMED(PR_GET_SECUREBITS) } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, NAMED(PR_GET_KEEPCAPS) } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, NAMED(PR_SET_CHILD_SUBREAPER) } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, NAMED(PR_GET_CHILD_SUBREAPER) } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, NAMED(PR_SET_TIMERSLACK) } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, NAMED(PR_GET_TIMERSLACK) } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, NAMED(PR_SET_THP_DISABLE) } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, NAMED(PR_GET_THP_DISABLE) } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, NAMED(PR_GET_TSC) } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, NAMED(PR_GET_SPECULATION_CTRL) } },
	{ SCMP_SYS(prctl),     PASS,  { IS, 0, NAMED(PR_CAP_AMBIENT) }, { IS, 1, NAMED(PR_CAP_AMBIENT_IS_SET) } },
	{ SCMP_SYS(prctl),     EPERM, { ALWAYS } },

	/* Own processes only: not all of a CPU, which shows everybody's, and not those of a group. */
	{ SCMP_SYS(perf_event_open), EPERM, { IS, 1, NAMED(-1) }, .with = LIST_PROFILER },
	{ SCMP_SYS(perf_event_open), EPERM, { HAS, 4, NAMED(PERF_FLAG_PID_CGROUP) }, .with = LIST_PROFILER },
};
/* clang-format on */

static bool is_in(unsigned int lists, enum list list)
{
	return (lists >> list & 1) != 0;
}

static unsigned int choose_lists(enum seccomp_profile profile, uint32_t extras)
{
	unsigned int lists = lists_of[profile];

	for (size_t i = 0; i < SECCOMP_EXTRAS; i++)
		if (extras >> i & 1)
			lists |= 1U << extra_lists[i];
	return lists;
}

/* A list that is in, and allows what is refused otherwise, has the last word. */
static bool is_opened(const struct listed *refused, unsigned int lists)
{
	for (size_t i = 0; i < ARRAY_LEN(listed); i++)
		if (listed[i].list != LIST_REFUSED && is_in(lists, listed[i].list) &&
		    strcmp(listed[i].name, refused->name) == 0)
			return true;
	return false;
}

static bool has_say(const struct listed *call, unsigned int lists)
{
	return is_in(lists, call->list) && (call->list != LIST_REFUSED || !is_opened(call, lists));
}

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
	if (condition->test == ISNT || condition->test == UPTO) {
		emit(as, BPF_JMP | BPF_K | (condition->test == UPTO ? BPF_JGT : BPF_JEQ),
		     condition->value, skip, 0);
		return;
	}
	emit(as,
	     BPF_JMP | BPF_K |
		     (condition->test == HAS    ? BPF_JSET
		      : condition->test == FROM ? BPF_JGE
						: BPF_JEQ),
	     condition->value, 0, skip);
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
static size_t emit_call(struct assembler *as, size_t from, unsigned int lists)
{
	uint32_t start = as->count;
	size_t row = from;

	emit(as, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t) rows[from].call, 1, 0);
	emit(as, BPF_JMP | BPF_JA, 0, 0, 0);
	for (; row < ARRAY_LEN(rows) && rows[row].call == rows[from].call; row++)
		if (is_in(lists, rows[row].with))
			emit_row(as, &rows[row]);
	emit(as, BPF_JMP | BPF_JA, UINT32_MAX, 0, 0); /* nothing refused it */
	if (as->count <= SECCOMP_PROGRAM_MAX)
		as->code[start + 1].k = as->count - start - 2;
	return row - from;
}

/* A foreign ABI has other numbers: it goes straight to the lists, which end it. */
static void emit_arguments(struct assembler *as, unsigned int lists)
{
	emit_load(as, offsetof(struct seccomp_data, arch));
	emit(as, BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCH, 1, 0);
	emit(as, BPF_JMP | BPF_JA, UINT32_MAX, 0, 0);
	emit_load(as, offsetof(struct seccomp_data, nr));
	for (size_t row = 0; row < ARRAY_LEN(rows);)
		row += is_in(lists, rows[row].with) ? emit_call(as, row, lists) : 1;

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

		if (listed[i].call < 0 || !has_say(&listed[i], lists))
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

int seccomp_compile(enum seccomp_profile profile, uint32_t extras, struct seccomp_program *out,
		    struct err *err)
{
	cleanup(free_filter) scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	const unsigned int lists = choose_lists(profile, extras);
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
	if (add_lists(filter, lists,
		      profile == SECCOMP_PROFILE_WORKER ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_NOTIFY,
		      err) < 0)
		return -1;

	emit_arguments(&as, lists);
	if (append_lists(filter, &as, err) < 0)
		return -1;
	*out = (struct seccomp_program){ .count = as.count };
	memcpy(out->instructions, as.code, as.count * sizeof(as.code[0]));
	return 0;
}

/* -- what a filter says, in words -- */

size_t seccomp_calls(enum seccomp_profile profile, uint32_t extras, struct seccomp_call *out,
		     size_t room)
{
	const unsigned int lists = choose_lists(profile, extras);
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_LEN(listed); i++) {
		if (!has_say(&listed[i], lists))
			continue;
		if (out && count < room)
			out[count] = (struct seccomp_call){
				.name = listed[i].name,
				.list = list_names[listed[i].list],
				.reason = listed[i].reason,
				.number = listed[i].call,
				.is_refused = listed[i].list == LIST_REFUSED,
			};
		count++;
	}
	return count;
}

static const char *name_of(int call)
{
	for (size_t i = 0; i < ARRAY_LEN(listed); i++)
		if (listed[i].call == call)
			return listed[i].name;
	return "?";
}

static size_t add_condition(const struct condition *condition, char *out, size_t room, size_t used)
{
	static const char *const tests[] = {
		[IS] = "is",           [ISNT] = "is not", [HAS] = "has", [FROM] = "is at least",
		[UPTO] = "is at most",
	};
	char mask[24] = "";

	if (condition->test == ALWAYS || used >= room)
		return used;
	if (condition->mask != 0)
		snprintf(mask, sizeof(mask), " & %#x", condition->mask);
	return used + (size_t) snprintf(out + used, room - used, "%sargument %d%s %s %s",
					used > 0 ? " and " : "", condition->arg, mask,
					tests[condition->test], condition->text);
}

static struct seccomp_rule describe(const struct row *row)
{
	struct seccomp_rule rule = { .call = name_of(row->call), .error = row->verdict };
	size_t used = add_condition(&row->first, rule.when, sizeof(rule.when), 0);

	used = add_condition(&row->second, rule.when, sizeof(rule.when), used);
	if (used == 0)
		snprintf(rule.when, sizeof(rule.when), "otherwise");
	if (row->verdict != PASS && row->first.test == IS)
		snprintf(rule.refused, sizeof(rule.refused), "%s", row->first.text);
	return rule;
}

size_t seccomp_rules(enum seccomp_profile profile, uint32_t extras, struct seccomp_rule *out,
		     size_t room)
{
	const unsigned int lists = choose_lists(profile, extras);
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (!is_in(lists, rows[i].with))
			continue;
		if (out && count < room)
			out[count] = describe(&rows[i]);
		count++;
	}
	return count;
}
