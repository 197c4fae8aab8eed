/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/report/build_facts.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/landlock.h"
#include "tests/lib/check.h"

TEST(the_first_line_is_name_and_version)
{
	cleanup(str_done) struct str out = STR_INIT;

	build_facts_print("abc", "def", &out);
	CHECK(strncmp(out.text, "proctor ", 8) == 0);
	CHECK_INT(strcspn(out.text, "\n"), strlen("proctor 0.1.0"));
	CHECK(strstr(out.text, "\nformats    task 1, policy 1, proctor/run/1, proctor/set/1, "
			       "proctor/planned/1, proctor/journal/1, proctor/record/1, "
			       "proctor/samples/1, proctor/report/1\n"));
	CHECK(strstr(out.text, "\nprogram    abc\npolicy     def\n"));
	CHECK(!strstr(out.text, "unknown") && !strstr(out.text, "undefined"));
	str_clear(&out);
	build_facts_print(NULL, "def", &out);
	CHECK(strstr(out.text, "\nprogram    can not be read\n"));
}

TEST(the_same_as_json)
{
	cleanup(str_done) struct str out = STR_INIT;
	cleanup(json_done) struct json json = JSON_INIT;
	struct json_writer writer;
	struct err err = ERR_INIT;
	int64_t number;
	const char *text;

	json_writer_init(&writer, &out);
	build_facts_put("abc", "def", &writer);
	CHECK_OK(json_parse(&json, out.text, out.len, out.len, &err));
	CHECK_OK(json_get_int(json_root(&json), "landlock_abi", 1, 100, &number, &err));
	CHECK_INT(number, LANDLOCK_KNOWN);
	CHECK_OK(json_get_text(json_root(&json), "program_sha256", 64, &text, &err));
	CHECK_STR(text, "abc");
	CHECK_INT(json_count(json_member(json_root(&json), "libraries")), 7);
	CHECK_OK(json_get_text(json_root(&json), "samples_schema", 64, &text, &err));
	CHECK_STR(text, "proctor/samples/1");
}

TEST(a_program_is_hashed_as_sha256sum_has_it)
{
	auto_fd fd = memfd_create("program", MFD_CLOEXEC);
	char hash[DIGEST_HEX] = "";

	CHECK(write(fd, "abc", 3) == 3 && lseek(fd, 0, SEEK_SET) == 0);
	CHECK(build_facts_hash(fd, hash));
	CHECK_STR(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	CHECK(!build_facts_hash(-1, hash));
}
