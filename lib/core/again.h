/* Which items of a task failed in a way that is tried again: the list that RESULT carries as `again`, of first, end and
 * enum dlsi_failure each, in rising order and without overlap. The other items of a result are final.
 *
 * Pure; a list is read where it lies in a message, and kept as a copy. */
#ifndef DLSI_AGAIN_H
#define DLSI_AGAIN_H

#include "base/buffer.h"
#include "proto/record.h"

struct dlsi_again {
	uint64_t first, end; /* items */
	enum dlsi_failure failure;
};

/* Appends one, or lets the last one of the list go on if it ends there and is of the same kind. */
void dlsi_again_add(struct dlsi_buffer *buffer, const struct dlsi_again *again);
struct dlsi_numbers dlsi_again_list(const struct dlsi_buffer *buffer);

/* Whether it is such a list, of items from `first` to `end`. */
bool dlsi_again_is_sound(const struct dlsi_numbers *list, uint64_t first, uint64_t end);
uint32_t dlsi_again_count(const struct dlsi_numbers *list);
struct dlsi_again dlsi_again_at(const struct dlsi_numbers *list, uint32_t i);
uint64_t dlsi_again_items(const struct dlsi_numbers *list);

/* Makes a view a copy, which dlsi_again_free gives back. False: memory is exhausted, and the list is empty. */
bool dlsi_again_keep(const struct dlsi_alloc *alloc, struct dlsi_numbers *list);
void dlsi_again_free(const struct dlsi_alloc *alloc, struct dlsi_numbers *list);

/* Walks over what is final of a result with a sound list: `at` begins as the result's first item. */
struct dlsi_finals {
	const struct dlsi_result *result;
	uint64_t at;
	uint32_t next; /* in the list */
};

/* The next run of final items; false if there is none. */
bool dlsi_finals_next(struct dlsi_finals *finals, struct dlsi_range *range_out);

#endif
