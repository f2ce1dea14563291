/* Measuring kernels against each other, once, when a program is made: which is faster differs from processor to
 * processor, and so with the number of threads. */
#ifndef DLSI_TUNE_H
#define DLSI_TUNE_H

#include "device/onednn_set.h"

enum { DLSI_TUNE_BUFFERS = 5, DLSI_CONTESTANTS = 4 };

/* Runs a kernel on buffers of zeros. */
typedef void dlsi_tune_run(void *arg, void *const *buffers);

/* A kernel: a primitive of oneDNN with its arguments, or what `run` does on `count` buffers of these sizes. */
struct dlsi_contestant {
	const_dnnl_primitive_desc_t pd; /* or NULL */
	dlsi_tune_run *run;
	void *arg;
	size_t bytes[DLSI_TUNE_BUFFERS];
	size_t count;
};

/* Runs them in turns, each a few times, on memory that is about as far away as it is in a run of the set's graph. The
 * winner has the fastest run; where others use the processor too, that tells most. By the thread that will run them. At
 * most DLSI_CONTESTANTS. Errors: DLS_ENOMEM, DLS_EIO. */
int dlsi_tune_choose(struct dlsi_onednn_set *set, const struct dlsi_contestant *contestants, uint32_t count,
	uint32_t *winner_out, struct dls_error *err);

#endif
