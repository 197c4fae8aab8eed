/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbox/base/compiler.h"
#include "sandbox/spec.h"

/*
 * A launcher and a floor program, each a child of the benchmark's that lives as long as it: one
 * request is one jail around a command, from the asking until nothing of it is left.
 */
struct launching {
	pid_t pid;
	int fd;      /* the launcher's socket */
	int null_fd; /* where payloads print to */
	struct jail_spec *spec;
};

struct flooring {
	pid_t pid;
	int ask_fd, told_fd;
};

/* Says why, and ends the benchmark. */
no_return void bench_die(const char *what);

/* @folder has proctor-launcher in it; the spec is that of `proctor jail -- /bin/true`. */
void launching_start(struct launching *out, const char *folder);
void launching_once(const struct launching *launching);
/* Closes its socket and waits for its end. */
void launching_stop(struct launching *launching);

/* @folder has tests/bench/bench-floor or bench-floor in it. */
void flooring_start(struct flooring *out, const char *folder);
void flooring_once(const struct flooring *flooring);

/* CPU time that a process and its children that are gone have used, in steps of a tick. */
double bench_cpu_us(pid_t pid);

/* Ascending. */
void bench_sort(double *values, size_t count);
