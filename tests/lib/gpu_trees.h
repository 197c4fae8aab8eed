/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "sandbox/gpu.h"

/*
 * Hosts with GPUs that there are nowhere around: trees of /proc, /sys and /dev in check_folder(),
 * as the drivers show them, with stand-ins for what they hold
 */

/* An empty host: /proc/devices with these lines among others, and no GPU. */
struct gpu_host gpu_trees_host(const char *drivers);

/**
 * gpu_trees_put() - make a file, or write it anew; folders on the way are made
 * @text: NULL: the file, link or empty folder is removed
 */
void gpu_trees_put(const char *path, const char *text);

/* A symbolic link; one that is there is replaced. */
void gpu_trees_link(const char *path, const char *target);

/**
 * gpu_trees_amd() - one more GPU of AMD's: its kfd node, its folder in /sys and the links to it
 * @node:   of the topology
 * @render: minor of the render node
 * @device: its folder below /sys: "devices/pci0000:c0/0000:c1:00.0"
 */
void gpu_trees_amd(uint32_t node, uint32_t render, const char *device);

/**
 * gpu_trees_nvidia() - one more GPU of NVIDIA's
 * @address: "0000:19:00.0"
 */
void gpu_trees_nvidia(const char *address, uint32_t minor);
