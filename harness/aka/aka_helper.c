/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_helper.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/base/io.h"

/* Of one file that is looked into. */
#define FILE_MAX_BYTES (16 * MIB)

/* The mark that is written, and those that are read as well. */
static const char *const starts[] = {
	"# >>> AKA-GENERATED: shared CUDA-graph benchmark helpers - "
	"edit src/tools/perf/vllm_cuda_graph_block.py then run `make sync-perf-helpers` >>>",
	"# >>> AKA-GENERATED: shared CUDA-graph benchmark helpers - "
	"edit tools/perf/vllm_cuda_graph_block.py then run `make sync-perf-helpers` >>>",
	"# >>> AKA-GENERATED: shared CUDA-graph benchmark helpers \xe2\x80\x94 "
	"edit tools/perf/vllm_cuda_graph_block.py then run `make sync-perf-helpers` >>>",
};
static const char end[] = "# <<< AKA-GENERATED <<<";
/* Where the original's part begins that goes between the marks. */
static const char anchor[] = "def _measure_cuda_event_fallback(fn, repetition):";
static const char *const symbols[] = { "_measure_cuda_event_fallback",
				       "_benchmark_cuda_graph_or_events" };

static const char *find(const char *text, size_t len, const char *what)
{
	return memmem(text, len, what, strlen(what));
}

void aka_helper_done(struct aka_helpers *helpers)
{
	str_done(&helpers->file);
	str_done(&helpers->block);
}

int aka_helper_read(int folder_fd, struct aka_helpers *out, struct err *err)
{
	cleanup(aka_helper_done) struct aka_helpers made = AKA_HELPERS_INIT;
	cleanup(str_done) struct str text = STR_INIT;
	const char *begin;

	if (io_read_file(folder_fd, "src/tools/perf/" AKA_HELPER_FILE, FILE_MAX_BYTES, &made.file,
			 err) < 0 ||
	    io_read_file(folder_fd, "src/tools/perf/vllm_cuda_graph_block.py", FILE_MAX_BYTES,
			 &text, err) < 0)
		return err_wrap(err, "the helpers of the checkout");
	begin = find(text.text, text.len, anchor);
	if (!begin)
		return err_set(err, ERR_INPUT,
			       "src/tools/perf/vllm_cuda_graph_block.py has no line '%s'", anchor);
	str_add(&made.block, begin, text.len - (size_t) (begin - text.text));
	*out = take(made, AKA_HELPERS_INIT);
	return 0;
}

/* What a runner has between its marks, these included. */
struct part {
	size_t from, to;
	bool is_there;
};

static int find_part(const char *text, size_t len, struct part *out, struct err *err)
{
	const char *begin = NULL, *last = find(text, len, end);

	for (size_t i = 0; i < ARRAY_LEN(starts) && !begin; i++)
		begin = find(text, len, starts[i]);
	*out = (struct part){ .is_there = begin && last };
	if (begin && (!last || last < begin))
		return err_set(err, ERR_INPUT, "%s: no '%s' follows '# >>> AKA-GENERATED…'",
			       AKA_HELPER_SCRIPT, end);
	if (last && !begin)
		return err_set(err, ERR_INPUT, "%s: no '# >>> AKA-GENERATED…' precedes '%s'",
			       AKA_HELPER_SCRIPT, end);
	if (begin) {
		out->from = (size_t) (begin - text);
		out->to = (size_t) (last - text) + strlen(end);
		return 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(symbols); i++)
		if (find(text, len, symbols[i]))
			return err_set(err, ERR_INPUT,
				       "%s: it has '%s' and no '# >>> AKA-GENERATED…' before it",
				       AKA_HELPER_SCRIPT, symbols[i]);
	return 0;
}

int aka_helper_replace(const struct aka_helpers *helpers, const char *text, size_t len,
		       struct str *out, struct err *err)
{
	struct part part = { .is_there = false };

	if (find_part(text, len, &part, err) < 0)
		return -1;
	if (!part.is_there) {
		str_add(out, text, len);
		return 0;
	}
	str_add(out, text, part.from);
	str_addf(out, "%s\n", starts[0]);
	str_add(out, helpers->block.text, helpers->block.len);
	str_addf(out, "%s", end);
	str_add(out, text + part.to, len - part.to);
	return 0;
}

/* What is not there, or no file, is passed over as there. */
static int read_if_there(int folder_fd, const char *path, struct str *text, struct err *err)
{
	struct err why = ERR_INIT;

	if (io_read_file(folder_fd, path, FILE_MAX_BYTES, text, &why) == 0)
		return 1;
	if (why.sys == ENOENT || why.sys == ENOTDIR)
		return 0;
	*err = why;
	return -1;
}

static void close_folder(DIR **folder)
{
	if (*folder)
		closedir(*folder);
}

static bool is_python(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > 3 && strcmp(entry->d_name + len - 3, ".py") == 0 &&
	       (entry->d_type == DT_REG || entry->d_type == DT_UNKNOWN);
}

/* Does a Python file of the folder itself name the helper, or is it there? */
static int uses_file(int folder_fd, bool *out, struct err *err)
{
	int fd = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup(close_folder) DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!folder)
		return err_sys(err, "read the folder");
	while (!*out && (entry = readdir(folder))) {
		cleanup(str_done) struct str text = STR_INIT;

		if (!is_python(entry))
			continue;
		if (read_if_there(folder_fd, entry->d_name, &text, err) < 0)
			return -1;
		*out = strcmp(entry->d_name, AKA_HELPER_FILE) == 0 ||
		       find(text.text, text.len, "performance_utils_pytest");
	}
	return 0;
}

int aka_helper_find(int folder_fd, unsigned int *out, struct err *err)
{
	cleanup(str_done) struct str text = STR_INIT;
	struct part part = { .is_there = false };
	bool takes_file = false;

	if (uses_file(folder_fd, &takes_file, err) < 0 ||
	    read_if_there(folder_fd, AKA_HELPER_SCRIPT, &text, err) < 0 ||
	    find_part(text.text, text.len, &part, err) < 0)
		return -1;
	*out = (takes_file ? AKA_HELPER_PYTEST : 0U) | (part.is_there ? AKA_HELPER_RUNNER : 0U);
	return 0;
}
