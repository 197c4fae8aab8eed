/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/console/progress.h"

#include <string.h>

#include "harness/console/table.h"
#include "sandbox/base/io.h"

#define CLEAR_LINE "\r\033[K"

enum { DEFAULT_WIDTH = 80 };

void progress_start(struct progress *progress, int fd, bool is_terminal, size_t width,
		    uint64_t total, int64_t now)
{
	*progress = (struct progress){
		.fd = fd,
		.is_terminal = is_terminal,
		.width = width > 0 ? width : DEFAULT_WIDTH,
		.total = total,
		.began_at = now,
		.shown_at = now,
		.is_due = true,
		.status = STR_INIT,
	};
}

void progress_line(const struct progress *progress, int64_t now, struct str *out)
{
	const int64_t elapsed = MAX_OF(now - progress->began_at, (int64_t) 0);

	str_addf(out, "%llu/%llu  ", (unsigned long long) progress->done,
		 (unsigned long long) progress->total);
	if (progress->status.len > 0) {
		str_add_shown(out, progress->status.text, progress->status.len);
		str_addf(out, "  ");
	}
	table_add_duration(out, elapsed);
	str_addf(out, " elapsed");
	if (progress->done == 0 || progress->done >= progress->total)
		return;
	str_addf(out, ", about ");
	table_add_duration(out, (int64_t) ((double) elapsed / (double) progress->done *
					   (double) (progress->total - progress->done)));
	str_addf(out, " left");
}

static void emit(const struct progress *progress, const struct str *text)
{
	struct err err = ERR_INIT;

	/* Nobody is there to be told. */
	best_effort(io_write_all(progress->fd, text->text, text->len, "progress", &err));
}

static void show(struct progress *progress, int64_t now)
{
	cleanup(str_done) struct str text = STR_INIT;
	cleanup(str_done) struct str line = STR_INIT;

	progress_line(progress, now, &line);
	if (progress->is_terminal) {
		str_addf(&text, CLEAR_LINE);
		table_cut(&line, progress->width - 1); /* the cursor stays on the line */
	}
	str_add(&text, line.text, line.len);
	if (!progress->is_terminal)
		str_add(&text, "\n", 1);
	emit(progress, &text);
	progress->is_shown = progress->is_terminal;
	progress->is_due = false;
	progress->shown_at = now;
}

void progress_tick(struct progress *progress, int64_t now)
{
	const int64_t every = progress->is_terminal ? PROGRESS_TERMINAL_MS : PROGRESS_PLAIN_MS;

	if (progress->fd < 0)
		return;
	if (progress->is_due || now - progress->shown_at >= every * NS_PER_MS)
		show(progress, now);
}

void progress_say(struct progress *progress, const char *status, int64_t now)
{
	str_clear(&progress->status);
	str_add(&progress->status, status, strlen(status));
	progress_tick(progress, now);
}

void progress_add(struct progress *progress, uint64_t units, int64_t now)
{
	progress->done += units;
	progress->is_due = true;
	progress_tick(progress, now);
}

void progress_clear(struct progress *progress)
{
	cleanup(str_done) struct str text = STR_INIT;

	if (!progress->is_shown)
		return;
	str_addf(&text, CLEAR_LINE);
	emit(progress, &text);
	progress->is_shown = false;
	progress->is_due = true; /* put back with the next tick */
}

void progress_done(struct progress *progress)
{
	progress_clear(progress);
	str_done(&progress->status);
	*progress = PROGRESS_INIT;
}
