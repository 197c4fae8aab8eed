/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proctor-worker: runs one implementation for the judge
 *
 *	proctor-worker                     the entries null and store only
 *	proctor-worker LIBRARY SYMBOL      a function of a shared library
 *
 * Descriptors 3, 4 and 5 are the control page, the inputs and the outputs (protocol.h). It loads
 * the library, rings "ready", and then answers each "go" with "done". The code that it runs may do
 * anything in here: nothing that it says is believed. It needs no file but the library and what
 * that one needs.
 */
#include <dlfcn.h>
#include <ffi.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/judge/protocol.h"
#include "harness/judge/raw_clock.h"
#include "sandbox/base/mem.h"

struct memory {
	struct protocol_control *control;
	uint8_t *inputs;
	uint8_t *outputs;
	uint64_t inputs_size;
	uint64_t outputs_size;
};

/* A call in the form that libffi wants. */
struct prepared {
	ffi_cif cif;
	ffi_type *types[PROTOCOL_ARGS_MAX];
	void *pointers[PROTOCOL_ARGS_MAX];
	void *values[PROTOCOL_ARGS_MAX];
	struct protocol_call call;
	bool is_ready;
};

enum { WRONG_USAGE = 2, NO_MEMORY = 3 };

/* Everything is populated, so that no call pays for page tables. */
static void *map(int fd, int protection, uint64_t *size)
{
	struct stat info;
	void *at;

	if (fstat(fd, &info) < 0 || info.st_size <= 0)
		return NULL;
	at = mmap(NULL, (size_t) info.st_size, protection, MAP_SHARED | MAP_POPULATE, fd, 0);
	*size = (uint64_t) info.st_size;
	return at == MAP_FAILED ? NULL : at;
}

static int map_all(struct memory *memory)
{
	uint64_t page = 0;

	memory->control = map(PROTOCOL_CONTROL_FD, PROT_READ | PROT_WRITE, &page);
	memory->inputs = map(PROTOCOL_INPUTS_FD, PROT_READ, &memory->inputs_size);
	memory->outputs = map(PROTOCOL_OUTPUTS_FD, PROT_READ | PROT_WRITE, &memory->outputs_size);
	return memory->control && page >= PROTOCOL_PAGE && memory->inputs && memory->outputs ? 0
											     : -1;
}

static enum protocol_status load(const char *library, const char *symbol, void (**entry)(void))
{
	void *loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	void *found;

	if (!loaded)
		return PROTOCOL_NO_LIBRARY;
	found = dlsym(loaded, symbol);
	if (!found)
		return PROTOCOL_NO_SYMBOL;
	/* ISO C has no cast from object to function pointers; POSIX has dlsym. */
	memcpy(entry, &found, sizeof(found));
	return PROTOCOL_OK;
}

static void null_entry(void)
{
}

static uint64_t sum_words(const uint8_t *bytes, uint64_t count)
{
	uint64_t sum = 0;

	for (uint64_t at = 0; at < count / 8; at++) {
		uint64_t word;

		memcpy(&word, bytes + 8 * at, sizeof(word));
		sum += word;
	}
	return sum;
}

/* Touches what an honest kernel touches: every input once, every output once. */
static void store(const struct prepared *prepared)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < prepared->call.arg_count; i++) {
		const struct protocol_arg *arg = &prepared->call.args[i];

		if (arg->kind == PROTOCOL_INPUT || arg->kind == PROTOCOL_INOUT)
			sum += sum_words(prepared->pointers[i], arg->bytes);
	}
	for (uint32_t i = 0; i < prepared->call.arg_count; i++) {
		const struct protocol_arg *arg = &prepared->call.args[i];

		if (arg->kind == PROTOCOL_OUTPUT || arg->kind == PROTOCOL_INOUT)
			memset(prepared->pointers[i], (int) (sum & 0x7f), arg->bytes);
	}
}

static void prepare_arg(const struct memory *memory, struct prepared *prepared, uint32_t i)
{
	struct protocol_arg *arg = &prepared->call.args[i];
	ffi_type *const types[] = {
		[PROTOCOL_INPUT] = &ffi_type_pointer,   [PROTOCOL_OUTPUT] = &ffi_type_pointer,
		[PROTOCOL_INOUT] = &ffi_type_pointer,   [PROTOCOL_SCRATCH] = &ffi_type_pointer,
		[PROTOCOL_NOTHING] = &ffi_type_pointer, [PROTOCOL_I8] = &ffi_type_sint8,
		[PROTOCOL_U8] = &ffi_type_uint8,        [PROTOCOL_I32] = &ffi_type_sint32,
		[PROTOCOL_I64] = &ffi_type_sint64,      [PROTOCOL_F32] = &ffi_type_float,
		[PROTOCOL_F64] = &ffi_type_double,
	};

	prepared->types[i] = types[arg->kind];
	prepared->values[i] = &arg->offset; /* of the union: any scalar */
	if (arg->kind > PROTOCOL_NOTHING)
		return;
	prepared->values[i] = &prepared->pointers[i];
	if (arg->kind == PROTOCOL_NOTHING)
		return;
	prepared->pointers[i] =
		(arg->kind == PROTOCOL_INPUT ? memory->inputs : memory->outputs) + arg->offset;
}

static enum protocol_status prepare(const struct memory *memory, struct prepared *prepared)
{
	memcpy(&prepared->call, &memory->control->call, sizeof(prepared->call));
	if (protocol_call_check(&prepared->call, memory->inputs_size, memory->outputs_size) !=
	    PROTOCOL_OK)
		return PROTOCOL_BAD_CALL;
	for (uint32_t i = 0; i < prepared->call.arg_count; i++)
		prepare_arg(memory, prepared, i);
	if (ffi_prep_cif(&prepared->cif, FFI_DEFAULT_ABI, prepared->call.arg_count, &ffi_type_void,
			 prepared->types) != FFI_OK)
		return PROTOCOL_BAD_CALL;
	prepared->is_ready = true;
	return PROTOCOL_OK;
}

/* Between its first line and the entry point lies what the null call measures: keep it short. */
static enum protocol_status answer(const struct memory *memory, struct prepared *kept,
				   void (*task)(void), int64_t *claimed_ns)
{
	int64_t began = raw_clock_ns();
	uint32_t shape = atomic_load_explicit(&memory->control->shape, memory_order_relaxed);
	struct prepared *prepared = &kept[shape % PROTOCOL_SHAPES];
	enum protocol_status status = PROTOCOL_OK;

	if (!prepared->is_ready)
		status = prepare(memory, prepared);
	if (status == PROTOCOL_OK && prepared->call.entry == PROTOCOL_TASK && !task)
		status = PROTOCOL_BAD_CALL;
	if (status != PROTOCOL_OK)
		return status;
	if (prepared->call.entry == PROTOCOL_STORE)
		store(prepared);
	else
		ffi_call(&prepared->cif, prepared->call.entry == PROTOCOL_TASK ? task : null_entry,
			 NULL, prepared->values);
	atomic_thread_fence(memory_order_seq_cst);
	*claimed_ns = raw_clock_ns() - began;
	return PROTOCOL_OK;
}

static void ring(struct protocol_control *control, uint32_t number, enum protocol_status status,
		 int64_t claimed_ns)
{
	atomic_store_explicit(&control->claimed_ns, claimed_ns, memory_order_relaxed);
	atomic_store_explicit(&control->status, status, memory_order_relaxed);
	atomic_store_explicit(&control->done, number, memory_order_seq_cst);
}

static void serve(const struct memory *memory, void (*task)(void))
{
	struct prepared *kept = mem_alloc(PROTOCOL_SHAPES, sizeof(*kept));
	uint32_t last = PROTOCOL_IDLE;

	for (;;) {
		enum protocol_status status;
		int64_t claimed_ns = 0;
		uint32_t go;

		while ((go = atomic_load_explicit(&memory->control->go, memory_order_acquire)) ==
		       last)
			spin_pause();
		if (go == PROTOCOL_STOP)
			break;
		last = go;
		status = answer(memory, kept, task, &claimed_ns);
		ring(memory->control, go, status, claimed_ns);
	}
	mem_free(&kept);
}

int main(int argc, char **argv)
{
	struct memory memory = { .control = NULL };
	enum protocol_status status = PROTOCOL_OK;
	void (*task)(void) = NULL;

	if (argc != 1 && argc != 3)
		return WRONG_USAGE;
	if (map_all(&memory) < 0)
		return NO_MEMORY;
	if (argc == 3)
		status = load(argv[1], argv[2], &task);
	ring(memory.control, PROTOCOL_READY, status, 0);
	if (status == PROTOCOL_OK)
		serve(&memory, task);
	return 0;
}
