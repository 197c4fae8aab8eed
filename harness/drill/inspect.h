/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/drill/drill.h"

/*
 * Looks from outside: what an attack has left, shown or provoked, where it can not see that itself
 *
 * Each says its word to the testimony: GOT or BROKEN, or nothing where it found what it should.
 */

/**
 * inspect_archive() - the archive of a workspace: no secret is in it, and the attack's entry came
 * out as its row says
 */
void inspect_archive(const struct drill *drill, const struct drill_attack *attack, int archive_fd,
		     struct testimony *out);

/**
 * inspect_candidate() - what would be marked of an archive: all pristine files but the editable one
 */
void inspect_candidate(int archive_fd, struct testimony *out);

/**
 * inspect_pristine() - the stream of the tree that inspect_candidate() begins with
 *
 * Return: a memfd, owned by the caller, or -1.
 */
int inspect_pristine(struct err *err) must_check;

/**
 * inspect_shown() - what came to a terminal: text, and nothing that it would act upon
 */
void inspect_shown(const char *bytes, size_t len, struct testimony *out);

/**
 * inspect_bait() - is the bait as it was?
 */
void inspect_bait(const struct drill *drill, struct testimony *out);
