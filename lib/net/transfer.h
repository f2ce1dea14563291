/* One fetch of a blob, or of a part of it, over whatever connections it takes: what it asks for next, and what it makes
 * of the answers. One thread, the data plane's. */
#ifndef DLSI_TRANSFER_H
#define DLSI_TRANSFER_H

#include "net/holder.h"
#include "net/offer.h"
#include "net/sink.h"
#include <stdatomic.h>

/* What is wanted. */
struct dlsi_fetch {
	const char *endpoint; /* of the holder, with a numeric address; copied. Empty: nobody can connect to it */
	bool same_host;       /* the holder is a process of this machine */
	bool fails_fast;      /* at once if the holder is known to be silent, as it was for a whole timeout already */
	struct dlsi_id token;
	struct dlsi_blob blob;
	uint64_t offset; /* the part that is wanted */
	uint64_t length;

	/* Called once at most, before `done`: the holder cannot be connected to, so whoever knows how asks it to
	 * connect to this process and to serve there what the token opens. NULL: nobody knows how. */
	void (*call)(void *arg);

	/* Called exactly once, on the data plane's thread. `code` is 0 and `frame` the bytes (its
	 * reference is the callee's); or a code and a sentence: DLS_EUNREACHABLE (no answer in time from the endpoint,
	 * which is named), DLS_EADDRESS (the endpoint is none), DLS_EDENIED (the token is wrong), DLS_ENOTFOUND (the
	 * holder does not have the blob), DLS_EFORMAT (other bytes than those of the blob), DLS_EIO (the
	 * holder cannot read it), DLS_ENOMEM, DLS_ECANCELLED. */
	void (*done)(void *arg, int code, struct dlsi_frame *frame, const struct dls_error *err);
	void *arg;
};

struct dlsi_transfer {
	struct dlsi_list node;   /* in the queue it is in */
	struct dlsi_list in_all; /* the data plane's */
	uint64_t number;         /* the data plane's; `fetch` of the records */
	atomic_bool cancelled;   /* the data plane's */
	struct dlsi_fetch fetch;
	struct dlsi_holder *holder; /* NULL: not begun, or this process itself */
	struct dlsi_offer *offer;   /* if it is this process itself */
	bool awaits;                /* its holder's connection, and not one that this process makes */
	bool called;
	int64_t deadline_ns; /* when nothing has come until then, the fetcher ends it */
	bool is_open;        /* the sink: it is known that the blob is there */
	struct dlsi_sink sink;
	uint64_t asked;           /* bytes of the part that were asked for on this connection */
	struct dlsi_frame *frame; /* the result, once complete */
	struct dlsi_pool *pool;   /* outlives it */
	const struct dlsi_alloc *alloc;
};

/* Errors: DLS_EINVAL (the part lies outside the blob), DLS_ENOMEM. */
int dlsi_transfer_create(const struct dlsi_alloc *alloc, struct dlsi_pool *pool, const struct dlsi_fetch *fetch,
	struct dlsi_transfer **transfer_out, struct dls_error *err);

/* Without a call of `done`; what has come is dropped. */
void dlsi_transfer_destroy(struct dlsi_transfer *transfer);

/* Calls `done` with the result, or with the code, and destroys it. */
void dlsi_transfer_end(struct dlsi_transfer *transfer, int code, const struct dls_error *err);

/* How far it has come; more after every answer that brings it on. */
uint64_t dlsi_transfer_progress(const struct dlsi_transfer *transfer);

/* On a new connection of its holder: asks for the blob, or for what is still missing of it. Errors: DLS_ENOMEM; that
 * the connection was lost meanwhile is none. */
int dlsi_transfer_begin(struct dlsi_transfer *transfer, struct dls_error *err);

/* Takes a DATA, LENT or ERROR record of this fetch, with its frame or NULL, and asks for more. 1: complete. Errors:
 * those of `done`. */
int dlsi_transfer_take(struct dlsi_transfer *transfer, const struct dlsi_record *record, struct dlsi_frame *frame,
	struct dls_error *err);

/* Gets the next chunk from its offer. 1: complete, which a part of memory is at once and without a copy; 0:
 * there is more. Errors: those of `done`. */
int dlsi_transfer_copy(struct dlsi_transfer *transfer, struct dls_error *err);

#endif
