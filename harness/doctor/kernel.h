/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/*
 * The capabilities that the doctor speaks of: those that the launcher can not do without, and a few
 * that it can. A row without a name ends the table; a test holds it and the launcher together.
 */
struct kernel_capability {
	int number;
	const char *name;
	bool is_needed;
};

extern const struct kernel_capability kernel_capabilities[];
