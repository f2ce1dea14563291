/* The model of a job: its folder is checked here, before anything is sent. */
#include "node/job.h"
#include "node/model_folder.h"

/* Opens the model once to see that workers can: what is wrong with it is said here and not by each of them. */
static int check_model(const struct dlsi_alloc *alloc, const char *folder, struct dls_error *err)
{
	struct dlsi_model_folder model;
	int rc = dlsi_model_folder_open(&model, alloc, folder, err);

	if (rc == 0)
		dlsi_model_folder_close(&model);
	return rc;
}

int dlsi_node_job_share_model(
	struct dls_job *job, const char *folder, struct dlsi_blob *model_out, struct dls_error *err)
{
	int rc = check_model(&job->client->ctx->alloc, folder, err);

	(void)model_out;
	return rc ? rc : dlsi_fail(err, DLS_EUNSUPPORTED, "jobs that run a model, %s, are not possible yet", folder);
}
