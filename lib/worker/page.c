#include "worker/page.h"

#include "base/limits.h"
#include "worker/worker.h"

#define WHOLE_BYTES 16384 /* a page that is not longer is fetched whole ... */
#define WHOLE_PART  4     /* ... like one of which a task needs such a part ... */
#define MOST_PARTS  4     /* ... or that so many tasks have needed rows of, one after another */

struct page {
	struct dlsi_list node; /* on job->pages */
	struct dlsi_worker_job *job;
	uint64_t offset; /* of the whole page in the manifest */
	uint32_t length;
	uint32_t rows;
	uint32_t first, count;    /* rows that are had: all, or some */
	struct dlsi_frame *table; /* some: their entries in its table; NULL: not here */
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
	dlsi_frame_unref(page->table);
	dlsi_frame_unref(page->frame);
	dlsi_free(&page->job->worker->ctx->alloc, page);
}

/* Opens a page whose bytes are here, once for all tasks: that looks at every row. */
static void open_page(struct page *page)
{
	dlsi_page_open(
		dlsi_frame_data(page->frame), dlsi_frame_size(page->frame), page->count, &page->opened, &page->failed);
}

/* Tells those who wait. One that is not here is gone then, and is tried again by whoever needs it. */
static void settle(struct page *page)
{
	struct dlsi_worker_job *job = page->job;

	dlsi_waiters_wake(&page->waiting);
	if (!page->frame)
		remove_page(page);
	dlsi_worker_job_unref(job);
}

static void take_page(struct dlsi_pending_fetch *fetch, int64_t now_ns)
{
	struct page *page = dlsi_list_entry(fetch, struct page, fetch);

	(void)now_ns;
	page->frame = fetch->frame;
	page->failed = fetch->err;
	if (page->frame)
		open_page(page);
	settle(page);
}

static void fetch_part(struct page *page, uint64_t first, uint64_t length,
	void (*take)(struct dlsi_pending_fetch *fetch, int64_t now_ns))
{
	struct dlsi_worker_job *job = page->job;
	struct dlsi_fetch wanted = dlsi_worker_job_fetch(job);

	wanted.blob = job->blob;
	wanted.offset = page->offset + first;
	wanted.length = length;
	dlsi_fetch_begin(&job->worker->dialer, &page->fetch, &wanted, &job->id, take);
}

/* Makes a page of the rows and where they lie. */
static void join(struct page *page, struct dlsi_frame *rows)
{
	const struct dlsi_alloc *alloc = &page->job->worker->ctx->alloc;
	struct dlsi_buffer buffer;
	uint8_t *bytes;
	size_t length;

	dlsi_buffer_init(&buffer, alloc);
	dlsi_page_cut(&buffer, dlsi_frame_data(page->table), page->count, dlsi_frame_data(rows));
	bytes = buffer.failed ? NULL : dlsi_buffer_take(&buffer, &length);
	page->frame = bytes ? dlsi_frame_take(alloc, bytes, length) : NULL;
	dlsi_buffer_fini(&buffer);
	if (page->frame)
		open_page(page);
	else
		dlsi_fail_memory(&page->failed);
}

static void take_rows(struct dlsi_pending_fetch *fetch, int64_t now_ns)
{
	struct page *page = dlsi_list_entry(fetch, struct page, fetch);
	struct dlsi_frame *rows = fetch->frame;

	(void)now_ns;
	page->failed = fetch->err;
	if (rows)
		join(page, rows);
	dlsi_frame_unref(rows);
	settle(page);
}

/* Where the rows lie is known, or cannot be. */
static void take_table(struct dlsi_pending_fetch *fetch, int64_t now_ns)
{
	struct page *page = dlsi_list_entry(fetch, struct page, fetch);
	uint64_t begin, end;

	(void)now_ns;
	page->table = fetch->frame;
	page->failed = fetch->err;
	if (page->table && dlsi_page_extent(dlsi_frame_data(page->table), page->count, page->length, page->rows, &begin,
				   &end, &page->failed) == 0)
		fetch_part(page, begin, end - begin, take_rows);
	else
		settle(page);
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

static struct page *create_page(struct dlsi_worker_job *job, const struct dlsi_run *run, uint32_t first, uint32_t count)
{
	struct page *page = dlsi_calloc(&job->worker->ctx->alloc, 1, sizeof *page);

	if (!page)
		return NULL;
	page->job = job;
	page->offset = run->page_offset;
	page->length = run->page_length;
	page->rows = (uint32_t)run->items;
	page->first = first;
	page->count = count;
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

static void fetch(struct page *page)
{
	uint64_t entry = dlsi_page_entry(page->length, page->rows, page->first);

	dlsi_worker_job_ref(page->job);
	if (page->count == page->rows)
		fetch_part(page, 0, page->length, take_page);
	else
		fetch_part(page, entry, 8 * ((uint64_t)page->count + 1), take_table);
}

static struct page *find_page(const struct dlsi_worker_job *job, const struct dlsi_worker_rows_wanted *wanted)
{
	dlsi_list_each (node, &job->pages) {
		struct page *page = dlsi_list_entry(node, struct page, node);

		if (page->offset == wanted->run->page_offset && page->length == wanted->run->page_length &&
			page->rows == wanted->run->items && page->first <= wanted->first &&
			wanted->first + wanted->count <= page->first + page->count)
			return page;
	}
	return NULL;
}

static bool wants_whole(struct dlsi_worker_job *job, const struct dlsi_worker_rows_wanted *wanted)
{
	const struct dlsi_run *run = wanted->run;

	if (job->whole || run->page_length <= WHOLE_BYTES || wanted->count >= run->items / WHOLE_PART ||
		run->page_length < 8 * (run->items + 1))
		return true;
	job->parts = job->parted == run->page_offset ? job->parts + 1 : 1;
	job->parted = run->page_offset;
	return job->parts > MOST_PARTS;
}

/* Rows that nobody has asked for. */
static int begin(struct dlsi_worker_job *job, const struct dlsi_worker_rows_wanted *wanted, struct page **page_out,
	struct dls_error *err)
{
	bool whole = wants_whole(job, wanted);
	struct page *page = create_page(
		job, wanted->run, whole ? 0 : wanted->first, whole ? (uint32_t)wanted->run->items : wanted->count);
	int rc = 0;

	if (!page)
		return dlsi_fail_memory(err);
	if (job->whole)
		rc = cut_page(page, err);
	else
		fetch(page);
	trim_pages(job);
	*page_out = page;
	return rc;
}

int dlsi_worker_page_get(struct dlsi_worker_job *job, const struct dlsi_worker_rows_wanted *wanted,
	struct dlsi_waiter *waiter, struct dlsi_worker_rows_had *had_out, struct dls_error *err)
{
	struct page *page = find_page(job, wanted);
	int rc = page ? 0 : begin(job, wanted, &page, err);

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
	had_out->frame = dlsi_frame_ref(page->frame);
	had_out->page = page->opened;
	had_out->first = page->first;
	return 0;
}

void dlsi_worker_pages_drop(struct dlsi_worker_job *job)
{
	dlsi_list_each (node, &job->pages)
		remove_page(dlsi_list_entry(node, struct page, node));
}
