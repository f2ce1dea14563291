/* How a batch is cut for a model: into pieces that are computed one after another, or by threads each for itself.
 *
 * A large batch is run in pieces: what a layer hands to the next one then stays in a cache, where a whole batch's goes
 * out to memory and comes back. But each piece reads the weights again. So a piece is as small as it can be while the
 * weights are no more than twice what it reads and writes at the layer that has most of that; and not so small that
 * starting the kernels is what costs, nor so large that its layers take more memory than a model should.
 *
 * Threads that share each node wait for each other at each node. Where there is an item for every thread they take
 * pieces apart, each alone, and meet at the end of the batch; unless that means to read weights so often that it costs
 * more, or the whole batch takes less time than calling threads together. */
#ifndef DLSI_PIECE_H
#define DLSI_PIECE_H

#include "graph/graph.h"

/* What decides about it in a model. */
struct dlsi_piece {
	int64_t items; /* at once: a power of two; of a model that is not batchable 1 */
	int64_t alone; /* the same for threads that take pieces apart */
	bool whole;    /* outputs of any size do not lie one behind the other: a batch is never cut */
	double item_ns,
		weights_ns; /* roughly: what one thread takes for an item, and to read all weights from memory */
};

/* The graph's shapes are known; an item takes so long on the device (its table's item_ns). */
struct dlsi_piece dlsi_piece_of(const struct dlsi_graph *graph, double item_ns);

/* Part i of `count` of a batch of B items begins at i * B / count; none is empty. */
struct dlsi_cut {
	int64_t count;
	int threads; /* that compute a part together: all of them, or one, and then they do parts at the same time */
};

struct dlsi_cut dlsi_piece_cut(const struct dlsi_piece *piece, int64_t batch, int threads);

#endif
