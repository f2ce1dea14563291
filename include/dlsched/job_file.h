/* A job that is described in a file: a JSON object with what struct dls_job_options can say, the inputs and the tenant.
 * docs/CLI.md says what its keys are, docs/job.schema.json is its schema; `dls-submit run --job FILE` runs one.
 *
 *	dls_job_file_read(ctx, "job.json", &file, &err);
 *	dls_job_create(client, file->options, &job, &err);
 *	for (size_t i = 0; i < file->input_count; i++)
 *		dls_job_add_file(job, file->inputs[i], &err);
 *	dls_job_file_destroy(file); */
#ifndef DLSCHED_JOB_FILE_H
#define DLSCHED_JOB_FILE_H

#include <dlsched/job.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Belongs to the caller, who gives it back with dls_job_file_destroy; all that it points to goes with it. */
struct dls_job_file {
	size_t size;
	const struct dls_job_options *options; /* complete but for `notify`, which a program may set in a copy */
	const char *tenant;                    /* for dls_client_options; NULL: the file does not say */
	const char *const *inputs;             /* paths */
	size_t input_count;
};

/* Paths in the file, of the model and of inputs, are relative to its folder. What can be wrong with the job by itself
 * is found here, before there is a client; the sentence names the file and the key. Errors: DLS_ENOTFOUND, DLS_EINVAL
 * (an unknown key, a wrong type, a value out of range), DLS_EFORMAT (no JSON), DLS_ELIMIT (more than 16 MB), DLS_EIO,
 * DLS_ENOMEM. */
int dls_job_file_read(struct dls_ctx *ctx, const char *path, struct dls_job_file **file_out, struct dls_error *err);

/* NULL is allowed. */
void dls_job_file_destroy(struct dls_job_file *file);

#ifdef __cplusplus
}
#endif
#endif
