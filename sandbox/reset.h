/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sandbox/base/err.h"

/*
 * The context reset table: everything that a process has inherited from whoever started us and
 * that a jail must not depend on or see. Descriptors 0 to 2 are left alone: they belong to the
 * caller, and what they lead to is never given another owner or mode.
 */

/**
 * reset_context() - give this process the context that every jail starts from
 * @oom_score_adj: -1000..1000, for /proc/self/oom_score_adj; best effort, since lowering it
 *                 takes CAP_SYS_RESOURCE
 *
 * No supplementary groups, umask 022, empty signal mask, default dispositions, no timers, nice 0,
 * SCHED_OTHER, the plain personality, a session and a session keyring of its own, no parent
 * death signal, an empty environment. Needs CAP_SETGID, and CAP_SYS_NICE where nice is above 0.
 */
int reset_context(int oom_score_adj, struct err *err) must_check;

/**
 * reset_fds() - close every descriptor from 3 + @keep_from_3 on
 */
int reset_fds(int keep_from_3, struct err *err) must_check;
