/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sandbox/base/err.h"
#include "sandbox/base/names.h"

/*
 * GPUs
 *
 * One table (gpu.c) has what the GPUs of each vendor take: device nodes, and what their runtimes
 * read of /sys and /proc. gpu_find() (gpu_find.c) lists those that this host has, out of what their
 * drivers show of themselves: it reads files of the kernel, opens no device, and takes no number
 * that it has not looked at. A GPU here is what one jail has to itself: where a driver cuts a card
 * into partitions, each of them is one.
 */
enum gpu_vendor { GPU_AMD, GPU_NVIDIA, GPU_VENDORS };

extern const struct name gpu_vendor_names[];

enum {
	GPU_MAX = 64, /* eight cards of eight partitions */
	GPU_NODES_MAX = 3,
	GPU_PATHS_MAX = 8,
	GPU_PATH_MAX = 192, /* of a path below /sys, with the zero byte */
};

struct gpu {
	uint32_t vendor;  /* enum gpu_vendor */
	uint32_t number;  /* of its own node: N of renderDN, of nvidiaN */
	uint32_t order;   /* as its runtime counts: the kfd node; NVIDIA's are in the bus's order */
	int32_t card;     /* N of the cardN that shows in /sys; -1: none */
	char model[48];   /* for people: "gfx942", "NVIDIA H200" */
	char address[16]; /* on the PCI bus: "0000:c1:00.0"; "": it has none of its own */
	char device[GPU_PATH_MAX]; /* its folder, below /sys: "devices/pci…" */
};

struct gpus {
	uint32_t count;
	uint32_t unread[GPU_VENDORS]; /* that a driver shows, and that could not be read */
	struct gpu list[GPU_MAX];
};

/* Where it is looked: folders, so that tests can show others than this host's. Borrowed. */
struct gpu_host {
	int proc_fd, sys_fd, dev_fd; /* -1: not to be had */
};

/* A node below /dev. */
struct gpu_node {
	char name[32];
	uint32_t major, minor;
};

enum gpu_path_kind {
	GPU_FOLDER,          /* a folder of the host's, read-only */
	GPU_FOLDER_IF_THERE, /* the same, where the host has it */
	GPU_LINK,            /* a link as the host has it */
	GPU_HIDE,            /* covered: it is of a GPU that the jail has not */
};

struct gpu_path {
	enum gpu_path_kind kind;
	char path[GPU_PATH_MAX + 32]; /* below /, without the leading slash */
};

/**
 * gpu_find() - the GPUs of a host: AMD's, then NVIDIA's, each as its runtime counts them
 */
void gpu_find(const struct gpu_host *host, struct gpus *out);

/**
 * gpu_pick() - the GPU that somebody means
 * @which: its place in the list ("0"), its node ("renderD129", "nvidia0") or its address on the PCI
 *         bus
 *
 * A render node that the compute driver lists as none of its own is taken too, by its name: it is
 * then AMD's, with /dev/kfd, unless the device behind it is in the list (NVIDIA's have such nodes).
 * (A virtual machine has such; whoever may name it decides.)
 *
 * Return: was there one?
 */
bool gpu_pick(const struct gpu_host *host, const struct gpus *gpus, const char *which,
	      struct gpu *out) must_check;

/**
 * gpu_nodes() - the device nodes that a jail with this GPU has
 * @out: receives @count of them, those that GPUs of the vendor share first
 *
 * Numbers come from /proc/devices. Where the host has a node of the name, it has to be a character
 * device with the same numbers. ERR_HOST: the driver is not there, or the node is another's.
 */
int gpu_nodes(const struct gpu_host *host, const struct gpu *gpu,
	      struct gpu_node out[GPU_NODES_MAX], uint32_t *count, struct err *err) must_check;

/**
 * gpu_paths() - what a jail sees of a GPU beside its nodes, or does not
 * @is_own: the jail has it; else: it has another one of the same vendor
 *
 * Return: how many there are in @out.
 */
uint32_t gpu_paths(const struct gpu *gpu, bool is_own, struct gpu_path out[GPU_PATHS_MAX]);

/**
 * gpu_node_name() - "renderD128", "nvidia0"
 */
void gpu_node_name(const struct gpu *gpu, char *out, size_t room);

/**
 * gpu_render_device() - fill @gpu->device, ->address and ->card by its render node's link in /sys
 *
 * Return: is there such a node, and did its link make sense?
 */
bool gpu_render_device(int sys_fd, uint32_t number, struct gpu *gpu) must_check;

/**
 * gpu_number() - the digits that a text begins with
 * @most: more than this is no number
 * @end:  receives where they end; NULL: they have to be all of the text
 */
bool gpu_number(const char *text, uint32_t most, uint32_t *out, const char **end);
