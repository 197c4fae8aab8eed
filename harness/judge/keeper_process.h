/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

#include "harness/evidence/digest.h"
#include "harness/judge/keeper.h"
#include "sandbox/base/compiler.h"

/*
 * The keeper's process, and the messages that it takes
 *
 * Messages have one size each way; anything else is refused. Both ends are one program on one
 * machine, so structs go over the socket as they are. The first message of all comes from the
 * keeper, unasked, and holds the commitment.
 */
enum keeper_request_kind { KEEPER_REQUEST_BIND = 1, KEEPER_REQUEST_ASK };

#define KEEPER_MAGIC UINT32_C(0x6b707231)

struct keeper_request {
	uint32_t magic;
	uint32_t kind;
	uint32_t attempt;               /* BIND; otherwise 0 */
	char task[KEEPER_TASK_MAX + 1]; /* BIND, with zeros to its end; otherwise empty */
	struct digest root;             /* ASK; otherwise zero */
};

struct keeper_reply {
	uint32_t magic;
	uint32_t status;
	uint32_t committed_first;
	struct digest digest; /* the key, or, in the first message of all, the commitment */
};

/**
 * keeper_main() - what the keeper's process does; does not return
 * @secret_fd: as for keeper_start()
 *
 * Closes every descriptor but the two, and ends when the control socket closes.
 */
no_return void keeper_main(int control_fd, int journal_fd, const char *run, int secret_fd);
