/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/check/scratch.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/path.h"

int scratch_open(const char *parent, const char *name, struct scratch *out, struct err *err)
{
	cleanup(scratch_done) struct scratch made = SCRATCH_INIT;

	snprintf(made.path, sizeof(made.path), "%s/%s-XXXXXX", parent, name);
	if (!mkdtemp(made.path)) {
		made.path[0] = '\0';
		return err_host(err, "make a folder in '%s'", parent);
	}
	made.fd = open(made.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (made.fd < 0)
		return err_sys(err, "open '%s'", made.path);
	*out = take(made, SCRATCH_INIT);
	return 0;
}

int scratch_make(const struct scratch *scratch, const char *name, struct err *err)
{
	if (mkdirat(scratch->fd, name, 0755) < 0)
		return err_sys(err, "create folder '%s/%s'", scratch->path, name);
	return path_open_folder(scratch->fd, name, err);
}

static int remove_it(const char *path, const struct stat *info, int kind, struct FTW *where)
{
	(void) info;
	(void) kind;
	(void) where;
	/* One that stays has somebody else in it; the rest goes all the same. */
	best_effort(remove(path));
	return 0;
}

void scratch_done(struct scratch *scratch)
{
	enum { FOLDERS_OPEN = 16 };

	fd_close(&scratch->fd);
	if (scratch->path[0])
		nftw(scratch->path, remove_it, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	*scratch = SCRATCH_INIT;
}
