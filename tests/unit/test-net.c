/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/net.h"

#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/lib/check.h"

TEST(loopback_comes_up_in_a_new_network_namespace)
{
	struct ifreq request = { .ifr_name = "lo" };
	struct err err = ERR_INIT;
	int fd;

	if (geteuid() != 0)
		SKIP("needs root");
	CHECK(unshare(CLONE_NEWNET) == 0);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	CHECK(ioctl(fd, SIOCGIFFLAGS, &request) == 0);
	CHECK((request.ifr_flags & IFF_UP) == 0);
	CHECK_OK(net_loopback_up(&err));
	CHECK(ioctl(fd, SIOCGIFFLAGS, &request) == 0);
	CHECK((request.ifr_flags & IFF_UP) != 0);
}
