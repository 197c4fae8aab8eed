/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/config/policy.h"
#include "sandbox/base/str.h"
#include "sandbox/site.h"
#include "sandbox/trial.h"

/*
 * What is known of a host, and what one look at it sees
 *
 * Everything that a look reads comes from here: folders as descriptors, and facts that were
 * gathered by whoever had the privilege. So a look is a function of its input, and tests feed it
 * hosts that there are nowhere around.
 */
struct doctor_host {
	int proc_fd, sys_fd, dev_fd, etc_fd, usr_fd, run_fd; /* borrowed; -1: not to be had */
	const char *status;  /* /proc/self/status from before privileges were dropped, or NULL */
	const char *account; /* that proctor drops root for; NULL: none, and why: */
	const char *account_why;
	struct site site;     /* what its administrator permits */
	const char *site_why; /* why his site.conf can not be used; NULL: it can, or is not there */
	bool has_site;        /* it is there */
	const char *programs_why;   /* why proctor's own programs are not whole; NULL: they are */
	const struct trial *trials; /* TRIAL_KINDS of them; NULL: none, and why: */
	const char *trials_why;
	const char *jail_why; /* why the whole jail did not run; NULL: it did */
	bool is_jail_tried;   /* or that could not even be tried, and jail_why says why */
	size_t cpus;          /* that this process may use */
	uint64_t disk_free;   /* bytes where a run would be kept */
	struct policy policy; /* that a run would have */
};

enum doctor_verdict {
	DOCTOR_OK,
	DOCTOR_DEGRADED, /* it works, less well than it could */
	DOCTOR_MISSING,
	DOCTOR_UNKNOWN, /* it could not be seen */
};

struct doctor_sight {
	enum doctor_verdict verdict;
	bool is_tried;
	struct str found; /* what was seen, in words */
};

#define DOCTOR_SIGHT_INIT ((struct doctor_sight){ .verdict = DOCTOR_UNKNOWN, .found = STR_INIT })

/**
 * sight_done() - release a sight
 */
void sight_done(struct doctor_sight *sight);

/**
 * sight_say() - a verdict, and what was seen behind what is there already, a semicolon between
 */
void sight_say(struct doctor_sight *sight, enum doctor_verdict verdict, const char *format, ...)
	printf_like(3, 4);

/**
 * sight_add() - more of what was seen; the verdict stays
 */
void sight_add(struct doctor_sight *sight, const char *format, ...) printf_like(2, 3);

/**
 * sight_worsen() - the verdict becomes @verdict if that is the worse one of OK, DEGRADED, MISSING
 */
void sight_worsen(struct doctor_sight *sight, enum doctor_verdict verdict);

/* The most that is read of a file that has a line for each account, mount or CPU. */
enum { SIGHT_FILE_MAX = 4 << 20 };

/**
 * sight_read() - a whole file, without white space at its end
 * @path: relative, a constant of ours
 * @out:  receives the text instead of what it had; empty on failure
 *
 * Return: was it there and readable?
 */
bool sight_read(int dir_fd, const char *path, struct str *out);

/**
 * sight_number() - the number that a file consists of
 *
 * Return: is it there, and a number? @out is untouched if not.
 */
bool sight_number(int dir_fd, const char *path, uint64_t *out);

/**
 * sight_line() - the next line of a text
 * @rest: where to go on; moves; a line's end becomes a zero byte
 *
 * Return: the line, or NULL at the end.
 */
char *sight_line(char **rest);

/**
 * sight_has_word() - is @word one of the words of a text, with blanks, tabs or commas between?
 */
bool sight_has_word(const char *text, const char *word);
