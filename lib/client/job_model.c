/* The model of a job: its folder or file is checked here, before anything is sent, and shared as a bundle. */
#include "client/job.h"
#include "model/folder.h"
#include "store/bundle.h"

/* Opens the model once to see that workers can: what is wrong with it is said here and not by each of them. */
static int check_model(const struct dlsi_alloc *alloc, const char *path, struct dls_error *err)
{
	struct dlsi_model_folder model;
	int rc = dlsi_model_folder_open(&model, alloc, path, err);

	if (rc == 0)
		dlsi_model_folder_close(&model);
	return rc;
}

/* Offers the list of a model's files, and the files. */
static int offer_bundle(struct dls_job *job, const char *path, const struct dlsi_bundle *bundle, struct dls_error *err)
{
	const struct dlsi_alloc *alloc = &job->client->ctx->alloc;
	struct dlsi_blob list = {bundle->id, bundle->length, DLSI_PROOF_HASH};
	struct dlsi_source source = {.frame = dlsi_frame_copy(alloc, bundle->bytes, bundle->length)};
	int rc;

	if (!source.frame)
		return dlsi_fail_memory(err);
	rc = dlsi_shares_add(&job->shares, &list, &source, err);
	dlsi_frame_unref(source.frame);
	for (unsigned i = 0; rc == 0 && i < bundle->count; i++) {
		const struct dlsi_bundle_file *file = &bundle->files[i];
		struct dlsi_blob blob = {file->hash, file->length, DLSI_PROOF_HASH};
		char *place = dlsi_bundle_path(alloc, path, file->name);

		if (!place)
			return dlsi_fail_memory(err);
		source = (struct dlsi_source){.path = place};
		rc = dlsi_shares_add(&job->shares, &blob, &source, err);
		dlsi_free(alloc, place);
	}
	return rc;
}

int dlsi_node_job_share_model(struct dls_job *job, const char *path, struct dlsi_blob *model_out, struct dls_error *err)
{
	const struct dlsi_alloc *alloc = &job->client->ctx->alloc;
	struct dlsi_bundle bundle;
	int rc = check_model(alloc, path, err);

	if (rc == 0)
		rc = dlsi_bundle_read(alloc, path, &bundle, err);
	if (rc)
		return rc;
	*model_out = (struct dlsi_blob){bundle.id, bundle.length, DLSI_PROOF_HASH};
	rc = offer_bundle(job, path, &bundle, err);
	dlsi_bundle_fini(&bundle);
	return rc;
}
