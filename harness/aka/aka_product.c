/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/aka/aka_product.h"

#include <string.h>

#include "harness/aka/aka_cases.h"

static bool is_text(const char *text, const char *bytes, size_t len)
{
	return strlen(text) == len && memcmp(text, bytes, len) == 0;
}

static bool begins_with(const char *begin, const char *bytes, size_t len)
{
	return len >= strlen(begin) && memcmp(bytes, begin, strlen(begin)) == 0;
}

static bool ends_in(const char *end, const char *bytes, size_t len)
{
	const size_t end_len = strlen(end);

	return len >= end_len && memcmp(bytes + len - end_len, end, end_len) == 0;
}

static bool is_name_kept(const char *name, size_t len)
{
	/*
	 * Files and folders that an interpreter or a test runner looks for by name, and what make
	 * takes before a Makefile.
	 */
	static const char *const names[] = {
		"__pycache__", "conftest.py",    "pytest.ini",  ".pytest.ini",   "tox.ini",
		"setup.cfg",   "pyproject.toml", "pyvenv.cfg",  ".pytest_cache", "task_result.yaml",
		"config.yaml", "config.yml",     "pytest.toml", ".pytest.toml",  "entry_points.txt",
		".coveragerc", "GNUmakefile",    "makefile",
	};
	/* Modules that are run without being asked for, whatever they are written in. */
	static const char *const begins[] = { "__init__.", "sitecustomize.", "usercustomize." };
	static const char *const ends[] = { ".py", ".pyc", ".pyo", ".pyw", ".pth", "_perf.yaml" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (is_text(names[i], name, len))
			return false;
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (begins_with(begins[i], name, len))
			return false;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (ends_in(ends[i], name, len))
			return false;
	return true;
}

bool aka_product_is_kept(const char *path, size_t path_len)
{
	for (int channel = 0; channel < AKA_REPORTS; channel++)
		if (is_text(aka_report_path((enum aka_channel) channel), path, path_len))
			return false;
	for (size_t at = 0; at < path_len;) {
		const char *slash = memchr(path + at, '/', path_len - at);
		const size_t end = slash ? (size_t) (slash - path) : path_len;

		if (!is_name_kept(path + at, end - at))
			return false;
		at = end + 1;
	}
	return true;
}
