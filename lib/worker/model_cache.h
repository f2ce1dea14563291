/* The folder in which a worker keeps models. */
#ifndef DLSI_MODEL_CACHE_H
#define DLSI_MODEL_CACHE_H

#include "store/cache.h"

/* `folder` NULL: the usual one (store/place.h). Errors: as dlsi_cache_open, DLS_EINVAL (neither is set). */
int dlsi_worker_cache_open(
	const struct dlsi_alloc *alloc, const char *folder, struct dlsi_cache **cache_out, struct dls_error *err);

/* Whether models can be kept there; leaves nothing behind. Errors: as dlsi_worker_cache_open. */
int dlsi_worker_cache_check(const struct dlsi_alloc *alloc, const char *folder, struct dls_error *err);

#endif
