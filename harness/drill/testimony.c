/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/drill/testimony.h"

#include <stdio.h>
#include <string.h>

#include "sandbox/base/compiler.h"

const struct name drill_seen_names[] = {
	{ "held", DRILL_HELD },
	{ "got through", DRILL_GOT },
	{ "n/a", DRILL_NOT_HERE },
	{ "broken", DRILL_BROKEN },
	{ NULL, 0 },
};

/* What outweighs what. */
static int weight(enum drill_seen seen)
{
	static const int weights[DRILL_SEEN_KINDS] = {
		[DRILL_HELD] = 0,
		[DRILL_NOT_HERE] = 1,
		[DRILL_BROKEN] = 2,
		[DRILL_GOT] = 3,
	};

	return weights[seen];
}

void testimony_say(struct testimony *testimony, enum drill_seen seen, const char *text)
{
	if (testimony->spoke && weight(seen) <= weight(testimony->seen))
		return;
	testimony->spoke = true;
	testimony->seen = seen;
	snprintf(testimony->text, sizeof(testimony->text), "%s", text);
}

static void take_line(struct testimony *testimony, const char *line)
{
	static const struct name words[] = {
		{ "HELD ", DRILL_HELD },     { "GOT ", DRILL_GOT }, { "NA ", DRILL_NOT_HERE },
		{ "BROKEN ", DRILL_BROKEN }, { NULL, 0 },
	};

	if (strcmp(line, "READY") == 0) {
		testimony->ready = true;
		return;
	}
	for (const struct name *word = words; word->text; word++) {
		size_t len = strlen(word->text);

		if (strncmp(line, word->text, len) == 0) {
			testimony_say(testimony, (enum drill_seen) word->value, line + len);
			return;
		}
	}
	testimony_say(testimony, DRILL_BROKEN, "it says what is no word");
}

void testimony_hear(struct testimony *testimony, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (bytes[i] == '\n') {
			testimony->line[testimony->len] = '\0';
			take_line(testimony, testimony->line);
			testimony->len = 0;
		} else if (testimony->len < sizeof(testimony->line) - 1) {
			testimony->line[testimony->len++] = bytes[i];
		}
	}
}
