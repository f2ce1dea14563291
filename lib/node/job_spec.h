/* What a job asks for, as the JSON that its client writes and workers read; the master looks only at what it schedules
 * by, and passes it on.
 *
 *   {"handler": NAME, "params": {...}, "task_items": N, "resources": {NAME: AMOUNT}, "labels": [NAME],
 *    "preferred_labels": [NAME], "time_limit_ms": N, "item_time_limit_ms": N, "speculate": false,
 *    "retry": {...} (core/retry_rules.h)}
 *   {"model": {"bundle": HASH, "bytes": N}, ...}
 *
 * As everywhere in JSON, numbers in params are doubles; whole ones above 2^53 belong into strings. */
#ifndef DLSI_JOB_SPEC_H
#define DLSI_JOB_SPEC_H

#include "base/error.h"
#include "core/retry_rules.h"
#include <dlsched/job.h>

struct dlsi_job_spec {
	const char *handler;             /* NULL: it runs a model */
	struct dlsi_blob model;          /* its bundle */
	const char *params;              /* a JSON object; NULL is {} */
	uint32_t task_items;             /* 0: the master divides */
	uint64_t item_time_limit_ms;     /* 0: none */
	struct dlsi_retry_rules retry;   /* only read; written is: */
	const struct dls_retry *retries; /* as in dls_job_options */

	/* The master's alone, so not read. As in dls_job_options. */
	uint64_t time_limit_ms;
	const struct dls_resource *resources;
	const char *const *labels, *const *preferred_labels;
	bool no_speculation;
};

/* *json_out is freed by the caller. Errors: DLS_EINVAL and DLS_EFORMAT (params that are no JSON object), DLS_ELIMIT,
 * DLS_ENOMEM. */
int dlsi_job_spec_write(const struct dlsi_alloc *alloc, const struct dlsi_job_spec *spec, char **json_out,
	size_t *length_out, struct dls_error *err);

/* Its texts are copies, given back by dlsi_job_spec_fini; params is never NULL. Errors: DLS_EFORMAT, DLS_EINVAL (not
 * what is described above), DLS_ELIMIT, DLS_ENOMEM. */
int dlsi_job_spec_read(const struct dlsi_alloc *alloc, const void *json, size_t length, struct dlsi_job_spec *spec_out,
	struct dls_error *err);
void dlsi_job_spec_fini(struct dlsi_job_spec *spec, const struct dlsi_alloc *alloc);

#endif
