/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/judge/protocol.h"

#include <stdbool.h>

static uint64_t whole_pages(uint64_t bytes)
{
	return (bytes + PROTOCOL_PAGE - 1) / PROTOCOL_PAGE * PROTOCOL_PAGE;
}

static int check_buffer(const struct protocol_buffer *buffer, uint32_t index, struct err *err)
{
	if (buffer->bytes == 0)
		return err_set(err, ERR_INPUT, "buffer %u is empty", index);
	if (buffer->bytes > PROTOCOL_BUFFER_MAX)
		return err_set(err, ERR_INPUT, "buffer %u has %llu bytes, more than %llu", index,
			       (unsigned long long) buffer->bytes,
			       (unsigned long long) PROTOCOL_BUFFER_MAX);
	if (buffer->align > PROTOCOL_PAGE || (buffer->align & (buffer->align - 1)) != 0)
		return err_set(err, ERR_INPUT,
			       "buffer %u: an alignment of %llu is no power of two up to %d", index,
			       (unsigned long long) buffer->align, PROTOCOL_PAGE);
	return 0;
}

int protocol_lay_out(const struct protocol_buffer *buffers, uint32_t count,
		     struct protocol_layout *out, struct err *err)
{
	struct protocol_layout made = { .count = count, .span = PROTOCOL_PAGE };

	if (count > PROTOCOL_ARGS_MAX)
		return err_set(err, ERR_INPUT, "%u buffers are more than %d", count,
			       PROTOCOL_ARGS_MAX);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t shift = buffers[i].align % PROTOCOL_PAGE;

		if (check_buffer(&buffers[i], i, err) < 0)
			return -1;
		made.offset[i] = made.span + shift;
		made.bytes[i] = buffers[i].bytes;
		made.span += whole_pages(shift + buffers[i].bytes) + PROTOCOL_PAGE;
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
	return arg->kind > PROTOCOL_SCRATCH ||
	       (arg->offset <= room && arg->bytes <= room - arg->offset);
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
