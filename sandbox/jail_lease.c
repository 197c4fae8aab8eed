/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/clock.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/mem.h"
#include "sandbox/jail.h"

/* What can be cleared goes at once; of what can not, each takes some seconds to show it. */
enum { REAP_MS = 10 * 1000 };

void jail_name_leaf(uint32_t number, char *out, size_t room)
{
	snprintf(out, room, JAIL_LEASE "-%04u", number);
}

/* In front of a lease's note: what its holder left could not be cleared. */
#define STUCK "stuck\n"

static bool is_stuck(const char *note)
{
	return strncmp(note, STUCK, sizeof(STUCK) - 1) == 0;
}

/* In the folders that the holder had, and in ours: those of older launchers noted nothing. */
static int clear_up(const struct jail_host *host, const struct lease *lease, const char *note,
		    struct err *err)
{
	char leaf[64];

	jail_name_leaf(lease->number, leaf, sizeof(leaf));
	if (is_stuck(note))
		note += sizeof(STUCK) - 1;
	if (cgroup_places_reap(note, leaf, err) < 0)
		return -1;
	return cgroup_reap(host->cgroups, leaf, err);
}

static void mark_stuck(const struct lease *lease, const char *note)
{
	cleanup(mem_free) char *text = mem_alloc(1, CGROUP_PLACES_MAX + sizeof(STUCK));
	struct err ignored = ERR_INIT;

	snprintf(text, CGROUP_PLACES_MAX + sizeof(STUCK), STUCK "%s", note);
	/* Else the next taker finds out for itself. */
	best_effort(lease_note(lease, text, &ignored));
}

void jail_leave_stuck(const struct lease *lease)
{
	cleanup(mem_free) char *note = mem_alloc(1, CGROUP_PLACES_MAX + sizeof(STUCK));
	struct err ignored = ERR_INIT;

	if (lease_read(lease, note, CGROUP_PLACES_MAX + sizeof(STUCK), &ignored) == 0 &&
	    !is_stuck(note))
		mark_stuck(lease, note);
}

/* Return: 1 it can be used; 0 it can not, and @why, where that is known; -1. */
static int try_lease(const struct jail_host *host, struct lease *lease, struct err *why,
		     struct err *err)
{
	cleanup(mem_free) char *note = mem_alloc(1, CGROUP_PLACES_MAX + sizeof(STUCK));

	if (lease_read(lease, note, CGROUP_PLACES_MAX + sizeof(STUCK), err) < 0)
		return -1;
	if (is_stuck(note))
		return 0;
	if (clear_up(host, lease, note, why) < 0) {
		mark_stuck(lease, note);
		return 0;
	}
	cgroup_places_text(host->cgroups, note);
	return lease_note(lease, note, err) < 0 ? -1 : 1;
}

/* @left: those that nobody has, and that can not be used */
static int say_none(uint32_t count, uint32_t left, const struct err *why, struct err *err)
{
	if (left == 0)
		return err_set(err, ERR_HOST,
			       "all %u leases of '" JAIL_LEASE
			       "' are taken: too many jails at once",
			       count);
	return err_set(err, ERR_HOST,
		       "of the %u leases of '" JAIL_LEASE "' %u are taken, and of %u the control "
		       "groups of an earlier jail can not be removed%s%s",
		       count, count - left, left, why->kind == ERR_NONE ? "" : ": ", why->text);
}

int jail_take_lease(const struct jail_host *host, struct lease *out, struct err *err)
{
	struct err why = ERR_INIT;
	uint32_t left = 0;

	for (uint32_t number = 0; number < host->range_count; number++) {
		cleanup(lease_done) struct lease lease = LEASE_INIT;
		int got = lease_try(host->state_fd, JAIL_LEASE, number, &lease, err);

		if (got > 0) {
			got = try_lease(host, &lease, &why, err);
			left += got == 0;
		}
		if (got < 0)
			return -1;
		if (got > 0) {
			*out = take(lease, LEASE_INIT);
			return 0;
		}
	}
	return say_none(host->range_count, left, &why, err);
}

/* A lease that is free has no monitor. What resists is the next one's. */
static void reap_lease(const struct jail_host *host, uint32_t number)
{
	cleanup(mem_free) char *note = mem_alloc(1, CGROUP_PLACES_MAX + sizeof(STUCK));
	cleanup(lease_done) struct lease lease = LEASE_INIT;
	struct err err = ERR_INIT;

	if (lease_try(host->state_fd, JAIL_LEASE, number, &lease, &err) <= 0 ||
	    lease_read(&lease, note, CGROUP_PLACES_MAX + sizeof(STUCK), &err) < 0)
		return;
	if (clear_up(host, &lease, note, &err) == 0)
		best_effort(lease_note(&lease, "", &err));
}

/* The number in "uids-0007" or "uids-0007.lock"; -1: it is something else. */
static int64_t number_of(const struct jail_host *host, const char *name)
{
	uint32_t number;
	char leaf[64];

	if (sscanf(name, JAIL_LEASE "-%u", &number) != 1 || number >= host->range_count)
		return -1;
	jail_name_leaf(number, leaf, sizeof(leaf));
	if (strncmp(name, leaf, strlen(leaf)) != 0)
		return -1;
	name += strlen(leaf);
	return *name == '\0' || strcmp(name, ".lock") == 0 ? (int64_t) number : -1;
}

/* @is_leases: the folder of the leases, where those without a note are of no interest. */
static void reap_folder(const struct jail_host *host, int fd, bool is_leases, int64_t deadline)
{
	int folder_fd = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = folder_fd < 0 ? NULL : fdopendir(folder_fd);
	const struct dirent *entry;

	if (!folder) {
		fd_close(&folder_fd);
		return;
	}
	while (clock_now() < deadline && (entry = readdir(folder))) {
		int64_t number = number_of(host, entry->d_name);
		struct stat info;

		if (number < 0 ||
		    (is_leases && (fstatat(fd, entry->d_name, &info, 0) < 0 || info.st_size == 0)))
			continue;
		reap_lease(host, (uint32_t) number);
	}
	closedir(folder);
}

/* In every folder of ours as well: launchers of older builds noted nothing. */
void jail_reap(const struct jail_host *host)
{
	const int64_t deadline = clock_after_ms(REAP_MS);

	reap_folder(host, host->state_fd, true, deadline);
	reap_folder(host, host->cgroups->unified_fd, false, deadline);
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++)
		if (host->cgroups->v1_fds[i] >= 0)
			reap_folder(host, host->cgroups->v1_fds[i], false, deadline);
}
