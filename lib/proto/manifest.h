/* A job's inputs: a list of runs that together give every item its row of fields. The client writes it, workers read
 * it, the master passes it on.
 *
 *   "DLSM", u32 runs, u64 items, runs, pages
 *   a run of equal items in one blob: u8 1, u64 items, u64 stride, field (form blob: that of the run's first item)
 *   a run of rows in a page:          u8 2, u64 items, u64 offset of the page in the manifest, u64 length
 *
 * The head (all before the first page) is at most DLSI_PAGE_BYTES and is read first; pages are read when their items
 * come up. A manifest of at most DLSI_INLINE_BYTES travels inside SUBMIT. Pure. */
#ifndef DLSI_MANIFEST_H
#define DLSI_MANIFEST_H

#include "proto/page.h"

enum dlsi_run_kind { DLSI_RUN_EQUAL = 1, DLSI_RUN_PAGE = 2 };

struct dlsi_run {
	uint8_t kind;   /* enum dlsi_run_kind */
	uint64_t first; /* item */
	uint64_t items;
	uint64_t stride;         /* equal: bytes from one item to the next */
	struct dlsi_field field; /* equal: the first item's */
	uint64_t page_offset;    /* page: in the manifest */
	uint64_t page_length;
};

/* Writes a manifest. Pages wait in a buffer of their own until the head is complete. */
struct dlsi_manifest_writer {
	struct dlsi_buffer head;
	struct dlsi_buffer pages;
	struct dlsi_buffer rows;    /* encoded rows of the page being filled */
	struct dlsi_buffer lengths; /* u64 each: length of every such row */
	uint32_t runs;
	uint64_t items;
	uint64_t last_run_at; /* offset in head of ... see manifest.c */
};

void dlsi_manifest_writer_init(struct dlsi_manifest_writer *writer, const struct dlsi_alloc *alloc);
void dlsi_manifest_writer_fini(struct dlsi_manifest_writer *writer);

/* Adds one item with a field per model input; inline bytes are copied. Errors: DLS_ELIMIT, DLS_ENOMEM. */
int dlsi_manifest_add_row(
	struct dlsi_manifest_writer *writer, const struct dlsi_field *fields, unsigned count, struct dls_error *err);

/* Adds `items` equal items: the field is of form blob and describes the first. Errors: DLS_EINVAL (they do not lie
 * within the blob), DLS_ELIMIT, DLS_ENOMEM. */
int dlsi_manifest_add_equal(struct dlsi_manifest_writer *writer, uint64_t items, uint64_t stride,
	const struct dlsi_field *field, struct dls_error *err);

/* Ends it: *data_out (freed by the caller) and how many of its bytes are the head. Errors: DLS_ELIMIT, DLS_ENOMEM. */
int dlsi_manifest_finish(struct dlsi_manifest_writer *writer, uint8_t **data_out, size_t *length_out,
	uint32_t *head_out, struct dls_error *err);

/* A head that was read; the bytes stay the caller's. */
struct dlsi_manifest {
	const uint8_t *head;
	size_t length;
	uint64_t items;
	uint32_t runs;
};

/* Checks every run: their items add up to `items`, pages lie behind the head and within `total` bytes.
 * Errors: DLS_EFORMAT. */
int dlsi_manifest_open(const uint8_t *head, size_t length, uint64_t total, uint64_t items,
	struct dlsi_manifest *manifest_out, struct dls_error *err);

/* The run that holds `item` (below manifest->items). Cost: O(runs). */
void dlsi_manifest_find(const struct dlsi_manifest *manifest, uint64_t item, struct dlsi_run *run_out);

/* The field of an item of a run of equal items. */
struct dlsi_field dlsi_run_field(const struct dlsi_run *run, uint64_t item);

#endif
