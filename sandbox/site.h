/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sandbox/base/err.h"
#include "sandbox/base/names.h"
#include "sandbox/spec.h"

/*
 * What this host permits: /etc/proctor/site.conf
 *
 * Root parses it, so it is small and strict: lines of `key value`, each of which fits or is refused
 * by file, line, key and value. It has to be root's, and nobody else may be able to write it or its
 * folder. Without the file the defaults hold, and there is no service, only private children.
 */
#define SITE_FILE "/etc/proctor/site.conf"

enum {
	SITE_FILE_MAX = 64 * 1024, /* bytes */
	SITE_LINE_MAX = 300,
	SITE_NAME_MAX = 32, /* with the zero byte; for names of groups, sources, devices */
	SITE_SOURCES_MAX = 32,
	SITE_DEVICES_MAX = 64,
	SITE_GPUS_MAX = 64,
	SITE_FOLDERS_MAX = 16,
};

/* The most that one jail may ask for; 0: what the format of a spec allows. */
struct site_jail {
	uint64_t memory; /* bytes */
	uint64_t pids;
	uint64_t cpu_milli; /* thousandths of a CPU; a jail that asks for no limit gets this one */
	uint64_t wall_ms;
	uint64_t bytes;  /* of all its tmpfs */
	uint64_t inodes; /* the same */
	uint64_t output; /* bytes of the archive that is collected from it */
};

/* The most that all jails of one account may have together, root's excepted; 0: any. */
struct site_quota {
	uint64_t jails;
	uint64_t memory; /* bytes */
	uint64_t pids;
	uint64_t timing_ms; /* how long it may keep the CPUs of this host for a marking */
};

enum site_kind {
	SITE_FOLDER,   /* a root file system as a folder */
	SITE_SQUASHFS, /* an image */
	SITE_EROFS,
};

extern const struct name site_kind_names[];

/* A root file system that clients may name, and what it is. */
struct site_source {
	char name[SITE_NAME_MAX];
	uint32_t kind; /* enum site_kind */
	char path[256];
};

/* A device that clients may name, and its node. */
struct site_device {
	char name[SITE_NAME_MAX];
	char path[64]; /* below /dev */
};

/* A GPU that clients may name, and which one of this host's it is: see gpu_pick(). */
struct site_gpu {
	char name[SITE_NAME_MAX];
	char which[32];
};

struct site {
	char file[256]; /* for messages */
	uint64_t uid_base, uid_ranges;
	struct site_jail jail;
	struct site_quota client;
	uint64_t has_host_root;    /* 1: jails may have the host's /usr as their root */
	uint64_t has_profiler;     /* 1: and the calls of a profiler, see policies/syscalls */
	char group[SITE_NAME_MAX]; /* whose members may use the service */
	uint32_t source_count, device_count;
	struct site_source sources[SITE_SOURCES_MAX];
	struct site_device devices[SITE_DEVICES_MAX];
	uint32_t
		has_all_gpus; /* 1: jails may have every GPU, as there is no file that lists them */
	uint32_t gpu_count;
	struct site_gpu gpus[SITE_GPUS_MAX];
	uint32_t folder_count; /* of the host's, which jails with its root see as well */
	char folders[SITE_FOLDERS_MAX][192]; /* absolute */
};

/**
 * site_default() - what holds without a file
 */
void site_default(struct site *out);

/**
 * site_parse() - what a text says, on top of the defaults; no I/O
 * @file: its name, for messages
 *
 * Return: 0, or -1 with an ERR_HOST error of one printable line; @out is then untouched.
 */
int site_parse(const char *file, const char *text, size_t len, struct site *out,
	       struct err *err) must_check;

/**
 * site_load() - read the file, if it is there
 *
 * Return: 1; 0 where there is none, with the defaults; -1.
 */
int site_load(const char *path, struct site *out, struct err *err) must_check;

/**
 * site_bound() - refuse what is more than the site permits a jail, and names nobody listed
 * @spec: passed spec_check(); where it asks for no limit of CPU time, it gets the site's; what the
 *        site limits it can not do without
 *
 * Return: 0, or -1 with an ERR_INPUT error that says which key would have to be raised.
 */
int site_bound(const struct site *site, struct jail_spec *spec, struct err *err) must_check;

/**
 * site_source() - the root file system of this name; NULL: the site lists none
 */
const struct site_source *site_source(const struct site *site, const char *name);

/**
 * site_gpu() - the GPU of this name; NULL: the site lists none
 */
const struct site_gpu *site_gpu(const struct site *site, const char *name);

/**
 * site_device() - the device of this name; NULL: the site lists none
 */
const struct site_device *site_device(const struct site *site, const char *name);
