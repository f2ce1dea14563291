#include "device/team.h"

#include "graph/work.h"

/* What one thread does in a nanosecond on a good kernel, roughly. */
static const double operations[] = {[DLSI_ISA_GENERIC] = 8, [DLSI_ISA_AVX2] = 60, [DLSI_ISA_AVX512] = 120};
#define BYTES 20.0

/* What it costs to call a team and to wait for it, if its threads sleep or have to wait for a processor. If they are
 * awake it costs a tenth of that; but then a small node has little to gain. */
#define TEAM_NS 40000.0

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

int dlsi_team_for(
	const struct dlsi_graph *graph, const struct dlsi_node *node, int64_t batch, enum dlsi_isa isa, int threads)
{
	double bytes = bytes_of(graph, node->inputs, node->input_count, batch) +
		       bytes_of(graph, node->outputs, node->output_count, batch);
	double alone_ns = dlsi_node_work(graph, node, batch) / operations[isa] + bytes / BYTES;

	return alone_ns - alone_ns / threads < TEAM_NS ? 1 : threads;
}
