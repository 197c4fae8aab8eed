/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "harness/judge/protocol.h"
#include "sandbox/base/err.h"

/*
 * The memory that judge and worker share: three sealed memfds and the judge's mappings of them.
 *
 * Their sizes are sealed, so that no worker can make the judge fault, and the inputs can not be
 * mapped for writing by anyone but the judge, whose mapping is older than the seal. One set serves
 * all workers of a marking, one after the other (the same physical pages). Nothing that one left is
 * there for the next: buffers_wipe() stands between two of them, and each gets descriptors of its
 * own, since an offset, a lock or an owner for signals belongs to what open(2) made.
 */
struct buffers {
	int control_fd; /* owned; a worker gets others of the same memory, see buffers_lend() */
	int inputs_fd;
	int outputs_fd;
	struct protocol_control *control;
	uint8_t *inputs;
	uint8_t *outputs;
	uint64_t inputs_size;
	uint64_t outputs_size;
};

enum { BUFFERS_COUNT = 3 };

#define BUFFERS_INIT ((struct buffers){ .control_fd = -1, .inputs_fd = -1, .outputs_fd = -1 })

/**
 * buffers_create() - make and seal the three memfds
 * @inputs:  bytes, whole pages
 * @outputs: bytes, whole pages
 *
 * A host that can not seal them is an ERR_HOST error.
 */
int buffers_create(struct buffers *out, uint64_t inputs, uint64_t outputs,
		   struct err *err) must_check;

/**
 * buffers_wipe() - zero all three, and what the kernel keeps of them beside; no worker may be alive
 */
void buffers_wipe(struct buffers *buffers);

/**
 * buffers_lend() - open all three anew, for one worker: inputs to be read only
 * @out: control, inputs, outputs; buffers_take_back() closes them, also after a failure
 */
int buffers_lend(const struct buffers *buffers, int out[BUFFERS_COUNT], struct err *err) must_check;

/**
 * buffers_take_back() - close them
 */
void buffers_take_back(int lent[BUFFERS_COUNT]);

/**
 * buffers_done() - unmap and close
 */
void buffers_done(struct buffers *buffers);
