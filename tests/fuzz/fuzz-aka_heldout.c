/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration, a zero byte, and the file that shapes are put into. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "harness/aka/aka_config.h"
#include "harness/aka/aka_heldout.h"
#include "sandbox/base/path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void hold(bool condition)
{
	if (!condition)
		__builtin_trap();
}

static void check_failure(const struct err *err)
{
	hold(err->kind == ERR_INPUT && *err->text);
	for (const char *at = err->text; *at; at++)
		hold((unsigned char) *at >= ' ' && *at != 0x7f);
}

/* What was put in makes the file another one, of a bounded size, without "\r\n"; a refusal
 * appends nothing. */
static void check_injection(const struct aka_heldout *heldout, size_t i, const char *text,
			    size_t len)
{
	const struct aka_injection *injection = &heldout->injections[i];
	cleanup(str_done) struct str out = STR_INIT, all = STR_INIT;
	enum aka_injected outcome = aka_inject(&out, injection, text, len);

	hold(path_is_relative(injection->file) && aka_heldout_changes(heldout, injection->file));
	hold((injection->marker == AKA_MARKER_RAW) == (injection->old_code != NULL));
	hold(*aka_inject_text(outcome));
	hold(outcome == AKA_INJECTED || out.len == 0);
	hold(out.len <= AKA_INJECT_FILE_MAX);
	hold(outcome != AKA_INJECTED || out.len != len || memcmp(out.text, text, len) != 0);
	outcome = aka_heldout_apply(&all, heldout, injection->file, text, len);
	hold(outcome == AKA_INJECTED || all.len == 0);
}

/* A configuration that is read is known as one where it may be told by its agent, and its names
 * are names of folders. */
static void check_config(const struct aka_config *config)
{
	cleanup(str_done) struct str name = STR_INIT;

	aka_config_workspace(config, &name);
	hold(path_is_relative(name.text) && !strchr(name.text, '/'));
	hold(config->selectors.count > 0 && config->agent && config->log_folder);
	hold(config->remark_count <= AKA_CONFIG_REMARKS_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *) data;
	size_t len = strnlen(text, size), behind = len < size ? len + 1 : size;
	cleanup(aka_heldout_done) struct aka_heldout heldout = AKA_HELDOUT_INIT;
	cleanup(aka_config_done) struct aka_config config = AKA_CONFIG_INIT;
	struct err err = ERR_INIT;

	if (aka_heldout_parse("a", text, len, &heldout, &err) < 0)
		check_failure(&err);
	for (size_t i = 0; i < heldout.count; i++)
		check_injection(&heldout, i, text + behind, size - behind);
	err = ERR_INIT;
	(void) !aka_config_is(text, len);
	if (aka_config_parse("a", text, len, &config, &err) < 0)
		check_failure(&err);
	else
		check_config(&config);
	return 0;
}
