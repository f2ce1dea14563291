#include "worker/page.h"

#include "base/limits.h"
#include "worker/worker.h"

struct page {
	struct dlsi_list node; /* on job->pages */
	struct dlsi_worker_job *job;
	uint64_t offset; /* in the manifest */
	uint32_t length;
	uint64_t rows;
	struct dlsi_frame *frame; /* NULL: on its way */
	struct dlsi_page opened;
	struct dlsi_pending_fetch fetch;
	struct dlsi_list waiting;
	struct dls_error failed; /* with a code: it is no page, or, while tasks are told, it cannot be had */
};

static void remove_page(struct page *page)
{
	dlsi_list_remove(&page->node);
	page->job->page_count--;
	dlsi_frame_unref(page->frame);
	dlsi_free(&page->job->worker->ctx->alloc, page);
}

/* Opens a page whose bytes are here, once for all tasks: that looks at every row. */
static void open_page(struct page *page)
{
	dlsi_page_open(dlsi_frame_data(page->frame), dlsi_frame_size(page->frame), (uint32_t)page->rows, &page->opened,
		&page->failed);
}

/* The fetch of a page has ended. */
static void take_page(struct dlsi_pending_fetch *fetch, int64_t now_ns)
{
	struct page *page = dlsi_list_entry(fetch, struct page, fetch);
	struct dlsi_worker_job *job = page->job;
	bool fetched = fetch->err.code == 0;

	(void)now_ns;
	page->frame = fetch->frame;
	page->failed = fetch->err;
	if (fetched)
		open_page(page);
	dlsi_waiters_wake(&page->waiting);
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
	dlsi_list_init(&page->waiting);
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

static void fetch_page(struct page *page)
{
	struct dlsi_worker_job *job = page->job;
	struct dlsi_fetch wanted = dlsi_worker_job_fetch(job);

	wanted.blob = job->blob;
	wanted.offset = page->offset;
	wanted.length = page->length;
	dlsi_worker_job_ref(job);
	dlsi_fetch_begin(&job->worker->dialer, &page->fetch, &wanted, take_page);
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

/* A page that nobody has asked for. */
static int begin(struct dlsi_worker_job *job, const struct dlsi_run *run, struct page **page_out, struct dls_error *err)
{
	struct page *page = create_page(job, run);
	int rc = 0;

	if (!page)
		return dlsi_fail_memory(err);
	if (job->whole)
		rc = cut_page(page, err);
	else
		fetch_page(page);
	trim_pages(job);
	*page_out = page;
	return rc;
}

int dlsi_worker_page_get(struct dlsi_worker_job *job, const struct dlsi_run *run, struct dlsi_waiter *waiter,
	struct dlsi_frame **frame_out, struct dlsi_page *page_out, struct dls_error *err)
{
	struct page *page = find_page(job, run);
	int rc = page ? 0 : begin(job, run, &page, err);

	if (rc)
		return rc;
	if (page->failed.code)
		return dlsi_fail(err, page->failed.code, "%s", page->failed.text);
	if (!page->frame) {
		dlsi_list_append(&page->waiting, &waiter->node);
		return 1;
	}
	dlsi_list_remove(&page->node);
	dlsi_list_append(&job->pages, &page->node);
	*frame_out = dlsi_frame_ref(page->frame);
	*page_out = page->opened;
	return 0;
}

void dlsi_worker_pages_drop(struct dlsi_worker_job *job)
{
	dlsi_list_each (node, &job->pages)
		remove_page(dlsi_list_entry(node, struct page, node));
}
