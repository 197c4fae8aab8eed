/* SPDX-License-Identifier: Apache-2.0 */

/* Devices: making nodes, finding them, and the terminal of whoever called. */
#include "tests/attacks/attack.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* The memory of the machine, its log, its random numbers: one of them opens where any can. */
static void make_character_node(const struct scene *scene)
{
	static const struct {
		unsigned int major, minor;
		const char *name;
	} devices[] = { { 1, 11, "the kernel's log" },
			{ 1, 1, "the machine's memory" },
			{ 10, 237, "loop devices" },
			{ 10, 229, "fuse" } };

	(void) scene;
	for (size_t i = 0; i < ARRAY_LEN(devices); i++) {
		unlink("node");
		if (mknod("node", S_IFCHR | 0666, makedev(devices[i].major, devices[i].minor)) < 0)
			continue;
		if (open("node", O_WRONLY | O_NONBLOCK | O_CLOEXEC) >= 0)
			got("opened %s by a node of our own", devices[i].name);
	}
	held_by("mknod");
}

static void make_block_node(const struct scene *scene)
{
	char block[512];
	int fd;

	if (scene->disk_major == 0)
		not_here("the host's root is on no disk");
	unlink("disk");
	if (mknod("disk", S_IFBLK | 0600,
		  makedev((unsigned int) scene->disk_major, (unsigned int) scene->disk_minor)) < 0)
		held_by("mknod");
	fd = open("disk", O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, block, sizeof(block)) > 0)
		got("read the host's disk");
	if (scene->bare && fd < 0)
		not_here("root of this host is kept off its disk: %s", strerror(errno));
	held_by("open the host's disk");
}

/* It lies among the host's files, and everybody may open it: flags of the mount are one wall, the
 * program on the control group the other. */
static void host_node(const struct scene *scene)
{
	int fd = open(below(scene->bait, "node"), O_WRONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		got("opened a node among the host's files");
	held_by("open a node among the host's files");
}

static void named_nodes(const struct scene *scene)
{
	static const char *const nodes[] = {
		"kvm",
		"fuse",
		"net/tun",
		"loop-control",
		"vhost-net",
		"vhost-vsock",
		"vfio/vfio",
		"vda",
		"sda",
		"nvme0n1",
		"mem",
		"port",
		"kmsg",
		"rtc0",
		"hpet",
		"snapshot",
		"uinput",
		"input/event0",
		"mapper/control",
		"btrfs-control",
		"autofs",
		"cpu_dma_latency",
		"hwrng",
		"nvram",
		"mcelog",
		"ppp",
		"userfaultfd",
		"udmabuf",
		"dma_heap/system",
		"loop0",
	};

	(void) scene;
	for (size_t i = 0; i < ARRAY_LEN(nodes); i++)
		if (open(below("/dev", nodes[i]), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) >=
		    0)
			got("opened /dev/%s", nodes[i]);
	held_by("open a device of the host");
}

static void visit_node(const char *path, mode_t mode, const struct scene *scene)
{
	static const char *const known[] = { "null",    "zero", "full", "random",
					     "urandom", "tty",  "ptmx" };
	const char *name = strrchr(path, '/') + 1;

	(void) scene;
	if ((!S_ISCHR(mode) && !S_ISBLK(mode)) || strstr(path, "watchdog"))
		return;
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (strcmp(name, known[i]) == 0)
			return;
	if (open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) >= 0 ||
	    open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) >= 0)
		got("opened %s", path);
}

static void hunt_nodes(const struct scene *scene)
{
	walk(scene->bait, 0, visit_node, scene);
	if (!scene->bare)
		walk("/", 0, visit_node, scene);
	held("no node but the named ones can be opened");
}

static void gpus(const struct scene *scene)
{
	char paths[2048], *rest = paths, *path;

	if (scene->gpus[0] == '\0')
		not_here("the host has no GPU");
	snprintf(paths, sizeof(paths), "%s", scene->gpus);
	while ((path = strsep(&rest, ":")))
		if (*path && open(path, O_RDWR | O_CLOEXEC) >= 0)
			got("opened %s", path);
	held_by("open a GPU that was not granted");
}

static void terminal(const struct scene *scene)
{
	int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);

	(void) scene;
	if (fd >= 0 && isatty(fd))
		got("the terminal of whoever called");
	held_by("open /dev/tty");
}

static void standard_input(const struct scene *scene)
{
	struct stat input, null;

	(void) scene;
	if (fstat(0, &input) < 0)
		held("it is closed");
	if (stat("/dev/null", &null) < 0 || input.st_rdev != null.st_rdev)
		got("standard input is somebody's");
	held("it is /dev/null");
}

static void other_terminals(const struct scene *scene)
{
	DIR *folder = opendir("/dev/pts");
	const struct dirent *entry;

	(void) scene;
	while (folder && (entry = readdir(folder)))
		if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9')
			got("/dev/pts/%s is somebody else's", entry->d_name);
	held("there is no terminal but those that we open");
}

/* clang-format off */
const struct attack attacks_on_devices[] = {
	{ "dev-make-character",  make_character_node },
	{ "dev-make-block",      make_block_node },
	{ "dev-host-node",       host_node },
	{ "dev-named-nodes",     named_nodes },
	{ "dev-hunt-nodes",      hunt_nodes },
	{ "dev-gpus",            gpus },
	{ "tty-controlling",     terminal },
	{ "tty-input",           standard_input },
	{ "tty-others",          other_terminals },
	{ NULL,                  NULL },
};
/* clang-format on */
