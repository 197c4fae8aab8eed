/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/trial.h"

#include "sandbox/base/message.h"

const struct name trial_names[] = {
	{ "capabilities", TRIAL_CAPABILITIES },
	{ "leases", TRIAL_LEASES },
	{ "namespaces", TRIAL_NAMESPACES },
	{ "user-namespace", TRIAL_USER_NAMESPACE },
	{ "cgroups", TRIAL_CGROUPS },
	{ "memory", TRIAL_MEMORY },
	{ "swap", TRIAL_SWAP },
	{ "pids", TRIAL_PIDS },
	{ "cpu", TRIAL_CPU },
	{ "cpuset", TRIAL_CPUSET },
	{ "freeze", TRIAL_FREEZE },
	{ "kill", TRIAL_KILL },
	{ "device-nodes", TRIAL_NODES },
	{ "device-program", TRIAL_DEVICES },
	{ "seccomp", TRIAL_SECCOMP },
	{ "seccomp-notifier", TRIAL_NOTIFIER },
	{ "landlock", TRIAL_LANDLOCK },
	{ NULL, 0 },
};

int trial_send(int socket_fd, const struct trial *trial, struct err *err)
{
	return message_send(socket_fd, trial, sizeof(*trial), NULL, err);
}

int trial_receive(int socket_fd, struct trial *out, struct err *err)
{
	struct trial got;
	ssize_t len = message_receive(socket_fd, &got, sizeof(got), NULL, err);

	if (len <= 0)
		return (int) len;
	if ((size_t) len != sizeof(got) || got.kind >= TRIAL_KINDS || got.result > TRIAL_UNTRIED ||
	    got.err.kind > ERR_SYS)
		return err_set(err, ERR_SYS, "a record of proctor-probe is malformed");
	got.found[sizeof(got.found) - 1] = '\0';
	got.err.text[sizeof(got.err.text) - 1] = '\0';
	*out = got;
	return 1;
}
