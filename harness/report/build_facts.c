/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/report/build_facts.h"

#include "harness/build_config.h"
#include "harness/config/policy.h"
#include "harness/config/run_config.h"
#include "harness/config/task.h"
#include "harness/evidence/journal.h"
#include "harness/report/standing.h"
#include "harness/run/planned.h"
#include "harness/run/record.h"
#include "sandbox/base/io.h"
#include "sandbox/trial.h"
#include "sandbox/wire.h"

/* clang-format off */
static const struct {
	const char *name, *version;
} libraries[] = {
	{ "jansson",    BUILD_JANSSON },
	{ "libbpf",     BUILD_LIBBPF },
	{ "libcap",     BUILD_LIBCAP },
	{ "libffi",     BUILD_LIBFFI },
	{ "libseccomp", BUILD_LIBSECCOMP },
	{ "libyaml",    BUILD_LIBYAML },
	{ "OpenSSL",    BUILD_OPENSSL },
};

/* What is read and written beside tasks and policies; each names its version. */
static const struct {
	const char *key, *name;
} formats[] = {
	{ "run_schema",     RUN_CONFIG_SCHEMA },
	{ "set_schema",     RUN_CONFIG_SET_SCHEMA },
	{ "planned_schema", PLANNED_SCHEMA },
	{ "journal_format", JOURNAL_FORMAT },
	{ "record_schema",  RECORD_SCHEMA },
	{ "samples_schema", RECORD_SAMPLES_SCHEMA },
	{ "report_schema",  REPORT_SCHEMA },
};
/* clang-format on */

/* The only version of a format that its own schema accepts. */
static int64_t schema_version(const struct schema *schema)
{
	return (int64_t) schema_find(schema, "schema")->max;
}

void build_facts_print(const char *program, const char *policy, struct str *out)
{
	str_addf(out, "proctor %s\n", BUILD_VERSION);
	str_addf(out, "compiler   %s, %s, %s\n", BUILD_COMPILER, BUILD_TYPE, BUILD_MACHINE);
	str_addf(out, "libraries ");
	for (size_t i = 0; i < ARRAY_LEN(libraries); i++)
		str_addf(out, "%s %s %s", i > 0 ? "," : "", libraries[i].name,
			 libraries[i].version);
	str_addf(out, "\nformats    task %lld, policy %lld",
		 (long long) schema_version(&task_schema),
		 (long long) schema_version(&policy_schema));
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		str_addf(out, ", %s", formats[i].name);
	str_addf(out, "\n");
	str_addf(out, "launcher   protocol %d\n", WIRE_VERSION);
	str_addf(out, "Landlock   rules up to ABI %d\n", TRIAL_LANDLOCK_KNOWN);
	str_addf(out, "program    %s\n", program ? program : "can not be read");
	str_addf(out, "policy     %s\n", policy);
}

void build_facts_put(const char *program, const char *policy, struct json_writer *json)
{
	json_put_object(json, NULL);
	json_put_text(json, "version", BUILD_VERSION);
	json_put_text(json, "compiler", BUILD_COMPILER);
	json_put_text(json, "build", BUILD_TYPE);
	json_put_text(json, "machine", BUILD_MACHINE);
	json_put_object(json, "libraries");
	for (size_t i = 0; i < ARRAY_LEN(libraries); i++)
		json_put_text(json, libraries[i].name, libraries[i].version);
	json_put_end(json);
	json_put_int(json, "task_schema", schema_version(&task_schema));
	json_put_int(json, "policy_schema", schema_version(&policy_schema));
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		json_put_text(json, formats[i].key, formats[i].name);
	json_put_int(json, "protocol", WIRE_VERSION);
	json_put_int(json, "landlock_abi", TRIAL_LANDLOCK_KNOWN);
	json_put_text(json, "program_sha256", program);
	json_put_text(json, "policy_sha256", policy);
	json_put_end(json);
}

bool build_facts_hash(int fd, char out[DIGEST_HEX])
{
	cleanup(str_done) struct str program = STR_INIT;
	struct err none = ERR_INIT;
	struct digest digest;

	if (fd < 0 || io_read_fd(fd, STR_MAX - 1, "a program", &program, &none) < 0)
		return false;
	digest = digest_sha256(program.text, program.len);
	digest_hex(&digest, out);
	return true;
}
