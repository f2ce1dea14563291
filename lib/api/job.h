/* What functions about jobs check alike. */
#ifndef DLSI_API_JOB_H
#define DLSI_API_JOB_H

#include "base/error.h"
#include <dlsched/job.h>

/* The options of a job of this client, complete and checked. Errors: as dls_job_create for its arguments. */
int dlsi_job_options_read(struct dls_client *client, const struct dls_job_options *options,
	struct dls_job_options *options_out, struct dls_error *err);

/* The same without a client: what can be wrong with them by themselves, and with the tenant, NULL for none. */
int dlsi_job_options_check(const struct dls_job_options *options, const char *tenant, struct dls_error *err);

#endif
