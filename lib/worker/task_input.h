/* The inputs of a task's items: what must be read from blobs before they can be had, and then where they lie.
 *
 * Rows are added in the order of the items; values that follow each other in a blob become one read. Reads are then
 * filled or failed one by one, in any order, by the one thread that prepares the task; afterwards the inputs are taken
 * by the one that executes it. */
#ifndef DLSI_TASK_INPUT_H
#define DLSI_TASK_INPUT_H

#include "net/frame.h"
#include "proto/page.h"

/* Bytes of a blob that one or more inputs need. */
struct dlsi_task_read {
	struct dlsi_blob blob;
	uint64_t offset;
	uint64_t length;
	struct dlsi_frame *frame; /* `length` bytes once filled; dropped with the inputs */
	int code;                 /* DLS_E* if it cannot be had */
	char *sentence;
};

struct dlsi_task_source;
struct dlsi_task_row;

struct dlsi_task_inputs {
	const struct dlsi_alloc *alloc;
	struct dls_tensor *tensors; /* of all rows */
	struct dlsi_task_source *sources;
	size_t count;
	size_t capacity;
	struct dlsi_task_row *rows;
	uint32_t row_count;
	uint32_t row_capacity;
	struct dlsi_task_read *reads;
	uint32_t read_count;
	uint32_t read_capacity;
	uint64_t bytes; /* of all reads */
};

/* `rows` rows will be added. Errors: DLS_ENOMEM (nothing to fini). */
int dlsi_task_inputs_init(struct dlsi_task_inputs *inputs, const struct dlsi_alloc *alloc, uint32_t rows);
void dlsi_task_inputs_fini(struct dlsi_task_inputs *inputs);

/* Adds the next item's inputs. Inline bytes are borrowed until dlsi_task_inputs_fini. Errors: DLS_EFORMAT (a field that
 * is no input), DLS_ENOMEM; then nothing was added. */
int dlsi_task_inputs_add(
	struct dlsi_task_inputs *inputs, const struct dlsi_field *fields, unsigned count, struct dls_error *err);

/* Adds `rows` items whose inputs cannot be had. Errors: DLS_ENOMEM. */
int dlsi_task_inputs_add_failed(struct dlsi_task_inputs *inputs, uint32_t rows, const struct dls_error *why);

/* Ends the reads of more than `most` bytes, which no task of the worker could have, however few items it had: the
 * others of this one shall not fail with them. */
void dlsi_task_inputs_limit(struct dlsi_task_inputs *inputs, uint64_t most, const char *worker);

/* Ends a read: with its bytes, a reference that becomes the inputs', or with the reason why there are none. */
void dlsi_task_inputs_fill(struct dlsi_task_inputs *inputs, uint32_t read, struct dlsi_frame *frame_take);
void dlsi_task_inputs_fail(struct dlsi_task_inputs *inputs, uint32_t read, const struct dls_error *why);

/* One input as it lies in memory, perhaps not aligned. */
struct dlsi_task_input {
	const struct dls_tensor *tensor; /* a file: uint8 of rank 1 */
	bool is_file;
};

/* How many inputs the item has; 0 if they cannot be had, which *err then explains. */
unsigned dlsi_task_inputs_of(const struct dlsi_task_inputs *inputs, uint32_t row, struct dls_error *err);

/* Input `i` of an item that has it. */
struct dlsi_task_input dlsi_task_inputs_at(struct dlsi_task_inputs *inputs, uint32_t row, unsigned i);

/* All inputs of an item as an array, each aligned for its type. Errors: that with which they cannot be had, DLS_ENOMEM.
 */
int dlsi_task_inputs_row(struct dlsi_task_inputs *inputs, uint32_t row, const struct dls_tensor **tensors_out,
	uint32_t *count_out, struct dls_error *err);

#endif
