/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/err.h"
#include "sandbox/base/io.h"
#include "sandbox/base/names.h"
#include "sandbox/base/str.h"

/* The only mutable state of the program that is not on main's stack. */
static struct {
	const char *program;
	enum log_level shown;
	int json_fd;
} sink = { .program = "proctor", .shown = LOG_NOTICE, .json_fd = -1 };

static const struct name levels[] = {
	{ "error", LOG_ERROR },
	{ "warning", LOG_WARNING },
	{ "notice", LOG_NOTICE },
	{ "debug", LOG_DEBUG },
	{ NULL, 0 },
};

void log_open(const char *program, enum log_level shown, int json_fd)
{
	sink.program = program;
	sink.shown = shown;
	sink.json_fd = json_fd;
}

static void emit(int fd, const struct str *line)
{
	struct err err = ERR_INIT;

	/* A sink that can not be written to has nobody left to be told. */
	best_effort(io_write_all(fd, line->text, line->len, "the log", &err));
}

static void emit_text(enum log_level level, const char *message, const struct log_field *fields,
		      size_t count)
{
	cleanup(str_done) struct str line = STR_INIT;

	str_addf(&line, "%s: ", sink.program);
	if (level <= LOG_WARNING)
		str_addf(&line, "%s: ", names_text(levels, level));
	str_add_shown(&line, message, strlen(message));
	for (size_t i = 0; i < count; i++) {
		str_addf(&line, "  %s=", fields[i].key);
		if (fields[i].text)
			str_add_shown(&line, fields[i].text, strlen(fields[i].text));
		else
			str_addf(&line, "%lld", (long long) fields[i].number);
	}
	str_add(&line, "\n", 1);
	emit(STDERR_FILENO, &line);
}

static void emit_json(enum log_level level, const char *event, const char *message,
		      const struct log_field *fields, size_t count)
{
	cleanup(str_done) struct str line = STR_INIT;

	str_addf(&line, "{\"time_ns\":%lld,\"level\":\"%s\",\"event\":\"%s\"",
		 (long long) clock_wall_ns(), names_text(levels, level), event);
	if (message) {
		str_addf(&line, ",\"message\":");
		str_add_json(&line, message, strlen(message));
	}
	for (size_t i = 0; i < count; i++) {
		str_addf(&line, ",\"%s\":", fields[i].key);
		if (fields[i].text)
			str_add_json(&line, fields[i].text, strlen(fields[i].text));
		else
			str_addf(&line, "%lld", (long long) fields[i].number);
	}
	str_addf(&line, "}\n");
	emit(sink.json_fd, &line);
}

void log_event(enum log_level level, const char *event, const char *message,
	       const struct log_field *fields, size_t count)
{
	if (level <= sink.shown)
		emit_text(level, message ? message : event, fields, count);
	if (sink.json_fd >= 0)
		emit_json(level, event, message, fields, count);
}

void log_say(enum log_level level, const char *event, const char *format, ...)
{
	char message[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	log_event(level, event, message, NULL, 0);
}
