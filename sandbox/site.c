/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/site.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/base/mem.h"
#include "sandbox/base/path.h"
#include "sandbox/base/units.h"

const struct name site_kind_names[] = {
	{ "folder", SITE_FOLDER },
	{ "squashfs", SITE_SQUASHFS },
	{ "erofs", SITE_EROFS },
	{ NULL, 0 },
};

/* --- how values are written --- */

static bool parse_size(const char *text, uint64_t *out)
{
	return units_parse(UNITS_BYTES, text, out) == 0;
}

static bool parse_duration(const char *text, uint64_t *out)
{
	return units_parse(UNITS_MS, text, out) == 0;
}

static bool parse_count(const char *text, uint64_t *out)
{
	return units_parse(UNITS_COUNT, text, out) == 0;
}

static bool parse_milli(const char *text, uint64_t *out)
{
	return units_parse(UNITS_MILLI, text, out) == 0;
}

/* An id as people write ranges of them: 0x70000000, or in decimal digits. */
static bool parse_id(const char *text, uint64_t *out)
{
	const bool is_hex = strncmp(text, "0x", 2) == 0;
	size_t len = is_hex ? strspn(text + 2, "0123456789abcdefABCDEF") : 0;

	if (!is_hex)
		return parse_count(text, out);
	if (len == 0 || len > 8 || text[2 + len] != '\0')
		return false;
	*out = strtoull(text + 2, NULL, 16);
	return true;
}

static bool parse_yes(const char *text, uint64_t *out)
{
	*out = strcmp(text, "yes") == 0;
	return *out || strcmp(text, "no") == 0;
}

/* --- the keys --- */

#define AT(member) offsetof(struct site, member)
#define RANGE_SIZE UINT64_C(65536)
#define HOUR       UINT64_C(3600000)

/* clang-format off */

/* Every number of the file, its edges, and how it is written. */
static const struct row {
	const char *key;
	bool (*parse)(const char *text, uint64_t *out);
	size_t offset;
	uint64_t least, most;
	const char *form; /* what is possible, for messages */
} rows[] = {
	{ "calls.profiler", parse_yes,     AT(has_profiler),     0, 1,                 "yes or no" },
	{ "client.jails",  parse_count,    AT(client.jails),     1, 65536,             "a number from 1 to 65536" },
	{ "client.memory", parse_size,     AT(client.memory),    16 * MIB, 1024 * TIB, "a size from 16MiB to 1024TiB" },
	{ "client.pids",   parse_count,    AT(client.pids),      4, 4194304,           "a number from 4 to 4194304" },
	{ "client.timing", parse_duration, AT(client.timing_ms), 1000, 168 * HOUR,     "a time from 1s to 168h" },
	{ "jail.bytes",    parse_size,     AT(jail.bytes),       64 * KIB, 1024 * TIB, "a size from 64KiB to 1024TiB" },
	{ "jail.cpus",     parse_milli,    AT(jail.cpu_milli),   10, 1024000,          "CPUs from 0.01 to 1024" },
	{ "jail.inodes",   parse_count,    AT(jail.inodes),      16, UINT32_MAX,       "a number from 16 to 4294967295" },
	{ "jail.memory",   parse_size,     AT(jail.memory),      16 * MIB, 1024 * TIB, "a size from 16MiB to 1024TiB" },
	{ "jail.output",   parse_size,     AT(jail.output),      1, 1024 * TIB,        "a size from 1B to 1024TiB" },
	{ "jail.pids",     parse_count,    AT(jail.pids),        4, 4194304,           "a number from 4 to 4194304" },
	{ "jail.wall",     parse_duration, AT(jail.wall_ms),     1, 168 * HOUR,        "a time from 1ms to 168h" },
	{ "root.host",     parse_yes,      AT(has_host_root),    0, 1,                 "yes or no" },
	{ "uid.base",      parse_id,       AT(uid_base),         RANGE_SIZE, UINT64_C(0xfffe0000), "an id from 0x10000 to 0xfffe0000" },
	{ "uid.ranges",    parse_count,    AT(uid_ranges),       1, 65534,             "a number from 1 to 65534" },
};

/* clang-format on */

/* Where we are in the file. */
struct reading {
	const char *file;
	size_t line;
	const char *key;
	size_t seen[ARRAY_LEN(rows)]; /* the line of each key; 0: none yet */
	size_t group_seen;
	struct site *site;
};

static int refuse(const struct reading *at, const char *value, const char *why, struct err *err)
{
	return err_set(err, ERR_HOST, "%s:%zu: key '%s': '%s' %s", at->file, at->line, at->key,
		       value, why);
}

static int seen_before(const struct reading *at, size_t *seen, const char *value, struct err *err)
{
	if (*seen > 0)
		return err_set(err, ERR_HOST,
			       "%s:%zu: key '%s': '%s' is its second value, the first stands in "
			       "line %zu: remove one",
			       at->file, at->line, at->key, value, *seen);
	*seen = at->line;
	return 0;
}

static int set_number(struct reading *at, size_t index, const char *text, struct err *err)
{
	const struct row *row = &rows[index];
	uint64_t value;

	if (seen_before(at, &at->seen[index], text, err) < 0)
		return -1;
	if (!row->parse(text, &value) || value < row->least || value > row->most)
		return err_set(err, ERR_HOST, "%s:%zu: key '%s': '%s' is not %s", at->file,
			       at->line, at->key, text, row->form);
	memcpy((char *) at->site + row->offset, &value, sizeof(value));
	return 0;
}

static bool is_name(const char *text)
{
	size_t len = strlen(text);

	return len > 0 && len < SITE_NAME_MAX && isalnum((unsigned char) text[0]) &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") ==
		       len;
}

/* Cuts the next word off; an empty one at the end. */
static char *next_word(char **rest)
{
	char *word = *rest + strspn(*rest, " "), *end = word + strcspn(word, " ");

	*rest = *end ? end + 1 : end;
	*end = '\0';
	return word;
}

static bool is_absolute(const char *path, size_t room)
{
	return path[0] == '/' && path_is_relative(path + 1) && strlen(path) < room;
}

static int set_source(struct reading *at, char *value, struct err *err)
{
	struct site *site = at->site;
	const char *name = next_word(&value), *kind = next_word(&value), *path = next_word(&value);
	struct site_source *source = &site->sources[site->source_count];
	int number = 0;

	if (!is_name(name) || strcmp(name, "host") == 0)
		return refuse(at, name,
			      "is no name for a source: take 1 to 31 letters, digits, '-', '_' "
			      "and '.', and not 'host'",
			      err);
	if (names_find(site_kind_names, kind, &number) < 0)
		return refuse(at, kind, "is no kind of source: folder, squashfs and erofs are",
			      err);
	if (!is_absolute(path, sizeof(source->path)) || next_word(&value)[0] != '\0')
		return refuse(at, path,
			      "is no plain absolute path of at most 255 bytes: write 'source NAME "
			      "KIND /PATH'",
			      err);
	for (size_t i = 0; i < site->source_count; i++)
		if (strcmp(site->sources[i].name, name) == 0)
			return refuse(at, name, "names a source above already: take another name",
				      err);
	if (site->source_count == SITE_SOURCES_MAX)
		return refuse(at, name, "is a source too many: 32 are possible", err);
	*source = (struct site_source){ .kind = (uint32_t) number };
	snprintf(source->name, sizeof(source->name), "%s", name);
	snprintf(source->path, sizeof(source->path), "%s", path);
	site->source_count++;
	return 0;
}

static int set_device(struct reading *at, char *value, struct err *err)
{
	struct site *site = at->site;
	const char *name = next_word(&value), *path = next_word(&value);
	struct site_device *device = &site->devices[site->device_count];

	if (!is_name(name))
		return refuse(at, name,
			      "is no name for a device: take 1 to 31 letters, digits, '-', '_' "
			      "and '.'",
			      err);
	if (strncmp(path, "/dev/", 5) != 0 || !is_absolute(path, sizeof(device->path)) ||
	    next_word(&value)[0] != '\0')
		return refuse(at, path,
			      "is no plain path below /dev of at most 63 bytes: write 'device "
			      "NAME /dev/PATH'",
			      err);
	/* The requests of kfd that a jail may make are looked at where it has a GPU. */
	if (strcmp(path, "/dev/kfd") == 0)
		return refuse(
			at, path,
			"comes with a GPU alone, of which a jail has a lease: write 'gpu NAME "
			"0', see proctor-site.conf(5)",
			err);
	if (site_device(site, name))
		return refuse(at, name, "names a device above already: take another name", err);
	if (site->device_count == SITE_DEVICES_MAX)
		return refuse(at, name, "is a device too many: 64 are possible", err);
	snprintf(device->name, sizeof(device->name), "%s", name);
	snprintf(device->path, sizeof(device->path), "%s", path);
	site->device_count++;
	return 0;
}

static int set_gpu(struct reading *at, char *value, struct err *err)
{
	struct site *site = at->site;
	const char *name = next_word(&value), *which = next_word(&value);
	struct site_gpu *gpu = &site->gpus[site->gpu_count];

	if (!is_name(name) || strcmp(name, SPEC_ANY_GPU) == 0)
		return refuse(at, name,
			      "is no name for a GPU: take 1 to 31 letters, digits, '-', '_' and "
			      "'.', and not 'any'",
			      err);
	if (which[0] == '\0' || strlen(which) >= sizeof(gpu->which) ||
	    which[strspn(which, "abcdefghijklmnopqrstuvwxyzD0123456789:.")] != '\0' ||
	    next_word(&value)[0] != '\0')
		return refuse(at, which,
			      "is no GPU of a host: write 'gpu NAME 0', or its address on the PCI "
			      "bus as in 0000:c1:00.0, or its node as in renderD128 or nvidia0",
			      err);
	if (site_gpu(site, name))
		return refuse(at, name, "names a GPU above already: take another name", err);
	if (site->gpu_count == SITE_GPUS_MAX)
		return refuse(at, name, "is a GPU too many: 64 are possible", err);
	snprintf(gpu->name, sizeof(gpu->name), "%s", name);
	snprintf(gpu->which, sizeof(gpu->which), "%s", which);
	site->gpu_count++;
	return 0;
}

/* May jails see it, at the same place? What is made for each jail, or holds secrets, they may not.
 */
static bool may_show(const char *path)
{
	static const char *const never[] = { "bin",   "boot", "dev",  "etc",  "home", "lib",
					     "lib64", "mnt",  "proc", "root", "run",  "sbin",
					     "sys",   "tmp",  "usr",  "var",  "work" };
	const size_t len = strcspn(path + 1, "/");

	for (size_t i = 0; i < ARRAY_LEN(never); i++)
		if (strlen(never[i]) == len && strncmp(path + 1, never[i], len) == 0)
			return false;
	return true;
}

static int set_folder(struct reading *at, char *value, struct err *err)
{
	struct site *site = at->site;
	const char *path = next_word(&value);

	if (!is_absolute(path, sizeof(site->folders[0])) || next_word(&value)[0] != '\0')
		return refuse(at, path, "is no plain absolute path of at most 191 bytes", err);
	if (!may_show(path))
		return refuse(at, path,
			      "is or lies in a folder that jails have of their own, or must not "
			      "see: put what they need below /opt or /srv",
			      err);
	for (size_t i = 0; i < site->folder_count; i++)
		if (strcmp(site->folders[i], path) == 0)
			return refuse(at, path, "stands above already: remove one", err);
	if (site->folder_count == SITE_FOLDERS_MAX)
		return refuse(at, path, "is a folder too many: 16 are possible", err);
	snprintf(site->folders[site->folder_count], sizeof(site->folders[0]), "%s", path);
	site->folder_count++;
	return 0;
}

static int set_group(struct reading *at, const char *value, struct err *err)
{
	if (seen_before(at, &at->group_seen, value, err) < 0)
		return -1;
	if (!is_name(value))
		return refuse(at, value, "is no name of a group, and no number of one", err);
	snprintf(at->site->group, sizeof(at->site->group), "%s", value);
	return 0;
}

static int set(struct reading *at, char *value, struct err *err)
{
	if (*value == '\0')
		return err_set(err, ERR_HOST,
			       "%s:%zu: key '%s' has no value: write '%s VALUE', or remove the "
			       "line",
			       at->file, at->line, at->key, at->key);
	if (strcmp(at->key, "source") == 0)
		return set_source(at, value, err);
	if (strcmp(at->key, "device") == 0)
		return set_device(at, value, err);
	if (strcmp(at->key, "gpu") == 0)
		return set_gpu(at, value, err);
	if (strcmp(at->key, "root.folder") == 0)
		return set_folder(at, value, err);
	if (strcmp(at->key, "group") == 0)
		return set_group(at, value, err);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strcmp(at->key, rows[i].key) == 0)
			return set_number(at, i, value, err);
	return err_set(err, ERR_HOST,
		       "%s:%zu: key '%s' does not exist (its value is '%s'): "
		       "proctor-site.conf(5) lists those that do",
		       at->file, at->line, at->key, value);
}

/* --- the file --- */

/* A line as a text of its own, blanks around it cut off; an error on what nobody can see. */
static int take_line(const struct reading *at, const char *from, size_t len, char *out,
		     struct err *err)
{
	if (len >= SITE_LINE_MAX)
		return err_set(err, ERR_HOST, "%s:%zu: the line has %zu bytes: %d are possible",
			       at->file, at->line, len, SITE_LINE_MAX - 1);
	for (size_t i = 0; i < len; i++)
		if (from[i] != '\t' && (from[i] < ' ' || from[i] > '~'))
			return err_set(err, ERR_HOST,
				       "%s:%zu: byte %zu of the line is 0x%02x: only printable "
				       "ASCII is possible",
				       at->file, at->line, i + 1, (unsigned char) from[i]);
	while (len > 0 && (from[len - 1] == ' ' || from[len - 1] == '\t'))
		len--;
	/* A tab is a blank, in a value that is shown as well. */
	for (size_t i = 0; i < len; i++)
		out[i] = (char) (from[i] == '\t' ? ' ' : from[i]);
	out[len] = '\0';
	return 0;
}

static int read_line(struct reading *at, char *line, struct err *err)
{
	char *rest = line;

	line += strspn(line, " ");
	if (*line == '\0' || *line == '#')
		return 0;
	rest = line;
	at->key = next_word(&rest);
	return set(at, rest + strspn(rest, " "), err);
}

/* What no single value shows. */
static int check_ranges(const struct reading *at, const struct site *site, struct err *err)
{
	if (site->uid_base % RANGE_SIZE != 0)
		return err_set(err, ERR_HOST,
			       "%s: key 'uid.base': '0x%" PRIx64 "' is no multiple of 65536: take "
			       "0x%" PRIx64,
			       at->file, site->uid_base,
			       (site->uid_base / RANGE_SIZE + 1) * RANGE_SIZE);
	/* The last range of all holds (uid_t) -1, which means "no id". */
	if (site->uid_base + site->uid_ranges * RANGE_SIZE > UINT64_C(0xffff0000))
		return err_set(err, ERR_HOST,
			       "%s: key 'uid.ranges': '%" PRIu64 "' ranges from 0x%" PRIx64
			       " do not fit below 0xffff0000: at most %" PRIu64 " do",
			       at->file, site->uid_ranges, site->uid_base,
			       (UINT64_C(0xffff0000) - site->uid_base) / RANGE_SIZE);
	return 0;
}

void site_default(struct site *out)
{
	*out = (struct site){
		.uid_base = UINT64_C(0x70000000),
		.uid_ranges = 1024,
		.client = { .jails = 64, .timing_ms = HOUR },
		.has_host_root = 1,
		.has_profiler = 1,
		.has_all_gpus = 1,
		.group = "proctor",
	};
	snprintf(out->file, sizeof(out->file), "%s", SITE_FILE);
}

int site_parse(const char *file, const char *text, size_t len, struct site *out, struct err *err)
{
	cleanup(mem_free) struct site *site = mem_alloc(1, sizeof(*site));
	struct reading at = { .file = file, .site = site };
	const char *end = text + len;
	char line[SITE_LINE_MAX];

	site_default(site);
	/* Where others than root may have jails, somebody has to have wanted this. */
	site->has_profiler = 0;
	snprintf(site->file, sizeof(site->file), "%s", file);
	site->has_all_gpus = 0;
	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t) (end - text));
		size_t size = (size_t) ((stop ? stop : end) - text);

		at.line++;
		if (take_line(&at, text, size, line, err) < 0 || read_line(&at, line, err) < 0)
			return -1;
		text += size + (stop ? 1 : 0);
	}
	if (check_ranges(&at, site, err) < 0)
		return -1;
	*out = *site;
	return 0;
}
