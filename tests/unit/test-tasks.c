/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/report/tasks.h"

#include <string.h>

#include "tests/lib/check.h"

static const char text[] =
	"schema: 1\nname: mixed\nkind: c2c\nsummary: \"a bit of everything\"\n"
	"editable: [a.c, src/b.c]\n"
	"build: { argv: [cc, a.c, -o, \"{out}/a.so\"], out: [a.so], wall: 30s }\n"
	"baseline:\n  build: { argv: [cc, -O1, a.c, -o, \"{out}/a.so\"], out: [a.so], wall: 60s }\n"
	"entry: { symbol: run, args: [x, y, n, k, z] }\n"
	"oracle:\n  build: { argv: [cc, o.c, -o, \"{out}/o.so\"], out: [o.so] }\n  symbol: ref\n"
	"dims: { m: 2*n }\nwhere: [n < 100]\n"
	"args:\n"
	"  x: { in: f32, shape: [n, m], values: \"uniform(-1, 1)\" }\n"
	"  y: { out: i32, shape: [m], compare: exact }\n"
	"  k: { scalar: i32, value: n + 1 }\n"
	"  z: { inout: u8, shape: [n, m], strides: [3*m], align: 16, values: ones, compare: exact "
	"}\n"
	"seen:\n  - { n: 5 }\n  - { n: 6 }\n"
	"hidden:\n  up: { cases: 2, n: \"range(10, 20)\" }\n";

static struct task task;
static struct err err;

static struct tasks_shown load(void)
{
	static const char *const solutions[] = { "cheat-one", "honest-two" };

	if (task_parse("task.yaml", text, strlen(text), &task, &err) < 0)
		check_fail(__FILE__, __LINE__, "%s", err.text);
	return (struct tasks_shown){ &task, "here/mixed", solutions, ARRAY_LEN(solutions) };
}

TEST(a_list_has_a_row_a_task)
{
	const struct tasks_shown shown = load();
	cleanup(table_done) struct table table = TABLE_INIT;
	cleanup(str_done) struct str out = STR_INIT;

	tasks_table(&table);
	tasks_add(&table, &shown);
	table_print(&table, &(struct table_style){ .width = 0 }, &out);
	CHECK_STR(out.text,
		  "TASK   KIND  SEEN  HIDDEN  EDITABLE     SOLUTIONS  FOLDER      SUMMARY\n"
		  "mixed  c2c      2  up      a.c,src/b.c          2  here/mixed  a bit of "
		  "everything\n");
	task_done(&task);
}

TEST(all_of_a_task_is_shown)
{
	const struct tasks_shown shown = load();
	cleanup(str_done) struct str out = STR_INIT;

	tasks_print(&shown, &(struct table_style){ .width = 0 }, &out);
	CHECK_STR(out.text,
		  "mixed (c2c): a bit of everything\n"
		  "folder     here/mixed\n"
		  "editable   a.c src/b.c\n"
		  "entry      run(x, y, n, k, z)\n"
		  "build      cc a.c -o {out}/a.so -> a.so (at most 30 s)\n"
		  "baseline   cc -O1 a.c -o {out}/a.so -> a.so (at most 60 s)\n"
		  "oracle     cc o.c -o {out}/o.so -> o.so (at most 60 s)\n"
		  "check      proctor-check\n"
		  "dims       n; m = 2*n\n"
		  "where      n < 100\n"
		  "\n"
		  "ARGUMENT  ROLE    TYPE  SHAPE                          RULE\n"
		  "x         in      f32   [n, m]                         uniform(-1, 1)\n"
		  "y         out     i32   [m]                            exact\n"
		  "n         scalar  i64   -                              n\n"
		  "k         scalar  i32   -                              n + 1\n"
		  "z         inout   u8    [n, m] strides [3*m] align 16  ones; exact\n"
		  "\n"
		  "seen       n=5\n"
		  "           n=6\n"
		  "hidden     2 up: n=range(10, 20)\n"
		  "mark       a call at most 2000 ms, all at most 60 s, cold caches\n"
		  "limits     those of the policy\n"
		  "solutions  cheat-one honest-two\n");
	task_done(&task);
}

TEST(the_same_as_json)
{
	const struct tasks_shown shown = load();
	cleanup(str_done) struct str out = STR_INIT;
	struct json_writer json;

	json_writer_init(&json, &out);
	tasks_put(&shown, &json);
	CHECK(json_writer_is_whole(&json));
	CHECK(strstr(out.text, "{\"task\":\"mixed\",\"kind\":\"c2c\",\"summary\":\"a bit of "
			       "everything\",\"folder\":\"here/mixed\",\"editable\":[\"a.c\","
			       "\"src/b.c\"],\"entry\":\"run\",\"build\":{\"argv\":[\"cc\""));
	CHECK(strstr(out.text,
		     "\"derived\":[{\"name\":\"m\",\"value\":\"2*n\"}],\"where\":[\"n < 100\"]"));
	CHECK(strstr(out.text,
		     "{\"name\":\"y\",\"role\":\"out\",\"type\":\"i32\",\"shape\":[\"m\"],"
		     "\"strides\":[],\"align\":0,\"rule\":\"exact\",\"rel\":null,\"abs\":null}"));
	CHECK(strstr(out.text, "\"strides\":[\"3*m\"],\"align\":16,\"rule\":\"ones; exact\","));
	CHECK(strstr(out.text, "\"seen\":[{\"n\":5},{\"n\":6}],\"hidden\":[{\"category\":\"up\","
			       "\"cases\":2,\"ranges\":{\"n\":\"range(10, 20)\"}}]"));
	CHECK(strstr(out.text, "\"solutions\":[\"cheat-one\",\"honest-two\"]}"));
	task_done(&task);
}

TEST(a_summary_can_not_disturb_a_terminal)
{
	struct tasks_shown shown = load();
	cleanup(str_done) struct str out = STR_INIT;

	task.summary = "a\033[2Jb";
	shown.folder = "c\033d";
	tasks_print(&shown, &(struct table_style){ .width = 0 }, &out);
	CHECK(!strchr(out.text, '\033'));
	CHECK(strstr(out.text, "mixed (c2c): a\\x1b[2Jb\nfolder     c\\x1bd\n"));
	task_done(&task);
}
