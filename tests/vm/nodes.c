/* SPDX-License-Identifier: Apache-2.0 */

/*
 * nodes FILE…: asks each GPU node what drives it
 * nodes requests FILE: makes requests of kfd's that a jail must not, with arguments of zeros, once
 *	under the driver's own letter and once, with " x" behind the name, under another
 *
 * Run in the virtual machine by tests/vm/gpu.sh, outside of jails and inside. One line a file: what
 * its driver says, or why it does not; or a line a request: its name, and what came of it. Exit
 * code: 0 all answered, 1 not.
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

/* Sizes as in the kernel's header; they differ between versions, and the filter looks at none. */
static int make_requests(const char *path)
{
	static const struct {
		const char *name;
		unsigned int number, size;
	} requests[] = {
		{ "SET_CU_MASK", 0x1a, 16 },
		{ "GET_QUEUE_WAVE_STATE", 0x1b, 24 },
		{ "SMI_EVENTS", 0x1f, 8 },
		{ "SET_XNACK_MODE", 0x21, 4 },
		{ "CRIU_OP", 0x22, 56 },
		{ "DBG_TRAP", 0x26, 24 },
		{ "CREATE_PROCESS", 0x27, 8 },
		{ "IPC_IMPORT_HANDLE", 0x80, 48 },
		{ "IPC_EXPORT_HANDLE", 0x81, 32 },
		{ "RLC_SPM", 0x84, 32 },
		{ "PC_SAMPLE", 0x85, 32 },
		{ "GET_CLOCK_COUNTERS", 0x05, 40 },
		{ "GET_PROCESS_APERTURES_NEW", 0x14, 16 },
	};
	int node = open(path, O_RDWR | O_CLOEXEC);

	if (node < 0) {
		printf("%s: open: %s\n", path, strerror(errno));
		return 1;
	}
	for (size_t i = 0; i < 2 * sizeof(requests) / sizeof(requests[0]); i++) {
		const unsigned int letter = i % 2 == 0 ? 'K' : 'd';
		char argument[64] = { 0 };
		int got = ioctl(node,
				_IOC(_IOC_READ | _IOC_WRITE, letter, requests[i / 2].number,
				     requests[i / 2].size),
				argument);

		printf("%s%s: %s\n", requests[i / 2].name, i % 2 == 0 ? "" : " x",
		       got < 0 ? strerror(errno) : "done");
	}
	close(node);
	return 0;
}

int main(int argc, char **argv)
{
	int code = argc > 1 ? 0 : 2;

	if (argc == 3 && strcmp(argv[1], "requests") == 0)
		return make_requests(argv[2]);
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
