/* A batch on the lanes of a model: cut (device/piece.h), made ready, and run part by part. One thread at a time. */
#ifndef DLSI_BATCH_H
#define DLSI_BATCH_H

#include "device/lane.h"
#include "device/piece.h"

struct dlsi_batch {
	struct dlsi_lanes *lanes;
	int64_t items;
	struct dlsi_cut cut;
	int width; /* lanes that have parts of it at a time */
};

/* As it is cut for the team of the calling thread. */
struct dlsi_batch dlsi_batch_of(struct dlsi_lanes *lanes, const struct dlsi_piece *piece, int64_t items);

/* The items of its parts; some have one less. */
int64_t dlsi_batch_part(const struct dlsi_batch *batch);

/* Makes the programs that it needs, if they are not there; that of a largest part becomes each lane's last. Errors: as
 * program_create, DLS_ENOMEM. */
int dlsi_batch_prepare(const struct dlsi_batch *batch, struct dls_error *err);

/* Runs it, prepared just before, on tensors of so many items that were checked. Errors: as program_run. */
int dlsi_batch_run(const struct dlsi_batch *batch, const struct dls_tensor *inputs, size_t input_count,
	struct dls_tensor *outputs, size_t output_count, struct dls_error *err);

#endif
