/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/base/names.h"

#include <string.h>

const char *names_text(const struct name *table, int value)
{
	for (; table->text; table++)
		if (table->value == value)
			return table->text;
	return "?";
}

int names_find(const struct name *table, const char *text, int *out)
{
	for (; table->text; table++) {
		if (strcmp(table->text, text) == 0) {
			*out = table->value;
			return 0;
		}
	}
	return -1;
}
