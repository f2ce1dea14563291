/* Indices that come out of a tensor: counted from the end below 0, and checked. */
#ifndef DLSI_INDICES_H
#define DLSI_INDICES_H

#include "graph/op.h"

/* All of a tensor, in an array that the caller frees, each now from 0 to dim - 1. Errors: DLS_EFORMAT (one that is not
 * there), DLS_ENOMEM. */
int dlsi_indices_take(const struct dlsi_node *node, const struct dlsi_view *indices, int64_t dim,
	const struct dlsi_alloc *alloc, int64_t **indices_out, struct dls_error *err);

/* The last dimension of `indices` holds tuples: which block of `data` the tuple number `tuple` names, a block being
 * what has these first indices. Errors: DLS_EFORMAT. */
int dlsi_indices_find(const struct dlsi_node *node, const struct dlsi_view *indices, size_t tuple,
	const struct dlsi_view *data, size_t *block_out, struct dls_error *err);

/* Checks the node's inputs data and indices, in which each element has an index along `axis`. Errors: DLS_EFORMAT. */
int dlsi_indices_check_elements(
	const struct dlsi_graph *graph, const struct dlsi_node *node, uint32_t *axis_out, struct dls_error *err);

#endif
