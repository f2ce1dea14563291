#include "worker/model.h"

#include "base/clock.h"
#include "base/limits.h"
#include "model/folder.h"
#include "worker/model_cache.h"
#include "worker/model_source.h"
#include "worker/worker.h"
#include <inttypes.h>
#include <string.h>

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

static bool is_called(const struct dlsi_bundle_file *listed, const char *name)
{
	return strcmp(listed->name, name) == 0;
}

/* Nobody runs labels. */
static bool is_wanted(const struct dlsi_bundle_file *listed)
{
	return !is_called(listed, DLSI_MODEL_LABELS);
}

/* Loading a model takes about as much memory again as its files. */
static int check_lengths(const struct dls_worker *worker, const struct dlsi_bundle *bundle, struct dls_error *err)
{
	uint64_t most = worker->topology.memory_bytes / 2, bytes = 0;

	for (unsigned i = 0; i < bundle->count; i++) {
		const struct dlsi_bundle_file *listed = &bundle->files[i];
		int rc = is_called(listed, DLSI_MODEL_ONNX) ? dlsi_onnx_check_length(listed->length, err) : 0;

		if (rc)
			return dlsi_fail_in(err, rc, "%s", listed->name);
		if (is_called(listed, DLSI_MODEL_JSON) && listed->length > DLSI_MODEL_JSON_BYTES)
			return dlsi_fail(err, DLS_ELIMIT, "%s has %" PRIu64 " bytes, more than the limit of %d",
				listed->name, listed->length, DLSI_MODEL_JSON_BYTES);
		bytes += is_wanted(listed) ? listed->length : 0;
	}
	if (most && bytes > most) /* 0: nobody knows */
		return dlsi_fail(err, DLS_ELIMIT,
			"its files have %" PRIu64 " bytes, and the worker %s may use %" PRIu64
			"; run it where there is more memory",
			bytes, worker->name, most);
	return 0;
}

/* Notes which files are to be had, and reads those that are in the cache. */
static int list_files(struct dlsi_worker_model *model, const struct dlsi_bundle *bundle, struct dls_error *err)
{
	const struct dlsi_alloc *alloc = &model->worker->ctx->alloc;

	model->files = dlsi_calloc(alloc, bundle->count, sizeof *model->files);
	model->ways = dlsi_calloc(alloc, bundle->count, sizeof *model->ways);
	if (!model->files || !model->ways)
		return dlsi_fail_memory(err);
	for (unsigned i = 0; i < bundle->count; i++) {
		const struct dlsi_bundle_file *listed = &bundle->files[i];
		struct dlsi_model_file *file = &model->files[model->file_count];
		struct dlsi_worker_model_file *way = &model->ways[model->file_count];

		if (!is_wanted(listed))
			continue;
		*way = (struct dlsi_worker_model_file){
			.model = model, .blob = {listed->hash, listed->length, DLSI_PROOF_HASH}, .file = file};
		memcpy(file->name, listed->name, sizeof file->name);
		file->bytes = read_cached(model->worker, &way->blob);
		way->missing = !file->bytes;
		model->file_count++;
	}
	return 0;
}

static int seek(struct dlsi_worker_model *model, struct dls_error *err)
{
	struct dlsi_bundle bundle;
	int rc = dlsi_bundle_decode(
		&model->worker->ctx->alloc, dlsi_frame_data(model->list), dlsi_frame_size(model->list), &bundle, err);

	if (rc)
		return rc;
	rc = check_lengths(model->worker, &bundle, err);
	if (rc == 0)
		rc = list_files(model, &bundle, err);
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

	for (unsigned i = 0; i < model->file_count && rc == 0; i++) {
		const struct dlsi_worker_model_file *way = &model->ways[i];

		if (way->missing && way->file->bytes)
			rc = dlsi_cache_add(worker->cache, &way->blob.name, dlsi_frame_data(way->file->bytes),
				way->blob.length, &err);
	}
	if (rc == 0)
		return;
	dlsi_hex(model->bundle.name.bytes, DLSI_HASH_BYTES, id);
	dlsi_ctx_log(worker->ctx, DLS_LOG_WARNING, "worker: the model %s is kept in memory only: %s", id, err.text);
}

/* Here, since to give back gigabytes takes a while. */
static void forget_files(struct dlsi_worker_model *model)
{
	const struct dlsi_alloc *alloc = &model->worker->ctx->alloc;

	while (model->file_count)
		dlsi_frame_unref(model->files[--model->file_count].bytes);
	dlsi_free(alloc, model->files);
	dlsi_free(alloc, model->ways);
	model->files = NULL;
	model->ways = NULL;
}

static void destroy(struct dlsi_worker_model *model)
{
	if (model->job) /* the worker ends while the master is asked */
		dlsi_worker_job_unref(model->job);
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
	else
		dlsi_worker_model_offer(model);
	dlsi_worker_model_tell(job, model->failed.code ? DLSI_SEEK_GAVE_UP : DLSI_SEEK_HAS, model->fetched,
		(uint64_t)(dlsi_clock_monotonic_ns() - model->begun_ns));
	dlsi_waiters_wake(&model->waiting);
	if (model->job == job) { /* no task of another job has begun anew */
		model->job = NULL;
		model->failed.code = 0;
	}
	dlsi_worker_job_unref(job);
}

/* Asks the master where the files are. */
static void ask(struct dlsi_worker_model *model)
{
	model->state = DLSI_WORKER_MODEL_ASKING;
	dlsi_worker_model_tell(model->job, DLSI_SEEK_WANTS, 0, 0);
}

/* All that was asked for has come or cannot be had there. */
static void take_files(struct dlsi_worker_model *model)
{
	char id[DLSI_HASH_TEXT_BYTES];

	if (!model->failed.code || !*model->holder || model->worker->dialer.ending) {
		order(model, DLSI_WORKER_MODEL_STORING);
		return;
	}
	dlsi_hex(model->bundle.name.bytes, DLSI_HASH_BYTES, id);
	dlsi_ctx_log(model->worker->ctx, DLS_LOG_INFO, "worker: the model %s is looked for elsewhere: %s", id,
		model->failed.text);
	model->failed.code = 0;
	ask(model);
}

static void take_file(struct dlsi_pending_fetch *fetch, int64_t now_ns)
{
	struct dlsi_worker_model_file *way = dlsi_list_entry(fetch, struct dlsi_worker_model_file, fetch);
	struct dlsi_worker_model *model = way->model;

	(void)now_ns;
	way->file->bytes = fetch->frame;
	model->fetched += fetch->frame ? way->blob.length : 0;
	if (fetch->err.code && !model->failed.code)
		model->failed = fetch->err;
	if (--model->fetching == 0)
		take_files(model);
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
		dlsi_worker_model_withdraw(model);
		worker->model_count--;
		dlsi_list_remove(&model->node);
		model->state = DLSI_WORKER_MODEL_GOING;
		dlsi_executor_submit(worker->librarian, &model->work);
	}
}

static void fetch_files(struct dlsi_worker_model *model)
{
	const struct dlsi_id *caller;

	model->state = DLSI_WORKER_MODEL_FILLING;
	model->begun_ns = dlsi_clock_monotonic_ns();
	model->fetched = 0;
	for (unsigned i = 0; i < model->file_count; i++) {
		struct dlsi_worker_model_file *way = &model->ways[i];
		struct dlsi_fetch wanted = dlsi_worker_model_fetch(model, &caller);

		if (way->file->bytes)
			continue;
		wanted.blob = way->blob;
		wanted.length = way->blob.length;
		model->fetching++;
		dlsi_fetch_begin(&model->worker->dialer, &way->fetch, &wanted, caller, take_file);
	}
}

/* Gets what is not in the cache. */
static void complete(struct dlsi_worker_model *model)
{
	bool missing = false;
	uint64_t bytes = 0;

	for (unsigned i = 0; i < model->file_count; i++) {
		bytes += model->ways[i].blob.length;
		missing |= model->ways[i].missing;
	}
	note_bytes(model, bytes);
	trim(model->worker, model);
	if (missing)
		ask(model);
	else
		settle(model);
}

/* The librarian is ready. */
static void go_on(struct dlsi_errand *errand, int64_t now_ns)
{
	struct dlsi_worker_model *model = dlsi_list_entry(errand, struct dlsi_worker_model, errand);
	struct dls_worker *worker = model->worker;

	(void)now_ns;
	if (model->state == DLSI_WORKER_MODEL_SEEKING && !model->failed.code)
		complete(model);
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
	model->fetched = 0;
	model->state = DLSI_WORKER_MODEL_LISTING;
	dlsi_fetch_begin(&model->worker->dialer, &model->fetch, &wanted, &job->id, take_list);
	return 0;
}

static struct dlsi_worker_model *create(struct dls_worker *worker, const struct dlsi_blob *bundle)
{
	struct dlsi_worker_model *model = dlsi_calloc(&worker->ctx->alloc, 1, sizeof *model);

	if (!model)
		return NULL;
	*model = (struct dlsi_worker_model){.worker = worker, .bundle = *bundle, .work.run = work, .errand.run = go_on};
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
		if (!job->told)
			dlsi_worker_model_tell(job, DLSI_SEEK_HAS, 0, 0);
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

void dlsi_worker_model_found(struct dls_worker *worker, const struct dlsi_effect *effect)
{
	dlsi_list_each (node, &worker->models) {
		struct dlsi_worker_model *model = dlsi_list_entry(node, struct dlsi_worker_model, node);
		const struct dlsi_worker_job *job = dlsi_worker_job_find(worker, &effect->job);

		if (model->state == DLSI_WORKER_MODEL_ASKING && dlsi_id_equal(&model->job->id, &effect->job)) {
			dlsi_worker_model_note(model, effect);
			fetch_files(model);
		} else if (model->state == DLSI_WORKER_MODEL_HERE && job &&
			   dlsi_hash_equal(&job->spec.model.name, &model->bundle.name)) {
			dlsi_worker_model_note(model, effect);
			dlsi_worker_model_offer(model);
		}
	}
}

struct dlsi_model_files dlsi_worker_model_files(const struct dlsi_worker_model *model)
{
	return (struct dlsi_model_files){.id = model->bundle.name, .at = model->files, .count = model->file_count};
}

int dlsi_worker_models_init(struct dls_worker *worker, const char *folder, struct dls_error *err)
{
	const struct dlsi_alloc *alloc = &worker->ctx->alloc;
	int rc = dlsi_worker_cache_open(alloc, folder, &worker->cache, err);

	return rc ? rc : dlsi_executor_create(alloc, "dls-librarian", 1, &worker->librarian, err);
}

void dlsi_worker_models_fini(struct dls_worker *worker)
{
	dlsi_executor_destroy(worker->librarian);
	dlsi_list_each (node, &worker->models) {
		struct dlsi_worker_model *model = dlsi_list_entry(node, struct dlsi_worker_model, node);

		dlsi_worker_model_withdraw(model);
		destroy(model);
	}
	dlsi_cache_close(worker->cache);
}
