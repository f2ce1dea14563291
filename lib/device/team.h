/* How many threads a node is worth: a team has to be called together and waited for, which takes longer than a small
 * node does alone. */
#ifndef DLSI_TEAM_H
#define DLSI_TEAM_H

#include "graph/graph.h"
#include "kernel/isa.h"

/* What it costs to call a team and to wait for it, if its threads sleep or have to wait for a processor. If they are
 * awake it costs a tenth of that; but then a small node has little to gain. */
#define DLSI_TEAM_NS 40000.0

/* `threads`, or 1 for what they would only make slower: of threads that are called together for it, or that stand by
 * and are `awake` (kernel/standby.h). Not between: a team that changes its size costs more yet. */
int dlsi_team_for(const struct dlsi_graph *graph, const struct dlsi_node *node, int64_t batch, enum dlsi_isa isa,
	int threads, bool awake);

/* Whether images had better lie so that each thread can have the same band of rows of one after another. */
bool dlsi_team_has_bands(const struct dlsi_graph *graph, int64_t batch, enum dlsi_isa isa, int threads);

#endif
