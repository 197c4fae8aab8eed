/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/types.h>

#include "sandbox/base/err.h"

/*
 * The two clones that make a jail
 *
 * Stage 1 makes every namespace but the user namespace, as real root, so that the mounts belong to
 * the host. Stage 2 makes the user namespace alone, for the payload. Both start in the caller's
 * memory, like fork().
 */

/**
 * namespaces_clone_host() - stage 1: new mount, pid, network, IPC and UTS namespaces
 * @cgroup_fd: the cgroup v2 leaf that the child starts in (CLONE_INTO_CGROUP): moving a process
 *             later would wait milliseconds for the kernel's grace periods
 * @client:    the kernel counts them as this account's for as long as there are any, which a socket
 *             or a pidfd keeps that the account was given: root's would be used up by others. It is
 *             the effective user during the clone, and neither the caller's nor the child's after
 * @pid_fd:    receives the child's pidfd
 *
 * Return: 0 in the child, its pid in the parent, -1 with @err set.
 */
pid_t namespaces_clone_host(int cgroup_fd, uid_t client, int *pid_fd, struct err *err) must_check;

/**
 * namespaces_clone_user() - stage 2: a new user namespace, owned by the caller's effective uid
 *
 * The kernel charges inotify instances, pending signals and message queues of the namespace to
 * its owner in the parent namespace: the caller makes the range's base its effective uid first,
 * or the jail would use up root's.
 */
pid_t namespaces_clone_user(int *pid_fd, struct err *err) must_check;
