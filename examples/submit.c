/* Submits photos as one job and prints what is in them.
 *
 *	submit tcp://127.0.0.1:7700 MODEL PHOTO...
 *
 * MODEL is a model folder, and the master needs a worker (dls-master, dls-worker). All errors end up in one place: each
 * call says in `err` what is wrong, so that it need not be said again. */
#include <dlsched/dlsched.h>
#include <inttypes.h>
#include <stdio.h>

enum { MASTER_MS = 5000 };

static int make_job(struct dls_client *client, const char *model, char **photos, int count, struct dls_job **job_out,
	struct dls_error *err)
{
	struct dls_job_options options = DLS_JOB_OPTIONS_INIT;
	int rc;

	options.model = model;
	rc = dls_job_create(client, &options, job_out, err);
	for (int i = 0; i < count && rc == 0; i++)
		rc = dls_job_add_file(*job_out, photos[i], err);
	return rc;
}

/* A model whose model.json says `top` gives its best classes first, with their indices. An item that failed has a
 * sentence in place of outputs; the others are not touched by it. */
static void print(const struct dls_result *result, const struct dls_model *model, char **photos)
{
	const struct dls_output *output = result->outputs;

	printf("%s: ", photos[result->item]);
	if (result->code)
		printf("%s\n", result->error);
	else if (output->indices)
		printf("%s %.2f\n", dls_model_label(model, output->indices[0]),
			(double)((const float *)output->tensor.data)[0]);
	else
		printf("%zu bytes of %s\n", output->tensor.bytes, dls_dtype_name(output->tensor.dtype));
}

static int run(struct dls_job *job, const struct dls_model *model, char **photos, struct dls_error *err)
{
	struct dls_result *result;
	int rc = dls_job_submit(job, err);

	if (rc)
		return rc;
	while ((rc = dls_job_next(job, -1, &result, err)) == 1) { /* in the order in which they were added */
		print(result, model, photos);
		dls_result_destroy(result);
	}
	return rc;
}

int main(int argc, char **argv)
{
	struct dls_client_options options = DLS_CLIENT_OPTIONS_INIT;
	struct dls_ctx *ctx = NULL;
	struct dls_client *client = NULL;
	struct dls_model *model = NULL;
	struct dls_job *job = NULL;
	struct dls_error err;
	int rc;

	if (argc < 4) {
		fprintf(stderr, "usage: submit MASTER MODEL PHOTO...\n");
		return 2;
	}
	options.master = argv[1];
	rc = dls_ctx_create(NULL, &ctx, &err);
	if (rc == 0)
		rc = dls_client_create(ctx, &options, &client, &err);
	if (rc == 0)
		rc = dls_client_wait(client, MASTER_MS, &err);
	if (rc == 0)
		rc = dls_model_open(ctx, argv[2], &model, &err);
	if (rc == 0)
		rc = make_job(client, argv[2], argv + 3, argc - 3, &job, &err);
	if (rc == 0)
		rc = run(job, model, argv + 3, &err);
	if (rc)
		fprintf(stderr, "submit: %s\n", err.text);

	dls_job_destroy(job);
	dls_model_destroy(model);
	dls_client_destroy(client);
	dls_ctx_destroy(ctx);
	return dls_error_exit_code(rc);
}
