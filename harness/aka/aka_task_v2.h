/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/aka/aka_task.h"

/*
 * The second format of config.yaml (`schema_version: 2`): commands are argument vectors, and a key
 * that it does not know is refused.
 */

/**
 * aka_task_v2_bind() - plan a task by its root
 * @task: has name, version and root; half of it is filled after a failure
 */
int aka_task_v2_bind(struct aka_task *task, struct err *err) must_check;
