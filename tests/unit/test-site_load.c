/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/str.h"
#include "sandbox/site.h"
#include "tests/lib/check.h"

static struct site site;
static struct err err;

static const char *path_of(const char *name)
{
	static char path[300];

	snprintf(path, sizeof(path), "%s/%s", check_folder_path(), name);
	return path;
}

static void put(const char *name, const char *text, mode_t mode)
{
	auto_fd fd = openat(check_folder(), name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0);
	CHECK_INT(write(fd, text, strlen(text)), strlen(text));
	CHECK(fchmod(fd, mode) == 0);
}

static void check_not_loaded(const char *name, const char *part)
{
	err = (struct err) ERR_INIT;
	CHECK_INT(site_load(path_of(name), &site, &err), -1);
	CHECK_INT(err.kind, ERR_HOST);
	if (!strstr(err.text, part))
		check_fail(__FILE__, __LINE__, "'%s' lacks '%s'", err.text, part);
}

TEST(no_file_and_no_folder_are_the_defaults)
{
	check_folder();
	CHECK_INT(site_load(path_of("none"), &site, &err), 0);
	CHECK_INT(site.uid_ranges, 1024);
	CHECK_INT(site_load(path_of("no/folder/none"), &site, &err), 0);
}

TEST(only_a_file_of_roots_that_nobody_else_writes_is_believed)
{
	check_folder();
	if (geteuid() != 0)
		SKIP("needs root");
	put("site.conf", "uid.ranges 7\n", 0644);
	CHECK_INT(site_load(path_of("site.conf"), &site, &err), 1);
	CHECK_INT(site.uid_ranges, 7);
	put("site.conf", "uid.ranges 7\n", 0664);
	check_not_loaded("site.conf", "has mode 0664: root alone may be able to write it");
	put("site.conf", "uid.ranges 7\n", 0602);
	check_not_loaded("site.conf", "has mode 0602");
	put("site.conf", "uid.ranges 7\n", 0644);
	CHECK(fchownat(check_folder(), "site.conf", 1, 0, 0) == 0);
	check_not_loaded("site.conf", "belongs to user 1");
	CHECK(symlinkat("/etc/passwd", check_folder(), "link") == 0);
	check_not_loaded("link", "open '");
	CHECK(mkfifoat(check_folder(), "fifo", 0600) == 0);
	check_not_loaded("fifo", "is no regular file");
	CHECK(mkdirat(check_folder(), "folder", 0700) == 0);
	check_not_loaded("folder", "is no regular file");
	put("site.conf", "", 0644);
	CHECK(fchmod(check_folder(), 0777) == 0);
	CHECK(fchownat(check_folder(), "site.conf", 0, 0, 0) == 0);
	check_not_loaded("site.conf", "has mode 0777");
}

TEST(a_file_that_is_too_large_is_refused)
{
	cleanup(str_done) struct str text = STR_INIT;

	check_folder();
	if (geteuid() != 0)
		SKIP("needs root");
	while (text.len <= SITE_FILE_MAX)
		str_addf(&text, "# comment\n");
	put("site.conf", text.text, 0644);
	check_not_loaded("site.conf", "65536");
}
