#include "rewrite/match.h"

#include "op/list.h"
#include <string.h>

struct dlsi_node *dlsi_match_producer(const struct dlsi_match *match, uint32_t value)
{
	return dlsi_uses_producer(match->uses, match->graph, value);
}

bool dlsi_match_is_only(const struct dlsi_match *match, uint32_t value)
{
	return value < match->uses->value_count && match->uses->counts[value] == 1;
}

struct dlsi_node *dlsi_match_only(const struct dlsi_match *match, uint32_t value, const struct dlsi_op *op)
{
	struct dlsi_node *node = dlsi_match_producer(match, value);

	return node && node->op == op && dlsi_match_is_only(match, value) && dlsi_clamp_is_none(&node->fused) &&
			       match->graph->values[value].dtype == DLS_FLOAT32
		       ? node
		       : NULL;
}

bool dlsi_match_number(const struct dlsi_match *match, uint32_t value, double *number_out)
{
	const struct dlsi_value *constant = &match->graph->values[value];
	float number;

	if (!constant->data || constant->dtype != DLS_FLOAT32 || dlsi_value_count(constant) != 1)
		return false;
	memcpy(&number, constant->data, sizeof number);
	*number_out = (double)number;
	return true;
}

bool dlsi_match_sum(
	const struct dlsi_match *match, const struct dlsi_node *add, uint32_t *value_out, double *number_out)
{
	uint32_t side = dlsi_match_number(match, add->inputs[0], number_out) ? 1 : 0;

	*value_out = add->inputs[side];
	return dlsi_match_number(match, add->inputs[!side], number_out);
}

bool dlsi_match_is_alike(const struct dlsi_match *match, const struct dlsi_node *node, uint32_t a, uint32_t b)
{
	const struct dlsi_value *output = dlsi_node_output(match->graph, node);

	return dlsi_value_same_in_any_batch(&match->graph->values[a], output) &&
	       dlsi_value_same_in_any_batch(&match->graph->values[b], output);
}

bool dlsi_is_about(double number, double wanted)
{
	return fabs(number - wanted) <= 1e-6 * fabs(wanted);
}
