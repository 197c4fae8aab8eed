/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/fuzz.h"

#include <stdbool.h>
#include <string.h>

#include "sandbox/base/mem.h"
#include "sandbox/site.h"

static void must(bool holds)
{
	if (!holds)
		__builtin_trap();
}

/* Names alone, none of which leads up. */
static bool is_plain(const char *path)
{
	const char *last = strrchr(path, '/');

	return path[0] == '/' && !strstr(path, "/../") && !strstr(path, "//") &&
	       strcmp(last, "/..") != 0 && last[1] != '\0';
}

/* Root reads this file: what it takes lies within every limit, and all else is one line of text. */
static void check_taken(const struct site *site)
{
	must(site->uid_base >= 65536 && site->uid_base % 65536 == 0 && site->uid_ranges >= 1);
	must(site->uid_base + site->uid_ranges * 65536 <= UINT64_C(0xffff0000));
	must(site->client.jails >= 1 && site->client.jails <= 65536);
	must(site->client.timing_ms >= 1000 && site->has_host_root <= 1);
	must(site->source_count <= SITE_SOURCES_MAX && site->device_count <= SITE_DEVICES_MAX);
	must(memchr(site->group, '\0', sizeof(site->group)) && site->group[0] != '\0');
	for (size_t i = 0; i < site->source_count; i++) {
		must(memchr(site->sources[i].name, '\0', SITE_NAME_MAX) != NULL);
		must(is_plain(site->sources[i].path));
	}
	must(site->gpu_count <= SITE_GPUS_MAX && site->folder_count <= SITE_FOLDERS_MAX);
	must(site->has_all_gpus == 0);
	for (size_t i = 0; i < site->gpu_count; i++) {
		must(memchr(site->gpus[i].which, '\0', sizeof(site->gpus[i].which)) != NULL);
		must(!strchr(site->gpus[i].which, '/'));
		must(site_gpu(site, site->gpus[i].name) == &site->gpus[i]);
	}
	for (size_t i = 0; i < site->folder_count; i++)
		must(is_plain(site->folders[i]) && strncmp(site->folders[i], "/etc/", 5) != 0);
	for (size_t i = 0; i < site->device_count; i++) {
		must(strncmp(site->devices[i].path, "/dev/", 5) == 0);
		must(is_plain(site->devices[i].path));
		must(site_device(site, site->devices[i].name) == &site->devices[i]);
	}
}

static void check_error(const struct err *err)
{
	must(err->kind == ERR_HOST && strncmp(err->text, "site.conf:", 10) == 0);
	for (const char *at = err->text; *at; at++)
		must((unsigned char) *at >= ' ' && (unsigned char) *at != 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup(mem_free) struct site *site = mem_alloc(1, sizeof(*site));
	cleanup(mem_free) struct jail_spec *spec = mem_alloc(1, sizeof(*spec));
	struct err err = ERR_INIT;

	if (site_parse("site.conf", (const char *) data, size, site, &err) < 0) {
		check_error(&err);
		return 0;
	}
	check_taken(site);
	spec_init(spec, "fuzz");
	if (site_bound(site, spec, &err) < 0)
		must(err.kind == ERR_INPUT && err.text[0] != '\0');
	else
		must(site->jail.memory == 0 || spec->cgroup.memory <= site->jail.memory);
	return 0;
}
