/* The model of a job. */
#include "node/job.h"

int dlsi_node_job_share_model(
	struct dls_job *job, const char *folder, struct dlsi_blob *model_out, struct dls_error *err)
{
	(void)job;
	(void)model_out;
	return dlsi_fail(err, DLS_EUNSUPPORTED, "jobs that run the model of %s are not possible yet", folder);
}
