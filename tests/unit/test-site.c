/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/site.h"

#include <stdio.h>
#include <string.h>

#include "sandbox/base/str.h"
#include "tests/lib/check.h"

static struct site site;
static struct err err;

static int parse(const char *text)
{
	err = (struct err) ERR_INIT;
	return site_parse("site.conf", text, strlen(text), &site, &err);
}

static void check_refused(const char *text, const char *want)
{
	struct site before;

	site_default(&site);
	before = site;
	CHECK_INT(parse(text), -1);
	CHECK_INT(err.kind, ERR_HOST);
	CHECK_STR(err.text, want);
	CHECK(memcmp(&before, &site, sizeof(site)) == 0);
}

TEST(every_key_is_taken_and_comments_and_blanks_mean_nothing)
{
	CHECK_OK(parse("# a comment\n\n  \t\nuid.base 0x60000000\nuid.ranges\t8  \n"
		       "jail.memory 64GiB\njail.pids 4096\njail.cpus 1.5\njail.wall 2h\n"
		       "jail.bytes 8GiB\njail.inodes 100000\njail.output 1GiB\n"
		       "client.jails 3\nclient.memory 1TiB\nclient.pids 9999\nclient.timing 90m\n"
		       "group users\nroot.host no\n"
		       "source rocm squashfs /var/lib/proctor/rocm.sqfs\n"
		       "  source tree folder   /srv/tree\n"
		       "gpu a 0\ngpu b 0000:c1:00.0\n gpu c  renderD129\ngpu d nvidia0\n"
		       "root.folder /opt/torch\nroot.folder /srv/data\n"
		       "device gpu-0 /dev/dri/renderD128"));
	CHECK_INT(site.uid_base, 0x60000000);
	CHECK_INT(site.uid_ranges, 8);
	CHECK_INT(site.jail.memory, 64 * GIB);
	CHECK_INT(site.jail.pids, 4096);
	CHECK_INT(site.jail.cpu_milli, 1500);
	CHECK_INT(site.jail.wall_ms, 7200000);
	CHECK_INT(site.jail.bytes, 8 * GIB);
	CHECK_INT(site.jail.inodes, 100000);
	CHECK_INT(site.jail.output, GIB);
	CHECK_INT(site.client.jails, 3);
	CHECK_INT(site.client.memory, TIB);
	CHECK_INT(site.client.pids, 9999);
	CHECK_INT(site.client.timing_ms, 90 * 60000);
	CHECK_STR(site.group, "users");
	CHECK_INT(site.has_host_root, 0);
	CHECK_INT(site.source_count, 2);
	CHECK_STR(site.sources[1].name, "tree");
	CHECK_INT(site.sources[0].kind, SITE_SQUASHFS);
	CHECK_STR(site.sources[0].path, "/var/lib/proctor/rocm.sqfs");
	CHECK_STR(site_device(&site, "gpu-0")->path, "/dev/dri/renderD128");
	CHECK(!site_device(&site, "gpu-1"));
	CHECK_STR(site_gpu(&site, "b")->which, "0000:c1:00.0");
	CHECK_STR(site_gpu(&site, "c")->which, "renderD129");
	CHECK(!site_gpu(&site, "e"));
	CHECK_INT(site.has_all_gpus, 0);
	CHECK_INT(site.folder_count, 2);
	CHECK_STR(site.folders[1], "/srv/data");
	CHECK_STR(site.file, "site.conf");
}

TEST(an_empty_file_is_the_defaults)
{
	CHECK_OK(parse(""));
	CHECK_INT(site.uid_base, 0x70000000);
	CHECK_INT(site.uid_ranges, 1024);
	CHECK_INT(site.jail.memory, 0);
	CHECK_INT(site.client.jails, 64);
	CHECK_INT(site.has_host_root, 1);
	CHECK_STR(site.group, "proctor");
}

TEST(mistakes_are_told_by_file_line_key_value_and_a_way_out)
{
	/* clang-format off */
	static const struct { const char *text, *want; } rows[] = {
		{ "jail.memroy 1GiB", "site.conf:1: key 'jail.memroy' does not exist (its value is '1GiB'): proctor-site.conf(5) lists those that do" },
		{ "\njail.memory", "site.conf:2: key 'jail.memory' has no value: write 'jail.memory VALUE', or remove the line" },
		{ "jail.pids 9\njail.pids 9", "site.conf:2: key 'jail.pids': '9' is its second value, the first stands in line 1: remove one" },
		{ "group a\ngroup b", "site.conf:2: key 'group': 'b' is its second value, the first stands in line 1: remove one" },
		{ "group a:b", "site.conf:1: key 'group': 'a:b' is no name of a group, and no number of one" },
		{ "jail.memory 9 GiB", "site.conf:1: key 'jail.memory': '9 GiB' is not a size from 16MiB to 1024TiB" },
		{ "jail.cpus\t1\t2", "site.conf:1: key 'jail.cpus': '1 2' is not CPUs from 0.01 to 1024" },
		{ "jail.memory 9", "site.conf:1: key 'jail.memory': '9' is not a size from 16MiB to 1024TiB" },
		{ "jail.memory 1MiB", "site.conf:1: key 'jail.memory': '1MiB' is not a size from 16MiB to 1024TiB" },
		{ "jail.memory 99999999999999999999GiB", "site.conf:1: key 'jail.memory': '99999999999999999999GiB' is not a size from 16MiB to 1024TiB" },
		{ "jail.memory 999999999999999999TiB", "site.conf:1: key 'jail.memory': '999999999999999999TiB' is not a size from 16MiB to 1024TiB" },
		{ "jail.pids 010", "site.conf:1: key 'jail.pids': '010' is not a number from 4 to 4194304" },
		{ "jail.pids -5", "site.conf:1: key 'jail.pids': '-5' is not a number from 4 to 4194304" },
		{ "jail.cpus 1.", "site.conf:1: key 'jail.cpus': '1.' is not CPUs from 0.01 to 1024" },
		{ "jail.cpus 0.001", "site.conf:1: key 'jail.cpus': '0.001' is not CPUs from 0.01 to 1024" },
		{ "jail.wall 2d", "site.conf:1: key 'jail.wall': '2d' is not a time from 1ms to 168h" },
		{ "root.host maybe", "site.conf:1: key 'root.host': 'maybe' is not yes or no" },
		{ "uid.base 0", "site.conf:1: key 'uid.base': '0' is not an id from 0x10000 to 0xfffe0000" },
		{ "uid.base 0x1000000000", "site.conf:1: key 'uid.base': '0x1000000000' is not an id from 0x10000 to 0xfffe0000" },
		{ "uid.base 0x", "site.conf:1: key 'uid.base': '0x' is not an id from 0x10000 to 0xfffe0000" },
		{ "uid.base 100000", "site.conf: key 'uid.base': '0x186a0' is no multiple of 65536: take 0x20000" },
		{ "uid.base 0xfff00000", "site.conf: key 'uid.ranges': '1024' ranges from 0xfff00000 do not fit below 0xffff0000: at most 15 do" },
		{ "uid.ranges 0", "site.conf:1: key 'uid.ranges': '0' is not a number from 1 to 65534" },
		{ "source host folder /x", "site.conf:1: key 'source': 'host' is no name for a source: take 1 to 31 letters, digits, '-', '_' and '.', and not 'host'" },
		{ "source ../x folder /x", "site.conf:1: key 'source': '../x' is no name for a source: take 1 to 31 letters, digits, '-', '_' and '.', and not 'host'" },
		{ "source a image /x", "site.conf:1: key 'source': 'image' is no kind of source: folder, squashfs and erofs are" },
		{ "source a folder x", "site.conf:1: key 'source': 'x' is no plain absolute path of at most 255 bytes: write 'source NAME KIND /PATH'" },
		{ "source a folder /x/../y", "site.conf:1: key 'source': '/x/../y' is no plain absolute path of at most 255 bytes: write 'source NAME KIND /PATH'" },
		{ "source a folder /x y", "site.conf:1: key 'source': '/x' is no plain absolute path of at most 255 bytes: write 'source NAME KIND /PATH'" },
		{ "source a folder /x\nsource a folder /y", "site.conf:2: key 'source': 'a' names a source above already: take another name" },
		{ "device a /etc/shadow", "site.conf:1: key 'device': '/etc/shadow' is no plain path below /dev of at most 63 bytes: write 'device NAME /dev/PATH'" },
		{ "device a /dev/../etc/shadow", "site.conf:1: key 'device': '/dev/../etc/shadow' is no plain path below /dev of at most 63 bytes: write 'device NAME /dev/PATH'" },
		{ "device a /dev/x\ndevice a /dev/y", "site.conf:2: key 'device': 'a' names a device above already: take another name" },
		{ "device a /dev/kfd", "site.conf:1: key 'device': '/dev/kfd' comes with a GPU alone, of which a jail has a lease: write 'gpu NAME 0', see proctor-site.conf(5)" },
		{ "device a", "site.conf:1: key 'device': '' is no plain path below /dev of at most 63 bytes: write 'device NAME /dev/PATH'" },
		{ "group x\r\n", "site.conf:1: byte 8 of the line is 0x0d: only printable ASCII is possible" },
		{ "\n\ngro\xc3\xbcp x", "site.conf:3: byte 4 of the line is 0xc3: only printable ASCII is possible" },
	};
	/* clang-format on */

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		check_refused(rows[i].text, rows[i].want);
}

TEST(a_line_and_a_list_have_their_limits)
{
	cleanup(str_done) struct str text = STR_INIT;

	for (int i = 0; i < 300; i++)
		str_addf(&text, "x");
	check_refused(text.text, "site.conf:1: the line has 300 bytes: 299 are possible");
	str_clear(&text);
	for (int i = 0; i <= SITE_DEVICES_MAX; i++)
		str_addf(&text, "device d%d /dev/null\n", i);
	check_refused(text.text, "site.conf:65: key 'device': 'd64' is a device too many: 64 are "
				 "possible");
	str_clear(&text);
	for (int i = 0; i <= SITE_SOURCES_MAX; i++)
		str_addf(&text, "source s%d folder /x\n", i);
	check_refused(text.text, "site.conf:33: key 'source': 's32' is a source too many: 32 are "
				 "possible");
}

TEST(a_zero_byte_is_no_end)
{
	static const char text[] = "group x\0\njail.pids oops";

	CHECK_INT(site_parse("site.conf", text, sizeof(text) - 1, &site, &err), -1);
	CHECK_STR(err.text,
		  "site.conf:1: byte 8 of the line is 0x00: only printable ASCII is possible");
}

TEST(mistakes_about_gpus_and_folders_are_told_with_a_way_out)
{
	cleanup(str_done) struct str text = STR_INIT;

	check_refused("gpu any 0",
		      "site.conf:1: key 'gpu': 'any' is no name for a GPU: take 1 to 31 "
		      "letters, digits, '-', '_' and '.', and not 'any'");
	check_refused("gpu a /dev/nvidia0",
		      "site.conf:1: key 'gpu': '/dev/nvidia0' is no GPU of a host: write 'gpu NAME "
		      "0', or its address on the PCI bus as in 0000:c1:00.0, or its node as in "
		      "renderD128 or nvidia0");
	check_refused("gpu a",
		      "site.conf:1: key 'gpu': '' is no GPU of a host: write 'gpu NAME 0', "
		      "or its address on the PCI bus as in 0000:c1:00.0, or its node as in "
		      "renderD128 or nvidia0");
	check_refused("gpu a 0\ngpu a 1",
		      "site.conf:2: key 'gpu': 'a' names a GPU above already: take another name");
	for (int i = 0; i <= SITE_GPUS_MAX; i++)
		str_addf(&text, "gpu g%d %d\n", i, i);
	check_refused(text.text,
		      "site.conf:65: key 'gpu': 'g64' is a GPU too many: 64 are possible");
	check_refused("root.folder opt",
		      "site.conf:1: key 'root.folder': 'opt' is no plain absolute "
		      "path of at most 191 bytes");
	check_refused("root.folder /", "site.conf:1: key 'root.folder': '/' is no plain absolute "
				       "path of at most 191 bytes");
	check_refused("root.folder /opt/../etc",
		      "site.conf:1: key 'root.folder': '/opt/../etc' is no plain absolute path of "
		      "at most 191 bytes");
	check_refused(
		"root.folder /etc/ssl",
		"site.conf:1: key 'root.folder': '/etc/ssl' is or lies in a folder that jails "
		"have of their own, or must not see: put what they need below /opt or /srv");
	check_refused("root.folder /run",
		      "site.conf:1: key 'root.folder': '/run' is or lies in a folder that jails "
		      "have of their own, or must not see: put what they need below /opt or /srv");
	check_refused("root.folder /opt\nroot.folder /opt",
		      "site.conf:2: key 'root.folder': '/opt' stands above already: remove one");
	CHECK_OK(parse("root.folder /etcetera\nroot.folder /runs/a"));
}
