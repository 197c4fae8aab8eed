/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/run/run.h"

/*
 * The reports of AgentKernelArena for a run of its tasks, in the run's folder
 *
 *	reports/overall_report.txt, task_type_breakdown.json, overall_summary.csv
 *	reports/proctor_marks.json	both marks of each task, and why they differ
 *
 *	reports/heldout_summary.yaml	where shapes were held out
 *
 * as the reference has them for one attempt of one agent on each task; where there are more, each
 * agent's n-th attempt has a folder of its own, reports/AGENT-N/, both counted from 1. Every
 * selected task that has a record is in them: one that ended INFRA counts as failed.
 */
#define AKA_REPORTS_FOLDER "reports"

/**
 * aka_reports_write() - write them anew; nothing is done for a run of other tasks
 */
int aka_reports_write(const struct run *run, struct err *err) must_check;
