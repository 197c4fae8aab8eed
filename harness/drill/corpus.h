/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "sandbox/base/names.h"
#include "sandbox/stream.h"

/*
 * The corpus of attacks: what is tried, against which wall, and who says how it went
 *
 * A row here, a function of the same name in tests/attacks: tests hold the two together, and
 * SECURITY.md's table is printed from these rows. What an attack says of itself is believed where
 * it can see its success; what shows outside of a jail only (an archive, a terminal, a process that
 * stayed) is looked at by inspect.c.
 */
enum drill_threat {
	THREAT_ROOT,
	THREAT_INHERIT,
	THREAT_RANK,
	THREAT_CRASH,
	THREAT_WRITE,
	THREAT_STEER,
	THREAT_SECRETS,
	THREAT_ANSWERS,
	THREAT_LENT,
	THREAT_KERNEL_FACTS,
	THREAT_OBJECTS,
	THREAT_NEIGHBOURS,
	THREAT_MOUNTS,
	THREAT_NAMESPACES,
	THREAT_PROCESSES,
	THREAT_INIT,
	THREAT_OUTLIVE,
	THREAT_DELAY,
	THREAT_SURFACE,
	THREAT_FOREIGN,
	THREAT_MACHINE,
	THREAT_TERMINAL,
	THREAT_DEVICES,
	THREAT_NETWORK,
	THREAT_SERVICES,
	THREAT_PROCESS_COUNT,
	THREAT_MEMORY,
	THREAT_DISK,
	THREAT_OUTPUT,
	THREAT_COUNTERS,
	THREAT_FREEZE,
	THREAT_RACE,
	THREAT_RESULTS,
	THREAT_CACHES,
	THREAT_LAUNCHER,
	THREAT_KNOWN,
	THREATS,
};

struct drill_threat_row {
	const char *threat; /* what whoever succeeds would do */
	const char *wall;   /* what stands in the way */
	const char *brief;  /* the same for a narrow table */
	const char *tests;  /* others that hold the wall, in the words of SECURITY.md */
};

extern const struct drill_threat_row drill_threats[THREATS];

/* Who says that an attack was held, and what has to be so. */
enum drill_judge {
	JUDGE_WORD,        /* the attack: it said HELD, and ended */
	JUDGE_ENDING,      /* the jail: it was ended, as `want` says */
	JUDGE_EITHER,      /* one of both */
	JUDGE_CODE,        /* the jail: it ended by itself with this code, whatever was printed */
	JUDGE_MEANWHILE,   /* a process of root's that is asked `ask` while the attack holds */
	JUDGE_BAIT,        /* the attack, and the bait is as it was */
	JUDGE_ARCHIVE,     /* the archive: `entry` is refused for the reason `want`, or whole */
	JUDGE_ANY_ARCHIVE, /* the archive: it is whole, and has no secret, however `entry` came out
			    */
	JUDGE_CANDIDATE,   /* what would be marked: pristine files and the editable one */
	JUDGE_TERMINAL,    /* a terminal that the output was shown on */
	JUDGE_REQUEST,     /* the launcher: it refused a request; nothing runs in a jail */
};

enum {
	DRILL_ALONE = 1 << 0,        /* loads the host, or measures: nothing else runs meanwhile */
	DRILL_TIGHT = 1 << 1,        /* with limits that are small enough to be met soon */
	DRILL_SHORT = 1 << 2,        /* with a time limit of half a second */
	DRILL_CPU = 1 << 3,          /* with a limit of 300 ms of CPU time */
	DRILL_IDLE = 1 << 4,         /* with an idle limit of half a second */
	DRILL_NEAR = 1 << 5,         /* beside another jail */
	DRILL_MAY_FAIL = 1 << 6,     /* a jail that could not be built has held */
	DRILL_GIVES_CLOSED = 1 << 7, /* the payload gets a folder of root's, opened with O_PATH */
	DRILL_GIVES_OUTSIDE = 1 << 8,
	DRILL_LENDS_PROGRAM = 1 << 9, /* the jail's program is root's, the same way */
	DRILL_LENDS_TREE = 1 << 10,
	DRILL_LENDS_ARCHIVE = 1 << 11,
	DRILL_FOLDERS = 1 << 12, /* the working folder is that of a descriptor, by its number */
	DRILL_SERVICE = 1 << 13, /* with a service, whose endpoint hears and says nothing */
	/* For the control, which runs it without walls. */
	DRILL_AS_NOBODY = 1 << 16, /* as another user than root: root needs no such thing */
	DRILL_HARMFUL = 1 << 17,   /* in a machine that is thrown away only */
};

struct drill_attack {
	const char *id;
	enum drill_threat threat;
	const char *gain; /* what it has if it gets through */
	enum drill_judge judge;
	int want; /* enum ending, an exit code, or enum stream_reason */
	const char *entry;
	char ask;
	int rounds; /* jails one after the other, 0 is 1 */
	unsigned int flags;
	const char *no_control; /* why it is not shown to succeed without walls; NULL: it is */
};

/* The rows are in themes; each table ends with a row without id. */
extern const struct drill_attack drill_attacks_on_the_host[];
extern const struct drill_attack drill_attacks_on_the_kernel[];
extern const struct drill_attack drill_attacks_on_the_run[];

/**
 * corpus_at() - the attack @index; NULL behind the last
 */
const struct drill_attack *corpus_at(size_t index);

/**
 * corpus_find() - the attack of this id, or NULL
 */
const struct drill_attack *corpus_find(const char *id);

/**
 * corpus_count() - how many there are
 */
size_t corpus_count(void);

/**
 * corpus_is_known() - does it get through everywhere, as README.md says? Then that it does is no
 * reason to fail
 */
bool corpus_is_known(const struct drill_attack *attack);

struct drill_wish {
	char text[64];
};

/**
 * corpus_expected() - what is expected of it, for people: "refused", "ended: oom"
 */
struct drill_wish corpus_expected(const struct drill_attack *attack);
