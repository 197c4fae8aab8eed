/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/doctor/looks.h"

/*
 * Hosts that there are nowhere around: small trees of /proc, /sys, /dev, /etc and /usr in
 * check_folder(), of which a test changes a file or two
 */

/* A host on which all is well, as its trials also say. */
struct doctor_host hosts_good(void);

/**
 * hosts_put() - make a file, or write it anew
 * @path: "proc/sys/kernel/osrelease"; folders on the way are made
 * @text: NULL: the file is removed
 */
void hosts_put(const char *path, const char *text);

/* A symbolic link; folders on the way are made, and one that is there already stays. */
void hosts_link(const char *path, const char *target);

/* A look at the host; what it says lives until the next one. */
struct doctor_sight hosts_look(void (*look)(const struct doctor_host *, struct doctor_sight *),
			       const struct doctor_host *host);

/* The look has this verdict, and its words hold this text. */
#define CHECK_LOOK(look, host, verdict_, text_)                                                  \
	do {                                                                                     \
		struct doctor_sight sight_ = hosts_look(look, host);                             \
                                                                                                 \
		if (sight_.verdict != (verdict_) || !strstr(sight_.found.text, text_))           \
			check_fail(__FILE__, __LINE__, "%s: verdict %d, not %d: '%s', not '%s'", \
				   #look, (int) sight_.verdict, (int) (verdict_),                \
				   sight_.found.text, text_);                                    \
	} while (0)
