/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sandbox/base/err.h"

/*
 * What tools/lint tells an analyzer that sees one file at a time: raising an error always returns
 * -1, so that what follows a call that failed is not looked at as if it had worked.
 */
#define err_set(...)  ((err_set) (__VA_ARGS__), -1)
#define err_sys(...)  ((err_sys) (__VA_ARGS__), -1)
#define err_host(...) ((err_host) (__VA_ARGS__), -1)
#define err_wrap(...) ((err_wrap) (__VA_ARGS__), -1)
