/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Functions whose mistakes are too easy. This header is forced into every file of ours by meson,
 * so that the system's own headers have to be read before the names are poisoned.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__GNUC__) && !defined(__clang__) /* clang's fortified headers define them as macros */
#pragma GCC poison strcpy strcat strncpy strncat stpcpy sprintf vsprintf gets strtok atoi atol atof
#pragma GCC poison system popen tmpnam tempnam mktemp asctime ctime gmtime localtime
#pragma GCC poison execlp execvp
/* Not poisoned: OpenSSL's headers have parameters of this name. */
int rand(void) __attribute__((error("rand() can be foretold")));
void srand(unsigned int seed) __attribute__((error("rand() can be foretold")));
#endif
