/* Where the bytes of a fetch go: into memory, in order, and proven at the end. */
#ifndef DLSI_SINK_H
#define DLSI_SINK_H

#include "base/error.h"
#include "net/direct.h"
#include "net/pool.h"
#include "proto/record.h"

struct dlsi_sink {
	struct dlsi_hash name;
	bool is_hashed; /* the name is the hash of what comes */
	struct dlsi_hash_state hash;
	uint64_t length;
	uint64_t received;
	struct dlsi_frame *frame;
	uint8_t *bytes; /* of the frame */
};

/* Takes the memory from the pool. Errors: DLS_ENOMEM. */
int dlsi_sink_open(struct dlsi_sink *sink, struct dlsi_pool *pool, const struct dlsi_blob *blob, uint64_t offset,
	uint64_t length, struct dls_error *err);

/* Takes the next bytes, of which no more come than `length`. */
void dlsi_sink_write(struct dlsi_sink *sink, const uint8_t *data, size_t length);

/* Takes all that is missing from the memory of another process, where the wanted part begins at the place; false: it
 * cannot be read, and nothing has changed. */
bool dlsi_sink_fill(struct dlsi_sink *sink, const struct dlsi_direct_place *place);

/* When all has come: ends the sink. Errors, which abort it: DLS_EFORMAT (the hash is another). */
int dlsi_sink_finish(struct dlsi_sink *sink, struct dlsi_frame **frame_out, struct dls_error *err);

/* Ends the sink with nothing left of it. */
void dlsi_sink_abort(struct dlsi_sink *sink);

#endif
