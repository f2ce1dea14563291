/* Lists that worker and job options have in common: amounts of resources, and names such as labels. */
#ifndef DLSI_DEMANDS_H
#define DLSI_DEMANDS_H

#include "base/error.h"
#include <dlsched/resource.h>

/* `what` is whose list it is, for errors: "a worker". NULL is an empty list. Errors: DLS_EINVAL. */
int dlsi_resources_check(const char *what, const struct dls_resource *resources, struct dls_error *err);

/* The same of a list that is not to name "devices": what a worker has or a task takes of them is known without it. */
int dlsi_demand_check(const char *what, const struct dls_resource *resources, struct dls_error *err);

/* A NULL-terminated list of up to `most` names; `each` stands for one of them: "a label". NULL is an empty list.
 * Errors: DLS_EINVAL. */
int dlsi_names_check(const char *each, const char *const *names, unsigned most, struct dls_error *err);

#endif
