/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/net.h"

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "sandbox/base/fd.h"

int net_loopback_up(struct err *err)
{
	auto_fd fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };

	if (fd < 0)
		return err_sys(err, "open a socket");
	if (ioctl(fd, SIOCSIFFLAGS, &request) < 0)
		return err_sys(err, "bring up interface 'lo'");
	return 0;
}
