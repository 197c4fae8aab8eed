/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/config/policy.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"
#include "tests/lib/check.h"

static int parse(const char *text, struct policy *policy, struct err *err)
{
	return policy_parse("p.yaml", text, strlen(text), policy, err);
}

static int open_policies(void)
{
	return open(SOURCE_ROOT "/policies", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void check_same_role(const struct policy_role *got, const struct policy_role *want)
{
	/* All members but the last three are uint64_t: there is no padding before them. */
	CHECK(memcmp(got, want, offsetof(struct policy_role, environment)) == 0);
	CHECK_INT(got->environment.count, want->environment.count);
	CHECK_INT(got->on_full, want->on_full);
	CHECK_STR(got->image, want->image);
}

TEST(the_shipped_policy_says_what_the_defaults_are)
{
	auto_fd folder_fd = open_policies();
	struct policy want = policy_default(), got = policy_default();
	struct err err = ERR_INIT;

	/* What the file leaves out would agree without being said. */
	memset(&got.agent, 0, sizeof(got.agent));
	memset(&got.evaluator, 0, sizeof(got.evaluator));
	got.retries = 77;
	CHECK_OK(policy_load(folder_fd, "default.yaml", &got, &err));
	CHECK_STR(got.name, want.name);
	check_same_role(&got.agent, &want.agent);
	check_same_role(&got.build, &want.build);
	check_same_role(&got.worker, &want.worker);
	check_same_role(&got.evaluator, &want.evaluator);
	CHECK_INT(got.accept, want.accept);
	CHECK_INT(got.retries, want.retries);
	policy_done(&got);
}

TEST(the_shipped_policy_leaves_no_default_out)
{
	static const struct {
		const char *name;
		size_t more; /* a worker has no more calls, agent and evaluator alone have GPUs */
	} roles[] = { { "agent", 2 }, { "build", 1 }, { "worker", 0 }, { "evaluator", 2 } };
	static const char *const keys[] = {
		"wall",    "cpu",      "idle",       "grace",     "memory",      "pids",  "cpus",
		"output",  "nofile",   "stack",      "memlock",   "file_size",   "tmp",   "shm",
		"on_full", "msgqueue", "sigpending", "workspace", "environment", "image", "changes",
	};
	static const char *const caps[] = { "workspace", "tmp", "shm", "changes" };
	cleanup(arena_done) struct arena arena = ARENA_INIT;
	auto_fd folder_fd = open_policies();
	auto_fd fd = openat(folder_fd, "default.yaml", O_RDONLY | O_CLOEXEC);
	char text[POLICY_FILE_MAX];
	ssize_t len = read(fd, text, sizeof(text));
	struct err err = ERR_INIT;
	const struct yaml_node *root = yaml_parse(&arena, "p", text, (size_t) len, &err);

	CHECK(root && yaml_find(root, "accept") && yaml_find(root, "retries"));
	for (size_t i = 0; i < ARRAY_LEN(roles); i++) {
		const struct yaml_node *role = yaml_find(root, roles[i].name);

		CHECK(role);
		for (size_t k = 0; k < ARRAY_LEN(keys); k++)
			CHECK(yaml_find(role, keys[k]));
		CHECK(!yaml_find(role, "syscalls") == (roles[i].more < 1));
		CHECK(!yaml_find(role, "gpus") == (roles[i].more < 2));
		CHECK_INT(role->count, ARRAY_LEN(keys) + roles[i].more);
		for (size_t k = 0; k < ARRAY_LEN(caps); k++)
			CHECK_INT(yaml_find(role, caps[k])->count, 2);
	}
}

TEST(the_shipped_policy_is_built_in_byte_for_byte)
{
	cleanup(str_done) struct str file = STR_INIT;
	auto_fd folder_fd = open_policies();
	struct err err = ERR_INIT;
	size_t len;
	const char *text = policy_default_text(&len);

	CHECK_OK(io_read_file(folder_fd, "default.yaml", POLICY_FILE_MAX, &file, &err));
	CHECK_INT(len, file.len);
	CHECK(memcmp(text, file.text, len) == 0);
}

TEST(what_a_policy_leaves_out_is_the_default)
{
	struct policy policy = policy_default();
	struct err err = ERR_INIT;

	CHECK_OK(parse("schema: 1\nname: mine\nagent: {pids: 99, tmp: {size: 1MiB}}\n"
		       "accept: [pids, cpus]\nretries: 0\n",
		       &policy, &err));
	CHECK_STR(policy.name, "mine");
	CHECK_INT(policy.agent.pids, 99);
	CHECK_INT(policy.agent.tmp.size, MIB);
	CHECK_INT(policy.agent.tmp.inodes, policy_default().agent.tmp.inodes);
	CHECK_INT(policy.agent.wall_ms, 1800000);
	CHECK_INT(policy.retries, 0);
	CHECK_INT(policy.agent.idle_ms, 0);
	CHECK(policy_accepts(&policy, ACCEPT_PIDS) && policy_accepts(&policy, ACCEPT_CPUS));
	CHECK(!policy_accepts(&policy, ACCEPT_MEMORY) && !policy_accepts(&policy, ACCEPT_SWAP));
	policy_done(&policy);
	CHECK(!policy_accepts(&policy, ACCEPT_PIDS));
	CHECK_INT(policy.retries, 2);
}

#define HEAD "schema: 1\nname: mine\n"

struct mistake {
	const char *text, *error;
};

static void check_mistakes(const struct mistake *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct policy policy = policy_default();
		struct err err = ERR_INIT;

		CHECK_INT(parse(cases[i].text, &policy, &err), -1);
		CHECK_STR(err.text, cases[i].error);
		CHECK_INT(err.kind, ERR_INPUT);
		CHECK_STR(policy.name, "default");
	}
}

TEST(a_mistake_in_a_policy_is_named_with_its_line)
{
	static const struct mistake cases[] = {
		{ "", "p.yaml: the file is empty" },
		{ "name: a\n",
		  "p.yaml:1: the policy lacks the key 'schema' (the version of this format)" },
		{ "schema: 2\nname: a\n", "p.yaml:1: key 'schema': '2' is not within 1..1" },
		{ HEAD "agent: {pids: 15}\n",
		  "p.yaml:3: key 'pids': '15' is not within 16..32768" },
		{ HEAD "agent: {cpus: 0.049}\n",
		  "p.yaml:3: key 'cpus': '0.049' is not within 0.05..4096" },
		{ HEAD "agent: {wall: 999ms}\n",
		  "p.yaml:3: key 'wall': '999ms' is not within 1s..168h" },
		{ HEAD "agent: {wall: 30}\n",
		  "p.yaml:3: key 'wall': '30' is not a duration such as "
		  "500ms, 300s, 2m or 1h, within 1s..168h" },
		{ HEAD "agent:\n  tmp: {sise: 1MiB}\n",
		  "p.yaml:4: there is no key 'sise' here; the nearest is 'size'" },
		{ HEAD "agents: {}\n",
		  "p.yaml:3: there is no key 'agents' here; the nearest is 'agent'" },
		{ HEAD "gpus: 1\n", "p.yaml:3: there is no key 'gpus' here; the agent has it" },
		{ HEAD "build: {gpus: 1}\n",
		  "p.yaml:3: there is no key 'gpus' here; the agent has it" },
		{ HEAD "worker: {syscalls: [profiler]}\n",
		  "p.yaml:3: there is no key 'syscalls' here; the agent has it" },
		{ HEAD "agent: {size: 1GiB}\n",
		  "p.yaml:3: there is no key 'size' here; a tmpfs has it" },
		{ HEAD "agent:\n  tmp: {bytes: 1MiB}\n",
		  "p.yaml:4: there is no key 'bytes' here; there are size, inodes" },
		{ HEAD "devices: []\n", "p.yaml:3: key 'devices': 'devices' is not supported yet "
					"by this version; leave it out" },
		{ HEAD "accept: [time]\n", "p.yaml:3: key 'accept': 'time' is not one of: memory, "
					   "swap, pids, cpus, landlock" },
		{ HEAD "agent: {idle: 5}\n", "p.yaml:3: key 'idle': '5' is not a duration such as "
					     "500ms, 300s, 2m or 1h, within "
					     "0..168h" },
		{ HEAD "agent: {idle: 169h}\n",
		  "p.yaml:3: key 'idle': '169h' is not within 0..168h" },
		{ HEAD "build: {on_full: stop}\n",
		  "p.yaml:3: key 'on_full': 'stop' is not one of: report, end" },
		{ HEAD "worker:\n  shm: {size: 2GiB}\n",
		  "p.yaml:3: key 'worker': memory of 1024MiB is less than workspace, tmp and shm "
		  "can "
		  "take, with 2KiB for each inode and 64MiB to work in: 2195MiB; give more, or "
		  "these less" },
		{ HEAD "agent: {image: a/b}\n",
		  "p.yaml:3: key 'image': 'a/b' is not an image's name: 1 to 31 letters, digits, "
		  "'-', '_' and '.', or host" },
		{ HEAD "build:\n  changes: {size: 1MiB}\n",
		  "p.yaml:4: key 'changes': nobody changes the host's files: name an image, or "
		  "leave it out" },
		{ HEAD "build: {image: a, changes: {size: 1KiB}}\n",
		  "p.yaml:3: key 'changes': no change fits into less than 64KiB; 0 is a read-only "
		  "root" },
		{ HEAD "worker: {image: a, changes: {size: 2GiB}}\n",
		  "p.yaml:3: key 'worker': memory of 1024MiB is less than workspace, tmp, shm and "
		  "changes can take, with 2KiB for each inode and 64MiB to work in: 2243MiB; give "
		  "more, or these less" },
	};

	check_mistakes(cases, ARRAY_LEN(cases));
}

TEST(a_mistake_about_an_evaluator_is_named_with_its_line)
{
	static const struct mistake cases[] = {
		{ HEAD "evaluator: {gpus: 9}\n", "p.yaml:3: key 'gpus': '9' is not within 0..8" },
		{ HEAD "evaluators: {}\n",
		  "p.yaml:3: there is no key 'evaluators' here; the nearest is 'evaluator'" },
		{ HEAD "evaluator: {changes: {size: 1MiB}}\n",
		  "p.yaml:3: key 'changes': nobody changes the host's files: name an image, or "
		  "leave it out" },
		{ HEAD "evaluator:\n  memory: 2369MiB\n",
		  "p.yaml:3: key 'evaluator': memory of 2369MiB is less than workspace, tmp and "
		  "shm can take, with 2KiB for each inode and 64MiB to work in: 2370MiB; give "
		  "more, or these less" },
	};

	check_mistakes(cases, ARRAY_LEN(cases));
}

TEST(memory_that_just_covers_the_tmpfs_is_enough)
{
	struct policy policy = policy_default();
	struct err err = ERR_INIT;

	/* 3 x 1 MiB, 3 x 1024 inodes of 2 KiB, and 64 MiB. */
	CHECK_OK(parse(HEAD "worker: {memory: 73MiB, workspace: {size: 1MiB, inodes: 1024}, "
			    "tmp: {size: 1MiB, inodes: 1024}, shm: {size: 1MiB, inodes: 1024}}\n",
		       &policy, &err));
	policy_done(&policy);
	CHECK_INT(parse(HEAD "worker: {memory: 72MiB, workspace: {size: 1MiB, inodes: 1024}, "
			     "tmp: {size: 1MiB, inodes: 1024}, shm: {size: 1MiB, inodes: 1024}}\n",
			&policy, &err),
		  -1);
}

/* An hour for an agent and for one command is what that benchmark gives them. */
TEST(the_policy_for_agentkernelarena_gives_agent_and_evaluator_a_gpu_and_an_hour)
{
	size_t len;
	const char *text = policy_shipped("agentkernelarena", &len);
	struct policy policy = policy_default(), shipped = policy_default();
	struct err err = ERR_INIT;

	CHECK(text);
	CHECK_OK(policy_parse("a.yaml", text, len, &policy, &err));
	CHECK_STR(policy.name, "agentkernelarena");
	CHECK_INT(policy.agent.gpus, 1);
	CHECK_INT(policy.evaluator.gpus, 1);
	CHECK_INT(policy.agent.wall_ms, 3600000);
	CHECK_INT(policy.evaluator.wall_ms, 3600000);
	CHECK_INT(policy.agent.memory, 32 * GIB);
	CHECK_INT(policy.evaluator.memory, 32 * GIB);
	CHECK_INT(policy.evaluator.output, 64 * MIB);
	/* What an agent leaves fits where it is marked. */
	CHECK(policy.evaluator.workspace.size >= policy.agent.workspace.size);
	CHECK(policy.evaluator.workspace.inodes >= policy.agent.workspace.inodes);
	check_same_role(&policy.build, &shipped.build);
	check_same_role(&policy.worker, &shipped.worker);
	policy_done(&policy);
}

TEST(a_policy_that_is_not_there_is_named)
{
	auto_fd folder_fd = open_policies();
	struct policy policy = policy_default();
	struct err err = ERR_INIT;

	CHECK_INT(policy_load(folder_fd, "none.yaml", &policy, &err), -1);
	CHECK_STR(err.text, "open 'none.yaml': No such file or directory");
	CHECK_INT(policy_load(folder_fd, "../LICENSE", &policy, &err), -1);
	CHECK_INT(err.kind, ERR_INPUT);
}

/* Neither waits, nor reads without end, nor takes a folder for a file. */
TEST(what_is_no_file_with_text_is_no_policy)
{
	static const struct {
		const char *name, *error;
	} cases[] = {
		{ "folder", "'folder' is not a regular file" },
		{ "fifo", "'fifo' is not a regular file" },
		{ "link", "open 'link': Too many levels of symbolic links" },
		{ "huge", "huge is larger than 65536 bytes" },
		{ "holes", "holes:1: byte 0 is the control character 0x00; remove it" },
		{ "nothing", "nothing: the file is empty" },
	};
	auto_fd huge_fd = openat(check_folder(), "huge", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	auto_fd holes_fd = openat(check_folder(), "holes", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	auto_fd nothing_fd =
		openat(check_folder(), "nothing", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	struct policy policy = policy_default();
	struct err err = ERR_INIT;

	CHECK(nothing_fd >= 0 && mkdirat(check_folder(), "folder", 0700) == 0);
	CHECK(mkfifoat(check_folder(), "fifo", 0600) == 0);
	CHECK(symlinkat("huge", check_folder(), "link") == 0);
	CHECK(ftruncate(huge_fd, POLICY_FILE_MAX + 1) == 0);
	CHECK(ftruncate(holes_fd, POLICY_FILE_MAX) == 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CHECK_INT(policy_load(check_folder(), cases[i].name, &policy, &err), -1);
		CHECK_STR(err.text, cases[i].error);
		CHECK_INT(err.kind, ERR_INPUT);
	}
}
