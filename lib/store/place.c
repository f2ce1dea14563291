#include "store/place.h"

#include "base/buffer.h"
#include <stdlib.h>

static int choose_default(const struct dlsi_alloc *alloc, char **folder_out, struct dls_error *err)
{
	const char *above = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	struct dlsi_buffer path;
	size_t length;

	if (!(above && *above == '/') && !(home && *home == '/'))
		return dlsi_fail(err, DLS_EINVAL,
			"there is no place to keep models, since neither XDG_CACHE_HOME nor HOME is set: set "
			"cache_dir");
	dlsi_buffer_init(&path, alloc);
	if (above && *above == '/')
		dlsi_buffer_printf(&path, "%s/dlsched", above);
	else
		dlsi_buffer_printf(&path, "%s/.cache/dlsched", home);
	dlsi_buffer_append(&path, "", 1);
	if (path.failed) {
		dlsi_buffer_fini(&path);
		return dlsi_fail_memory(err);
	}
	*folder_out = (char *)dlsi_buffer_take(&path, &length);
	return 0;
}

int dlsi_cache_place(const struct dlsi_alloc *alloc, const char *folder, char **folder_out, struct dls_error *err)
{
	if (!folder)
		return choose_default(alloc, folder_out, err);
	*folder_out = dlsi_strdup(alloc, folder);
	return *folder_out ? 0 : dlsi_fail_memory(err);
}
