#include "device/team.h"

#include "graph/work.h"
#include "op/list.h"

/* What one thread does in a nanosecond on a good kernel, roughly. */
static const double operations[] = {[DLSI_ISA_GENERIC] = 8, [DLSI_ISA_AVX2] = 60, [DLSI_ISA_AVX512] = 120};

/* To hand a work over to threads that stand by, and to fetch what another one has written: more if there are more who
 * take parts, and never more than calling them together. */
#define AWAKE_NS      4000.0
#define AWAKE_EACH_NS 2000.0

/* Where a convolution takes longer on average, what its threads read of what others wrote is little beside it. */
#define BAND_NS 500000.0

/* That are read and written. */
static double bytes_of(const struct dlsi_graph *graph, const uint32_t *values, uint32_t count, int64_t batch)
{
	double bytes = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct dlsi_value *value = values[i] == DLSI_NO_VALUE ? NULL : &graph->values[values[i]];

		if (value)
			bytes += (double)dlsi_value_bytes(value) * (double)(value->batched ? batch : 1);
	}
	return bytes;
}

static double alone_ns(const struct dlsi_graph *graph, const struct dlsi_node *node, int64_t batch, enum dlsi_isa isa)
{
	double bytes = bytes_of(graph, node->inputs, node->input_count, batch) +
		       bytes_of(graph, node->outputs, node->output_count, batch);

	return dlsi_node_work(graph, node, batch) / operations[isa] + bytes / DLSI_TEAM_BYTES;
}

int dlsi_team_for(const struct dlsi_graph *graph, const struct dlsi_node *node, int64_t batch, enum dlsi_isa isa,
	int threads, bool awake)
{
	const double ns = alone_ns(graph, node, batch, isa), awake_ns = AWAKE_NS + threads * AWAKE_EACH_NS;
	const double cost_ns = awake && awake_ns < DLSI_TEAM_NS ? awake_ns : DLSI_TEAM_NS;

	return ns - ns / threads < cost_ns ? 1 : threads;
}

bool dlsi_team_has_bands(const struct dlsi_graph *graph, int64_t batch, enum dlsi_isa isa, int threads)
{
	double ns = 0;
	uint32_t count = 0;

	for (uint32_t i = 0; i < graph->node_count; i++) {
		if (graph->nodes[i].op != &dlsi_op_conv)
			continue;
		ns += alone_ns(graph, &graph->nodes[i], batch, isa);
		count++;
	}
	return threads > 1 && batch == 1 && ns < count * BAND_NS;
}
