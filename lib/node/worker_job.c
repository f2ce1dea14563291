#include "node/worker_job.h"

#include "base/limits.h"
#include "node/worker.h"
#include <inttypes.h>
#include <string.h>

struct page {
	struct dlsi_list node; /* on job->pages */
	struct dlsi_worker_job *job;
	uint64_t offset; /* in the manifest */
	uint32_t length;
	uint64_t rows;
	struct dlsi_frame *frame; /* NULL: on its way */
	struct dlsi_page opened;
	struct dlsi_worker_fetch fetch;
	struct dls_error failed; /* with a code: it is no page, or, while tasks are told, it cannot be had */
};

static void remove_page(struct page *page)
{
	dlsi_list_remove(&page->node);
	page->job->page_count--;
	dlsi_frame_unref(page->frame);
	dlsi_free(&page->job->worker->ctx->alloc, page);
}

struct dlsi_worker_job *dlsi_worker_job_ref(struct dlsi_worker_job *job)
{
	job->refs++;
	return job;
}

void dlsi_worker_job_unref(struct dlsi_worker_job *job)
{
	const struct dlsi_alloc *alloc = &job->worker->ctx->alloc;

	if (--job->refs)
		return;
	dlsi_list_each (node, &job->pages)
		remove_page(dlsi_list_entry(node, struct page, node));
	dlsi_frame_unref(job->bytes);
	dlsi_job_spec_fini(&job->spec, alloc);
	dlsi_free(alloc, job->holder);
	dlsi_free(alloc, job);
}

struct dlsi_worker_job *dlsi_worker_job_find(const struct dls_worker *worker, const struct dlsi_id *id)
{
	return dlsi_map_get(&worker->job_by_id, id);
}

void dlsi_worker_job_close(struct dls_worker *worker, const struct dlsi_id *id)
{
	struct dlsi_worker_job *job = dlsi_map_remove(&worker->job_by_id, id);

	if (!job)
		return;
	dlsi_list_remove(&job->node);
	dlsi_worker_job_unref(job);
}

/* Finds out what is to be run. What is wrong with it becomes the error of the job's items. */
static int read_spec(struct dlsi_worker_job *job, const void *spec, size_t length)
{
	struct dls_worker *worker = job->worker;
	int rc = dlsi_job_spec_read(&worker->ctx->alloc, spec, length, &job->spec, &job->refused);

	if (rc == DLS_ENOMEM)
		return rc;
	if (rc == 0 && job->spec.handler) {
		job->handler = dlsi_worker_find_handler(worker, job->spec.handler);
		if (!job->handler)
			dlsi_fail(&job->refused, DLS_ENOTFOUND, "the worker %s has no handler \"%s\"", worker->name,
				job->spec.handler);
	} else if (rc == 0 && worker->no_models) {
		dlsi_fail(&job->refused, DLS_EUNSUPPORTED, "the worker %s runs no models", worker->name);
	}
	return 0;
}

static int open_manifest(struct dlsi_worker_job *job, uint64_t total, struct dls_error *err)
{
	int rc = dlsi_manifest_open(
		dlsi_frame_data(job->bytes), dlsi_frame_size(job->bytes), total, job->count, &job->manifest, err);

	return rc ? dlsi_fail_in(err, rc, "the job's list of inputs") : 0;
}

/* Takes what the effect says of the manifest. */
static void note_manifest(struct dlsi_worker_job *job, const struct dlsi_effect *effect)
{
	job->count = effect->open.count;
	job->blob = effect->open.manifest;
	job->head_length = effect->open.manifest_head;
	if (effect->payload.handle) {
		job->whole = true;
		job->bytes = dlsi_frame_ref(dlsi_payloads_get(&job->worker->driver.payloads, effect->payload.handle));
		if (!job->refused.code)
			open_manifest(job, dlsi_frame_size(job->bytes), &job->refused);
	} else if (job->head_length > DLSI_PAGE_BYTES) {
		dlsi_fail(&job->refused, DLS_ELIMIT, "the head of the job's list of inputs has %" PRIu32 " bytes",
			job->head_length);
	}
}

int dlsi_worker_job_open(struct dls_worker *worker, const struct dlsi_effect *effect)
{
	const struct dlsi_alloc *alloc = &worker->ctx->alloc;
	const struct dlsi_effects *effects = &worker->driver.effects;
	struct dlsi_text host = dlsi_effects_text(effects, effect->open.holder_host, effect->open.holder_host_length);
	struct dlsi_text holder = dlsi_effects_text(effects, effect->open.holder, effect->open.holder_length);
	struct dlsi_text spec = dlsi_effects_text(effects, effect->open.spec, effect->open.spec_length);
	struct dlsi_worker_job *job = dlsi_calloc(alloc, 1, sizeof *job);

	if (!job)
		return DLS_ENOMEM;
	*job = (struct dlsi_worker_job){.worker = worker, .refs = 1, .id = effect->job, .token = effect->open.token};
	dlsi_list_init(&job->pages);
	dlsi_list_init(&job->node);
	job->same_host =
		host.length == strlen(worker->ctx->host) && memcmp(host.data, worker->ctx->host, host.length) == 0;
	job->holder = dlsi_strndup(alloc, holder.data ? holder.data : "", holder.length);
	if (!job->holder || read_spec(job, spec.data, spec.length) || dlsi_map_put(&worker->job_by_id, &job->id, job)) {
		dlsi_worker_job_unref(job);
		return DLS_ENOMEM;
	}
	note_manifest(job, effect);
	dlsi_list_append(&worker->jobs, &job->node);
	return 0;
}

struct dlsi_fetch dlsi_worker_job_fetch(const struct dlsi_worker_job *job)
{
	return (struct dlsi_fetch){.endpoint = job->holder, .same_host = job->same_host, .token = job->token};
}

/* The fetch of the head has ended. */
static void take_head(struct dlsi_worker_fetch *fetch)
{
	struct dlsi_worker_job *job = dlsi_list_entry(fetch, struct dlsi_worker_job, fetch);

	job->fetching = false;
	job->failed = fetch->err;
	job->bytes = fetch->frame;
	if (job->bytes && open_manifest(job, job->blob.length, &job->failed)) {
		dlsi_frame_unref(job->bytes);
		job->bytes = NULL;
	}
	dlsi_worker_advance(job->worker);
	job->failed.code = 0;
	dlsi_worker_job_unref(job);
}

int dlsi_worker_job_manifest(struct dlsi_worker_job *job, struct dls_error *err)
{
	struct dlsi_fetch wanted = dlsi_worker_job_fetch(job);
	int rc;

	if (job->bytes)
		return 0;
	if (job->failed.code)
		return dlsi_fail(err, job->failed.code, "%s", job->failed.text);
	if (job->fetching)
		return 1;
	wanted.blob = job->blob;
	wanted.length = job->head_length;
	rc = dlsi_worker_fetch_begin(job->worker, &job->fetch, &wanted, take_head, err);
	if (rc)
		return rc;
	dlsi_worker_job_ref(job);
	job->fetching = true;
	return 1;
}

/* Opens a page whose bytes are here, once for all tasks: that looks at every row. */
static void open_page(struct page *page)
{
	dlsi_page_open(dlsi_frame_data(page->frame), dlsi_frame_size(page->frame), (uint32_t)page->rows, &page->opened,
		&page->failed);
}

/* The fetch of a page has ended. */
static void take_page(struct dlsi_worker_fetch *fetch)
{
	struct page *page = dlsi_list_entry(fetch, struct page, fetch);
	struct dlsi_worker_job *job = page->job;
	bool fetched = fetch->code == 0;

	page->frame = fetch->frame;
	page->failed = fetch->err;
	if (fetched)
		open_page(page);
	dlsi_worker_advance(job->worker); /* a page that was fetched may be gone now */
	if (!fetched)
		remove_page(page);
	dlsi_worker_job_unref(job);
}

/* Drops pages that were not used for longest. */
static void trim_pages(struct dlsi_worker_job *job)
{
	dlsi_list_each (node, &job->pages) {
		struct page *page = dlsi_list_entry(node, struct page, node);

		if (job->page_count > DLSI_JOB_PAGES && page->frame)
			remove_page(page);
	}
}

static struct page *create_page(struct dlsi_worker_job *job, const struct dlsi_run *run)
{
	struct page *page = dlsi_calloc(&job->worker->ctx->alloc, 1, sizeof *page);

	if (!page)
		return NULL;
	page->job = job;
	page->offset = run->page_offset;
	page->length = run->page_length;
	page->rows = run->items;
	dlsi_list_append(&job->pages, &page->node);
	job->page_count++;
	return page;
}

/* Takes the page out of a manifest that came with the job. */
static int cut_page(struct page *page, struct dls_error *err)
{
	page->frame = dlsi_frame_part(page->job->bytes, (size_t)page->offset, page->length);
	if (!page->frame) {
		remove_page(page);
		return dlsi_fail_memory(err);
	}
	open_page(page);
	return 0;
}

static int fetch_page(struct page *page, struct dls_error *err)
{
	struct dlsi_worker_job *job = page->job;
	struct dlsi_fetch wanted = dlsi_worker_job_fetch(job);
	int rc;

	wanted.blob = job->blob;
	wanted.offset = page->offset;
	wanted.length = page->length;
	rc = dlsi_worker_fetch_begin(job->worker, &page->fetch, &wanted, take_page, err);
	if (rc) {
		remove_page(page);
		return rc;
	}
	dlsi_worker_job_ref(job);
	return 1;
}

static struct page *find_page(const struct dlsi_worker_job *job, const struct dlsi_run *run)
{
	dlsi_list_each (node, &job->pages) {
		struct page *page = dlsi_list_entry(node, struct page, node);

		if (page->offset == run->page_offset && page->length == run->page_length && page->rows == run->items)
			return page;
	}
	return NULL;
}

int dlsi_worker_job_page(struct dlsi_worker_job *job, const struct dlsi_run *run, struct dlsi_frame **frame_out,
	struct dlsi_page *page_out, struct dls_error *err)
{
	struct page *page = find_page(job, run);
	int rc = 0;

	if (!page) {
		page = create_page(job, run);
		if (!page)
			return dlsi_fail_memory(err);
		rc = job->whole ? cut_page(page, err) : fetch_page(page, err);
		trim_pages(job);
	}
	if (rc)
		return rc;
	if (page->failed.code)
		return dlsi_fail(err, page->failed.code, "%s", page->failed.text);
	if (!page->frame)
		return 1;
	dlsi_list_remove(&page->node);
	dlsi_list_append(&job->pages, &page->node);
	*frame_out = dlsi_frame_ref(page->frame);
	*page_out = page->opened;
	return 0;
}
