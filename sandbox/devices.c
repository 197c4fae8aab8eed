/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/devices.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stddef.h>

#include "sandbox/base/fd.h"

/*
 * The program compares what is opened with one row after another:
 *
 *	r2 type   r3 access   r4 major   r5 minor
 *	row: if type, major and minor are the row's and access asks for nothing more: return 1
 *	end: return 0
 *
 * Making a node is an access of its own that no row grants.
 */
enum { ROW_LENGTH = 6, PROGRAM_MAX = 6 + DEVICES_MAX * ROW_LENGTH + 2 };

struct program {
	struct bpf_insn code[PROGRAM_MAX];
	int count;
};

static void emit(struct program *program, uint8_t code, uint8_t to, int16_t offset, int32_t value)
{
	program->code[program->count++] = (struct bpf_insn){
		.code = code,
		.dst_reg = to & 0xfU,
		.off = offset,
		.imm = value,
	};
}

static void emit_load(struct program *program, uint8_t to, size_t offset)
{
	program->code[program->count++] = (struct bpf_insn){
		.code = BPF_LDX | BPF_MEM | BPF_W,
		.dst_reg = to & 0xfU,
		.src_reg = BPF_REG_1,
		.off = (int16_t) offset,
	};
}

static void emit_return(struct program *program, int32_t value)
{
	emit(program, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, value);
	emit(program, BPF_JMP | BPF_EXIT, 0, 0, 0);
}

static void emit_start(struct program *program)
{
	emit_load(program, BPF_REG_2, offsetof(struct bpf_cgroup_dev_ctx, access_type));
	emit_load(program, BPF_REG_3, offsetof(struct bpf_cgroup_dev_ctx, access_type));
	emit(program, BPF_ALU | BPF_AND | BPF_K, BPF_REG_2, 0, 0xffff);
	emit(program, BPF_ALU | BPF_RSH | BPF_K, BPF_REG_3, 0, 16);
	emit_load(program, BPF_REG_4, offsetof(struct bpf_cgroup_dev_ctx, major));
	emit_load(program, BPF_REG_5, offsetof(struct bpf_cgroup_dev_ctx, minor));
}

/* Jumps to the next row where `reg` is not `value`; `left` instructions of this row follow. */
static void emit_unless(struct program *program, uint8_t reg, uint32_t value, int left)
{
	emit(program, BPF_JMP32 | BPF_JNE | BPF_K, reg, (int16_t) left, (int32_t) value);
}

static void emit_row(struct program *program, const struct device *device)
{
	uint32_t type = device->type == DEVICE_BLOCK ? BPF_DEVCG_DEV_BLOCK : BPF_DEVCG_DEV_CHAR;
	uint32_t denied = BPF_DEVCG_ACC_MKNOD;
	int minor = device->minor == DEVICE_ANY_MINOR ? 0 : 1;

	if ((device->access & DEVICE_READ) == 0)
		denied |= BPF_DEVCG_ACC_READ;
	if ((device->access & DEVICE_WRITE) == 0)
		denied |= BPF_DEVCG_ACC_WRITE;

	emit_unless(program, BPF_REG_2, type, 4 + minor);
	emit_unless(program, BPF_REG_4, device->major, 3 + minor);
	if (minor == 1)
		emit_unless(program, BPF_REG_5, device->minor, 3);
	emit(program, BPF_JMP32 | BPF_JSET | BPF_K, BPF_REG_3, 2, (int32_t) denied);
	emit_return(program, 1);
}

int devices_load(const struct device_slice *slice, struct err *err)
{
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = BPF_CGROUP_DEVICE);
	struct program program = { .count = 0 };
	int fd;

	if (slice->count > DEVICES_MAX)
		return err_set(err, ERR_SYS, "a list of %u devices is malformed", slice->count);
	emit_start(&program);
	for (uint32_t i = 0; i < slice->count; i++)
		emit_row(&program, &slice->devices[i]);
	emit_return(&program, 0);

	fd = bpf_prog_load(BPF_PROG_TYPE_CGROUP_DEVICE, "proctor_devices", "Apache-2.0",
			   program.code, (size_t) program.count, &options);
	if (fd < 0)
		return err_host(err,
				"load the device program; it takes CAP_BPF or CAP_SYS_ADMIN and "
				"a kernel with CONFIG_CGROUP_BPF");
	return fd;
}

int devices_guard(int cgroup_fd, int program_fd, struct err *err)
{
	if (bpf_prog_attach(program_fd, cgroup_fd, BPF_CGROUP_DEVICE, BPF_F_ALLOW_MULTI) < 0)
		return err_host(err,
				"attach the device program to the control group; a group above "
				"must not have one of its own that allows no others");
	return 0;
}

int devices_attach(int cgroup_fd, const struct device_slice *slice, struct err *err)
{
	auto_fd program_fd = devices_load(slice, err);

	return program_fd < 0 ? -1 : devices_guard(cgroup_fd, program_fd, err);
}
