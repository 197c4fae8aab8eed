/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/evidence/digest.h"
#include "harness/evidence/json.h"
#include "sandbox/base/str.h"

/*
 * What this program is made of: enough to say whether two are the same, without the history of
 * its source
 */

/**
 * build_facts_print() - append it as text; the first line is the name and the version
 * @program: the running program; NULL: it can not be read
 * @policy:  the digest of the default policy
 */
void build_facts_print(const char *program, const char *policy, struct str *out);

/**
 * build_facts_put() - the same as a JSON object
 */
void build_facts_put(const char *program, const char *policy, struct json_writer *json);

/**
 * build_facts_hash() - the SHA-256 of an open program, from where it stands
 * @fd: borrowed; -1 is no program
 *
 * Return: is there one? @out is untouched otherwise.
 */
bool build_facts_hash(int fd, char out[DIGEST_HEX]);
