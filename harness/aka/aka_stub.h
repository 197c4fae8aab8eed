/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "harness/aka/aka_cases.h"
#include "harness/aka/aka_task.h"
#include "harness/aka/pyvalue.h"

/*
 * Is there anything to mark in a submission
 *
 * Tasks of torch2flydsl begin with functions that only raise NotImplementedError, and their
 * harness has a reference to fall back on. So AgentKernelArena looks, before the correctness
 * command: each target has to be a function of the module, whose last definition is more than a
 * docstring, `pass` and that one raise. Assignments and nested functions are no definitions.
 *
 * A file that is no UTF-8 or can not be cut is passed over, as one with a syntax error is there. We
 * see fewer of these errors than a parser does: such a file does not get past the compile command.
 */

/**
 * aka_stub_find() - look at what is submitted
 * @sources: the regular files of task->sources, one each; bytes are NULL where there is none
 *
 * Return: NULL: nothing to object, or a task of another type; else the error of the record, in
 * @arena, in the words of the reference.
 */
const struct pyvalue *aka_stub_find(struct arena *arena, const struct aka_task *task,
				    const struct aka_bytes *sources) must_check;
