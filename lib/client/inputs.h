/* A job's inputs while they are gathered and as long as workers may read them: the manifest, and the blobs in which
 * larger values lie (files, and memory of the program).
 *
 * Values of at most DLSI_INLINE_BYTES are copied into the manifest. Larger ones stay where they are and get a blob with
 * a random name, which is proved by the checksums of its chunks. Equal items that lie in one blob (an idx file, a
 * batch) are one run, however many they are. One thread at a time. */
#ifndef DLSI_INPUTS_H
#define DLSI_INPUTS_H

#include "base/error.h"
#include "net/frame.h"
#include "proto/manifest.h"
#include <dlsched/tensor.h>

/* Where a blob's bytes are: in a file, or else in memory. */
struct dlsi_input_blob {
	struct dlsi_blob blob;
	char *path;
	struct dlsi_frame *frame;
};

struct dlsi_inputs {
	struct dlsi_manifest_writer writer;
	struct dlsi_input_blob *blobs;
	size_t blob_count;
	size_t blob_capacity;
	int broken; /* the error with which an input was lost; 0: none was */
	const struct dlsi_alloc *alloc;
};

void dlsi_inputs_init(struct dlsi_inputs *inputs, const struct dlsi_alloc *alloc);

/* Memory that was taken is given back when its last reader is done with it. */
void dlsi_inputs_fini(struct dlsi_inputs *inputs);

/* What dls_job_add_file and its kin say. A tensor is released also if the call fails. When an input is lost in the
 * middle (no memory, too many rows), `broken` is set and every later call fails with the same. */
int dlsi_inputs_add_file(struct dlsi_inputs *inputs, const char *path, struct dls_error *err);
int dlsi_inputs_add_bytes(struct dlsi_inputs *inputs, const void *data, size_t bytes, struct dls_error *err);
int dlsi_inputs_add_tensors(
	struct dlsi_inputs *inputs, const struct dls_tensor *tensors, uint32_t count, struct dls_error *err);
int dlsi_inputs_add_batch(struct dlsi_inputs *inputs, const struct dls_tensor *tensor, struct dls_error *err);

/* Of the values that are copied and what describes them, about. */
static inline size_t dlsi_inputs_bytes(const struct dlsi_inputs *inputs)
{
	return inputs->writer.pages.length + inputs->writer.page.offsets.length;
}

static inline uint64_t dlsi_inputs_count(const struct dlsi_inputs *inputs)
{
	return inputs->writer.items;
}

#endif
