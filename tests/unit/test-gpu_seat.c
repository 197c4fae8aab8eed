/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/gpu_seat.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/syscalls.h"
#include "sandbox/cgroup.h"
#include "tests/lib/check.h"
#include "tests/lib/gpu_trees.h"

static struct site site;
static struct jail_spec spec;
static struct gpu_seat seat, other;
static struct err err;

/* Two of each vendor: 0 and 1 are AMD's, 2 and 3 NVIDIA's. */
static struct gpu_host make_host(void)
{
	struct gpu_host host = gpu_trees_host("226 drm\n240 kfd\n195 nvidia\n511 nvidia-uvm\n");

	gpu_trees_amd(1, 128, "devices/pci0000:c0/0000:c1:00.0");
	gpu_trees_amd(2, 129, "devices/pci0000:c0/0000:c2:00.0");
	gpu_trees_nvidia("0000:19:00.0", 0);
	gpu_trees_nvidia("0000:9b:00.0", 1);
	site_default(&site);
	return host;
}

static void ask_for(const char *one, const char *two)
{
	spec_init(&spec, "test");
	CHECK_OK(spec_add_gpu(&spec, one, &err));
	if (two)
		CHECK_OK(spec_add_gpu(&spec, two, &err));
}

static void conf(const char *text)
{
	CHECK_OK(site_parse("site.conf", text, strlen(text), &site, &err));
}

static const char *failure(const struct gpu_host *host)
{
	err = (struct err) ERR_INIT;
	CHECK_INT(gpu_seat_take(&site, &spec, host, check_folder(), &seat, &err), -1);
	CHECK_INT(err.kind, ERR_HOST);
	CHECK_INT(seat.count, 0);
	return err.text;
}

TEST(without_a_file_every_gpu_is_to_be_had_by_its_place)
{
	struct gpu_host host = make_host();

	ask_for("3", "0");
	CHECK_OK(site_bound(&site, &spec, &err));
	CHECK_OK(gpu_seat_take(&site, &spec, &host, check_folder(), &seat, &err));
	CHECK_INT(seat.count, 2);
	CHECK_STR(seat.own[0].address, "0000:9b:00.0");
	CHECK_INT(seat.own[1].number, 128);
	gpu_seat_done(&seat);
	ask_for("4", NULL);
	CHECK_STR(failure(&host), "there is no GPU '4' on this host: its drivers show 4; 'proctor "
				  "doctor' lists them");
}

TEST(with_a_file_it_is_the_names_of_the_file)
{
	struct gpu_host host = make_host();

	conf("gpu left renderD129\ngpu right 0000:19:00.0\ngpu gone 9\n");
	ask_for("right", "left");
	CHECK_OK(site_bound(&site, &spec, &err));
	CHECK_OK(gpu_seat_take(&site, &spec, &host, check_folder(), &seat, &err));
	CHECK_INT(seat.own[0].vendor, GPU_NVIDIA);
	CHECK_INT(seat.own[1].number, 129);
	gpu_seat_done(&seat);
	ask_for("gone", NULL);
	CHECK_STR(failure(&host), "there is no GPU 'gone', which is listed as '9', on this host: "
				  "its drivers show 4; 'proctor doctor' lists them");
	ask_for("0", NULL);
	CHECK_INT(site_bound(&site, &spec, &err), -1);
	CHECK_STR(err.text, "jail 'test': there is no GPU '0' for jails on this host: its "
			    "administrator can list it in site.conf ('gpu 0 …')");
	conf("jail.pids 999\n");
	ask_for(SPEC_ANY_GPU, NULL);
	CHECK_INT(site_bound(&site, &spec, &err), -1);
	CHECK_STR(err.text, "jail 'test': there are no GPUs for jails on this host: its "
			    "administrator can list them in site.conf ('gpu gpu0 0')");
}

TEST(a_gpu_is_one_jails_at_a_time)
{
	struct gpu_host host = make_host();

	ask_for("1", NULL);
	CHECK_OK(gpu_seat_take(&site, &spec, &host, check_folder(), &other, &err));
	CHECK_STR(failure(&host),
		  "the GPU '1' (gfx942) is another jail's now: wait for its end, or "
		  "take another GPU");
	/* By whatever name. */
	ask_for("renderD129", NULL);
	CHECK(strstr(failure(&host), "is another jail's now"));
	/* What was leased on the way is given back. */
	ask_for("0", "0000:c2:00.0");
	CHECK(strstr(failure(&host), "is another jail's now"));
	ask_for("0", NULL);
	CHECK_OK(gpu_seat_take(&site, &spec, &host, check_folder(), &seat, &err));
	gpu_seat_done(&seat);
	gpu_seat_done(&other);
	ask_for("1", NULL);
	CHECK_OK(gpu_seat_take(&site, &spec, &host, check_folder(), &seat, &err));
	gpu_seat_done(&seat);
	ask_for("0", "renderD128");
	CHECK_STR(failure(&host), "the GPU 'renderD128' is asked for twice, by two names");
}

/* As the kernel does where a monitor is killed: the note stays. */
static void lose(struct gpu_seat *lost)
{
	lease_done(&lost->leases[0]);
	lost->count = 0;
}

TEST(nobody_gets_a_gpu_while_processes_of_the_jail_that_had_it_are_left)
{
	struct gpu_host host = make_host();
	pid_t child = fork();

	if (child == 0) {
		pause();
		_exit(0);
	}
	ask_for("1", NULL);
	CHECK_OK(gpu_seat_take(&site, &spec, &host, check_folder(), &other, &err));
	CHECK_OK(gpu_seat_note(&other, child, &err));
	lose(&other);
	CHECK(strstr(failure(&host), "is another jail's now"));
	ask_for(SPEC_ANY_GPU, NULL);
	CHECK_OK(gpu_seat_take(&site, &spec, &host, check_folder(), &seat, &err));
	CHECK_INT(seat.own[0].number, 128);
	gpu_seat_done(&seat);
	/* Ended, and not reaped yet. */
	CHECK(kill(child, SIGKILL) == 0);
	CHECK(waitid(P_PID, (id_t) child, &(siginfo_t){ 0 }, WEXITED | WNOWAIT) == 0);
	ask_for("1", NULL);
	CHECK_OK(gpu_seat_take(&site, &spec, &host, check_folder(), &other, &err));
	CHECK_OK(gpu_seat_note(&other, getpid(), &err));
	/* Given back it is free, whoever had it still lives. */
	gpu_seat_done(&other);
	CHECK_OK(gpu_seat_take(&site, &spec, &host, check_folder(), &other, &err));
	CHECK(waitpid(child, NULL, 0) == child);
	CHECK_OK(gpu_seat_note(&other, child, &err));
	lose(&other);
	CHECK_OK(gpu_seat_take(&site, &spec, &host, check_folder(), &other, &err));
	gpu_seat_done(&other);
}

TEST(any_is_one_that_is_free_and_not_asked_for_by_name)
{
	struct gpu_host host = make_host();

	ask_for("2", NULL);
	CHECK_OK(gpu_seat_take(&site, &spec, &host, check_folder(), &other, &err));
	spec_init(&spec, "test");
	CHECK_OK(spec_add_gpu(&spec, SPEC_ANY_GPU, &err));
	CHECK_OK(spec_add_gpu(&spec, SPEC_ANY_GPU, &err));
	CHECK_OK(spec_add_gpu(&spec, "0", &err));
	CHECK_OK(gpu_seat_take(&site, &spec, &host, check_folder(), &seat, &err));
	CHECK_INT(seat.count, 3);
	CHECK_INT(seat.own[0].number, 128);
	CHECK_INT(seat.own[1].number, 129);
	CHECK_STR(seat.own[2].address, "0000:9b:00.0");
	gpu_seat_done(&seat);
	CHECK_OK(spec_add_gpu(&spec, SPEC_ANY_GPU, &err));
	CHECK_STR(failure(&host), "1 GPUs are other jails' now, and no other is free: wait for the "
				  "end of one, or have fewer jails at one time");
	gpu_seat_done(&other);
	conf("gpu a 9\ngpu b 1\n");
	ask_for(SPEC_ANY_GPU, NULL);
	CHECK_OK(gpu_seat_take(&site, &spec, &host, check_folder(), &seat, &err));
	CHECK_INT(seat.own[0].number, 129);
	gpu_seat_done(&seat);
	ask_for(SPEC_ANY_GPU, SPEC_ANY_GPU);
	CHECK_STR(failure(&host),
		  "this host has 1 GPUs for jails, and more are asked for: 'proctor "
		  "doctor' says what its drivers show");
}

/* Nodes of the GPUs that @which names, beside those of every jail. */
static struct device_slice devices_of(const struct gpu_host *host, const char *one, const char *two)
{
	struct device_slice slice;

	ask_for(one, two);
	CHECK_OK(gpu_seat_take(&site, &spec, host, check_folder(), &seat, &err));
	devices_base(&slice);
	for (uint32_t i = 0; i < seat.count; i++) {
		struct gpu_node nodes[GPU_NODES_MAX];
		uint32_t count;

		CHECK_OK(gpu_nodes(host, &seat.own[i], nodes, &count, &err));
		CHECK_OK(gpu_seat_devices(nodes, count, &slice, &err));
	}
	gpu_seat_done(&seat);
	return slice;
}

static const char *names_of(const struct device_slice *slice)
{
	struct device_slice base;
	static char text[512];
	size_t len = 0;

	devices_base(&base);
	text[0] = '\0';
	for (uint32_t i = base.count; i < slice->count; i++) {
		const struct device *device = &slice->devices[i];

		CHECK_INT(device->mode, 0666);
		CHECK_INT(device->access, DEVICE_READ | DEVICE_WRITE);
		len += (size_t) snprintf(text + len, sizeof(text) - len, "%s%s", len > 0 ? " " : "",
					 device->name);
	}
	return text;
}

TEST(what_gpus_share_is_there_once)
{
	struct gpu_host host = make_host();
	struct device_slice slice = devices_of(&host, "1", NULL);

	CHECK_STR(names_of(&slice), "kfd dri/renderD129");
	slice = devices_of(&host, "0", "1");
	CHECK_STR(names_of(&slice), "kfd dri/renderD128 dri/renderD129");
	slice = devices_of(&host, "2", "3");
	CHECK_STR(names_of(&slice), "nvidiactl nvidia-uvm nvidia0 nvidia1");
}

static bool has_row(const struct plan *plan, const char *target, enum plan_kind kind)
{
	for (size_t i = 0; i < plan->count; i++)
		if (strcmp(plan->rows[i].target, target) == 0 && plan->rows[i].kind == kind)
			return true;
	return false;
}

static struct plan plan_of(const struct gpu_host *host, const char *one)
{
	static struct plan_slice slice;
	struct plan plan;

	ask_for(one, NULL);
	CHECK_OK(gpu_seat_take(&site, &spec, host, check_folder(), &seat, &err));
	slice = spec.plan;
	CHECK_OK(gpu_seat_tree(&seat.all, seat.own, seat.count, &slice.extras, &err));
	gpu_seat_done(&seat);
	plan_make(&slice, &plan);
	return plan;
}

TEST(the_tree_has_the_seats_gpu_and_hides_the_others)
{
	struct gpu_host host = make_host();
	struct plan plan = plan_of(&host, "0");

	CHECK(has_row(&plan, "sys/devices/virtual/kfd/kfd/topology", PLAN_BIND));
	CHECK(has_row(&plan, "sys/devices/pci0000:c0/0000:c1:00.0", PLAN_BIND));
	CHECK(has_row(&plan, "sys/dev/char/226:128", PLAN_AS_HOST));
	CHECK(has_row(&plan, "proc/driver/nvidia", PLAN_MASK));
	for (size_t i = 0; i < plan.count; i++)
		CHECK(!strstr(plan.rows[i].target, "c2:00.0") &&
		      !strstr(plan.rows[i].target, "129"));
	plan = plan_of(&host, "3");
	CHECK(has_row(&plan, "proc/driver/nvidia/params", PLAN_COVER));
	CHECK(has_row(&plan, "proc/driver/nvidia/gpus/0000:19:00.0", PLAN_MASK));
	CHECK(!has_row(&plan, "proc/driver/nvidia/gpus/0000:9b:00.0", PLAN_MASK));
	CHECK(!has_row(&plan, "proc/driver/nvidia", PLAN_MASK));
	CHECK(has_row(&plan, "sys/devices/pci0000:00/0000:9b:00.0", PLAN_BIND));
	for (size_t i = 0; i < plan.count; i++)
		CHECK(!strstr(plan.rows[i].target, "kfd"));
}

/* -- the device program -- */

static int nodes_fd;

static int try_open(const char *path)
{
	auto_fd fd = openat(nodes_fd, path, O_RDWR | O_CLOEXEC | O_NONBLOCK);

	return fd < 0 ? errno : 0;
}

/* No driver has these numbers where there is no GPU: what may be opened is not there. */
static int open_nodes(void)
{
	return try_open("kfd") == EPERM                                          ? 1
	     : try_open("renderD128") == EPERM                                   ? 2
	     : try_open("renderD129") != EPERM                                   ? 3
	     : try_open("card0") != EPERM                                        ? 4
	     : try_open("nvidiactl") != EPERM                                    ? 5
	     : mknodat(nodes_fd, "made", S_IFCHR | 0600, makedev(226, 129)) == 0 ? 6
										 : 0;
}

static void put_node(const char *name, unsigned int major, unsigned int minor)
{
	CHECK(mknodat(nodes_fd, name, S_IFCHR | 0666, makedev(major, minor)) == 0);
}

TEST(with_seat_0_of_two_the_node_of_the_other_does_not_open)
{
	struct cgroup_host groups = { .unified_fd = -1 };
	const struct cgroup_limits limits = { 0 };
	struct cgroup cg = CGROUP_INIT;
	struct clone_args args = { .flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD };
	struct gpu_host host;
	struct device_slice slice;
	int context, status;
	char name[32];
	pid_t pid;

	if (geteuid() != 0)
		SKIP("needs root");
	host = make_host();
	slice = devices_of(&host, "0", NULL);
	context = fsopen("tmpfs", FSOPEN_CLOEXEC);
	CHECK(context >= 0 && fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0);
	nodes_fd = fsmount(context, FSMOUNT_CLOEXEC, 0);
	CHECK(nodes_fd >= 0);
	put_node("kfd", 240, 0);
	put_node("renderD128", 226, 128);
	put_node("renderD129", 226, 129);
	put_node("card0", 226, 0);
	put_node("nvidiactl", 195, 255);
	CHECK_OK(cgroup_host_open(&groups, &err));
	snprintf(name, sizeof(name), "test-gpu-%d", (int) getpid());
	CHECK_OK(cgroup_create(&groups, name, &limits, &cg, &err));
	CHECK_OK(devices_attach(cgroup_clone_fd(&cg), &slice, &err));
	args.cgroup = (uint64_t) cgroup_clone_fd(&cg);
	pid = sys_clone3(&args);
	if (pid == 0)
		_exit(open_nodes());
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
	CHECK_OK(cgroup_remove(&cg, &err));
	cgroup_host_done(&groups);
	CHECK_INT(status, 0);
}
