/* What a job says of itself alone, as the JSON that travels in SUBMIT: jobs of one kind share a specification
 * (node/job_spec.h), this they do not share. The master reads it (core/master_about.c). */
#ifndef DLSI_JOB_ABOUT_H
#define DLSI_JOB_ABOUT_H

#include "base/alloc.h"
#include "base/error.h"

struct dlsi_job_about {
	const char *name;        /* NULL: none */
	const char *const *tags; /* NULL-terminated, or NULL */
	const char *const *after;
	const char *after_when; /* NULL: ended */
};

/* *json_out is freed by the caller; NULL if there is nothing to say. Errors: DLS_ELIMIT, DLS_ENOMEM. */
int dlsi_job_about_write(
	const struct dlsi_alloc *alloc, const struct dlsi_job_about *about, char **json_out, struct dls_error *err);

#endif
