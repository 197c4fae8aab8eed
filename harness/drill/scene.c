/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/drill/scene.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/base/io.h"

/* An attack that takes longer has found something that holds it up. */
enum { WALL_MS = 30 * 1000, SHORT_MS = 500, CPU_MS = 300, IDLE_MS = 500, GRACE_MS = 100 };

static void tighten(uint64_t *limit, uint64_t to)
{
	*limit = MIN_OF(*limit, to);
}

struct policy_role scene_limits(const struct policy *policy, const struct drill_attack *attack)
{
	struct policy_role role = policy->agent;

	tighten(&role.wall_ms, attack->flags & DRILL_SHORT ? SHORT_MS : WALL_MS);
	tighten(&role.grace_ms, GRACE_MS);
	if (attack->flags & DRILL_CPU)
		tighten(&role.cpu_ms, CPU_MS);
	role.idle_ms = attack->flags & DRILL_IDLE ? IDLE_MS : 0;
	if (!(attack->flags & DRILL_TIGHT))
		return role;
	tighten(&role.memory, 192 * MIB);
	tighten(&role.pids, 64);
	tighten(&role.output, 256 * KIB);
	tighten(&role.workspace.size, 16 * MIB);
	tighten(&role.workspace.inodes, 2048);
	tighten(&role.tmp.size, 16 * MIB);
	tighten(&role.tmp.inodes, 1024);
	tighten(&role.shm.size, 8 * MIB);
	tighten(&role.shm.inodes, 256);
	return role;
}

static void add(struct scene_words *words, const char *format, ...) printf_like(2, 3);

static void add(struct scene_words *words, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(words->text[words->count++], SCENE_WORD_MAX, format, args);
	va_end(args);
}

/* Folders of an installation that lie where jails can see them. */
static void add_own_folders(struct scene_words *words)
{
	static const char *const folders[] = { PROCTOR_LIBEXECDIR, PROCTOR_DATADIR };
	cleanup(str_done) struct str text = STR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		if (strncmp(folders[i], "/usr/", 5) == 0 && access(folders[i], F_OK) == 0)
			str_addf(&text, "%s%s", text.len > 0 ? ":" : "", folders[i]);
	add(words, "own=%s", text.text);
}

static void add_nodes(const char *folder, const char *prefix, struct str *out)
{
	DIR *opened = opendir(folder);
	const struct dirent *entry;

	while (opened && (entry = readdir(opened)))
		if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
			str_addf(out, "%s%s/%s", out->len > 0 ? ":" : "", folder, entry->d_name);
	if (opened)
		closedir(opened);
}

static void add_gpus(struct scene_words *words)
{
	cleanup(str_done) struct str text = STR_INIT;

	add_nodes("/dev", "kfd", &text);
	add_nodes("/dev", "nvidia", &text);
	add_nodes("/dev/dri", "renderD", &text);
	add_nodes("/dev/dri", "card", &text);
	add(words, "gpus=%s", text.text);
}

/* Of the size that mmap() takes without being asked for another. */
static uint64_t huge_pages(void)
{
	char text[32];
	struct err ignored = ERR_INIT;

	if (io_read_kernel_file(AT_FDCWD, "/proc/sys/vm/nr_hugepages", text, sizeof(text),
				&ignored) < 0)
		return 0;
	return strtoull(text, NULL, 10);
}

void scene_words(const struct bait *bait, const struct drill_attack *attack,
		 const struct policy_role *role, int round, bool is_bare, struct scene_words *out)
{
	*out = (struct scene_words){ .count = 0 };
	add(out, "bait=%s", bait->folder);
	add(out, "outside=%s", bait->outside);
	add(out, "tag=%s", bait->tag);
	add(out, "victim=%d", (int) bait->victim.process.pid);
	add(out, "port=%u", bait->port);
	add(out, "near_port=%u", bait->near_port);
	add(out, "key=%d", bait->key);
	add(out, "near_key=%d", bait->near_key);
	add(out, "netns=%llu", (unsigned long long) bait->netns);
	add(out, "group=%u", bait->group);
	add(out, "disk_major=%u", bait->disk_major);
	add(out, "disk_minor=%u", bait->disk_minor);
	add(out, "memory=%llu", (unsigned long long) role->memory);
	add(out, "work=%llu", (unsigned long long) role->workspace.size);
	add(out, "inodes=%llu", (unsigned long long) role->workspace.inodes);
	add(out, "pids=%llu", (unsigned long long) role->pids);
	add(out, "files=%llu", (unsigned long long) role->nofile);
	add(out, "output=%llu", (unsigned long long) role->output);
	add(out, "huge=%llu", (unsigned long long) huge_pages());
	add(out, "service=%d", attack->flags & DRILL_SERVICE ? SCENE_SERVICE : 0);
	add(out, "round=%d", round);
	add(out, "bare=%d", is_bare);
	if (strcmp(attack->id, "read-own-folders") == 0)
		add_own_folders(out);
	if (strcmp(attack->id, "dev-gpus") == 0)
		add_gpus(out);
}
