/* Operators that move nothing: the output is the input, perhaps with other dimensions; and Transpose. */
#include "device/onednn_lower.h"

int dlsi_lower_same(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	struct dlsi_operand operand;
	int rc = dlsi_program_use(program, node->inputs[0], NULL, &operand, err);

	return rc ? rc : dlsi_program_share(program, node, &operand, operand.md, err);
}

int dlsi_lower_reshape(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	struct dlsi_operand operand;
	dlsi_md dense = dlsi_program_plain(program, node->inputs[0]);
	dlsi_md reshaped = dlsi_program_plain(program, node->outputs[0]);
	int rc = dlsi_program_use_as(program, node->inputs[0], dense, dense, &operand, err);

	return rc ? rc : dlsi_program_share(program, node, &operand, reshaped, err);
}

/* The dense input, seen with the axes in their new order, is copied to a dense output. */
int dlsi_lower_transpose(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	int64_t dims[DLS_TENSOR_RANK], strides[DLS_TENSOR_RANK], turned[DLS_TENSOR_RANK], steps[DLS_TENSOR_RANK];
	uint32_t rank = dlsi_program_dims(program, node->inputs[0], dims);
	dlsi_md dense = dlsi_program_plain(program, node->inputs[0]);
	struct dlsi_operand source, target;
	int64_t stride = 1;
	int rc;

	if (rank == 0)
		return DLS_EUNSUPPORTED;
	for (uint32_t i = rank; i-- > 0;) {
		strides[i] = stride;
		stride *= dims[i];
	}
	for (uint32_t i = 0; i < rank; i++) {
		turned[i] = dims[node->permutation[i]];
		steps[i] = strides[node->permutation[i]];
	}
	rc = dlsi_program_use_as(program, node->inputs[0], dense, dense, &source, err);
	source.md = dlsi_md_strided(&program->pool, rank, turned, steps);
	if (rc == 0 && !source.md)
		rc = dlsi_fail_memory(err);
	if (rc == 0)
		rc = dlsi_program_target(
			program, node->outputs[0], dlsi_program_plain(program, node->outputs[0]), &target, err);
	return rc ? rc : dlsi_program_reorder(program, &source, &target, err);
}
