#include "op/indices.h"

#include "base/shape.h"

static int find_index(
	const struct dlsi_node *node, int64_t index, int64_t dim, int64_t *index_out, struct dls_error *err)
{
	if (index < -dim || index >= dim)
		return dlsi_node_fail(node, err, DLS_EFORMAT, "has the index %lld, where there are %lld elements",
			(long long)index, (long long)dim);
	*index_out = index < 0 ? index + dim : index;
	return 0;
}

int dlsi_indices_take(const struct dlsi_node *node, const struct dlsi_view *indices, int64_t dim,
	const struct dlsi_alloc *alloc, int64_t **indices_out, struct dls_error *err)
{
	size_t count = dlsi_view_count(indices);
	int64_t *taken = dlsi_calloc(alloc, count + 1, sizeof *taken);
	int rc = taken ? 0 : dlsi_fail_memory(err);

	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = find_index(node, dlsi_view_int(indices, i), dim, &taken[i], err);
	if (rc)
		dlsi_free(alloc, taken);
	else
		*indices_out = taken;
	return rc;
}

int dlsi_indices_find(const struct dlsi_node *node, const struct dlsi_view *indices, size_t tuple,
	const struct dlsi_view *data, size_t *block_out, struct dls_error *err)
{
	size_t length = (size_t)indices->dims[indices->rank - 1];

	*block_out = 0;
	for (size_t i = 0; i < length; i++) {
		int64_t index = 0;
		int rc = find_index(node, dlsi_view_int(indices, tuple * length + i), data->dims[i], &index, err);

		if (rc)
			return rc;
		*block_out = *block_out * (size_t)data->dims[i] + (size_t)index;
	}
	return 0;
}

int dlsi_indices_check_elements(
	const struct dlsi_graph *graph, const struct dlsi_node *node, uint32_t *axis_out, struct dls_error *err)
{
	const struct dlsi_value *data = dlsi_node_input(graph, node, 0), *indices = dlsi_node_input(graph, node, 1);
	bool fits = data->rank == indices->rank;
	int rc = dlsi_node_require_indices(graph, node, 1, err);

	if (rc == 0)
		rc = dlsi_node_axis(node, 0, data->rank, axis_out, err);
	if (rc)
		return rc;
	for (uint32_t i = 0; fits && i < data->rank; i++)
		fits = i == *axis_out || indices->dims[i] <= data->dims[i];
	return fits ? 0
		    : dlsi_node_fail(node, err, DLS_EFORMAT, "looks up %s in %s, which do not fit",
			      dlsi_shape_text(indices->dtype, indices->rank, indices->dims).text,
			      dlsi_shape_text(data->dtype, data->rank, data->dims).text);
}
