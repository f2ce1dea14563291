/* A holder of blobs and the connection to it, shared by all fetches from it: one that this process dials, or that the
 * holder is to open, since nobody can dial it. One thread, the data plane's. */
#ifndef DLSI_HOLDER_H
#define DLSI_HOLDER_H

#include "base/limits.h"
#include "base/list.h"
#include "net/transport.h"
#include "proto/message.h"

#define DLSI_HOLDER_NOT_SILENT INT64_MAX

struct dlsi_holder {
	struct dlsi_list node; /* in the fetcher's list */
	struct dlsi_transport *transport;
	bool comes;              /* it connects to this process, and the transport is that of the server ... */
	struct dlsi_id token;    /* ... to serve what this opens */
	bool out_of_reach;       /* it could not be connected to when that was tried last */
	struct dlsi_peer peer;   /* while there is a connection; else generation 0 */
	unsigned users;          /* transfers */
	int64_t idle_since_ns;   /* when there are none */
	int64_t silent_since_ns; /* since when transfers have waited for it in vain; DLSI_HOLDER_NOT_SILENT */
	int64_t probe_ns;        /* not to be probed, or asked to connect, before */
	bool is_closed_to_us;    /* its memory: not to be asked for again */
	struct dlsi_buffer message;
	const struct dlsi_alloc *alloc;
	char endpoint[DLSI_ENDPOINT_BYTES + 1];
};

/* Errors: DLS_EADDRESS (also of a host that is no numeric address), DLS_EIO, DLS_ENOMEM. */
int dlsi_holder_create(const struct dlsi_alloc *alloc, void *context, const char *endpoint,
	struct dlsi_holder **holder_out, struct dls_error *err);

/* One that is to connect to this process, whose server has this transport, to serve what the token opens. Errors:
 * DLS_ENOMEM. */
int dlsi_holder_await(const struct dlsi_alloc *alloc, struct dlsi_transport *server, const struct dlsi_id *token,
	struct dlsi_holder **holder_out, struct dls_error *err);
void dlsi_holder_destroy(struct dlsi_holder *holder);

/* A message to the holder: begin, add records, send. Without a connection nothing is sent, which is no error: another
 * connection begins anew. Errors: DLS_ENOMEM. */
struct dlsi_message_writer dlsi_holder_begin(struct dlsi_holder *holder);
int dlsi_holder_send(struct dlsi_holder *holder, struct dls_error *err);

/* It may have back the memory that it lent for this fetch. Without memory for the message that waits for the end of the
 * connection. */
void dlsi_holder_close(struct dlsi_holder *holder, uint64_t fetch);

/* Asks for nothing that it could have: any answer shows that it is there. Once a second at most over one connection. */
void dlsi_holder_probe(struct dlsi_holder *holder, int64_t now_ns);

#endif
