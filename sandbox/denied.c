/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/denied.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sandbox/base/fd.h"

enum { TURN = 64 };

int denied_create(struct err *err)
{
	auto_fd fd = memfd_create("proctor-denied", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, sizeof(struct denied_page)) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW) < 0)
		return err_sys(err, "make the page of refused calls");
	return fd_take(&fd);
}

struct denied_page *denied_map(int fd, bool writable, struct err *err)
{
	void *page = mmap(NULL, sizeof(struct denied_page),
			  writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);

	if (page == MAP_FAILED) {
		err_sys(err, "map the page of refused calls");
		return NULL;
	}
	return page;
}

void denied_unmap(struct denied_page *page)
{
	if (page)
		munmap(page, sizeof(*page));
}

static void count(const struct denied_calls *calls, int number, struct denied_page *page)
{
	for (uint32_t i = 0; i < calls->count && i < DENIED_MAX; i++)
		if (calls->number[i] == number && page->tries[i] < UINT32_MAX)
			page->tries[i]++;
}

/* A caller that was killed meanwhile is no error: its request has gone, or takes no answer. */
static int answer_one(int listener_fd, const struct denied_calls *calls, struct denied_page *page)
{
	union {
		struct seccomp_notif request;
		char room[512]; /* for what a newer kernel may add to it */
	} got = { .room = { 0 } };
	struct seccomp_notif_resp answer = { .error = -EPERM };

	if (ioctl(listener_fd, SECCOMP_IOCTL_NOTIF_RECV, &got.request) < 0)
		return errno == ENOENT || errno == EINTR ? 0 : -1;
	count(calls, got.request.data.nr, page);
	answer.id = got.request.id;
	if (ioctl(listener_fd, SECCOMP_IOCTL_NOTIF_SEND, &answer) < 0)
		return errno == ENOENT || errno == EINTR ? 0 : -1;
	return 0;
}

int denied_answer(int listener_fd, const struct denied_calls *calls, struct denied_page *page)
{
	struct pollfd waiting = { .fd = listener_fd, .events = POLLIN };

	/* Receiving would wait where nothing is there. */
	for (int i = 0; i < TURN && poll(&waiting, 1, 0) > 0; i++) {
		if ((waiting.revents & POLLIN) == 0 || answer_one(listener_fd, calls, page) < 0)
			return -1;
	}
	return 0;
}
