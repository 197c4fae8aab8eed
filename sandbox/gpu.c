/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/gpu.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "sandbox/base/io.h"

const struct name gpu_vendor_names[] = {
	{ "AMD", GPU_AMD },
	{ "NVIDIA", GPU_NVIDIA },
	{ NULL, 0 },
};

/* What stands for '%' in a row. */
enum word { NOTHING, NUMBER, CARD, ADDRESS, DEVICE };

struct node_row {
	const char *name;       /* below /dev */
	const char *drivers[3]; /* what /proc/devices calls it: the first that is there */
	uint32_t minor;         /* of those without a '%' in the name */
	const char *way_out;    /* where the driver is not there */
};

struct path_row {
	enum gpu_path_kind kind;
	enum word word; /* a GPU without it has no such path */
	const char *path;
};

/* clang-format off */

/*
 * The vendors. A render node and never a card node, on which clients can name each other's buffers.
 * kfd is one node for all GPUs: its driver asks the device program of the process's control group
 * about the render node of each GPU, at the first open and at each look into the GPU's part of its
 * topology, so that the program is the wall there too, and is in place before anything runs. Of
 * NVIDIA's nodes the tools of unified memory are not needed, and partitions (MIG), whose nodes are
 * below /dev/nvidia-caps, are not supported.
 *
 * In /sys a jail has the folders of its own GPUs, and of kfd the whole topology: its runtime counts
 * the nodes and takes none for missing. Beside that lies a folder for each process that computes,
 * with its number on the host and what it uses of each GPU, which is in no jail.
 */
static const struct vendor {
	const char *node; /* what the number of its own node stands behind, for people */
	struct node_row nodes[GPU_NODES_MAX];
	struct path_row own[GPU_PATHS_MAX], others[1];
} vendors[GPU_VENDORS] = {
	[GPU_AMD] = {
		.node = "renderD",
		.nodes = {
			{ "kfd",          { "kfd" }, 0, "load the driver: modprobe amdgpu" },
			{ "dri/renderD%", { "drm" }, 0, "load the driver: modprobe amdgpu" },
		},
		.own = {
			{ GPU_FOLDER,          NOTHING, "sys/devices/virtual/kfd/kfd/topology" },
			{ GPU_LINK,            NOTHING, "sys/class/kfd/kfd" },
			{ GPU_FOLDER_IF_THERE, NOTHING, "sys/module/amdgpu" },
			{ GPU_FOLDER,          DEVICE,  "sys/%" },
			{ GPU_LINK,            NUMBER,  "sys/dev/char/226:%" },
			{ GPU_LINK,            NUMBER,  "sys/class/drm/renderD%" },
			{ GPU_LINK,            CARD,    "sys/class/drm/card%" },
			{ GPU_LINK,            ADDRESS, "sys/bus/pci/devices/%" },
		},
	},
	[GPU_NVIDIA] = {
		.node = "nvidia",
		.nodes = {
			{ "nvidiactl",  { "nvidiactl", "nvidia", "nvidia-frontend" }, 255, "load the driver: nvidia-modprobe -c 0" },
			{ "nvidia-uvm", { "nvidia-uvm" },                              0,   "load it: nvidia-modprobe -u" },
			{ "nvidia%",    { "nvidia", "nvidia-frontend", "nvidiactl" },  0,   "load the driver: nvidia-modprobe -c 0" },
		},
		.own = {
			{ GPU_FOLDER,          DEVICE,  "sys/%" },
			{ GPU_LINK,            ADDRESS, "sys/bus/pci/devices/%" },
			{ GPU_FOLDER_IF_THERE, NOTHING, "sys/module/nvidia" },
			{ GPU_FOLDER_IF_THERE, NOTHING, "sys/module/nvidia_uvm" },
			/* Where a host mounts its driver's libraries instead of installing them: a mount
			   of its own, which the host's /usr in the jail has not. */
			{ GPU_FOLDER_IF_THERE, NOTHING, "usr/local/nvidia" },
		},
		.others = { { GPU_HIDE, ADDRESS, "proc/driver/nvidia/gpus/%" } },
	},
};
/* clang-format on */

bool gpu_number(const char *text, uint32_t most, uint32_t *out, const char **end)
{
	uint64_t value = 0;
	size_t count = 0;

	for (; isdigit((unsigned char) text[count]); count++) {
		value = value * 10 + (uint64_t) (text[count] - '0');
		if (value > most)
			return false;
	}
	if (count == 0 || (!end && text[count] != '\0'))
		return false;
	*out = (uint32_t) value;
	if (end)
		*end = text + count;
	return true;
}

/* @format with @word in the place of its '%'. Return: does it fit? */
static bool put_word(const char *format, const char *word, char *out, size_t room)
{
	const char *hole = strchr(format, '%');
	int len;

	if (hole)
		len = snprintf(out, room, "%.*s%s%s", (int) (hole - format), format, word,
			       hole + 1);
	else
		len = snprintf(out, room, "%s", format);
	return len > 0 && (size_t) len < room;
}

/* Return: has the GPU such a word? */
static bool find_word(const struct gpu *gpu, enum word word, char *out, size_t room)
{
	out[0] = '\0';
	switch (word) {
	case NOTHING:
		return true;
	case NUMBER:
		snprintf(out, room, "%u", gpu->number);
		break;
	case CARD:
		if (gpu->card >= 0)
			snprintf(out, room, "%d", gpu->card);
		break;
	case ADDRESS:
		snprintf(out, room, "%s", gpu->address);
		break;
	case DEVICE:
		snprintf(out, room, "%s", gpu->device);
		break;
	}
	return out[0] != '\0';
}

/* --- nodes --- */

/* The major number that a driver has among the character devices. */
static bool find_major(const char *devices, const char *driver, uint32_t *out)
{
	for (const char *line = devices; line; line = strchr(line, '\n')) {
		const char *name;
		size_t len;

		line += strspn(line, "\n ");
		if (strncmp(line, "Block", 5) == 0)
			return false;
		if (!gpu_number(line, 4095, out, &name) || *name != ' ')
			continue;
		name++;
		len = strcspn(name, "\n");
		if (len == strlen(driver) && strncmp(name, driver, len) == 0)
			return true;
	}
	return false;
}

static int check_node(int dev_fd, const struct gpu_node *node, struct err *err)
{
	struct stat info;

	/* One that is not there is no matter: a jail has nodes of its own. */
	if (dev_fd < 0 || fstatat(dev_fd, node->name, &info, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	if (S_ISCHR(info.st_mode) && info.st_rdev == makedev(node->major, node->minor))
		return 0;
	return err_set(err, ERR_HOST,
		       "'/dev/%s' is not the node of its driver, which is the character device "
		       "%u:%u: remove it, and have udev or the driver's tools make it anew",
		       node->name, node->major, node->minor);
}

static int find_node(const char *devices, const struct node_row *row, const struct gpu *gpu,
		     struct gpu_node *out, struct err *err)
{
	char number[16];
	bool found = false;

	snprintf(number, sizeof(number), "%u", gpu->number);
	if (!put_word(row->name, number, out->name, sizeof(out->name)))
		return err_set(err, ERR_SYS, "the name of the node '%s' is too long", row->name);
	out->minor = strchr(row->name, '%') ? gpu->number : row->minor;
	for (size_t i = 0; !found && i < ARRAY_LEN(row->drivers) && row->drivers[i]; i++)
		found = find_major(devices, row->drivers[i], &out->major);
	if (!found)
		return err_set(err, ERR_HOST, "no driver has the device '/dev/%s': %s", out->name,
			       row->way_out);
	return 0;
}

int gpu_nodes(const struct gpu_host *host, const struct gpu *gpu,
	      struct gpu_node out[GPU_NODES_MAX], uint32_t *count, struct err *err)
{
	const struct vendor *vendor = &vendors[gpu->vendor];
	char devices[8 * KIB];

	*count = 0;
	if (io_read_kernel_file(host->proc_fd, "devices", devices, sizeof(devices), err) < 0)
		return err_wrap(err, "find the drivers of GPUs");
	for (size_t i = 0; i < GPU_NODES_MAX && vendor->nodes[i].name; i++) {
		struct gpu_node node = { .name = "" };

		if (find_node(devices, &vendor->nodes[i], gpu, &node, err) < 0 ||
		    check_node(host->dev_fd, &node, err) < 0)
			return -1;
		out[(*count)++] = node;
	}
	return 0;
}

void gpu_node_name(const struct gpu *gpu, char *out, size_t room)
{
	snprintf(out, room, "%s%u", vendors[gpu->vendor].node, gpu->number);
}

/* --- paths --- */

uint32_t gpu_paths(const struct gpu *gpu, bool is_own, struct gpu_path out[GPU_PATHS_MAX])
{
	const struct vendor *vendor = &vendors[gpu->vendor];
	const struct path_row *rows = is_own ? vendor->own : vendor->others;
	const size_t most = is_own ? ARRAY_LEN(vendor->own) : ARRAY_LEN(vendor->others);
	uint32_t count = 0;

	for (size_t i = 0; i < most && rows[i].path; i++) {
		char word[GPU_PATH_MAX];

		if (!find_word(gpu, rows[i].word, word, sizeof(word)) ||
		    !put_word(rows[i].path, word, out[count].path, sizeof(out[count].path)))
			continue;
		out[count++].kind = rows[i].kind;
	}
	return count;
}

/* --- which one --- */

static bool pick_by_node(const struct gpus *gpus, const char *which, struct gpu *out)
{
	for (uint32_t i = 0; i < gpus->count; i++) {
		char name[32];

		gpu_node_name(&gpus->list[i], name, sizeof(name));
		if (strcmp(name, which) == 0 || strcmp(gpus->list[i].address, which) == 0) {
			*out = gpus->list[i];
			return true;
		}
	}
	return false;
}

bool gpu_pick(const struct gpu_host *host, const struct gpus *gpus, const char *which,
	      struct gpu *out)
{
	struct gpu other = { .vendor = GPU_AMD, .model = "no GPU of kfd's" };
	const char *node = vendors[GPU_AMD].node;
	uint32_t number;

	if (which[0] == '\0')
		return false;
	if (gpu_number(which, GPU_MAX, &number, NULL)) {
		if (number < gpus->count)
			*out = gpus->list[number];
		return number < gpus->count;
	}
	if (pick_by_node(gpus, which, out))
		return true;
	if (strncmp(which, node, strlen(node)) != 0 ||
	    !gpu_number(which + strlen(node), UINT32_MAX, &number, NULL) ||
	    !gpu_render_device(host->sys_fd, number, &other))
		return false;
	/* Of NVIDIA's, say: one more node is no other GPU, and has no other lease. */
	for (uint32_t i = 0; i < gpus->count; i++)
		if (strcmp(gpus->list[i].device, other.device) == 0)
			other = gpus->list[i];
	*out = other;
	return true;
}
