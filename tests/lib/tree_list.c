/* SPDX-License-Identifier: Apache-2.0 */

/* tree-list FILE: what a tree stream holds, a line an entry: kind, reason or size, SHA-256, path.
 */

#include <fcntl.h>
#include <stdio.h>

#include "harness/evidence/manifest.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/str.h"

static void print(const struct manifest_entry *entry)
{
	static const char *const kinds[] = { "?", "folder", "file", "refused" };
	cleanup(str_done) struct str path = STR_INIT;
	char hex[DIGEST_HEX] = "-";

	str_add_shown(&path, entry->path, entry->path_len);
	if (entry->kind == STREAM_FILE)
		digest_hex(&entry->digest, hex);
	printf("%s %s %llu %s %s\n", kinds[entry->kind],
	       entry->kind == STREAM_REFUSED ? names_text(stream_reason_names, (int) entry->reason)
	       : entry->executable           ? "x"
					     : "-",
	       (unsigned long long) entry->size, hex, path.text);
}

int main(int argc, char **argv)
{
	cleanup(manifest_done) struct manifest manifest = MANIFEST_INIT;
	struct stream_limits limits = STREAM_LIMITS_DEFAULT;
	struct err err = ERR_INIT;
	auto_fd fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;

	if (fd < 0 || manifest_read(fd, &limits, &manifest, &err) < 0) {
		fprintf(stderr, "tree-list: %s\n",
			err.text[0] ? err.text : "can not open the file");
		return 1;
	}
	for (size_t i = 0; i < manifest.count; i++)
		print(&manifest.entries[i]);
	return 0;
}
