/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "sandbox/site.h"
#include "tests/lib/check.h"

static struct site site;
static struct err err;
static struct jail_spec spec;

static int parse(const char *text)
{
	err = (struct err) ERR_INIT;
	return site_parse("site.conf", text, strlen(text), &site, &err);
}

static void check_bound(const char *conf, const char *want)
{
	CHECK_OK(parse(conf));
	CHECK_INT(site_bound(&site, &spec, &err), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK_STR(err.text, want);
}

TEST(a_jail_gets_no_more_than_the_site_permits_and_learns_which_key_it_is)
{
	spec_init(&spec, "test");
	CHECK_OK(parse("jail.memory 1GiB\njail.pids 256\njail.wall 60s\njail.bytes 448MiB\n"
		       "jail.inodes 86016\njail.output 1B"));
	CHECK_OK(site_bound(&site, &spec, &err));
	CHECK_INT(spec.cgroup.cpu_milli, 0);
	check_bound("jail.memory 1023MiB",
		    "jail 'test': 1GiB of memory are more than the 1023MiB that "
		    "this host allows a jail: ask for less, or have its administrator raise "
		    "'jail.memory' in site.conf");
	check_bound("jail.pids 255", "jail 'test': 256 processes are more than the 255 that this "
				     "host allows a jail: ask for less, or have its administrator "
				     "raise 'jail.pids' in site.conf");
	check_bound("jail.wall 59s", "jail 'test': 1m of time are more than the 59s that "
				     "this host allows a jail: ask for less, or have its "
				     "administrator raise 'jail.wall' in site.conf");
	check_bound("jail.bytes 447MiB",
		    "jail 'test': 448MiB in its file systems are more than the 447MiB "
		    "that this host allows a jail: ask for less, or have its administrator raise "
		    "'jail.bytes' in site.conf");
	check_bound("jail.inodes 86015",
		    "jail 'test': 86016 files in its file systems are more than the 86015 that "
		    "this host allows a jail: ask for less, or have its administrator raise "
		    "'jail.inodes' in site.conf");
	spec.collect.wanted = 1;
	spec.collect.limits.total = 2;
	check_bound("jail.output 1B",
		    "jail 'test': 2B to collect are more than the 1B that this host allows a "
		    "jail: ask for less, or have its administrator raise 'jail.output' in "
		    "site.conf");
	check_bound("root.host no", "jail 'test': this host does not give jails its own /usr as "
				    "their root: its administrator can, by 'root.host yes' in "
				    "site.conf");
}

TEST(the_calls_of_a_profiler_are_for_where_somebody_wanted_them)
{
	spec_init(&spec, "test");
	spec.extra_calls = SECCOMP_BIT(SECCOMP_EXTRA_PROFILER);
	site_default(&site);
	CHECK_OK(site_bound(&site, &spec, &err));
	CHECK_OK(parse("calls.profiler yes"));
	CHECK_OK(site_bound(&site, &spec, &err));
	check_bound("jail.memory 1GiB",
		    "jail 'test': this host does not give jails the system calls of a profiler: "
		    "do without 'profiler' in the policy; its administrator can, by "
		    "'calls.profiler yes' in site.conf");
}

TEST(who_asks_for_no_limit_of_cpu_time_gets_the_sites)
{
	spec_init(&spec, "test");
	CHECK_OK(parse("jail.cpus 2"));
	CHECK_OK(site_bound(&site, &spec, &err));
	CHECK_INT(spec.cgroup.cpu_milli, 2000);
	spec.cgroup.cpu_milli = 2001;
	check_bound("jail.cpus 2", "jail 'test': 2.001 CPUs are more than the 2 "
				   "that this host allows a jail: ask for less, or have its "
				   "administrator raise 'jail.cpus' in site.conf");
}

TEST(an_image_is_one_that_is_listed_and_only_images_are_changed)
{
	spec_init(&spec, "test");
	spec.plan.root = PLAN_ROOT_IMAGE;
	snprintf(spec.plan.image, sizeof(spec.plan.image), "rocm");
	CHECK_OK(parse("root.host no\nsource rocm folder /srv/rocm"));
	CHECK_OK(site_bound(&site, &spec, &err));
	CHECK(site_source(&site, "rocm") && !site_source(&site, "roc"));
	check_bound("source other squashfs /srv/rocm",
		    "jail 'test': there is no image 'rocm' for jails on this host: its "
		    "administrator can list it in site.conf ('source rocm squashfs /PATH')");
	spec_add_tmpfs(&spec, "/", MIB, 100);
	CHECK_OK(parse("source rocm erofs /srv/rocm"));
	CHECK_OK(site_bound(&site, &spec, &err));
	check_bound("source rocm folder /srv/rocm",
		    "jail 'test': image 'rocm' is a folder of this host, which no jail changes: "
		    "make a squashfs or erofs image of it, or do without a root that can be "
		    "changed");
}

TEST(nobody_does_without_a_limit_that_the_site_has_set)
{
	static const struct {
		const char *text;
		uint32_t left;
	} rows[] = {
		{ "", 0xf },
		{ "jail.memory 1GiB", 0xc },
		{ "client.memory 4GiB", 0xc },
		{ "jail.pids 256", 0xb },
		{ "client.pids 512", 0xb },
		{ "jail.cpus 4", 0x7 },
		{ "jail.memory 1GiB\njail.pids 256\njail.cpus 4", 0 },
	};

	_Static_assert(CGROUP_BIT(CGROUP_LIMITS) == 0x10, "the table knows them all");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		spec_init(&spec, "test");
		spec.cgroup.accept = 0xf;
		CHECK_OK(parse(rows[i].text));
		CHECK_OK(site_bound(&site, &spec, &err));
		CHECK_INT(spec.cgroup.accept, rows[i].left);
	}
}

TEST(a_device_that_is_not_listed_is_refused_by_name)
{
	spec_init(&spec, "test");
	spec.device_count = 1;
	snprintf(spec.devices[0].name, sizeof(spec.devices[0].name), "gpu0");
	CHECK_OK(parse("device gpu0 /dev/full"));
	CHECK_OK(site_bound(&site, &spec, &err));
	check_bound("device gpu1 /dev/full",
		    "jail 'test': there is no device 'gpu0' for jails on this host: its "
		    "administrator can list it in site.conf ('device gpu0 /dev/…')");
}

TEST(a_gpu_that_is_not_listed_is_refused_by_name)
{
	spec_init(&spec, "test");
	CHECK_OK(spec_add_gpu(&spec, "left", &err));
	CHECK_OK(parse("gpu left 0"));
	CHECK_OK(site_bound(&site, &spec, &err));
	check_bound("gpu right 0",
		    "jail 'test': there is no GPU 'left' for jails on this host: its administrator "
		    "can list it in site.conf ('gpu left …')");
	/* Nobody gets one by its number who may get some by their names. */
	spec.gpu_count = 0;
	CHECK_OK(spec_add_gpu(&spec, "0", &err));
	check_bound("gpu left 0",
		    "jail 'test': there is no GPU '0' for jails on this host: its administrator "
		    "can list it in site.conf ('gpu 0 …')");
	check_bound("", "jail 'test': there are no GPUs for jails on this host: its administrator "
			"can list them in site.conf ('gpu gpu0 0')");
	site_default(&site);
	CHECK_OK(site_bound(&site, &spec, &err));
}
