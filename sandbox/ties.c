/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/ties.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "sandbox/base/fd.h"

enum { TIES_MAX = 8 };

int ties_open(struct ties *out, struct err *err)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);

	if (fd < 0)
		return err_sys(err, "make an epoll descriptor");
	*out = (struct ties){ .fd = fd };
	return 0;
}

/* The group and its number, so that what is a job's event can be looked at. */
static struct epoll_event event_of(enum tie kind, int fd)
{
	return (struct epoll_event){
		.events = kind == TIE_JOB ? EPOLLPRI : EPOLLIN,
		.data.u64 = (uint64_t) kind << 32 | (uint32_t) fd,
	};
}

int ties_add(struct ties *ties, enum tie kind, int fd, struct err *err)
{
	struct epoll_event event = event_of(kind, fd);

	if (fd < 0)
		return 0;
	if (epoll_ctl(ties->fd, EPOLL_CTL_ADD, fd, &event) < 0)
		return err_sys(err, "watch what a jail is tied to");
	return 0;
}

/* cgroup.events also tells of frozen groups, and of a first process: only the last one counts. */
static bool has_processes(int events_fd)
{
	char text[256];
	ssize_t got = pread(events_fd, text, sizeof(text) - 1, 0);

	if (got <= 0)
		return false;
	text[got] = '\0';
	return strstr(text, "populated 1") != NULL;
}

enum tie ties_broken(const struct ties *ties)
{
	struct epoll_event events[TIES_MAX];
	enum tie broken = TIE_NONE;
	int count;

	if (ties->fd < 0)
		return TIE_NONE;
	do
		count = epoll_wait(ties->fd, events, TIES_MAX, 0);
	while (count < 0 && errno == EINTR);
	for (int i = 0; i < count; i++) {
		enum tie kind = (enum tie)(events[i].data.u64 >> 32);

		if (kind == TIE_JOB && has_processes((int) (uint32_t) events[i].data.u64))
			continue;
		if (broken == TIE_NONE || kind < broken)
			broken = kind;
	}
	return broken;
}

void ties_done(struct ties *ties)
{
	fd_close(&ties->fd);
}
