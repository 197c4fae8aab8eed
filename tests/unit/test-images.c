/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/run/images.h"

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/io.h"
#include "tests/lib/check.h"
#include "tests/lib/jails.h"

static struct jails jails;
static struct arena arena;
static struct policy policy;
static struct err err;
static struct image_list images;

static int look(void)
{
	return images_look(&policy, jails.launcher.socket_fd, -1, &arena, &images, &err);
}

/* A site.conf that only this test's launcher sees, with a folder as image `base`. */
static void start(void)
{
	static const char conf[] = "source base folder /etc/proctor/root\n";
	int fd;

	check_folder();
	if (geteuid() != 0)
		SKIP("needs root");
	CHECK(unshare(CLONE_NEWNS) == 0);
	CHECK(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
	mkdir("/etc/proctor", 0755);
	CHECK(mount("none", "/etc/proctor", "tmpfs", 0, "mode=755") == 0);
	CHECK(mkdir("/etc/proctor/root", 0755) == 0);
	fd = open("/etc/proctor/site.conf", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	CHECK_OK(io_write_all(fd, conf, strlen(conf), "site.conf", &err));
	close(fd);
	policy = policy_default();
	jails_start(&jails);
}

TEST(roles_with_the_hosts_root_have_no_image)
{
	start();
	CHECK_OK(look());
	CHECK_INT(images.count, 0);
	jails_end(&jails);
	arena_done(&arena);
}

TEST(a_run_that_no_agent_would_have_its_gpus_in_does_not_begin)
{
	start();
	policy.agent.gpus = POLICY_GPUS_MAX;
	CHECK_INT(look(), -1);
	CHECK(strstr(err.text, "': agent: jail 'image': ") && strstr(err.text, " GPU"));
	jails_end(&jails);
	arena_done(&arena);
}

TEST(nor_one_whose_evaluator_would_have_none)
{
	start();
	policy.evaluator.gpus = POLICY_GPUS_MAX;
	CHECK_INT(look(), -1);
	CHECK(strstr(err.text, "': evaluator: jail 'image': ") && strstr(err.text, " GPU"));
	jails_end(&jails);
	arena_done(&arena);
}

TEST(each_image_is_named_with_its_role_and_what_it_holds)
{
	start();
	policy.agent.image = policy.worker.image = policy.evaluator.image = "base";
	CHECK_OK(look());
	CHECK_INT(images.count, 3);
	CHECK_STR(images.items[0], "agent base folder");
	CHECK_STR(images.items[1], "worker base folder");
	CHECK_STR(images.items[2], "evaluator base folder");
	jails_end(&jails);
	arena_done(&arena);
}

TEST(an_image_that_can_not_be_had_stops_it_with_the_way_out)
{
	start();
	policy.build.image = "rocm";
	CHECK_INT(look(), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK_STR(err.text,
		  "policy 'default': build: jail 'image': there is no image 'rocm' for jails on "
		  "this host: its administrator can list it in /etc/proctor/site.conf ('source "
		  "rocm squashfs /PATH')");
	policy.build.image = "base";
	policy.build.changes.size = 64 * KIB;
	CHECK_INT(look(), -1);
	CHECK(strstr(err.text, "image 'base' is a folder of this host, which no jail changes"));
	jails_end(&jails);
	arena_done(&arena);
}

TEST(a_run_goes_on_with_its_own_images_alone)
{
	static const char *const one[] = { "agent a sha256:00", "build b folder" };
	static const char *const other[] = { "agent a sha256:01", "build b folder" };
	const struct image_list none = { NULL, 0 }, planned = { one, 2 }, less = { one, 1 },
				changed = { other, 2 };

	CHECK_OK(images_check(&none, &none, &err));
	CHECK_OK(images_check(&planned, &planned, &err));
	CHECK_INT(images_check(&planned, &changed, &err), -1);
	CHECK_INT(err.kind, ERR_INPUT);
	CHECK_STR(err.text, "the run was planned with another image ('agent a sha256:00', now "
			    "'agent a sha256:01'): put that one back, or begin a new run");
	CHECK_INT(images_check(&planned, &less, &err), -1);
	CHECK_INT(images_check(&none, &less, &err), -1);
}
