#include "device/team.h"

#include "device/cost.h"
#include "op/list.h"

/* To hand a work over to threads that stand by, and to fetch what another one has written: more if there are more who
 * take parts, and never more than calling them together. */
#define AWAKE_NS      4000.0
#define AWAKE_EACH_NS 2000.0

/* Where a convolution takes longer on average, what its threads read of what others wrote is little beside it. */
#define BAND_NS 500000.0

int dlsi_team_for(const struct dlsi_graph *graph, const struct dlsi_node *node, int64_t batch, enum dlsi_isa isa,
	int threads, bool awake)
{
	const double ns = dlsi_cost_ns(graph, node, batch, isa), awake_ns = AWAKE_NS + threads * AWAKE_EACH_NS;
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
		ns += dlsi_cost_ns(graph, &graph->nodes[i], batch, isa);
		count++;
	}
	return threads > 1 && batch == 1 && ns < count * BAND_NS;
}
