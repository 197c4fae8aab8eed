/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/ids.h"

#include <stdio.h>
#include <unistd.h>

#include "sandbox/base/io.h"

int ids_write_maps(const struct ids *ids, int proc_fd, pid_t pid, struct err *err)
{
	char path[64], map[64];

	snprintf(map, sizeof(map), "0 %u %u\n", ids->base, (unsigned) IDS_RANGE);
	snprintf(path, sizeof(path), "%d/uid_map", (int) pid);
	if (io_write_kernel_file(proc_fd, path, map, err) < 0)
		return -1;
	snprintf(path, sizeof(path), "%d/gid_map", (int) pid);
	return io_write_kernel_file(proc_fd, path, map, err);
}

int ids_become(const struct ids *ids, uint32_t inside, int host, struct err *err)
{
	uint32_t id = host ? ids_host(ids, inside) : inside;

	if (setresgid(id, id, id) < 0)
		return err_sys(err, "become group %u", id);
	if (setresuid(id, id, id) < 0)
		return err_sys(err, "become user %u", id);
	return 0;
}
