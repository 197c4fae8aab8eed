/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

printf_like(4, 0) static void raise_error(struct err *err, enum err_kind kind, int sys,
					  const char *format, va_list args)
{
	int used;

	*err = ERR_INIT;
	err->kind = kind;
	err->sys = sys;
	used = vsnprintf(err->text, sizeof(err->text), format, args);
	if (sys != 0 && used >= 0 && (size_t) used < sizeof(err->text))
		snprintf(err->text + used, sizeof(err->text) - (size_t) used, ": %s",
			 strerror(sys));
}

int err_set(struct err *err, enum err_kind kind, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	raise_error(err, kind, 0, format, args);
	va_end(args);
	return -1;
}

int err_sys(struct err *err, const char *format, ...)
{
	int sys = errno;
	va_list args;

	va_start(args, format);
	raise_error(err, ERR_SYS, sys, format, args);
	va_end(args);
	return -1;
}

int err_host(struct err *err, const char *format, ...)
{
	int sys = errno;
	va_list args;

	va_start(args, format);
	raise_error(err, ERR_HOST, sys, format, args);
	va_end(args);
	return -1;
}

int err_wrap(struct err *err, const char *format, ...)
{
	char inner[sizeof(err->text)];
	va_list args;
	int used;

	memcpy(inner, err->text, sizeof(inner));
	va_start(args, format);
	used = vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	if (used >= 0 && (size_t) used < sizeof(err->text))
		snprintf(err->text + used, sizeof(err->text) - (size_t) used, ": %s", inner);
	return -1;
}

int err_exit_code(const struct err *err)
{
	static const int codes[] = {
		[ERR_NONE] = 0, [ERR_USAGE] = 2, [ERR_INPUT] = 3, [ERR_HOST] = 4, [ERR_SYS] = 5,
	};

	/* An error may have come through a pipe: its kind is then whatever was sent. */
	return (unsigned int) err->kind < ARRAY_LEN(codes) ? codes[err->kind] : codes[ERR_SYS];
}
