/* How the page of a task's results leaves a worker: as it is, or, if it is large, as the offer of it. */
#ifndef DLSI_WORKER_RESULT_H
#define DLSI_WORKER_RESULT_H

#include "base/buffer.h"
#include "net/dataplane.h"

/* Takes what is in the page. A page above DLSI_INLINE_BYTES is offered under the job's token, *offer_out says as what,
 * and the offer ends when the payload does. NULL when memory is exhausted. */
struct dlsi_frame *dlsi_worker_result_payload(const struct dlsi_alloc *alloc, struct dlsi_buffer *page,
	struct dlsi_dataplane *plane, const struct dlsi_id *token, struct dlsi_blob *offer_out);

#endif
