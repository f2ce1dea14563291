/* A dialer to one holder of blobs, shared by all fetches from it. One thread, the data plane's. */
#ifndef DLSI_LINK_H
#define DLSI_LINK_H

#include "base/limits.h"
#include "base/list.h"
#include "net/transport.h"
#include "proto/message.h"

struct dlsi_link {
	struct dlsi_list node; /* in the fetcher's list */
	struct dlsi_transport *transport;
	struct dlsi_peer peer; /* the holder, while there is a connection; else generation 0 */
	unsigned users;        /* transfers */
	int64_t idle_since_ns; /* when there are none */
	struct dlsi_buffer message;
	const struct dlsi_alloc *alloc;
	char endpoint[DLSI_ENDPOINT_BYTES + 1];
};

/* Errors: DLS_EADDRESS, DLS_EIO, DLS_ENOMEM. */
int dlsi_link_create(const struct dlsi_alloc *alloc, void *context, const char *endpoint, struct dlsi_link **link_out,
	struct dls_error *err);
void dlsi_link_destroy(struct dlsi_link *link);

/* A message to the holder: begin, add records, send. Without a connection nothing is sent, which is no error: another
 * connection begins anew. Errors: DLS_ENOMEM. */
struct dlsi_message_writer dlsi_link_begin(struct dlsi_link *link);
int dlsi_link_send(struct dlsi_link *link, struct dls_error *err);

#endif
