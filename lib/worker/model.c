#include "worker/model.h"

#include "base/limits.h"
#include "model/folder.h"
#include "worker/model_cache.h"
#include "worker/worker.h"
#include <inttypes.h>

static const struct {
	const char *name;
	uint64_t limit; /* bytes */
} wanted_files[DLSI_WORKER_MODEL_FILES] = {
	{DLSI_MODEL_ONNX, DLSI_MODEL_FILE_BYTES},
	{DLSI_MODEL_JSON, DLSI_MODEL_JSON_BYTES},
};

/* ---- on the librarian's thread */

/* One that cannot be read is fetched. */
static struct dlsi_frame *read_cached(struct dls_worker *worker, const struct dlsi_blob *blob)
{
	const struct dlsi_alloc *alloc = &worker->ctx->alloc;
	uint8_t *data;

	if (dlsi_cache_read(worker->cache, &blob->name, blob->length, &data, NULL))
		return NULL;
	return dlsi_frame_take(alloc, data, (size_t)blob->length);
}

/* Loading it takes about as much memory again as its file. */
static int check_length(
	const struct dls_worker *worker, const struct dlsi_bundle_file *listed, uint64_t limit, struct dls_error *err)
{
	uint64_t most = worker->topology.memory_bytes / 2;

	if (listed->length > limit)
		return dlsi_fail(err, DLS_ELIMIT, "%s has %" PRIu64 " bytes, more than the limit of %" PRIu64,
			listed->name, listed->length, limit);
	if (most && listed->length > most) /* 0: nobody knows */
		return dlsi_fail(err, DLS_ELIMIT,
			"%s has %" PRIu64 " bytes, and the worker %s may use %" PRIu64
			"; run it where there is more memory",
			listed->name, listed->length, worker->name, most);
	return 0;
}

/* Notes which files are to be had, and reads those that are in the cache. */
static int seek(struct dlsi_worker_model *model, struct dls_error *err)
{
	struct dlsi_bundle bundle;
	int rc = dlsi_bundle_decode(
		&model->worker->ctx->alloc, dlsi_frame_data(model->list), dlsi_frame_size(model->list), &bundle, err);

	if (rc)
		return rc;
	for (unsigned i = 0; i < DLSI_WORKER_MODEL_FILES && rc == 0; i++) {
		const struct dlsi_bundle_file *listed = dlsi_bundle_find(&bundle, wanted_files[i].name);
		struct dlsi_worker_model_file *file = &model->files[i];

		if (!listed)
			continue;
		rc = check_length(model->worker, listed, wanted_files[i].limit, err);
		if (rc)
			continue;
		file->blob = (struct dlsi_blob){listed->hash, listed->length, DLSI_PROOF_HASH};
		file->bytes = read_cached(model->worker, &file->blob);
		file->missing = !file->bytes;
	}
	dlsi_bundle_fini(&bundle);
	return rc;
}

/* Adds to the cache what has been fetched, even if the rest could not be. */
static void store(struct dlsi_worker_model *model)
{
	struct dls_worker *worker = model->worker;
	char id[DLSI_HASH_TEXT_BYTES];
	struct dls_error err;
	int rc = 0;

	for (unsigned i = 0; i < DLSI_WORKER_MODEL_FILES && rc == 0; i++) {
		const struct dlsi_worker_model_file *file = &model->files[i];

		if (file->missing && file->bytes)
			rc = dlsi_cache_add(
				worker->cache, &file->blob.name, dlsi_frame_data(file->bytes), file->blob.length, &err);
	}
	if (rc == 0)
		return;
	dlsi_hex(model->bundle.name.bytes, DLSI_HASH_BYTES, id);
	dlsi_ctx_log(worker->ctx, DLS_LOG_WARNING, "worker: the model %s is kept in memory only: %s", id, err.text);
}

/* Here, since to give back gigabytes takes a while. */
static void forget_files(struct dlsi_worker_model *model)
{
	for (unsigned i = 0; i < DLSI_WORKER_MODEL_FILES; i++) {
		struct dlsi_worker_model_file *file = &model->files[i];

		dlsi_frame_unref(file->bytes);
		*file = (struct dlsi_worker_model_file){.model = model};
	}
}

static void destroy(struct dlsi_worker_model *model)
{
	forget_files(model);
	dlsi_free(&model->worker->ctx->alloc, model);
}

static void work(struct dlsi_work *work)
{
	struct dlsi_worker_model *model = dlsi_list_entry(work, struct dlsi_worker_model, work);

	if (model->state == DLSI_WORKER_MODEL_GOING) {
		destroy(model);
		return;
	}
	if (model->state == DLSI_WORKER_MODEL_SEEKING)
		seek(model, &model->failed);
	else
		store(model);
	if (model->failed.code)
		forget_files(model);
	dlsi_loop_post(model->worker->ctx->loop, &model->errand);
}

/* ---- on the loop's thread */

static void order(struct dlsi_worker_model *model, enum dlsi_worker_model_state state)
{
	model->state = state;
	dlsi_dialer_begin(&model->worker->dialer);
	dlsi_executor_submit(model->worker->librarian, &model->work);
}

static void note_bytes(struct dlsi_worker_model *model, uint64_t bytes)
{
	model->worker->model_bytes += bytes - model->bytes;
	model->bytes = bytes;
}

/* It is here, or cannot be had from this job's holder: tells the tasks that wait. */
static void settle(struct dlsi_worker_model *model)
{
	struct dlsi_worker_job *job = model->job;

	dlsi_frame_unref(model->list);
	model->list = NULL;
	model->state = model->failed.code ? DLSI_WORKER_MODEL_AWAY : DLSI_WORKER_MODEL_HERE;
	if (model->failed.code)
		note_bytes(model, 0);
	dlsi_waiters_wake(&model->waiting);
	if (model->job == job) { /* no task of another job has begun anew */
		model->job = NULL;
		model->failed.code = 0;
	}
	dlsi_worker_job_unref(job);
}

static void take_file(struct dlsi_pending_fetch *fetch, int64_t now_ns)
{
	struct dlsi_worker_model_file *file = dlsi_list_entry(fetch, struct dlsi_worker_model_file, fetch);
	struct dlsi_worker_model *model = file->model;

	(void)now_ns;
	file->bytes = fetch->frame;
	if (fetch->err.code && !model->failed.code)
		model->failed = fetch->err;
	if (--model->fetching == 0)
		order(model, DLSI_WORKER_MODEL_STORING);
}

static bool is_idle(const struct dlsi_worker_model *model)
{
	bool settled = model->state == DLSI_WORKER_MODEL_AWAY || model->state == DLSI_WORKER_MODEL_HERE;

	return settled && !model->tasks && !model->job;
}

/* Makes room for one. Others that are held or under way stay, however many they are: tasks bound their number. */
static void trim(struct dls_worker *worker, const struct dlsi_worker_model *wanted)
{
	uint64_t memory = worker->topology.memory_bytes, most = memory ? memory / DLSI_MODELS_PART : UINT64_MAX;

	dlsi_list_each (node, &worker->models) {
		struct dlsi_worker_model *model = dlsi_list_entry(node, struct dlsi_worker_model, node);
		bool too_many = worker->model_count > DLSI_MODELS_LOADED,
		     too_large = worker->model_bytes > most && model->bytes;

		if (model == wanted || !is_idle(model) || !(too_many || too_large))
			continue;
		note_bytes(model, 0);
		worker->model_count--;
		dlsi_list_remove(&model->node);
		model->state = DLSI_WORKER_MODEL_GOING;
		dlsi_executor_submit(worker->librarian, &model->work);
	}
}

static void fetch_files(struct dlsi_worker_model *model)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < DLSI_WORKER_MODEL_FILES; i++)
		bytes += model->files[i].blob.length;
	note_bytes(model, bytes);
	trim(model->worker, model);
	model->state = DLSI_WORKER_MODEL_FILLING;
	for (unsigned i = 0; i < DLSI_WORKER_MODEL_FILES; i++) {
		struct dlsi_worker_model_file *file = &model->files[i];
		struct dlsi_fetch wanted = dlsi_worker_job_fetch(model->job);

		if (!file->missing)
			continue;
		wanted.blob = file->blob;
		wanted.length = file->blob.length;
		model->fetching++;
		dlsi_fetch_begin(&model->worker->dialer, &file->fetch, &wanted, take_file);
	}
	if (!model->fetching)
		settle(model);
}

/* The librarian is ready. */
static void go_on(struct dlsi_errand *errand, int64_t now_ns)
{
	struct dlsi_worker_model *model = dlsi_list_entry(errand, struct dlsi_worker_model, errand);
	struct dls_worker *worker = model->worker;

	(void)now_ns;
	if (model->state == DLSI_WORKER_MODEL_SEEKING && !model->failed.code)
		fetch_files(model);
	else
		settle(model);
	dlsi_dialer_end(&worker->dialer);
}

static void take_list(struct dlsi_pending_fetch *fetch, int64_t now_ns)
{
	struct dlsi_worker_model *model = dlsi_list_entry(fetch, struct dlsi_worker_model, fetch);

	(void)now_ns;
	model->list = fetch->frame;
	model->failed = fetch->err;
	if (fetch->err.code)
		settle(model);
	else
		order(model, DLSI_WORKER_MODEL_SEEKING);
}

/* Asks the job's holder. */
static int begin(struct dlsi_worker_model *model, struct dlsi_worker_job *job, struct dls_error *err)
{
	struct dlsi_fetch wanted = dlsi_worker_job_fetch(job);

	if (model->bundle.length > DLSI_BUNDLE_BYTES)
		return dlsi_fail(
			err, DLS_ELIMIT, "the list of the model's files is longer than %d bytes", DLSI_BUNDLE_BYTES);
	wanted.blob = model->bundle;
	wanted.length = model->bundle.length;
	model->job = dlsi_worker_job_ref(job);
	model->failed.code = 0;
	model->state = DLSI_WORKER_MODEL_LISTING;
	dlsi_fetch_begin(&model->worker->dialer, &model->fetch, &wanted, take_list);
	return 0;
}

static struct dlsi_worker_model *create(struct dls_worker *worker, const struct dlsi_blob *bundle)
{
	struct dlsi_worker_model *model = dlsi_calloc(&worker->ctx->alloc, 1, sizeof *model);

	if (!model)
		return NULL;
	*model = (struct dlsi_worker_model){.worker = worker, .bundle = *bundle, .work.run = work, .errand.run = go_on};
	for (unsigned i = 0; i < DLSI_WORKER_MODEL_FILES; i++)
		model->files[i].model = model;
	dlsi_list_init(&model->node);
	dlsi_list_init(&model->waiting);
	worker->model_count++;
	return model;
}

static struct dlsi_worker_model *find(struct dls_worker *worker, const struct dlsi_blob *bundle)
{
	struct dlsi_worker_model *found = NULL;

	dlsi_list_each (node, &worker->models) {
		struct dlsi_worker_model *model = dlsi_list_entry(node, struct dlsi_worker_model, node);

		if (dlsi_hash_equal(&model->bundle.name, &bundle->name))
			found = model;
	}
	if (!found)
		found = create(worker, bundle);
	if (!found)
		return NULL;
	dlsi_list_remove(&found->node);
	dlsi_list_append(&worker->models, &found->node);
	trim(worker, found);
	return found;
}

int dlsi_worker_model_hold(struct dlsi_worker_job *job, struct dlsi_waiter *waiter,
	struct dlsi_worker_model **model_out, struct dls_error *err)
{
	struct dlsi_worker_model *model = find(job->worker, &job->spec.model);
	int rc = 0;

	if (!model)
		return dlsi_fail_memory(err);
	if (model->state == DLSI_WORKER_MODEL_HERE) {
		model->tasks++;
		*model_out = model;
		return 0;
	}
	if (model->state == DLSI_WORKER_MODEL_AWAY) {
		if (model->failed.code && model->job == job)
			return dlsi_fail(err, model->failed.code, "the model cannot be had: %s", model->failed.text);
		rc = begin(model, job, err);
	}
	if (rc)
		return rc;
	dlsi_list_append(&model->waiting, &waiter->node);
	return 1;
}

void dlsi_worker_model_drop(struct dlsi_worker_model *model)
{
	model->tasks--;
}

struct dlsi_model_files dlsi_worker_model_files(const struct dlsi_worker_model *model)
{
	return (struct dlsi_model_files){
		.id = model->bundle.name, .onnx = model->files[0].bytes, .json = model->files[1].bytes};
}

int dlsi_worker_models_init(struct dls_worker *worker, const char *folder, struct dls_error *err)
{
	const struct dlsi_alloc *alloc = &worker->ctx->alloc;
	int rc = dlsi_worker_cache_open(alloc, folder, &worker->cache, err);

	return rc ? rc : dlsi_executor_create(alloc, "dls-librarian", &worker->librarian, err);
}

void dlsi_worker_models_fini(struct dls_worker *worker)
{
	dlsi_executor_destroy(worker->librarian);
	dlsi_list_each (node, &worker->models)
		destroy(dlsi_list_entry(node, struct dlsi_worker_model, node));
	dlsi_cache_close(worker->cache);
}
