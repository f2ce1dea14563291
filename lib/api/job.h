/* What functions about jobs check alike. */
#ifndef DLSI_API_JOB_H
#define DLSI_API_JOB_H

#include "base/error.h"
#include <dlsched/job.h>

/* The options of a job of this client, complete and checked. Errors: as dls_job_create for its arguments. */
int dlsi_job_options_read(struct dls_client *client, const struct dls_job_options *options,
	struct dls_job_options *options_out, struct dls_error *err);

#endif
