/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/doctor/looks.h"

#include <stdio.h>
#include <string.h>

#include "sandbox/ids.h"
#include "tests/lib/check.h"
#include "tests/lib/hosts.h"

TEST(the_site_is_told_or_why_it_can_not_be_used)
{
	struct doctor_host host = hosts_good();

	CHECK_LOOK(look_site, &host, DOCTOR_OK, "none: jails are root's alone to ask for");
	host.has_site = true;
	CHECK_LOOK(look_site, &host, DOCTOR_OK, "for the group 'proctor'; images: 0, GPUs: 0, ");
	host.site_why = "site.conf:3: key 'x' does not exist";
	CHECK_LOOK(look_site, &host, DOCTOR_MISSING, "site.conf:3: key 'x' does not exist");
}

TEST(what_the_site_names_and_is_not_there_is_named)
{
	struct doctor_host host = hosts_good();
	struct site *site = &host.site;

	host.has_site = true;
	site->source_count = site->device_count = site->folder_count = 1;
	snprintf(site->sources[0].name, sizeof(site->sources[0].name), "base");
	snprintf(site->sources[0].path, sizeof(site->sources[0].path), "/dev/null/none");
	snprintf(site->devices[0].name, sizeof(site->devices[0].name), "fan");
	snprintf(site->devices[0].path, sizeof(site->devices[0].path), "/dev");
	snprintf(site->folders[0], sizeof(site->folders[0]), "/none");
	site->sources[0].kind = SITE_EROFS;
	CHECK_LOOK(look_site, &host, DOCTOR_DEGRADED,
		   "; source base: '/dev/null/none' is not there; device fan: '/dev' is no such "
		   "thing; root.folder: '/none' is not there");
	snprintf(site->sources[0].path, sizeof(site->sources[0].path), "/");
	site->sources[0].kind = SITE_FOLDER;
	snprintf(site->devices[0].path, sizeof(site->devices[0].path), "/dev/null");
	snprintf(site->folders[0], sizeof(site->folders[0]), "/");
	CHECK_LOOK(look_site, &host, DOCTOR_OK, "images: 1, GPUs: 0, devices: 1");
}

TEST(the_range_is_the_sites)
{
	struct doctor_host host = hosts_good();

	host.site.uid_base = 10 * (uint64_t) IDS_RANGE;
	host.site.uid_ranges = 2;
	CHECK_LOOK(look_ranges, &host, DOCTOR_OK, "655360 to 786431");
	hosts_put("etc/passwd", "mallory:x:786431:100::/:\n");
	CHECK_LOOK(look_ranges, &host, DOCTOR_DEGRADED, "/etc/passwd gives 786431 to 'mallory'");
	hosts_put("etc/passwd", "mallory:x:786432:100::/:\n");
	CHECK_LOOK(look_ranges, &host, DOCTOR_OK, "655360 to 786431");
}

TEST(an_account_that_can_not_be_is_told_in_its_own_words)
{
	struct doctor_host host = hosts_good();

	CHECK_LOOK(look_account, &host, DOCTOR_OK, "'proctor'");
	host.account = NULL;
	host.account_why = "there is no account 'proctor'";
	CHECK_LOOK(look_account, &host, DOCTOR_MISSING, "there is no account 'proctor'");
}

TEST(ids_of_jails_that_an_account_has_are_told)
{
	static const struct {
		const char *file, *text, *want;
	} rows[] = {
		{ "etc/passwd", "root:x:0:0::/:\nmallory:x:1879048192:100::/:\n",
		  "/etc/passwd gives 1879048192 to 'mallory'" },
		{ "etc/group", "crowd:x:1946157055:\n", "/etc/group gives 1946157055 to 'crowd'" },
		{ "etc/subuid", "wide:100000:4000000000\n", "/etc/subuid gives 100000 to 'wide'" },
		{ "etc/subgid", "edge:1879048191:2\n", "/etc/subgid gives 1879048191 to 'edge'" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct doctor_host host = hosts_good();

		CHECK_LOOK(look_ranges, &host, DOCTOR_OK, "1879048192 to 1946157055");
		hosts_put(rows[i].file, rows[i].text);
		CHECK_LOOK(look_ranges, &host, DOCTOR_DEGRADED, rows[i].want);
	}
}

TEST(neighbours_of_the_range_and_nonsense_are_nobodys_ids)
{
	struct doctor_host host = hosts_good();

	hosts_put("etc/passwd", "a:x:1879048191:0:\nb:x:1946157056:0:\nnonsense\nc:\n:::\n");
	hosts_put("etc/subuid", "a:1879048191:1\nb:1946157056:65536\nc:1879048192:0\nd:x:y\n");
	hosts_put("etc/group", NULL);
	CHECK_LOOK(look_ranges, &host, DOCTOR_OK, "1879048192 to 1946157055");
}

TEST(only_the_first_of_many_are_listed)
{
	struct doctor_host host = hosts_good();

	hosts_put("etc/passwd", "a:x:1879048193:0:\nb:x:1879048194:0:\nc:x:1879048195:0:\n"
				"d:x:1879048196:0:\ne:x:1879048197:0:\n");
	CHECK_LOOK(look_ranges, &host, DOCTOR_DEGRADED, "'c'; /etc/passwd has 2 more");
}

TEST(a_range_that_is_not_mapped_here_can_not_be_used)
{
	struct doctor_host host = hosts_good();

	hosts_put("proc/self/uid_map", "0 0 1\n");
	CHECK_LOOK(look_ranges, &host, DOCTOR_MISSING, "uid_map does not map 1879048192");
	hosts_put("proc/self/uid_map", "0 100000 1879048193\n1879048193 3000000000 67108863\n");
	CHECK_LOOK(look_ranges, &host, DOCTOR_OK, "");
	hosts_put("proc/self/uid_map", "1879048193 3000000000 67108863\n0 100000 1879048193\n");
	CHECK_LOOK(look_ranges, &host, DOCTOR_OK, "");
	hosts_put("proc/self/uid_map", "0 100000 1879048193\n1879048193 3000000000 67108862\n");
	CHECK_LOOK(look_ranges, &host, DOCTOR_MISSING, "uid_map does not map 1946157055");
	hosts_put("proc/self/uid_map", "0 0 4294967295\n");
	hosts_put("proc/self/gid_map", "");
	CHECK_LOOK(look_ranges, &host, DOCTOR_MISSING, "gid_map does not map 1879048192");
	hosts_put("proc/self/gid_map", NULL);
	CHECK_LOOK(look_ranges, &host, DOCTOR_UNKNOWN, "gid_map can not be read");
}
