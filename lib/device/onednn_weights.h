/* The constants of a graph in the layouts that kernels want, each made when a program first wants it. Sets of one graph
 * share them, each in a thread of its own. */
#ifndef DLSI_ONEDNN_WEIGHTS_H
#define DLSI_ONEDNN_WEIGHTS_H

#include "base/error.h"
#include "base/id.h"
#include "device/onednn_pool.h"
#include <pthread.h>

struct dlsi_onednn_packed;
struct dlsi_onednn_set;

struct dlsi_onednn_weights {
	const struct dlsi_alloc *alloc;
	pthread_mutex_t mutex; /* of all that follows */
	unsigned users;
	struct dlsi_onednn_pool pool;
	struct dlsi_onednn_packed *packed;
	size_t bytes; /* of them all */
};

/* NULL when memory is exhausted. */
struct dlsi_onednn_weights *dlsi_onednn_weights_create(const struct dlsi_alloc *alloc);
struct dlsi_onednn_weights *dlsi_onednn_weights_ref(struct dlsi_onednn_weights *weights);
void dlsi_onednn_weights_unref(struct dlsi_onednn_weights *weights); /* NULL is allowed */

size_t dlsi_onednn_weights_bytes(struct dlsi_onednn_weights *weights);

/* The constant at `data`, which is laid out as `from`, laid out as `to`: made the first time, shared from then on, and
 * the constant itself where it already is so. `data` may have any alignment and stays as long as the set. Errors:
 * DLS_ENOMEM, DLS_EUNSUPPORTED, DLS_EIO. */
int dlsi_onednn_set_pack(struct dlsi_onednn_set *set, const void *data, dlsi_md from, dlsi_md to,
	const void **packed_out, struct dls_error *err);

/* Makes `packed` out of the constant at `data`, which is aligned to its elements. */
typedef void dlsi_pack(const void *how, const float *data, float *packed);

/* The constant at `data`, of `from` bytes, in a form of our own: `bytes` that `pack` makes the first time. `form`, not
 * zero, tells all forms apart that constants at one place may have. Errors: DLS_ENOMEM. */
int dlsi_onednn_set_pack_own(struct dlsi_onednn_set *set, const void *data, size_t from, const struct dlsi_id *form,
	size_t bytes, dlsi_pack *pack, const void *how, const void **packed_out, struct dls_error *err);

#endif
