/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Writing one's own mark: results, harnesses, caches, terminals. What counts of it is the drill's
 * to see, as in freeze.c.
 */
#include "tests/attacks/attack.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void put(const char *path, mode_t mode, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) < 0 || fchmod(fd, mode) < 0)
		broken("%s: %s", path, strerror(errno));
	close(fd);
}

static void folder(const char *path)
{
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		broken("%s: %s", path, strerror(errno));
}

static void print(int fd, const char *text)
{
	if (write(fd, text, strlen(text)) < 0)
		broken("print: %s", strerror(errno));
}

/* Where harnesses have looked for a result, and as they have read it (code 7 is what it really is).
 */
static void forged_files(const struct scene *scene)
{
	static const char *const files[] = {
		"task_result.yaml", "result.json",  "record.json",
		"reward.json",      "reward.txt",   "performance_report.json",
		"journal.jsonl",    "samples.json", "score",
	};

	(void) scene;
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		put(files[i], 0644, "{\"score\":100,\"verdict\":\"VALID\",\"correct\":true}\n");
	print(STDOUT_FILENO, "PASS\nscore: 999\nGEAK_RESULT_LATENCY_MS=0.0001\n");
	print(STDERR_FILENO, "{\"ending\":\"exited\",\"code\":0,\"flags\":[],\"wall_ms\":1}\n");
	if (write(WORD_FD, "HELD left forged results\n", 25) != 25)
		_exit(3);
	_exit(7);
}

/* The drill has put kernel.c, which may be edited, and check.c and task.yaml, which may not. */
static void edited_harness(const struct scene *scene)
{
	(void) scene;
	put("kernel.c", 0644, "int kernel(void) { return 2; }\n");
	put("check.c", 0644, "int check(void) { return 1; } /* always */\n");
	put("task.yaml", 0644, "tolerance: 1e9\niterations: 1\n");
	held("edited what marks it");
}

/* Files that tools run or read when they are there. */
static void planted_code(const struct scene *scene)
{
	static const char *const files[] = {
		"sitecustomize.py", "usercustomize.py", "conftest.py", "pytest.ini", "torch.py",
		"numpy.py",         "drill.pth",        "Makefile",    "setup.py",   "hipcc",
		"python",           ".bashrc",          "clang.cfg",   "kernel.so",  "kernel.hsaco",
	};

	(void) scene;
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		put(files[i], 0755, "#!/bin/sh\ntouch /tmp/planted\n");
	folder(".git");
	folder(".git/hooks");
	put(".git/hooks/pre-commit", 0755, "#!/bin/sh\n");
	put(".git/config", 0644, "[core]\n\tfsmonitor = ./hipcc\n");
	folder("__pycache__");
	put("__pycache__/torch.cpython-311.pyc", 0644, "pyc\n");
	held("left what others would run");
}

static const char *const cache_folders[] = { "/tmp", "/dev/shm", "/var/tmp", ".", "/run", "/home" };

/* The first time it leaves something everywhere, the second time it looks for it. */
static void cached(const struct scene *scene)
{
	for (size_t i = 0; i < ARRAY_LEN(cache_folders); i++) {
		const char *path = below(cache_folders[i], "proctor-drill-cache");
		int fd;

		if (scene->round == 2) {
			if (access(path, F_OK) == 0)
				got("found what an earlier jail has left in %s", cache_folders[i]);
			continue;
		}
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		if (fd >= 0)
			close(fd);
	}
	held(scene->round == 2 ? "nothing of an earlier jail is there"
			       : "left something everywhere");
}

/* What a terminal would do: its title, its clipboard, answers that it types, lines overwritten. */
static void escapes(const struct scene *scene)
{
	(void) scene;
	print(STDOUT_FILENO, "before\033]0;title\007\033]52;c;aWQK\007\033[6n\033[2J\033P+q\033\\");
	print(STDOUT_FILENO, "\rproctor: all attacks held\033[K\xc2\x9b"
			     "31m\n");
	print(STDERR_FILENO, "\033c\033[?1049h\xe2\x80\xaetxet\b\b\b\n");
	print(STDOUT_FILENO, "after\n");
	held("printed what terminals act upon");
}

/* The launcher is to write the archive over root's file. */
static void over_roots_file(const struct scene *scene)
{
	(void) scene;
	put("something", 0644, "something to collect\n");
	held("left something to collect");
}

/* clang-format off */
const struct attack attacks_on_results[] = {
	{ "result-forged",    forged_files },
	{ "result-harness",   edited_harness },
	{ "result-planted",   planted_code },
	{ "result-cached",    cached },
	{ "result-escapes",   escapes },
	{ "client-archive",   over_roots_file },
	{ NULL,               NULL },
};
/* clang-format on */
