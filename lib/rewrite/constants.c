/* Constants that passes have replaced are forgotten, so that whoever counts a graph's constants counts those that it
 * has.
 */
#include "rewrite/rewrite.h"

int dlsi_rewrite_constants(struct dlsi_graph *graph, struct dlsi_uses *uses)
{
	for (uint32_t i = 0; i < uses->value_count; i++)
		if (!uses->counts[i])
			graph->values[i].data = NULL;
	return 0;
}
