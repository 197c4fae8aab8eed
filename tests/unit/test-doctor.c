/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/doctor/doctor.h"

#include <stdio.h>
#include <string.h>

#include "tests/lib/check.h"
#include "tests/lib/hosts.h"

static struct doctor doctor;

static void look(const struct doctor_host *host)
{
	doctor_done(&doctor);
	doctor_look(host, &doctor);
}

static void check_finding(const char *name, enum doctor_verdict verdict, bool refuses)
{
	const struct doctor_finding *finding = doctor_find(&doctor, name);

	if (!finding)
		check_fail(__FILE__, __LINE__, "there is no check '%s'", name);
	if (finding->verdict != verdict || doctor_refuses(finding) != refuses)
		check_fail(__FILE__, __LINE__, "%s: %s, refuses %d: '%s'", name,
			   names_text(doctor_verdict_names, (int) finding->verdict),
			   doctor_refuses(finding), finding->found);
}

TEST(a_good_host_has_nothing_to_be_told_of)
{
	struct doctor_host host = hosts_good();

	look(&host);
	CHECK(doctor.count > TRIAL_KINDS);
	for (size_t i = 0; i < doctor.count; i++)
		check_finding(doctor.findings[i].name, DOCTOR_OK, false);
	doctor_done(&doctor);
	CHECK_INT(doctor.count, 0);
}

TEST(every_check_has_a_name_of_its_own_a_meaning_and_a_way_out)
{
	struct doctor_host host = hosts_good();

	look(&host);
	for (size_t i = 0; i < doctor.count; i++) {
		const struct doctor_finding *finding = &doctor.findings[i];

		CHECK(doctor_find(&doctor, finding->name) == finding);
		CHECK(finding->means[0] != '\0' && finding->way_out[0] != '\0');
		CHECK(finding->found[0] != '\0');
	}
	CHECK(!doctor_find(&doctor, "none"));
	doctor_done(&doctor);
}

/* Each trial is the matter of exactly one check, which has its verdict. */
TEST(a_trial_that_fails_is_missing_in_its_own_words)
{
	struct doctor_host host = hosts_good();

	for (int kind = 0; kind < TRIAL_KINDS; kind++) {
		struct trial trials[TRIAL_KINDS];
		const char *name = names_text(trial_names, kind);

		memcpy(trials, host.trials, sizeof(trials));
		trials[kind].result = TRIAL_FAILS;
		best_effort(err_set(&trials[kind].err, ERR_HOST, "words of its own"));
		host.trials = trials;
		look(&host);
		check_finding(name, DOCTOR_MISSING, doctor_find(&doctor, name)->is_needed);
		CHECK(strncmp(doctor_find(&doctor, name)->found, "words of its own", 16) == 0);
		CHECK(doctor_find(&doctor, name)->is_tried);
		for (size_t i = 0; i < doctor.count; i++)
			CHECK(strcmp(doctor.findings[i].name, name) == 0 ||
			      doctor.findings[i].verdict == DOCTOR_OK);
		host = hosts_good();
	}
	doctor_done(&doctor);
}

TEST(a_trial_that_works_in_part_is_degraded)
{
	struct doctor_host host = hosts_good();
	struct trial trials[TRIAL_KINDS];

	memcpy(trials, host.trials, sizeof(trials));
	trials[TRIAL_LANDLOCK].result = TRIAL_PARTLY;
	snprintf(trials[TRIAL_LANDLOCK].found, sizeof(trials[0].found), "ABI 2");
	host.trials = trials;
	look(&host);
	check_finding("landlock", DOCTOR_DEGRADED, false);
	CHECK_STR(doctor_find(&doctor, "landlock")->found, "ABI 2");
	doctor_done(&doctor);
}

TEST(what_is_needed_and_was_not_tried_refuses_a_run)
{
	struct doctor_host host = hosts_good();

	host.trials = NULL;
	host.trials_why = "there is no probe";
	host.is_jail_tried = false;
	host.jail_why = "not tried";
	look(&host);
	check_finding("memory", DOCTOR_UNKNOWN, true);
	check_finding("landlock", DOCTOR_UNKNOWN, false);
	check_finding("kernel", DOCTOR_OK, false);
	CHECK_STR(doctor_find(&doctor, "memory")->found,
		  "not tried: there is no probe; the controller is in '/sys/fs/cgroup' (v2)");
	CHECK(!doctor_find(&doctor, "memory")->is_tried);
	doctor_done(&doctor);
}

TEST(what_could_not_be_tried_is_to_be_tried_by_root_and_not_to_be_mended)
{
	struct doctor_host host = hosts_good();

	host.trials = NULL;
	host.trials_why = "only root can try it";
	host.is_jail_tried = false;
	host.jail_why = "not tried";
	look(&host);
	check_finding("freeze", DOCTOR_UNKNOWN, true);
	CHECK(strstr(doctor_find(&doctor, "freeze")->way_out, "as root"));
	CHECK_STR(doctor_find(&doctor, "jail")->way_out, doctor_find(&doctor, "freeze")->way_out);
	/* With the service's launcher: its jail takes all of them. */
	host.is_jail_tried = true;
	host.jail_why = NULL;
	look(&host);
	check_finding("freeze", DOCTOR_UNKNOWN, false);
	host.programs_why = "there is no launcher";
	look(&host);
	check_finding("programs", DOCTOR_MISSING, true);
	doctor_done(&doctor);
}

TEST(what_is_not_needed_refuses_nothing)
{
	struct doctor_host host = hosts_good();

	hosts_put("proc/sys/kernel/osrelease", "4.18.0\n");
	hosts_put("usr/bin/cc", NULL);
	hosts_put("dev/kfd", NULL);
	host.disk_free = 0;
	look(&host);
	check_finding("kernel", DOCTOR_DEGRADED, false);
	check_finding("compiler", DOCTOR_MISSING, false);
	check_finding("amd-gpu", DOCTOR_MISSING, false);
	check_finding("free-disk", DOCTOR_DEGRADED, false);
	doctor_done(&doctor);
}

TEST(each_of_what_is_needed_and_only_read_refuses_too)
{
	struct doctor_host host = hosts_good();

	hosts_put("proc/self/mountinfo", "");
	hosts_put("proc/self/uid_map", "0 0 1\n");
	hosts_put("proc/sys/user/max_pid_namespaces", "0\n");
	host.account = NULL;
	host.account_why = "no account";
	host.programs_why = "no programs";
	host.jail_why = "no jail";
	host.cpus = 1;
	look(&host);
	check_finding("cgroup-layout", DOCTOR_MISSING, true);
	check_finding("uid-range", DOCTOR_MISSING, true);
	check_finding("namespace-limits", DOCTOR_MISSING, true);
	check_finding("account", DOCTOR_MISSING, true);
	check_finding("programs", DOCTOR_MISSING, true);
	check_finding("jail", DOCTOR_MISSING, true);
	check_finding("cpus", DOCTOR_MISSING, true);
	/* The trial said otherwise, and it has the last word. */
	check_finding("memory", DOCTOR_OK, false);
	doctor_done(&doctor);
}
