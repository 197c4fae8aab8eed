/* SPDX-License-Identifier: Apache-2.0 */

/*
 * nodes FILE…: asks each GPU node what drives it
 *
 * Run in the virtual machine by tests/vm/gpu.sh, outside of jails and inside. One line a file: what
 * its driver says, or why it does not. Exit code: 0 all answered, 1 not.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* As in linux/kfd_ioctl.h and drm/drm.h, which need a package more to compile. */
struct kfd_version {
	uint32_t major, minor;
};

struct drm_version {
	int32_t major, minor, patch;
	size_t name_len;
	char *name;
	size_t date_len;
	char *date;
	size_t description_len;
	char *description;
};

#define KFD_GET_VERSION _IOR('K', 0x01, struct kfd_version)
#define DRM_GET_VERSION _IOWR('d', 0x00, struct drm_version)

/* Prints the answer; -1 with errno: there is none. */
static int ask(const char *path, int node)
{
	char name[32] = "";
	struct kfd_version kfd = { 0 };
	struct drm_version drm = { .name_len = sizeof(name) - 1, .name = name };

	if (strstr(path, "kfd")) {
		if (ioctl(node, KFD_GET_VERSION, &kfd) < 0)
			return -1;
		printf("%s: kfd %u.%u\n", path, kfd.major, kfd.minor);
		return 0;
	}
	if (ioctl(node, DRM_GET_VERSION, &drm) < 0)
		return -1;
	printf("%s: %s\n", path, name);
	return 0;
}

int main(int argc, char **argv)
{
	int code = argc > 1 ? 0 : 2;

	for (int i = 1; i < argc; i++) {
		int node = open(argv[i], O_RDWR | O_CLOEXEC);

		if (node < 0 || ask(argv[i], node) < 0) {
			printf("%s: %s: %s\n", argv[i], node < 0 ? "open" : "ioctl",
			       strerror(errno));
			code = 1;
		}
		if (node >= 0)
			close(node);
	}
	return code;
}
