#include "worker/capacity.h"

#include "core/resources.h"
#include <math.h>

int dlsi_worker_capacity_init(struct dlsi_worker_capacity *capacity, const struct dlsi_alloc *alloc,
	const struct dls_worker_options *options, struct dls_error *err)
{
	for (unsigned i = 0; options->labels && options->labels[i]; i++) {
		capacity->labels[i] = dlsi_strdup(alloc, options->labels[i]);
		if (!capacity->labels[i])
			return dlsi_fail_memory(err);
	}
	for (unsigned i = 0; options->resources && options->resources[i].name; i++) {
		struct dlsi_agent_resource *own = &capacity->resources[i];

		own->amount = (uint64_t)floor(options->resources[i].amount * DLSI_RESOURCE_UNIT);
		own->name = dlsi_strdup(alloc, options->resources[i].name);
		if (!own->name)
			return dlsi_fail_memory(err);
		capacity->resource_count++;
	}
	return 0;
}

void dlsi_worker_capacity_fini(struct dlsi_worker_capacity *capacity, const struct dlsi_alloc *alloc)
{
	for (unsigned i = 0; capacity->labels[i]; i++)
		dlsi_free(alloc, capacity->labels[i]);
	for (unsigned i = 0; i < capacity->resource_count; i++)
		dlsi_free(alloc, (char *)(uintptr_t)capacity->resources[i].name);
}
