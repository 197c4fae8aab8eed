/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/policy_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"

static int refuse(const char *path, struct err *err)
{
	const bool is_absent = errno == ENOENT;
	cleanup(str_done) struct str names = STR_INIT;

	err_sys(err, "policy '%s'", path);
	policy_shipped_names(&names);
	if (is_absent && !strchr(path, '/'))
		best_effort(err_set(err, ERR_INPUT,
				    "policy '%s': no such file, and none of those that came with "
				    "proctor: %s",
				    path, names.text));
	err->kind = ERR_INPUT;
	return -1;
}

static int open_parent(int folder_fd, const char *path, struct err *err)
{
	const char *slash = strrchr(path, '/');
	cleanup(mem_free) char *folder = mem_alloc(strlen(path) + 2, 1);
	int fd;

	memcpy(folder, slash ? path : ".", slash ? (size_t) (slash - path) + 1 : 1);
	fd = openat(folder_fd, folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? refuse(path, err) : fd;
}

int policy_file_open(struct policy_file *out, int folder_fd, const char *path, struct err *err)
{
	cleanup(policy_file_done) struct policy_file made = POLICY_FILE_INIT;
	struct stat info;
	size_t len;

	made.path = path;
	if (!policy_shipped(path, &len)) {
		/* What could keep us waiting, or never ends, is no file with text. */
		made.fd = openat(folder_fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		if (made.fd < 0 || fstat(made.fd, &info) < 0)
			return refuse(path, err);
		if (!S_ISREG(info.st_mode))
			return err_set(err, ERR_INPUT, "policy '%s': it is no regular file", path);
		made.folder_fd = open_parent(folder_fd, path, err);
		if (made.folder_fd < 0)
			return -1;
	}
	*out = take(made, POLICY_FILE_INIT);
	return 0;
}

static int read_text(const struct policy_file *file, struct str *text, struct err *err)
{
	const char *name = file->path ? file->path : "default", *shipped;
	size_t len;

	if (file->fd >= 0)
		return io_read_fd(file->fd, POLICY_FILE_MAX, file->path, text, err);
	shipped = policy_shipped(name, &len);
	if (!shipped)
		return err_set(err, ERR_INPUT, "policy '%s': it is not open", name);
	str_add(text, shipped, len);
	return 0;
}

int policy_file_read(const struct policy_file *file, struct policy *out, struct str *text,
		     struct err *err)
{
	cleanup(str_done) struct str own = STR_INIT;

	if (read_text(file, &own, err) < 0 ||
	    policy_parse_in(file->folder_fd, file->path ? file->path : "default", own.text, own.len,
			    out, err) < 0)
		return -1;
	if (text && out->file_count > 1)
		policy_print(out, text);
	else if (text)
		str_add(text, own.text, own.len);
	return 0;
}

void policy_file_done(struct policy_file *file)
{
	fd_close(&file->fd);
	fd_close(&file->folder_fd);
	*file = POLICY_FILE_INIT;
}
