/* The folder for what can be fetched or measured again. */
#ifndef DLSI_PLACE_H
#define DLSI_PLACE_H

#include "base/alloc.h"
#include "base/error.h"

/* A copy of `folder`, freed by the caller; for NULL "dlsched" in XDG_CACHE_HOME, or else in .cache in HOME. Nothing is
 * made or looked at. Errors: DLS_EINVAL (neither is set), DLS_ENOMEM. */
int dlsi_cache_place(const struct dlsi_alloc *alloc, const char *folder, char **folder_out, struct dls_error *err);

#endif
