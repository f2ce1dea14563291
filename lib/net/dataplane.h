/* The data plane: moves blobs between processes, on its own thread and sockets, so that control messages never wait
 * behind bulk data.
 *
 * A process offers blobs to whoever shows their token, and fetches blobs of others, in chunks of DLSI_BLOB_CHUNK_BYTES
 * with DLSI_BLOB_CHUNKS_IN_FLIGHT under way, DLSI_FETCHES_AT_ONCE at once and the rest in a queue. After a lost
 * connection a fetch goes on where it was. What this process offers itself is fetched without a socket, and from memory
 * without a copy.
 *
 * Proof: a whole blob named by its hash is hashed; of others, and of parts, every chunk has a CRC32C, unless it
 * comes from the same host. All calls but destroy may be made by any thread, also from callbacks. */
#ifndef DLSI_DATAPLANE_H
#define DLSI_DATAPLANE_H

#include "net/offer.h"
#include "net/transfer.h"

struct dlsi_dataplane;

struct dlsi_dataplane_config {
	void *context;        /* libzmq's, with one I/O thread */
	const char *endpoint; /* where to serve, as for a transport; NULL: only the process itself can fetch */
	int64_t timeout_ns;   /* a fetch ends when nothing has come for so long; 0: 10 s */
};

/* Errors: as dlsi_transport_listen. */
int dlsi_dataplane_create(const struct dlsi_alloc *alloc, const struct dlsi_dataplane_config *config,
	struct dlsi_dataplane **plane_out, struct dls_error *err);

/* Ends all fetches with DLS_ECANCELLED, then the thread. Not from a callback. NULL is allowed. */
void dlsi_dataplane_destroy(struct dlsi_dataplane *plane);

/* The address with the port that was taken; empty if it does not serve. */
const char *dlsi_dataplane_endpoint(const struct dlsi_dataplane *plane);

/* From now on a blob can be read with this token. Offers are counted: the same blob may be offered with several tokens,
 * and with one token several times; the source of the first one is used for all. Errors: as dlsi_offers_add. */
int dlsi_dataplane_offer(struct dlsi_dataplane *plane, const struct dlsi_id *token, const struct dlsi_blob *blob,
	const struct dlsi_source *source, struct dls_error *err);

/* Takes back one offer. The last one drops the source; chunks on their way keep what they need. An unknown one is
 * ignored. */
void dlsi_dataplane_withdraw(struct dlsi_dataplane *plane, const struct dlsi_id *token, const struct dlsi_hash *name);

/* Begins a fetch; *number_out, if not NULL, is for dlsi_dataplane_cancel and is set before `done` can be called.
 * Errors: DLS_EINVAL (the part lies outside the blob), DLS_EBUSY (DLSI_FETCHES_WAITING wait already),
 * DLS_ENOMEM. */
int dlsi_dataplane_fetch(
	struct dlsi_dataplane *plane, const struct dlsi_fetch *fetch, uint64_t *number_out, struct dls_error *err);

/* Connects to the reader at an endpoint, which cannot connect to this process, and serves there what the token opens
 * (net/outlet.h). Errors: DLS_EADDRESS, DLS_EBUSY (DLSI_OUTLETS wait already), DLS_ENOMEM. */
int dlsi_dataplane_serve(
	struct dlsi_dataplane *plane, const char *endpoint, const struct dlsi_id *token, struct dls_error *err);

/* Bytes of blobs that other processes have been given and that have come from them, since it was made. */
struct dlsi_dataplane_counts {
	uint64_t given, taken;
};

struct dlsi_dataplane_counts dlsi_dataplane_counts(const struct dlsi_dataplane *plane);

/* The fetch ends with DLS_ECANCELLED as soon as the plane's thread comes to it, unless it has ended. */
void dlsi_dataplane_cancel(struct dlsi_dataplane *plane, uint64_t number);

#endif
