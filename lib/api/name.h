/* Names that programs give: of tenants, workers, handlers and jobs. They travel as text. */
#ifndef DLSI_NAME_H
#define DLSI_NAME_H

#include "base/error.h"

/* `what` stands for the name in errors: "the name of a tenant". Errors: DLS_EINVAL (not from 1 to DLSI_NAME_BYTES
 * bytes, not UTF-8). */
int dlsi_name_check(const char *what, const char *name, struct dls_error *err);

#endif
