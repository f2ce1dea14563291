/* What a program gets for one item: a row of a result page, decoded and copied into one block of memory with every
 * value aligned, so that it outlives the page, the job and the context. */
#ifndef DLSI_RESULT_H
#define DLSI_RESULT_H

#include "proto/page.h"
#include <dlsched/job.h>

/* Row `row` of the page as the result of `item`. A row that is not there or cannot be read is DLS_EPROTOCOL.
 * Errors: DLS_ENOMEM. */
int dlsi_result_create(const struct dlsi_alloc *alloc, const struct dlsi_page *page, uint32_t row, uint64_t item,
	const char *worker, uint64_t elapsed_ns, struct dls_result **result_out);

/* NULL is allowed. */
void dlsi_result_destroy(struct dls_result *result);

#endif
