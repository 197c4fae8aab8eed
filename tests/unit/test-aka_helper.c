/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_helper.h"

#include <string.h>
#include <sys/stat.h>

#include "sandbox/base/arena.h"
#include "tests/lib/check.h"
#include "tests/lib/hosts.h"

#define START                                                         \
	"# >>> AKA-GENERATED: shared CUDA-graph benchmark helpers - " \
	"edit src/tools/perf/vllm_cuda_graph_block.py then run `make sync-perf-helpers` >>>"
#define OLD                                                           \
	"# >>> AKA-GENERATED: shared CUDA-graph benchmark helpers - " \
	"edit tools/perf/vllm_cuda_graph_block.py then run `make sync-perf-helpers` >>>"
#define OLDEST                                                          \
	"# >>> AKA-GENERATED: shared CUDA-graph benchmark helpers — " \
	"edit tools/perf/vllm_cuda_graph_block.py then run `make sync-perf-helpers` >>>"
#define END "# <<< AKA-GENERATED <<<"

static struct arena arena;
static struct aka_helpers helpers;
static struct err err;

static void checkout(void)
{
	hosts_put("src/tools/perf/performance_utils_pytest.py", "the file\n");
	hosts_put("src/tools/perf/vllm_cuda_graph_block.py",
		  "import torch\n\ndef _measure_cuda_event_fallback(fn, repetition):\n    pass\n");
	helpers = AKA_HELPERS_INIT;
	CHECK_OK(aka_helper_read(check_folder(), &helpers, &err));
}

static const char *replaced(const char *text)
{
	cleanup(str_done) struct str out = STR_INIT;

	if (aka_helper_replace(&helpers, text, strlen(text), &out, &err) < 0)
		return err.text;
	return arena_copy(&arena, out.text, out.len);
}

/* The bits, or -1. */
static int found(void)
{
	unsigned int bits = 99;

	return aka_helper_find(check_folder(), &bits, &err) < 0 ? -1 : (int) bits;
}

TEST(the_marked_part_becomes_the_original_from_its_first_function_on)
{
	static const char whole[] = "a\n" START "\ndef _measure_cuda_event_fallback(fn, "
				    "repetition):\n    pass\n" END "\nb\n";

	checkout();
	CHECK_STR(helpers.file.text, "the file\n");
	CHECK_STR(replaced("a\n" START "\nstub\n" END "\nb\n"), whole);
	CHECK_STR(replaced("a\n" OLD "\nstub\n" END "\nb\n"), whole);
	CHECK_STR(replaced("a\n" OLDEST "\nstub\n" END "\nb\n"), whole);
	CHECK_STR(replaced(whole), whole);
	CHECK_STR(replaced("no mark\n"), "no mark\n");
	aka_helper_done(&helpers);
}

TEST(marks_that_do_not_belong_together_are_refused)
{
	checkout();
	CHECK_STR(replaced(START "\nstub\n"),
		  "scripts/task_runner.py: no '# <<< AKA-GENERATED <<<' follows '# >>> "
		  "AKA-GENERATED…'");
	CHECK(strstr(replaced(END "\n" START "\n"), "follows"));
	CHECK(strstr(replaced(END "\n"), "precedes"));
	CHECK_STR(replaced("x = _benchmark_cuda_graph_or_events(f)\n"),
		  "scripts/task_runner.py: it has '_benchmark_cuda_graph_or_events' and no '# >>> "
		  "AKA-GENERATED…' before it");
	CHECK_INT(err.kind, ERR_INPUT);
	aka_helper_done(&helpers);
}

TEST(a_folder_takes_the_helpers_that_its_files_name)
{
	CHECK_INT(found(), 0);
	hosts_put("k.py", "import torch\n");
	hosts_put("below/k.py", "import performance_utils_pytest\n");
	hosts_put("notes.txt", "performance_utils_pytest\n");
	CHECK_INT(found(), 0);
	hosts_put("l.py", "from performance_utils_pytest import x\n");
	CHECK_INT(found(), AKA_HELPER_PYTEST);
	hosts_put("scripts/task_runner.py", "no marks\n");
	CHECK_INT(found(), AKA_HELPER_PYTEST);
	hosts_put("scripts/task_runner.py", START "\n" END "\n");
	CHECK_INT(found(), AKA_HELPER_PYTEST | AKA_HELPER_RUNNER);
	hosts_put("l.py", NULL);
	CHECK_INT(found(), AKA_HELPER_RUNNER);
	hosts_put("performance_utils_pytest.py", "");
	CHECK_INT(found(), AKA_HELPER_PYTEST | AKA_HELPER_RUNNER);
	hosts_put("scripts/task_runner.py", START "\n");
	CHECK_INT(found(), -1);
}

TEST(what_is_no_file_is_passed_over)
{
	CHECK(mkdirat(check_folder(), "a.py", 0755) == 0);
	hosts_link("b.py", "/dev/zero");
	hosts_put("scripts", "");
	CHECK_INT(found(), 0);
}

TEST(a_checkout_without_the_originals_is_refused)
{
	helpers = AKA_HELPERS_INIT;
	CHECK(aka_helper_read(check_folder(), &helpers, &err) < 0);
	CHECK(strstr(err.text, "the helpers of the checkout: "));
	hosts_put("src/tools/perf/performance_utils_pytest.py", "");
	hosts_put("src/tools/perf/vllm_cuda_graph_block.py", "nothing\n");
	CHECK(aka_helper_read(check_folder(), &helpers, &err) < 0);
	CHECK_STR(err.text, "src/tools/perf/vllm_cuda_graph_block.py has no line 'def "
			    "_measure_cuda_event_fallback(fn, repetition):'");
	CHECK_INT(helpers.file.len, 0);
}
