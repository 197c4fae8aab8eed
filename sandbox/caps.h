/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sandbox/base/err.h"

/*
 * Capabilities
 *
 * A set is a mask with bit N for capability number N of <linux/capability.h>. Dropping comes in
 * two halves, because a change of uid may have to lie between them: caps_bound() while the
 * process still has CAP_SETPCAP, caps_limit() when nothing privileged is left to do.
 */
#define CAPS_MASK(capability) (UINT64_C(1) << (capability))

/**
 * caps_bound() - reduce the bounding set to @keep and clear the ambient set; needs CAP_SETPCAP
 */
int caps_bound(uint64_t keep, struct err *err) must_check;

/**
 * caps_lock() - set the securebits, and lock them: uid 0 means nothing, a change of uid changes no
 * capability, none is kept by KEEP_CAPS, none becomes ambient; needs CAP_SETPCAP
 *
 * Before a change of uid it keeps the capabilities, which caps_limit() takes away afterwards.
 */
int caps_lock(struct err *err) must_check;

/**
 * caps_limit() - reduce the permitted and effective sets to @keep, the inheritable to nothing
 *
 * Where the process still has CAP_SETPCAP, caps_lock() comes first. What is in @keep and not
 * permitted now is an error. With @keep 0 nothing can be regained by any execve; with more, the
 * kept ones last until the next execve.
 */
int caps_limit(uint64_t keep, struct err *err) must_check;

/**
 * caps_drop() - caps_bound() and caps_limit() where no change of uid has to lie between
 */
int caps_drop(uint64_t keep, struct err *err) must_check;

/**
 * caps_locked_bits() - the securebits that caps_lock() sets, as prctl(PR_GET_SECUREBITS) says them
 */
unsigned int caps_locked_bits(void);

/**
 * caps_no_new_privs() - no execve of this process or its children gains privilege, for ever
 */
int caps_no_new_privs(struct err *err) must_check;

/**
 * caps_has() - is @capability in the effective set?
 */
bool caps_has(int capability);

/**
 * caps_require() - an ERR_HOST error that names the first capability of @needed which is not in
 * the effective set, and what to do about it
 */
int caps_require(uint64_t needed, struct err *err) must_check;
