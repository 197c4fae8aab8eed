/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/task.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "sandbox/base/path.h"
#include "tests/lib/check.h"

#define HEAD   "schema: 1\nname: scale\nkind: c2c\nsummary: twice as much\neditable: [scale.c]\n"
#define BUILD  "build: { argv: [cc, -shared, scale.c, -o, '{out}/scale.so'], out: [scale.so] }\n"
#define ENTRY  "entry: { symbol: scale, args: [x, y, n] }\n"
#define ORACLE "oracle: { build: { argv: [cc, o.c, -o, '{out}/o.so'], out: [o.so] }, symbol: o }\n"
#define ARGS                                                      \
	"args:\n"                                                 \
	"  x: { in: f32, shape: [n], values: 'uniform(0, 1)' }\n" \
	"  y: { out: f32, shape: [n], compare: 'close(rel=1e-6, abs=0)' }\n"
#define CASES "seen: [{n: 1000}]\nhidden: { odd: { cases: 1, n: 'prime(3, 61)' } }\n"
#define GOOD  HEAD BUILD ENTRY ORACLE ARGS CASES

static int parse(const char *text, struct task *task, struct err *err)
{
	return task_parse("task.yaml", text, strlen(text), task, err);
}

TEST(a_small_task_is_read_and_the_rest_is_as_the_defaults_say)
{
	cleanup(task_done) struct task task = TASK_INIT;
	struct err err = ERR_INIT;

	CHECK_OK(parse(GOOD, &task, &err));
	CHECK_STR(task.name, "scale");
	CHECK_INT(task.kind, TASK_C2C);
	CHECK_STR(task.summary, "twice as much");
	CHECK_STR(task.editable.items[0], "scale.c");
	CHECK_INT(task.build.wall_ms, 60000);
	CHECK_STR(task.build.out.items[0], "scale.so");
	CHECK_INT(task.baseline.argv.count, task.build.argv.count);
	CHECK_STR(task.entry.symbol, "scale");
	CHECK_STR(task.oracle.symbol, "o");
	CHECK_INT(task.check.count, 1);
	CHECK_STR(task.check.items[0], "proctor-check");
	CHECK_INT(task.cases.arg_count, 3);
	CHECK_INT(task.mark.call_wall_ms, 2000);
	CHECK_INT(task.mark.wall_ms, 60000);
	CHECK_INT(task.mark.cache, TASK_CACHE_COLD);
	CHECK_INT(task.limits.wall_ms, 0);
}

TEST(every_optional_key_is_read)
{
	cleanup(task_done) struct task task = TASK_INIT;
	struct err err = ERR_INIT;

	CHECK_OK(parse(GOOD
		       "baseline: { build: { argv: [cc, '{out}'], out: [b.so], wall: 7s } }\n"
		       "check: { argv: [proctor-check, --seen] }\n"
		       "dims: { twice: 2*n }\nwhere: ['twice <= 4000']\n"
		       "mark: { call_wall: 500ms, wall: 2m, cache: cold }\n"
		       "limits: { wall: 1h, memory: 1GiB, pids: 99, workspace: 2MiB, inodes: 100, "
		       "output: 8KiB }\n",
		       &task, &err));
	CHECK_STR(task.baseline.out.items[0], "b.so");
	CHECK_INT(task.baseline.wall_ms, 7000);
	CHECK_STR(task.check.items[1], "--seen");
	CHECK_INT(task.cases.dims.count, 2);
	CHECK_INT(task.cases.dims.where_count, 1);
	CHECK_INT(task.mark.call_wall_ms, 500);
	CHECK_INT(task.mark.wall_ms, 120000);
	CHECK_INT(task.mark.cache, TASK_CACHE_COLD);
	CHECK_INT(task.limits.wall_ms, 3600000);
	CHECK_INT(task.limits.memory, GIB);
	CHECK_INT(task.limits.pids, 99);
	CHECK_INT(task.limits.workspace, 2 * MIB);
	CHECK_INT(task.limits.inodes, 100);
	CHECK_INT(task.limits.output, 8 * KIB);
}

#define LATER(key)                                                                               \
	"task.yaml:14: key '" key "': '" key "' is not supported yet by this version; leave it " \
	"out"

TEST(a_mistake_is_named_with_its_line)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "", "task.yaml: the file is empty" },
		{ "x",
		  "task.yaml:1: the task has to be a mapping of keys such as 'schema', not 'x'" },
		{ BUILD ENTRY ORACLE ARGS CASES,
		  "task.yaml:1: the task lacks the key 'schema' (the version of this format)" },
		{ HEAD ENTRY ORACLE ARGS CASES,
		  "task.yaml:1: the task lacks the key 'build' (how a "
		  "candidate is built; run in the workspace)" },
		{ GOOD "limits: { pids: 9 }\n", "task.yaml:14: key 'pids': '9' is not within "
						"16..32768" },
		{ GOOD "limit: {}\n",
		  "task.yaml:14: there is no key 'limit' here; the nearest is 'limits'" },
		{ GOOD "needs: {}\n", LATER("needs") },
		{ GOOD "generate: {}\n", LATER("generate") },
		{ GOOD "reference: {}\n", LATER("reference") },
		{ GOOD "mark: { tier: [T1] }\n", LATER("tier") },
		{ GOOD "mark: { cache: hot }\n",
		  "task.yaml:14: key 'cache': 'hot' is not supported yet "
		  "by this version, which has: cold" },
		{ "schema: 1\nname: x\nkind: hip2hip\n",
		  "task.yaml:3: key 'kind': 'hip2hip' is not supported yet by this version, which "
		  "has: c2c" },
		{ "schema: 1\nname: x\nkind: c2d\n",
		  "task.yaml:3: key 'kind': 'c2d' is not one of: "
		  "c2c" },
		{ "schema: 2\n", "task.yaml:1: key 'schema': '2' is not within 1..1" },
		{ "name: A b\n",
		  "task.yaml:1: key 'name': 'A b' is not a name of lower case letters, "
		  "digits and single hyphens, at most 63" },
		{ "editable: [../x]\n",
		  "task.yaml:1: key 'editable': '../x' is not a relative path of "
		  "plain names, without . or .." },
		{ HEAD "build: { argv: [cc, '-march={arch}', '{out}'], out: [a] }\n" ENTRY ORACLE
			  ARGS CASES,
		  "task.yaml:6: key 'argv': '-march={arch}': the only word in braces that is "
		  "supported "
		  "yet is {out}" },
		{ HEAD "build: { argv: [cc, a.c], out: [a] }\n" ENTRY ORACLE ARGS CASES,
		  "task.yaml:6: key 'argv': no text holds {out}, the folder where the results of "
		  "the "
		  "build have to go" },
		{ GOOD "baseline: { build: { argv: [cc], out: [a] } }\n",
		  "task.yaml:14: key 'argv': no text holds {out}, the folder where the results of "
		  "the "
		  "build have to go" },
		{ GOOD "baseline: {}\n",
		  "task.yaml:14: key 'baseline': baseline lacks the key 'build' "
		  "(how the pristine workspace is built, where not as the "
		  "candidate)" },
		{ HEAD BUILD
		  "entry: { symbol: f, args: [x, y, n], init: once }\n" ORACLE ARGS CASES,
		  "task.yaml:7: key 'init': 'once' is not supported yet by this version, which "
		  "has: "
		  "none" },
		{ HEAD BUILD "entry: { args: [x, y, n] }\n" ORACLE ARGS CASES,
		  "task.yaml:7: key 'entry': entry lacks the key 'symbol' (the function to mark)" },
		{ HEAD BUILD ENTRY "oracle: { symbol: o }\n" ARGS CASES,
		  "task.yaml:8: key 'oracle': oracle lacks the key 'build' (how it is built; run "
		  "in "
		  "evaluate/)" },
		{ GOOD "check: { argv: [] }\n", "task.yaml:14: key 'argv': 0 items are not within "
						"1..16" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		cleanup(task_done) struct task task = TASK_INIT;
		struct err err = ERR_INIT;

		CHECK_INT(parse(cases[i].text, &task, &err), -1);
		CHECK_STR(err.text, cases[i].error);
		CHECK_INT(err.kind, ERR_INPUT);
		CHECK(!task.name);
	}
}

/* Every key of mark and limits that has a range: as far as it goes, and one step beyond. */
TEST(every_range_holds_at_both_edges)
{
	static const struct {
		const char *section, *key, *below, *least, *most, *above;
	} rows[] = {
		{ "mark", "call_wall", "0", "1ms", "1m", "60001ms" },
		{ "mark", "wall", "999ms", "1s", "1h", "3600001ms" },
		{ "limits", "wall", "999ms", "1s", "168h", "604800001ms" },
		{ "limits", "memory", "17825791B", "17MiB", "1TiB", "1099511627777B" },
		{ "limits", "pids", "15", "16", "32768", "32769" },
		{ "limits", "workspace", "1048575B", "1MiB", "1TiB", "1099511627777B" },
		{ "limits", "inodes", "63", "64", "10000000", "10000001" },
		{ "limits", "output", "4095B", "4KiB", "1GiB", "1073741825B" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *const values[] = { rows[i].below, rows[i].least, rows[i].most,
					       rows[i].above };

		for (size_t k = 0; k < ARRAY_LEN(values); k++) {
			cleanup(arena_done) struct arena arena = ARENA_INIT;
			cleanup(task_done) struct task task = TASK_INIT;
			struct err err = ERR_INIT;
			bool is_inside = k == 1 || k == 2;
			int result = parse(arena_printf(&arena, GOOD "%s: { %s: %s }\n",
							rows[i].section, rows[i].key, values[k]),
					   &task, &err);

			CHECK_INT(result, is_inside ? 0 : -1);
			CHECK_STR(err.text,
				  is_inside ? ""
					    : arena_printf(
						      &arena,
						      "task.yaml:14: key '%s': '%s' is not within "
						      "%s..%s",
						      rows[i].key, values[k], rows[i].least,
						      rows[i].most));
		}
	}
}

TEST(a_build_command_gets_its_folder)
{
	cleanup(task_done) struct task task = TASK_INIT;
	struct err err = ERR_INIT;
	const char *const *argv;

	CHECK_OK(parse(
		HEAD "build: { argv: [cc, '-I{out}/a:{out}'], out: [a] }\n" ENTRY ORACLE ARGS CASES,
		&task, &err));
	argv = task_build_argv(&task.build, "/out", &task.arena);
	CHECK_STR(argv[0], "cc");
	CHECK_STR(argv[1], "-I/out/a:/out");
	CHECK(!argv[2]);
}

static int folder_fd; /* of the task, with its name */

static void put(const char *path, const char *text)
{
	struct err err = ERR_INIT;
	auto_fd fd = openat(folder_fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0);
	CHECK_OK(io_write_all(fd, text, strlen(text), path, &err));
}

static const char *load_error(struct err *err)
{
	cleanup(task_done) struct task task = TASK_INIT;

	*err = ERR_INIT;
	if (task_load(folder_fd, &task, err) < 0)
		CHECK_INT(err->kind, ERR_INPUT);
	else
		CHECK(task.name);
	return err->text;
}

TEST(a_folder_lacks_nothing_that_the_task_names)
{
	struct err err;

	CHECK(mkdirat(check_folder(), "scale", 0700) == 0);
	folder_fd = openat(check_folder(), "scale", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK_STR(load_error(&err), "open 'task.yaml': No such file or directory");
	CHECK(mkdirat(folder_fd, "task.yaml", 0700) == 0);
	CHECK_STR(load_error(&err), "'task.yaml' is not a regular file");
	CHECK(unlinkat(folder_fd, "task.yaml", AT_REMOVEDIR) == 0);
	put("task.yaml", "");
	CHECK_STR(load_error(&err), "task.yaml: the file is empty");
	put("task.yaml", GOOD);
	CHECK_STR(load_error(&err),
		  "the task's files for the agent: open 'workspace': No such file or directory");
	CHECK(mkdirat(folder_fd, "workspace", 0700) == 0);
	CHECK_STR(load_error(&err),
		  "the task's oracle: open 'evaluate': No such file or directory");
	CHECK(mkdirat(folder_fd, "evaluate", 0700) == 0);
	CHECK_STR(load_error(&err),
		  "the task's text for the agent: open 'README.md': No such file or directory");
	put("README.md", "do it\n");
	CHECK_STR(load_error(&err),
		  "task.yaml:5: key 'editable': in workspace/: open 'scale.c': No "
		  "such file or directory");
	CHECK(symlinkat("../README.md", folder_fd, "workspace/scale.c") == 0);
	CHECK_STR(load_error(&err),
		  "task.yaml:5: key 'editable': in workspace/: open 'scale.c': Too "
		  "many levels of symbolic links");
	CHECK(unlinkat(folder_fd, "workspace/scale.c", 0) == 0);
	CHECK(mkdirat(folder_fd, "workspace/scale.c", 0700) == 0);
	CHECK_STR(load_error(&err),
		  "task.yaml:5: key 'editable': in workspace/: 'scale.c' is not a "
		  "regular file");
	CHECK(unlinkat(folder_fd, "workspace/scale.c", AT_REMOVEDIR) == 0);
	put("workspace/scale.c", "");
	CHECK_STR(load_error(&err), "");
	/* Whatever path led there. */
	CHECK(symlinkat("scale", check_folder(), "other") == 0);
	fd_close(&folder_fd);
	folder_fd =
		openat(check_folder(), "other/workspace/..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK_STR(load_error(&err), "");
	CHECK(renameat(check_folder(), "scale", check_folder(), "scale-2\n") == 0);
	CHECK_STR(load_error(&err),
		  "task.yaml:2: key 'name': 'scale' is not the name of the task's "
		  "folder, 'scale-2\\x0a'; rename one of both");
	fd_close(&folder_fd);
}

TEST(the_shipped_tasks_are_good)
{
	auto_fd root_fd = open(SOURCE_ROOT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_fd shipped_fd = -1;
	cleanup(task_done) struct task task = TASK_INIT;
	struct err err = ERR_INIT;

	shipped_fd = path_open_folder(root_fd, "tasks/c2c/row-softmax", &err);
	CHECK_OK(shipped_fd);
	CHECK_OK(task_load(shipped_fd, &task, &err));
	CHECK_STR(task.name, "row-softmax");
	CHECK_INT(task.cases.seen_count, 3);
	CHECK_INT(task.cases.hidden_count, 4);
}

/* The n-th task in the code blocks of the document, or NULL. */
static const char *example(const char *document, int n, size_t *len)
{
	static const char start[] = "```yaml\nschema: 1\n";
	const char *at = strstr(document, start);

	while (at && n-- > 0)
		at = strstr(at + 1, start);
	if (!at)
		return NULL;
	at += strlen("```yaml\n");
	*len = (size_t) (strstr(at, "```") - at);
	return at;
}

TEST(the_examples_of_the_document_are_what_it_says)
{
	auto_fd root_fd = open(SOURCE_ROOT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup(task_done) struct task task = TASK_INIT;
	struct str document = STR_INIT;
	struct err err = ERR_INIT;
	const char *text;
	size_t len;

	CHECK_OK(io_read_file(root_fd, "tasks/README.md", MIB, &document, &err));
	text = example(document.text, 0, &len);
	CHECK(text);
	CHECK_OK(task_parse("README.md", text, len, &task, &err));
	CHECK_STR(task.name, "scale");
	text = example(document.text, 1, &len);
	CHECK(text);
	CHECK_INT(task_parse("README.md", text, len, &task, &err), -1);
	CHECK_STR(err.text,
		  "README.md:3: key 'kind': 'hip2hip' is not supported yet by this version, "
		  "which has: c2c");
	CHECK(!example(document.text, 2, &len));
	str_done(&document);
}
