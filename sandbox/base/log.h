/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "sandbox/base/compiler.h"

/*
 * The one sink of messages
 *
 * An event has a name ("run.frozen") and fields. On standard error it is a line of text for
 * people; where a file is set it is also a JSON object a line. Texts may come from anywhere:
 * they are escaped in both forms. The sandbox library never logs.
 */
enum log_level { LOG_ERROR, LOG_WARNING, LOG_NOTICE, LOG_DEBUG };

struct log_field {
	const char *key;
	const char *text; /* NULL: the number is meant */
	int64_t number;
};

#define LOG_TEXT(key_, text_)                  \
	{                                      \
		.key = (key_), .text = (text_) \
	}
#define LOG_NUMBER(key_, number_)                            \
	{                                                    \
		.key = (key_), .number = (int64_t) (number_) \
	}

/**
 * log_open() - say who is speaking and how much is shown
 * @program: put in front of each line; borrowed
 * @shown:   the last level that goes to standard error
 * @json_fd: where JSON lines go, every level; -1 for nowhere; borrowed
 */
void log_open(const char *program, enum log_level shown, int json_fd);

/**
 * log_event() - say that something happened
 * @message: for people; NULL: the event's name is shown
 */
void log_event(enum log_level level, const char *event, const char *message,
	       const struct log_field *fields, size_t count);

/**
 * log_say() - log_event() with a formatted message and no fields
 */
void log_say(enum log_level level, const char *event, const char *format, ...) printf_like(3, 4);
