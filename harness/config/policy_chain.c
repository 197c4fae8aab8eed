/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/config/policy.h"
#include "sandbox/base/fd.h"
#include "sandbox/base/io.h"

/*
 * Theory of operation
 *
 * A chain is read from the file that was named to the last that one of it extends; then all are
 * bound, the last first, so that what a file says holds over what it extends. Files are opened with
 * the rights of whoever reads, each from the folder of the one before it.
 */
struct chain {
	struct policy *policy;
	int folder_fd; /* owned: where the newest file is; -1: nowhere */
	struct {
		dev_t device;
		ino_t inode;
	} seen[POLICY_CHAIN_MAX]; /* inode 0: it is no file */
};

/* A text on its way into a chain. */
struct source {
	const char *file, *text;
	size_t len;
};

static void chain_done(struct chain *chain)
{
	fd_close(&chain->folder_fd);
}

static void text_done(struct str *text)
{
	str_done(text);
}

static int add(struct chain *chain, const struct source *source, struct err *err)
{
	struct policy *policy = chain->policy;
	const char *file = arena_copy(&policy->arena, source->file, strlen(source->file));
	const struct yaml_node *root =
		yaml_parse(&policy->arena, file, source->text, source->len, err);

	if (!root)
		return -1;
	policy->files[policy->file_count++] = root;
	return 0;
}

static int add_shipped(struct chain *chain, const struct yaml_node *node, struct err *err)
{
	struct source source = { .file = node->text };
	cleanup(text_done) struct str names = STR_INIT;
	char room[YAML_SHOWN];

	source.text = policy_shipped(node->text, &source.len);
	fd_close(&chain->folder_fd);
	if (source.text)
		return add(chain, &source, err);
	policy_shipped_names(&names);
	return yaml_err(
		node, err,
		"'%s' is not one of the policies that came with proctor: %s; a file here is "
		"'./%s'",
		yaml_shown(node->text, room), names.text, room);
}

/* Why a file could not be read, in the words of the one that names it. */
static int refuse(const struct yaml_node *node, const struct err *why, struct err *err)
{
	return yaml_err(node, err, "%s", why->text);
}

/* The folder of @path becomes the chain's. Return: the name in it. */
static const char *enter_folder(struct chain *chain, const char *path, struct err *err)
{
	const char *slash = strrchr(path, '/');
	const char *folder =
		slash ? arena_copy(&chain->policy->arena, path, (size_t) (slash - path) + 1) : ".";
	int fd = openat(chain->folder_fd, folder, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0) {
		(void) err_sys(err, "open the folder '%s'", folder);
		return NULL;
	}
	fd_close(&chain->folder_fd);
	chain->folder_fd = fd;
	return slash ? slash + 1 : path;
}

static int read_file(struct chain *chain, const char *path, struct str *text, struct err *err)
{
	const char *name = enter_folder(chain, path, err);
	auto_fd fd = -1;
	struct stat info;

	if (!name)
		return -1;
	fd = openat(chain->folder_fd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &info) < 0)
		return err_sys(err, "open '%s'", path);
	if (!S_ISREG(info.st_mode))
		return err_set(err, ERR_INPUT, "'%s' is no regular file", path);
	for (size_t i = 0; i < chain->policy->file_count; i++)
		if (chain->seen[i].inode == info.st_ino && chain->seen[i].device == info.st_dev)
			return err_set(err, ERR_INPUT, "'%s' extends itself in the end", path);
	chain->seen[chain->policy->file_count].device = info.st_dev;
	chain->seen[chain->policy->file_count].inode = info.st_ino;
	return io_read_fd(fd, POLICY_FILE_MAX, path, text, err);
}

/* "policies/base.yaml", for a file that 'policies/mine.yaml' calls 'base.yaml'. */
static const char *name_file(struct chain *chain, const struct yaml_node *node)
{
	const char *slash = node->text[0] == '/' ? NULL : strrchr(node->file, '/');

	return arena_printf(&chain->policy->arena, "%.*s%s",
			    slash ? (int) (slash - node->file) + 1 : 0, node->file, node->text);
}

static int add_file(struct chain *chain, const struct yaml_node *node, struct err *err)
{
	cleanup(text_done) struct str text = STR_INIT;
	struct err why = ERR_INIT;
	struct source source = { .file = name_file(chain, node) };

	if (chain->folder_fd < 0)
		return yaml_err(
			node, err,
			"a file can only be extended from a file; give the name of a policy "
			"that came with proctor");
	if (read_file(chain, node->text, &text, &why) < 0)
		return refuse(node, &why, err);
	source.text = text.text;
	source.len = text.len;
	return add(chain, &source, err);
}

static int add_extended(struct chain *chain, const struct yaml_node *node, struct err *err)
{
	if (chain->policy->file_count == POLICY_CHAIN_MAX)
		return yaml_err(node, err, "more than %d policies, each of which extends the next",
				(int) POLICY_CHAIN_MAX);
	return types_is_name(node->text) ? add_shipped(chain, node, err)
					 : add_file(chain, node, err);
}

/* What the newest file extends; NULL: nothing, or nothing that schema_bind() will not refuse. */
static const struct yaml_node *extended_by(const struct policy *policy)
{
	const struct yaml_node *root = policy->files[policy->file_count - 1];
	const struct yaml_node *node = root->kind == YAML_MAP ? yaml_find(root, "extends") : NULL;

	return node && node->kind == YAML_TEXT && node->text[0] != '\0' ? node : NULL;
}

/* The folder and the file itself, so that a chain that comes back to it is seen. */
static int begin(struct chain *chain, int folder_fd, const char *file, struct err *err)
{
	const char *slash = strrchr(file, '/');
	struct stat info;

	if (folder_fd < 0)
		return 0;
	chain->folder_fd = openat(folder_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (chain->folder_fd < 0)
		return err_sys(err, "open the folder of the policy '%s'", file);
	if (fstatat(chain->folder_fd, slash ? slash + 1 : file, &info, 0) == 0) {
		chain->seen[0].device = info.st_dev;
		chain->seen[0].inode = info.st_ino;
	}
	return 0;
}

int policy_parse_in(int folder_fd, const char *file, const char *text, size_t len,
		    struct policy *out, struct err *err)
{
	cleanup(policy_done) struct policy policy = policy_default();
	cleanup(chain_done) struct chain chain = { .policy = &policy, .folder_fd = -1 };
	const struct source source = { file, text, len };
	const struct yaml_node *node;

	if (begin(&chain, folder_fd, file, err) < 0 || add(&chain, &source, err) < 0)
		return -1;
	while ((node = extended_by(&policy)))
		if (add_extended(&chain, node, err) < 0)
			return -1;
	if (policy_bind(&policy, err) < 0)
		return -1;
	*out = take(policy, policy_default());
	return 0;
}

int policy_parse(const char *file, const char *text, size_t len, struct policy *out,
		 struct err *err)
{
	return policy_parse_in(-1, file, text, len, out, err);
}

int policy_check_keys(const char *file, const char *text, size_t len, struct err *err)
{
	cleanup(policy_done) struct policy policy = policy_default();
	struct chain chain = { .policy = &policy, .folder_fd = -1 };
	const struct source source = { file, text, len };

	return add(&chain, &source, err) < 0 ? -1 : policy_bind(&policy, err);
}

int policy_load(int folder_fd, const char *path, struct policy *out, struct err *err)
{
	cleanup(text_done) struct str text = STR_INIT;

	if (io_read_file(folder_fd, path, POLICY_FILE_MAX, &text, err) < 0)
		return -1;
	return policy_parse(path, text.text, text.len, out, err);
}

/* The item of a list that has this name. */
static const struct yaml_node *find_named(const struct yaml_node *list, const char *name)
{
	for (const struct yaml_node *item = list->first; item; item = item->next) {
		const struct yaml_node *own =
			item->kind == YAML_MAP ? yaml_find(item, "name") : NULL;

		if (own && own->kind == YAML_TEXT && strcmp(own->text, name) == 0)
			return own;
	}
	return NULL;
}

/* "agent.tmp.size" in one tree, or "services.NAME". */
static const struct yaml_node *find(const struct yaml_node *node, const char *key)
{
	char part[64];

	while (node && *key) {
		size_t len = strcspn(key, ".");

		if (len >= sizeof(part) || node->kind == YAML_TEXT)
			return NULL;
		memcpy(part, key, len);
		part[len] = '\0';
		node = node->kind == YAML_LIST ? find_named(node, part) : yaml_find(node, part);
		key += len + (key[len] == '.');
	}
	return node;
}

const char *policy_origin(const struct policy *policy, const char *key, int *line)
{
	for (size_t i = 0; i < policy->file_count; i++) {
		const struct yaml_node *node = find(policy->files[i], key);

		if (!node)
			continue;
		*line = node->key_line;
		return node->file;
	}
	return NULL;
}
