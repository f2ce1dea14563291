#include "master/plugins.h"

#include "base/file.h"
#include "base/limits.h"
#include "policy/plugin.h"
#include "policy/registry.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SYMBOL "dls_policy_plugin"

struct loaded {
	void *object; /* of dlopen */
	struct dlsi_policy_plugin plugin;
};

struct dlsi_plugins {
	const struct dlsi_alloc *alloc;
	unsigned count;
	struct loaded at[DLSI_PLUGINS];
	const struct dlsi_policy_ops *policies[DLSI_POLICIES + DLSI_PLUGINS + 1];
};

/* Whether nobody but this user and root can change what lies there. */
static int check_owner(const char *path, const struct stat *status, struct dls_error *err)
{
	if (status->st_uid != geteuid() && status->st_uid != 0)
		return dlsi_fail(err, DLS_EDENIED,
			"%s belongs to user %u; plug-ins and their folder must be this user's or root's (chown)", path,
			(unsigned)status->st_uid);
	if (status->st_mode & (S_IWGRP | S_IWOTH))
		return dlsi_fail(err, DLS_EDENIED,
			"others may write to %s; plug-ins and their folder must be writable by their owner alone "
			"(chmod go-w)",
			path);
	return 0;
}

static int check_folder(const char *folder, struct dls_error *err)
{
	struct stat status;

	if (stat(folder, &status))
		return dlsi_fail_errno(err, errno == ENOENT ? DLS_ENOTFOUND : DLS_EIO, errno,
			"cannot look at the folder of plug-ins %s", folder);
	if (!S_ISDIR(status.st_mode))
		return dlsi_fail(err, DLS_EINVAL, "%s is to be the folder of plug-ins and is none", folder);
	return check_owner(folder, &status, err);
}

static int check_file(const char *path, struct dls_error *err)
{
	struct stat status;

	if (lstat(path, &status))
		return dlsi_fail_errno(err, DLS_EIO, errno, "cannot look at the plug-in %s", path);
	if (!S_ISREG(status.st_mode))
		return dlsi_fail(
			err, DLS_EINVAL, "the plug-in %s must be a file of the folder itself, and no link", path);
	return check_owner(path, &status, err);
}

static int check_name(const struct dlsi_plugins *plugins, const char *path, const char *name, struct dls_error *err)
{
	for (size_t i = 0; plugins->policies[i]; i++)
		if (strcmp(plugins->policies[i]->name, name) == 0)
			return dlsi_fail(err, DLS_EINVAL,
				"the plug-in %s brings the policy %s, which there is already; give it another name",
				path, name);
	return 0;
}

/* The entry is counted on success. */
static int take(struct dlsi_plugins *plugins, const char *path, struct dls_error *err)
{
	struct loaded *loaded = &plugins->at[plugins->count];
	const struct dls_policy_ops *table = dlsym(loaded->object, SYMBOL);
	int rc;

	if (!table)
		return dlsi_fail(err, DLS_EINVAL, "the plug-in %s does not define " SYMBOL " (dlsched/policy.h)", path);
	rc = dlsi_policy_plugin_init(&loaded->plugin, table, err);
	if (rc)
		return dlsi_fail_in(err, rc, "the plug-in %s", path);
	rc = check_name(plugins, path, table->name, err);
	if (rc == 0)
		plugins->policies[DLSI_POLICIES + plugins->count++] = &loaded->plugin.ops;
	return rc;
}

static int load(struct dlsi_plugins *plugins, const char *path, struct dls_error *err)
{
	struct loaded *loaded = &plugins->at[plugins->count];
	int rc = check_file(path, err);

	if (rc)
		return rc;
	loaded->object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!loaded->object)
		return dlsi_fail(err, DLS_EINVAL, "the plug-in cannot be loaded: %s", dlerror());
	rc = take(plugins, path, err);
	if (rc)
		dlclose(loaded->object);
	return rc;
}

static bool is_plugin(const char *name)
{
	size_t length = strlen(name);

	return length > 3 && strcmp(name + length - 3, ".so") == 0;
}

static int load_named(struct dlsi_plugins *plugins, const char *folder, const char *name, struct dls_error *err)
{
	char *path;
	int rc;

	if (plugins->count == DLSI_PLUGINS)
		return dlsi_fail(err, DLS_ELIMIT, "the folder %s has more than %d plug-ins", folder, DLSI_PLUGINS);
	path = dlsi_file_join(plugins->alloc, folder, name);
	rc = path ? load(plugins, path, err) : dlsi_fail_memory(err);
	dlsi_free(plugins->alloc, path);
	return rc;
}

static int load_all(struct dlsi_plugins *plugins, const char *folder, struct dls_error *err)
{
	DIR *opened = opendir(folder);
	const struct dirent *entry;
	int rc = 0;

	if (!opened)
		return dlsi_fail_errno(err, DLS_EIO, errno, "cannot list the folder of plug-ins %s", folder);
	while (rc == 0 && (entry = readdir(opened)))
		if (is_plugin(entry->d_name))
			rc = load_named(plugins, folder, entry->d_name, err);
	closedir(opened);
	return rc;
}

static int by_name(const void *a, const void *b)
{
	const struct dlsi_policy_ops *const *one = a, *const *other = b;

	return strcmp((*one)->name, (*other)->name);
}

int dlsi_plugins_open(
	const struct dlsi_alloc *alloc, const char *folder, struct dlsi_plugins **plugins_out, struct dls_error *err)
{
	struct dlsi_plugins *plugins = dlsi_calloc(alloc, 1, sizeof *plugins);
	int rc;

	if (!plugins)
		return dlsi_fail_memory(err);
	plugins->alloc = alloc;
	memcpy(plugins->policies, dlsi_policies, sizeof dlsi_policies);
	rc = folder ? check_folder(folder, err) : 0;
	if (rc == 0 && folder)
		rc = load_all(plugins, folder, err);
	if (rc) {
		dlsi_plugins_close(plugins);
		return rc;
	}
	qsort(plugins->policies + DLSI_POLICIES, plugins->count, sizeof *plugins->policies, by_name);
	*plugins_out = plugins;
	return 0;
}

void dlsi_plugins_close(struct dlsi_plugins *plugins)
{
	if (!plugins)
		return;
	while (plugins->count)
		dlclose(plugins->at[--plugins->count].object);
	dlsi_free(plugins->alloc, plugins);
}

const struct dlsi_policy_ops *const *dlsi_plugins_policies(const struct dlsi_plugins *plugins)
{
	return plugins->policies;
}
