/* The model of a job: its folder is checked here, before anything is sent, and shared as a bundle. */
#include "base/file.h"
#include "client/job.h"
#include "model/folder.h"
#include "store/bundle.h"

/* Opens the model once to see that workers can: what is wrong with it is said here and not by each of them. */
static int check_model(const struct dlsi_alloc *alloc, const char *folder, struct dls_error *err)
{
	struct dlsi_model_folder model;
	int rc = dlsi_model_folder_open(&model, alloc, folder, err);

	if (rc == 0)
		dlsi_model_folder_close(&model);
	return rc;
}

/* Offers the list of a model folder's files, and the files. */
static int offer_bundle(
	struct dls_job *job, const char *folder, const struct dlsi_bundle *bundle, struct dls_error *err)
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
		char *path = dlsi_file_join(alloc, folder, file->name);

		if (!path)
			return dlsi_fail_memory(err);
		source = (struct dlsi_source){.path = path};
		rc = dlsi_shares_add(&job->shares, &blob, &source, err);
		dlsi_free(alloc, path);
	}
	return rc;
}

int dlsi_node_job_share_model(
	struct dls_job *job, const char *folder, struct dlsi_blob *model_out, struct dls_error *err)
{
	const struct dlsi_alloc *alloc = &job->client->ctx->alloc;
	struct dlsi_bundle bundle;
	int rc = check_model(alloc, folder, err);

	if (rc == 0)
		rc = dlsi_bundle_read(alloc, folder, &bundle, err);
	if (rc)
		return rc;
	*model_out = (struct dlsi_blob){bundle.id, bundle.length, DLSI_PROOF_HASH};
	rc = offer_bundle(job, folder, &bundle, err);
	dlsi_bundle_fini(&bundle);
	return rc;
}
