/* Fetches in tests: blobs with known bytes, and completions that can be waited for. */
#ifndef DLSI_UNIT_FETCH_H
#define DLSI_UNIT_FETCH_H

#include "net/dataplane.h"
#include <pthread.h>

/* A data plane that must work; a timeout of 0 is the default. */
struct dlsi_dataplane *unit_plane(void *context, const char *endpoint, int64_t timeout_ns);

/* Bytes that differ from seed to seed, to be freed by test_free. */
uint8_t *unit_bytes(uint64_t seed, size_t length);

/* The blob of these bytes; with DLSI_PROOF_CHECKSUM its name is random. */
struct dlsi_blob unit_blob(const uint8_t *bytes, size_t length, enum dlsi_proof proof);

/* Offers bytes, which must stay, under a token. */
void unit_offer(
	struct dlsi_dataplane *plane, const struct dlsi_id *token, const struct dlsi_blob *blob, const uint8_t *bytes);

/* What becomes of a fetch. */
struct unit_result {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned calls; /* of done */
	int code;
	struct dlsi_frame *frame;
	struct dls_error err;
	uint64_t number;
};

/* A fetch of the whole blob into memory, to be changed before it is begun. */
struct dlsi_fetch unit_fetch_of(const char *endpoint, const struct dlsi_id *token, const struct dlsi_blob *blob);

/* Begins it; unit_fetch fails the test if that fails. */
void unit_fetch(struct dlsi_dataplane *plane, struct dlsi_fetch *fetch, struct unit_result *result);
int unit_try_fetch(
	struct dlsi_dataplane *plane, struct dlsi_fetch *fetch, struct unit_result *result, struct dls_error *err);

/* Waits until it has ended and returns its code. */
int unit_wait(struct unit_result *result);

/* Asserts that `done` was called once, and drops the frame. */
void unit_result_fini(struct unit_result *result);

#endif
