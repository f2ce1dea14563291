/* Measuring kernels against each other, once, when a program is made: which is faster differs from processor to
 * processor, and so with the number of threads. */
#ifndef DLSI_TUNE_H
#define DLSI_TUNE_H

#include "device/onednn_set.h"

#define DLSI_TUNE_BUFFERS 5
/* Runs a kernel on buffers of zeros. */
typedef void dlsi_tune_run(void *arg, void *const *buffers);

/* The time of its fastest run out of a few, with `count` (at most DLSI_TUNE_BUFFERS) buffers of these sizes, which are
 * about as far away as they are in a run of the set's graph. Errors: DLS_ENOMEM. */
int dlsi_tune_measure(struct dlsi_onednn_set *set, dlsi_tune_run *run, void *arg, const size_t *bytes, size_t count,
	int64_t *ns_out, struct dls_error *err);

/* The same of a primitive of oneDNN that has weights. Errors: DLS_ENOMEM, DLS_EIO. */
int dlsi_tune_measure_primitive(
	struct dlsi_onednn_set *set, const_dnnl_primitive_desc_t pd, int64_t *ns_out, struct dls_error *err);

#endif
