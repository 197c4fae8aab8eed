/* SPDX-License-Identifier: Apache-2.0 */

/*
 * fill FOLDER…: fills each folder's file system to the last byte and the last inode, with what
 * costs the kernel most an inode: links with names of 255 bytes and the longest target that takes
 * no page.
 *
 * Run as the payload of a jail: a full disk must not become a memory kill. Prints what fitted.
 */

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static long fill_bytes(void)
{
	static const char block[65536];
	size_t size = sizeof(block);
	long bytes = 0;
	int fd = open("big", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	while (fd >= 0 && size > 0) {
		ssize_t put = write(fd, block, size);

		if (put > 0)
			bytes += put;
		else
			size /= 2;
	}
	if (fd >= 0)
		close(fd);
	return bytes;
}

static long fill_inodes(void)
{
	char name[256], target[128];
	long count = 0;

	memset(name, 'n', sizeof(name));
	memset(target, 't', sizeof(target));
	name[sizeof(name) - 1] = target[sizeof(target) - 1] = '\0';
	do {
		snprintf(name, 11, "%010ld", count);
		name[10] = 'n';
	} while (symlink(target, name) == 0 && ++count);
	return count;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		long bytes, inodes;

		if (chdir(argv[i]) < 0) {
			perror(argv[i]);
			return 1;
		}
		bytes = fill_bytes();
		inodes = fill_inodes();
		printf("%s %ld %ld\n", argv[i], bytes, inodes);
		fflush(stdout);
	}
	return 0;
}
