/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paper-run FOLDER RUN TASKS AGENTS REPEATS: write the journal of a run that never was
 * paper-run FOLDER RUN FILES: the same of "honest" on "matmul", with a name, labels and
 * planned.json
 *
 * Of each line of standard input an attempt: SLOT TASK AGENT ATTEMPT SEEN SPEEDUP UNSEEN SPEEDUP.
 * SEEN and UNSEEN are marks; SEEN INFRA is an attempt without a mark, and BROKEN one that does not
 * compile.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/base/fd.h"
#include "tests/lib/paper_runs.h"

static bool add_line(struct journal *journal, const char *run, const char *line)
{
	char task[64], agent[64], seen[16], unseen[16];
	double seen_speedup, unseen_speedup;
	struct record record;
	unsigned int attempt;
	long long slot;

	if (sscanf(line, "%lld %63s %63s %u %15s %lf %15s %lf", &slot, task, agent, &attempt, seen,
		   &seen_speedup, unseen, &unseen_speedup) != 8)
		return false;
	record = paper_record(run, task, agent, attempt);
	if (strcmp(seen, "INFRA") == 0) {
		record.infra = "no seat was free";
	} else if (strcmp(seen, "BROKEN") == 0) {
		record.is_built = false;
	} else {
		record.seen = paper_mark(seen, seen_speedup);
		record.unseen = paper_mark(unseen, unseen_speedup);
	}
	paper_run_add(journal, slot, &record);
	return true;
}

int main(int argc, char **argv)
{
	cleanup(journal_done) struct journal journal = JOURNAL_INIT;
	char line[256];
	auto_fd folder =
		argc == 6 || argc == 4 ? open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (folder < 0)
		return 2;
	if (argc == 4)
		paper_run_create_named(&journal, folder, argv[2], (uint8_t) atoi(argv[3]));
	else
		paper_run_create(&journal, folder, argv[2], atoll(argv[3]), atoll(argv[4]),
				 atoll(argv[5]));
	while (fgets(line, sizeof(line), stdin))
		if (!add_line(&journal, argv[2], line))
			return 2;
	paper_run_tell(&journal, "run.finished");
	return 0;
}
