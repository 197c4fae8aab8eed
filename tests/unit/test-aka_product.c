/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_product.h"

#include <string.h>

#include "tests/lib/check.h"

static void check_all(const char *const *paths, size_t count, bool is_kept)
{
	for (size_t i = 0; i < count; i++)
		if (aka_product_is_kept(paths[i], strlen(paths[i])) != is_kept)
			check_fail(__FILE__, __LINE__, "'%s' is%s kept", paths[i],
				   is_kept ? " not" : "");
}

TEST(what_a_compiler_makes_goes_on)
{
	static const char *const paths[] = {
		"a.out",        "build/x.so",  "build",
		"src/kernel.o", "report.json", "build/perf_report.json.d",
		"perf",         "pytest",      "x.python",
	};

	check_all(paths, ARRAY_LEN(paths), true);
}

TEST(results_that_were_not_measured_yet_do_not)
{
	static const char *const paths[] = {
		"build/performance_report.json", "performance_report.json",
		"build/perf_report.json",        "perf_report.json",
		"perf/benchmark_results.json",   "task_result.yaml",
		"optimized_perf.yaml",           "baseline_perf.yaml",
	};

	check_all(paths, ARRAY_LEN(paths), false);
}

TEST(what_an_interpreter_or_a_test_runner_looks_for_does_not)
{
	static const char *const paths[] = {
		"torch.py",       "a/b/yaml.py", "__pycache__/x.so", "scripts/__pycache__",
		"x.pyc",          "a/evil.pth",  "conftest.py",      "pytest.ini",
		"pyproject.toml", "setup.cfg",   "tox.ini",          "a/tox.ini",
		"pyvenv.cfg",     "config.yaml", ".pytest_cache/v",  "x.py/inside",
	};

	check_all(paths, ARRAY_LEN(paths), false);
}
