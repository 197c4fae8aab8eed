/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/evidence/tree.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/mem.h"
#include "tests/lib/check.h"
#include "tests/lib/tree.h"

#define EDITABLE(...)                                     \
	.editable = (const char *const[]){ __VA_ARGS__ }, \
	.editable_count = ARRAY_LEN(((const char *const[]){ __VA_ARGS__ }))

struct example {
	const char *pristine, *frozen;
	const char *const *editable;
	size_t editable_count;
	const char *candidate;
	const char *changes; /* a line a change: "+" has an effect, "-" has none */
};

static int merge(const struct example *example, struct tree_report *report, struct err *err)
{
	auto_fd pristine = tree_fd(example->pristine);
	auto_fd frozen = tree_fd(example->frozen);
	auto_fd out = tree_empty_fd();
	const struct tree_edit edit = {
		.pristine_fd = pristine,
		.frozen_fd = frozen,
		.editable = example->editable,
		.editable_count = example->editable_count,
		.limits = STREAM_LIMITS_DEFAULT,
	};

	return tree_merge(&edit, out, report, err) < 0 ? -1 : fd_take(&out);
}

static void check_example(const struct example *example)
{
	cleanup(tree_report_done) struct tree_report report = TREE_REPORT_INIT;
	cleanup(str_done) struct str changes = STR_INIT;
	struct err err = ERR_INIT;
	auto_fd out = merge(example, &report, &err);

	CHECK_OK(out);
	CHECK_TREE(out, example->candidate);
	for (size_t i = 0; i < report.count; i++) {
		const struct tree_change *change = &report.changes[i];

		str_addf(&changes, "\n%c %s %s", change->has_effect ? '+' : '-',
			 names_text(tree_change_names, (int) change->kind), change->path);
		if (change->kind == TREE_REFUSED)
			str_addf(&changes, " %s",
				 names_text(stream_reason_names, (int) change->reason));
	}
	CHECK_STR(changes.text, example->changes);
}

static void check_merge_fails(const struct example *example, const char *want)
{
	struct tree_report report = TREE_REPORT_INIT;
	struct err err = ERR_INIT;

	CHECK_INT(merge(example, &report, &err), -1);
	CHECK_STR(err.text, want);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK(!report.changes);
}

TEST(a_candidate_has_the_editable_files_of_the_agent_and_no_other)
{
	check_example(&(struct example){
		.pristine = "\nf kernel.c=old\nd lib\nf lib/helper.c=lib\nf test.py=check",
		.frozen = "\nf kernel.c=new\nd lib\nf lib/helper.c=LIB\nf test.py=pass",
		EDITABLE("kernel.c"),
		.candidate = "\nf kernel.c=new\nd lib\nf lib/helper.c=lib\nf test.py=check",
		.changes = "\n+ changed kernel.c\n- changed lib/helper.c\n- changed test.py",
	});
}

TEST(an_untouched_tree_is_its_own_candidate)
{
	check_example(&(struct example){
		.pristine = "\nd a\nf a/b=1\nx c=2",
		.frozen = "\nd a\nf a/b=1\nx c=2",
		EDITABLE("a/", "c"),
		.candidate = "\nd a\nf a/b=1\nx c=2",
		.changes = "",
	});
}

TEST(without_editable_files_the_candidate_is_the_pristine_tree)
{
	check_example(&(struct example){
		.pristine = "\nd a\nf a/b=1\nf c=2",
		.frozen = "\nd a\nf a/b=!\nd new\nf new/x=3",
		.candidate = "\nd a\nf a/b=1\nf c=2",
		.changes = "\n- changed a/b\n- deleted c\n- added new\n- added new/x",
	});
}

TEST(an_editable_folder_is_as_the_agent_left_it)
{
	check_example(&(struct example){
		.pristine = "\nd src\nf src/a.c=1\nd src/gone\nf src/gone/x=1\nf src/z.c=1\nf z=1",
		.frozen = "\nd src\nf src/a.c=2\nd src/new\nf src/new/y=3\nf z=2",
		EDITABLE("src/"),
		.candidate = "\nd src\nf src/a.c=2\nd src/new\nf src/new/y=3\nf z=1",
		.changes = "\n+ changed src/a.c\n+ deleted src/gone\n+ deleted src/gone/x"
			   "\n+ added src/new\n+ added src/new/y\n+ deleted src/z.c\n- changed z",
	});
}

TEST(a_prefix_is_a_folder_and_not_the_beginning_of_a_name)
{
	check_example(&(struct example){
		.pristine = "\nd src\nf src.c=1\nd src2\nf src2/a=1",
		.frozen = "\nd src\nf src.c=2\nd src2\nf src2/a=2",
		EDITABLE("src/"),
		.candidate = "\nd src\nf src.c=1\nd src2\nf src2/a=1",
		.changes = "\n- changed src.c\n- changed src2/a",
	});
}

TEST(an_editable_file_may_be_made_in_a_folder_that_was_not_there)
{
	check_example(&(struct example){
		.pristine = "\nf a=1",
		.frozen = "\nf a=1\nd out\nd out/deep\nf out/deep/kernel.c=2\nf out/junk=3",
		EDITABLE("out/deep/kernel.c"),
		.candidate = "\nf a=1\nd out\nd out/deep\nf out/deep/kernel.c=2",
		.changes = "\n+ added out\n+ added out/deep\n+ added out/deep/kernel.c"
			   "\n- added out/junk",
	});
}

TEST(an_editable_file_that_was_deleted_is_missing)
{
	check_example(&(struct example){
		.pristine = "\nf a=1\nf b=2",
		.frozen = "",
		EDITABLE("a"),
		.candidate = "\nf b=2",
		.changes = "\n+ deleted a\n- deleted b",
	});
}

TEST(refused_entries_never_reach_a_candidate)
{
	check_example(&(struct example){
		.pristine = "\nf a=1\nf b=2\nd src\nd src/d\nf src/d/x=1",
		.frozen = "\nr a symlink 0\nr b fifo 0\nr c device 0\nd src\nr src/d mount 0"
			  "\nr src/e socket 0",
		EDITABLE("a", "src/"),
		.candidate = "\nf b=2\nd src",
		.changes = "\n+ refused a symlink\n- refused b fifo\n- refused c device"
			   "\n+ refused src/d mount\n+ deleted src/d/x\n+ refused src/e socket",
	});
}

TEST(a_folder_does_not_stand_in_for_an_editable_file)
{
	check_example(&(struct example){
		.pristine = "\nf kernel.c=1",
		.frozen = "\nd kernel.c\nf kernel.c/x=2",
		EDITABLE("kernel.c"),
		.candidate = "",
		.changes = "\n+ changed kernel.c\n- added kernel.c/x",
	});
	check_example(&(struct example){
		.pristine = "",
		.frozen = "\nd kernel.c",
		EDITABLE("kernel.c"),
		.candidate = "",
		.changes = "\n- added kernel.c",
	});
}

TEST(a_file_and_a_folder_change_places_in_an_editable_folder)
{
	check_example(&(struct example){
		.pristine = "\nd s\nd s/a\nf s/a/x=1\nf s/b=1",
		.frozen = "\nd s\nf s/a=2\nd s/b\nf s/b/y=2",
		EDITABLE("s/"),
		.candidate = "\nd s\nf s/a=2\nd s/b\nf s/b/y=2",
		.changes = "\n+ changed s/a\n+ deleted s/a/x\n+ changed s/b\n+ added s/b/y",
	});
}

TEST(a_pristine_entry_is_not_moved_aside_for_an_editable_path)
{
	check_example(&(struct example){
		.pristine = "\nf out=1",
		.frozen = "\nd out\nf out/kernel.c=2",
		EDITABLE("out/kernel.c"),
		.candidate = "\nf out=1",
		.changes = "\n- changed out\n- added out/kernel.c",
	});
	check_example(&(struct example){
		.pristine = "\nd src\nf src/a=1\nf src/b=1",
		.frozen = "\nf src=2",
		EDITABLE("src/a"),
		.candidate = "\nd src\nf src/b=1",
		.changes = "\n- changed src\n+ deleted src/a\n- deleted src/b",
	});
}

TEST(the_executable_bit_is_a_part_of_a_file)
{
	check_example(&(struct example){
		.pristine = "\nf a=1\nx b=1",
		.frozen = "\nx a=1\nf b=1",
		EDITABLE("a"),
		.candidate = "\nx a=1\nx b=1",
		.changes = "\n+ changed a\n- changed b",
	});
}

TEST(contents_of_the_same_size_are_compared_to_their_last_byte)
{
	static const size_t size = 100000; /* more than one block, and tree_fd() can hold it */
	cleanup(mem_free) char *text = mem_alloc(1, size + 1);
	cleanup(mem_free) char *other = mem_alloc(1, size + 1);

	memset(text, 'x', size);
	memcpy(text, "\nf a=", 5);
	memcpy(other, text, size);
	other[size - 1] = 'y';
	check_example(&(struct example){
		.pristine = text,
		.frozen = other,
		.candidate = text,
		.changes = "\n- changed a",
	});
	check_example(&(struct example){
		.pristine = text,
		.frozen = other,
		EDITABLE("a"),
		.candidate = other,
		.changes = "\n+ changed a",
	});
	check_example(&(struct example){
		.pristine = text,
		.frozen = text,
		EDITABLE("a"),
		.candidate = text,
		.changes = "",
	});
}

TEST(an_editable_path_has_to_fit_the_task)
{
	check_merge_fails(&(struct example){ .pristine = "\nd src", .frozen = "", EDITABLE("src") },
			  "editable: 'src' is a folder in the task: write 'src/'");
	check_merge_fails(
		&(struct example){ .pristine = "\nf a=1", .frozen = "", EDITABLE("x", "a/") },
		"editable: 'a/' is a file in the task: write 'a'");
}

TEST(an_editable_path_that_leads_elsewhere_is_an_error)
{
	static const char *const paths[] = {
		"/etc/passwd", "../a", "a/../b", "", "/", "a//", "./"
	};

	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		char want[128];

		snprintf(want, sizeof(want), "editable: '%s' is not a path below the workspace",
			 paths[i]);
		check_merge_fails(
			&(struct example){ .pristine = "", .frozen = "", EDITABLE(paths[i]) },
			want);
	}
}

TEST(a_pristine_tree_that_lacks_something_is_an_error)
{
	check_merge_fails(&(struct example){ .pristine = "\nr a symlink 0", .frozen = "" },
			  "the task's tree lacks 'a' (symlink)");
}

TEST(an_error_says_which_tree_is_broken)
{
	auto_fd good = tree_fd("\nf a=1");
	auto_fd bad = tree_fd("\nf a=12345");
	auto_fd out = tree_empty_fd();
	struct tree_edit edit = { .pristine_fd = good, .frozen_fd = bad };
	struct tree_report report;
	struct err err = ERR_INIT;

	edit.limits = STREAM_LIMITS_DEFAULT;
	edit.limits.file = 3;
	CHECK_INT(tree_merge(&edit, out, &report, &err), -1);
	CHECK_STR(err.text, "the frozen tree: tree stream: 'a': a file over the limit");
	edit.pristine_fd = bad;
	lseek(bad, 0, SEEK_SET);
	CHECK_INT(tree_merge(&edit, out, &report, &err), -1);
	CHECK_STR(err.text, "the task's tree: tree stream: 'a': a file over the limit");
}

TEST(a_report_counts_all_changes_and_lists_the_first)
{
	cleanup(mem_free) struct raw *raw = mem_alloc(1, sizeof(*raw));
	cleanup(tree_report_done) struct tree_report report = TREE_REPORT_INIT;
	struct err err = ERR_INIT;

	raw_begin(raw);
	for (int i = 0; i < 5000; i++) {
		char path[8];

		snprintf(path, sizeof(path), "%04d", i);
		raw_file(raw, path, "");
	}
	raw_end(raw);
	{
		auto_fd pristine = tree_fd("\nf a=\nf z=");
		auto_fd frozen = raw_fd(raw);
		auto_fd out = tree_empty_fd();
		const char *const editable[] = { "0007" };
		const struct tree_edit edit = {
			.pristine_fd = pristine,
			.frozen_fd = frozen,
			.editable = editable,
			.editable_count = 1,
			.limits = STREAM_LIMITS_DEFAULT,
		};

		CHECK_OK(tree_merge(&edit, out, &report, &err));
		CHECK_TREE(out, "\nf 0007=\nf a=\nf z=");
	}
	CHECK_INT(report.count, 5002);
	CHECK_INT(report.ignored[TREE_ADDED], 4999);
	CHECK_INT(report.ignored[TREE_DELETED], 2);
	CHECK_INT(report.effective[TREE_ADDED], 1);
	CHECK_INT(report.counts.files, 3);
}

TEST(a_trusted_folder_is_packed)
{
	int dir = check_folder();
	auto_fd out = tree_empty_fd();
	struct stream_counts counts;
	struct err err = ERR_INIT;

	CHECK_INT(mkdirat(dir, "src", 0755), 0);
	CHECK_OK(io_replace_file(dir, "run.sh", "#!", 2, 0755, &err));
	CHECK_OK(tree_pack(dir, &STREAM_LIMITS_DEFAULT, out, &counts, &err));
	CHECK_TREE(out, "\nx run.sh=#!\nd src");
	CHECK_INT(counts.files, 1);
}

TEST(a_trusted_folder_with_a_link_is_an_error_that_names_it)
{
	int dir = check_folder();
	auto_fd out = tree_empty_fd();
	struct stream_counts counts;
	struct err err = ERR_INIT;

	CHECK_INT(symlinkat("/etc/passwd", dir, "data"), 0);
	CHECK_INT(tree_pack(dir, &STREAM_LIMITS_DEFAULT, out, &counts, &err), -1);
	CHECK_STR(err.text, "'data' can not be part of a tree (symlink)");
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK_INT(mkfifoat(dir, "pipe", 0600), 0);
	CHECK_INT(tree_pack(dir, &STREAM_LIMITS_DEFAULT, out, &counts, &err), -1);
	CHECK_STR(err.text, "'data' can not be part of a tree (symlink), and 1 more entries");
}

TEST(streams_of_our_own_may_have_any_size)
{
	const struct stream_limits limits = tree_own_limits();
	struct err err = ERR_INIT;

	CHECK_OK(stream_limits_check(&limits, &err));
	CHECK(limits.total == STREAM_BYTES_MAX && limits.entries == STREAM_ENTRIES_MAX);
}
