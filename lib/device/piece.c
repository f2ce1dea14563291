#include "device/piece.h"

#include "base/limits.h"
#include "device/cost.h"
#include "device/team.h"

enum {
	LEAST_ITEMS = 4,       /* for threads to share */
	TIMES_A_LAYER = 2,     /* the weights may be so many times what the largest layer reads and writes */
	LEAST_BYTES = 1 << 20, /* of what the largest layer reads and writes: about a second cache */
	MOST_BYTES = 256 << 20 /* of the same: each thread that takes pieces apart has as much memory */
};

#define WEIGHT_BYTES  10.0 /* that a thread reads from memory in a nanosecond, roughly */

#define WEIGHTS_SHARE 0.25 /* of a part's time that may go into reading weights which the others read too */

static size_t largest_layer_bytes(const struct dlsi_graph *graph)
{
	size_t most = 0;

	for (uint32_t i = 0; i < graph->node_count; i++) {
		const size_t bytes = (size_t)dlsi_cost_item_bytes(graph, &graph->nodes[i]);

		most = bytes > most ? bytes : most;
	}
	return most;
}

static bool is_whole(const struct dlsi_graph *graph)
{
	for (uint32_t i = 0; i < graph->output_count; i++)
		if (graph->values[graph->outputs[i]].bounded)
			return true;
	return false;
}

/* A power of two. */
static int64_t items_for(size_t weights, size_t layer, int64_t least)
{
	size_t items = (size_t)least;

	while (items < DLSI_TASK_ITEMS && items * layer <= MOST_BYTES / 2 &&
		(items * layer < LEAST_BYTES || items * layer * TIMES_A_LAYER < weights))
		items *= 2;
	return (int64_t)items;
}

struct dlsi_piece dlsi_piece_of(const struct dlsi_graph *graph, double item_ns)
{
	const size_t weights = dlsi_graph_constant_bytes(graph), layer = largest_layer_bytes(graph);

	return (struct dlsi_piece){.items = graph->unbatchable ? 1 : items_for(weights, layer, LEAST_ITEMS),
		.alone = graph->unbatchable ? 1 : items_for(weights, layer, 1),
		.whole = is_whole(graph),
		.item_ns = item_ns,
		.weights_ns = (double)weights / WEIGHT_BYTES};
}

static int64_t divide_up(int64_t number, int64_t by)
{
	return (number + by - 1) / by;
}

/* Whether threads had better take items apart. */
static bool is_apart(const struct dlsi_piece *piece, int64_t batch, int threads)
{
	const int64_t share = batch / threads, items = share < piece->alone ? share : piece->alone;

	return threads > 1 && share > 0 && piece->weights_ns <= WEIGHTS_SHARE * piece->item_ns * (double)items &&
	       piece->item_ns * (double)(batch - share) >= DLSI_TEAM_NS;
}

/* As many for each thread, where there are so many items. */
static int64_t count_apart(const struct dlsi_piece *piece, int64_t batch, int threads)
{
	const int64_t count = threads * divide_up(batch, threads * piece->alone);

	return count < batch ? count : batch;
}

struct dlsi_cut dlsi_piece_cut(const struct dlsi_piece *piece, int64_t batch, int threads)
{
	if (piece->whole)
		return (struct dlsi_cut){.count = 1, .threads = threads};
	if (!is_apart(piece, batch, threads))
		return (struct dlsi_cut){.count = divide_up(batch, piece->items), .threads = threads};
	return (struct dlsi_cut){.count = count_apart(piece, batch, threads), .threads = 1};
}
