/* A job's inputs: a list of runs that together give every item its row of fields. The client writes it, workers read
 * it, the master passes it on.
 *
 *   "DLSM", u32 runs, u64 items, u32 bytes of the head, runs, pages
 *   a run of equal items in one blob: u8 1, u64 items, u64 stride, field (form blob: that of the run's first item)
 *   a run of rows in a page:          u8 2, u64 items, u32 length of the page
 *
 * Pages follow the head in the order of their runs, without gaps. The head (all before the first page) is at most
 * DLSI_PAGE_BYTES and is read first; pages are read when their items come up. A manifest of at most DLSI_INLINE_BYTES
 * travels inside SUBMIT. Pure. */
#ifndef DLSI_MANIFEST_H
#define DLSI_MANIFEST_H

#include "proto/page.h"

/* Writes a manifest. After DLS_ENOMEM it is of no use any more. */
struct dlsi_manifest_writer {
	struct dlsi_buffer head;
	struct dlsi_buffer pages;
	struct dlsi_page_writer page; /* at the end of pages, while it has rows */
	uint32_t runs;
	uint64_t items;
};

void dlsi_manifest_writer_init(struct dlsi_manifest_writer *writer, const struct dlsi_alloc *alloc);
void dlsi_manifest_writer_fini(struct dlsi_manifest_writer *writer);

/* Adds one item with a field per model input; inline bytes are copied. A single error instead says why the item
 * has no inputs, and becomes its result. Errors: DLS_EINVAL (no field, or too many), DLS_ELIMIT (a value of more than
 * DLSI_INLINE_BYTES must be a blob; a row, the runs or the items are over their limit), DLS_ENOMEM. */
int dlsi_manifest_add_row(
	struct dlsi_manifest_writer *writer, const struct dlsi_field *fields, unsigned count, struct dls_error *err);

/* Adds `items` equal items: the field is of form blob and describes the first; each next lies `stride` bytes behind.
 * Errors: DLS_EINVAL (none, or they do not lie within the blob), DLS_ELIMIT, DLS_ENOMEM. */
int dlsi_manifest_add_equal(struct dlsi_manifest_writer *writer, uint64_t items, uint64_t stride,
	const struct dlsi_field *field, struct dls_error *err);

/* Ends it: *data_out (freed by the caller) and how many of its bytes are the head. The writer is then empty.
 * Errors: DLS_ENOMEM. */
int dlsi_manifest_finish(struct dlsi_manifest_writer *writer, uint8_t **data_out, size_t *length_out,
	uint32_t *head_out, struct dls_error *err);

/* A head that was read; the bytes stay the caller's and must outlive it. */
struct dlsi_manifest {
	const uint8_t *head;
	uint32_t length; /* of the head */
	uint32_t runs;
	uint64_t items;
};

enum dlsi_run_kind { DLSI_RUN_EQUAL = 1, DLSI_RUN_PAGE = 2 };

/* One run as the head describes it; a view into it. */
struct dlsi_run {
	uint8_t kind;            /* enum dlsi_run_kind */
	uint64_t first;          /* item */
	uint64_t items;          /* at least 1 */
	uint64_t stride;         /* equal: bytes from one item to the next */
	struct dlsi_field field; /* equal: the first item's */
	uint64_t page_offset;    /* page: in the manifest */
	uint32_t page_length;
	uint32_t next;        /* where the next run is described; 0 in a run that stands before the first */
	uint64_t next_offset; /* in the manifest, of the next page */
};

/* Reads the head that `data` begins with. Checks every run: there are `items` items, every item of an equal run lies
 * within its blob, and the pages fill the rest of the `total` bytes of the manifest. Errors: DLS_EFORMAT. */
int dlsi_manifest_open(const uint8_t *data, size_t length, uint64_t total, uint64_t items,
	struct dlsi_manifest *manifest_out, struct dls_error *err);

/* Moves *run to the next one, from a zeroed one to the first; false behind the last. */
bool dlsi_manifest_next(const struct dlsi_manifest *manifest, struct dlsi_run *run);

/* Moves *run, which is zeroed or the run found last, to the one that holds `item` (below manifest->items). Cost: the
 * runs between the two, or all before it if the item lies before *run. */
void dlsi_manifest_find(const struct dlsi_manifest *manifest, uint64_t item, struct dlsi_run *run);

/* The field of an item of a run of equal items. */
struct dlsi_field dlsi_run_field(const struct dlsi_run *run, uint64_t item);

#endif
