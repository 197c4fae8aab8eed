/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/protocol.h"

#include <stdbool.h>

static uint64_t whole_pages(uint64_t bytes)
{
	return (bytes + PROTOCOL_PAGE - 1) / PROTOCOL_PAGE * PROTOCOL_PAGE;
}

int protocol_lay_out(const uint64_t *bytes, uint32_t count, struct protocol_layout *out,
		     struct err *err)
{
	struct protocol_layout made = { .count = count, .span = PROTOCOL_PAGE };

	if (count > PROTOCOL_ARGS_MAX)
		return err_set(err, ERR_INPUT, "%u buffers are more than %d", count,
			       PROTOCOL_ARGS_MAX);
	for (uint32_t i = 0; i < count; i++) {
		if (bytes[i] == 0)
			return err_set(err, ERR_INPUT, "buffer %u is empty", i);
		if (bytes[i] > PROTOCOL_BUFFER_MAX)
			return err_set(err, ERR_INPUT, "buffer %u has %llu bytes, more than %llu",
				       i, (unsigned long long) bytes[i],
				       (unsigned long long) PROTOCOL_BUFFER_MAX);
		made.offset[i] = made.span;
		made.bytes[i] = bytes[i];
		made.span += whole_pages(bytes[i]) + PROTOCOL_PAGE;
	}
	if (made.span > PROTOCOL_SPAN_MAX)
		return err_set(err, ERR_INPUT, "the buffers need %llu bytes, more than %llu",
			       (unsigned long long) made.span,
			       (unsigned long long) PROTOCOL_SPAN_MAX);
	*out = made;
	return 0;
}

static bool arg_fits(const struct protocol_arg *arg, uint64_t inputs, uint64_t outputs)
{
	uint64_t room = arg->kind == PROTOCOL_INPUT ? inputs : outputs;

	if (arg->kind > PROTOCOL_F64)
		return false;
	if (arg->kind > PROTOCOL_OUTPUT)
		return true;
	return arg->offset % PROTOCOL_PAGE == 0 && arg->offset <= room &&
	       arg->bytes <= room - arg->offset;
}

enum protocol_status protocol_call_check(const struct protocol_call *call, uint64_t inputs,
					 uint64_t outputs)
{
	if (call->entry > PROTOCOL_STORE || call->arg_count > PROTOCOL_ARGS_MAX)
		return PROTOCOL_BAD_CALL;
	for (uint32_t i = 0; i < call->arg_count; i++)
		if (!arg_fits(&call->args[i], inputs, outputs))
			return PROTOCOL_BAD_CALL;
	return PROTOCOL_OK;
}
