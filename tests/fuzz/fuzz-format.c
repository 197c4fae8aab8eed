/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "harness/config/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever a file says, a failure is the file's, and the message is one line that can be shown. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = ERR_INIT;

	if (size == 0)
		return 0;
	if (formats[data[0] % format_count].check("file.yaml", (const char *) data + 1, size - 1,
						  &err) == 0)
		return 0;
	if (err.kind != ERR_INPUT || !strstr(err.text, ".yaml:"))
		__builtin_trap();
	for (const char *at = err.text; *at; at++)
		if ((unsigned char) *at < ' ' || *at == 0x7f)
			__builtin_trap();
	return 0;
}
