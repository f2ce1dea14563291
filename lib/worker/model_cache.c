#include "worker/model_cache.h"

#include "base/file.h"
#include "store/place.h"

int dlsi_worker_cache_open(
	const struct dlsi_alloc *alloc, const char *folder, struct dlsi_cache **cache_out, struct dls_error *err)
{
	char *chosen;
	int rc = dlsi_cache_place(alloc, folder, &chosen, err);

	if (rc)
		return rc;
	rc = dlsi_cache_open(alloc, chosen, 0, cache_out, err);
	dlsi_free(alloc, chosen);
	return rc;
}

int dlsi_worker_cache_check(const struct dlsi_alloc *alloc, const char *folder, struct dls_error *err)
{
	char *chosen;
	int rc = dlsi_cache_place(alloc, folder, &chosen, err);

	if (rc)
		return rc;
	rc = dlsi_file_check_folder(alloc, chosen, err);
	dlsi_free(alloc, chosen);
	return rc;
}
