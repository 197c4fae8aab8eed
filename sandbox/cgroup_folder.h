/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sandbox/base/str.h"
#include "sandbox/cgroup.h"

/*
 * The folder of our leaves in one group, for cgroup_host.c (in groups of our own) and
 * cgroup_client.c (in those of whoever asks for jails, who may do there what they like: nothing
 * that is found is believed, and nobody is waited for).
 */
#define CGROUP_FOLDER "proctor"

/**
 * cgroup_folder_layout() - where the hierarchies are mounted, and where a process is in them
 * @pid:      0: this process
 * @own_text: receives /proc/PID/cgroup
 */
int cgroup_folder_layout(struct arena *arena, pid_t pid, struct str *own_text,
			 struct cgroup_layout *out, struct err *err) must_check;

/**
 * cgroup_folder_group() - open a group
 * @magic: of its file system
 *
 * Return: its descriptor, owned by the caller, or -1 with ERR_HOST.
 */
int cgroup_folder_group(const char *mount, const char *own, long magic, struct err *err) must_check;

/**
 * cgroup_folder_open() - make the folder in a group, or share it
 *
 * Return: its descriptor, locked shared, owned by the caller. One that is not root's is an ERR_HOST
 * error.
 */
int cgroup_folder_open(int parent_fd, struct err *err) must_check;

/**
 * cgroup_folder_open_v1() - the same for a v1 hierarchy, into host->v1_fds and v1_paths
 */
int cgroup_folder_open_v1(struct cgroup_host *host, const struct cgroup_place *place,
			  size_t controller, struct err *err) must_check;

/**
 * cgroup_folder_leave() - let go of it; whoever is last and finds it empty removes it
 */
void cgroup_folder_leave(int *fd);

/**
 * cgroup_folder_offers() - the controllers that a file of a group names: cgroup.controllers or
 * cgroup.subtree_control
 */
uint32_t cgroup_folder_offers(int group_fd, const char *file);

/**
 * cgroup_folder_enable() - hand controllers to the groups below
 */
int cgroup_folder_enable(int group_fd, uint32_t set, struct err *err) must_check;

/**
 * cgroup_folder_is_alone() - is this process alone in the group, and is the group not the root,
 * which is everybody's?
 */
bool cgroup_folder_is_alone(int group_fd, pid_t pid);

/**
 * cgroup_folder_delegate() - make a group hand controllers on: its only process moves down into a
 * leaf that belongs to @uid, and back if that was in vain
 */
int cgroup_folder_delegate(int group_fd, pid_t pid, uid_t uid, uint32_t wanted,
			   struct err *err) must_check;
