/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/aka/aka_task.h"

/*
 * The first format of config.yaml. Keys that it does not know are passed over, as there.
 */

/**
 * aka_task_v1_bind() - plan a task by its root
 * @task: has name, version and root; half of it is filled after a failure
 */
int aka_task_v1_bind(struct aka_task *task, struct err *err) must_check;
