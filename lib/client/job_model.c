/* The model of a job: its folder or file is checked here, before anything is sent, and shared as a bundle. */
#include "client/job.h"
#include "model/folder.h"
#include "store/bundle.h"

/* Offers the list of a model's files, and the files. */
static int offer_bundle(struct dls_job *job, const struct dlsi_bundle_source *sources, const struct dlsi_bundle *bundle,
	struct dls_error *err)
{
	struct dlsi_blob list = {bundle->id, bundle->length, DLSI_PROOF_HASH};
	struct dlsi_source source = {.frame = dlsi_frame_copy(&job->client->ctx->alloc, bundle->bytes, bundle->length)};
	int rc;

	if (!source.frame)
		return dlsi_fail_memory(err);
	rc = dlsi_shares_add(&job->shares, &list, &source, err);
	dlsi_frame_unref(source.frame);
	for (unsigned i = 0; rc == 0 && i < bundle->count; i++) {
		const struct dlsi_bundle_file *file = dlsi_bundle_find(bundle, sources[i].name);
		struct dlsi_blob blob = {file->hash, file->length, DLSI_PROOF_HASH};

		source = (struct dlsi_source){.path = sources[i].path};
		rc = dlsi_shares_add(&job->shares, &blob, &source, err);
	}
	return rc;
}

static int share(
	struct dls_job *job, const struct dlsi_model_folder *folder, struct dlsi_blob *model_out, struct dls_error *err)
{
	struct dlsi_bundle_source *sources;
	struct dlsi_bundle bundle;
	size_t count;
	int rc = dlsi_model_folder_sources(folder, &sources, &count, err);

	if (rc)
		return rc;
	rc = dlsi_bundle_read(folder->alloc, sources, count, &bundle, err);
	if (rc == 0) {
		*model_out = (struct dlsi_blob){bundle.id, bundle.length, DLSI_PROOF_HASH};
		rc = offer_bundle(job, sources, &bundle, err);
		dlsi_bundle_fini(&bundle);
	}
	dlsi_model_folder_free_sources(folder, sources, count);
	return rc;
}

/* The model is opened once to see that workers can: what is wrong with it is said here and not by each of them. */
int dlsi_node_job_share_model(struct dls_job *job, const char *path, struct dlsi_blob *model_out, struct dls_error *err)
{
	struct dlsi_model_folder folder;
	int rc = dlsi_model_folder_open(&folder, &job->client->ctx->alloc, path, err);

	if (rc)
		return rc;
	rc = share(job, &folder, model_out, err);
	dlsi_model_folder_close(&folder);
	return rc;
}
