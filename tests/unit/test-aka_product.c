/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_product.h"

#include <string.h>

#include "tests/lib/check.h"

static void check_kept(const char *path, bool is_kept)
{
	if (aka_product_is_kept(path, strlen(path)) != is_kept)
		check_fail(__FILE__, __LINE__, "'%s' is %s", path, is_kept ? "not kept" : "kept");
}

TEST(what_a_compiler_makes_is_kept)
{
	static const char *const products[] = {
		"build",     "build/app",   "build/libkernel.so", "kernel.o",   "build/Makefile",
		"data.json", "report.json", "build/x/report.txt", "py",         "a.py.o",
		"init",      "__init__",    "entry_points.txt2",  "makefile.d",
	};

	for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++)
		check_kept(products[i], true);
}

TEST(what_python_pytest_or_make_look_for_is_not)
{
	static const char *const others[] = {
		"helper.py",
		"a/b/helper.pyc",
		"conftest.py",
		"a/conftest.py",
		"__pycache__",
		"__pycache__/a.o",
		"x.py/a.o",
		"pytest.ini",
		"pytest.toml",
		".pytest.toml",
		"a/site.pth",
		"a.dist-info/entry_points.txt",
		"json/__init__.cpython-311-x86_64-linux-gnu.so",
		"__init__.abi3.so",
		"sitecustomize.so",
		"usercustomize.abi3.so",
		"GNUmakefile",
		"src/makefile",
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		check_kept(others[i], false);
}

TEST(what_is_read_as_a_result_is_not)
{
	check_kept("build/performance_report.json", false);
	check_kept("perf/benchmark_results.json", false);
	check_kept("task_result.yaml", false);
	check_kept("a_perf.yaml", false);
	check_kept("build/other_report.json", true);
}
