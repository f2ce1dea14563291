/* Operators that move nothing: the output is the input, perhaps with other dimensions. */
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
