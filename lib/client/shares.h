/* The blobs that one job shares on a data plane under its token, remembered so that all are taken back at once. One
 * thread at a time, but for the token, which stays as it is and may be read by any. */
#ifndef DLSI_SHARES_H
#define DLSI_SHARES_H

#include "net/dataplane.h"

struct dlsi_shares {
	struct dlsi_dataplane *plane;
	struct dlsi_id token;
	struct dlsi_hash *names;
	size_t count;
	size_t capacity;
	const struct dlsi_alloc *alloc;
};

void dlsi_shares_init(struct dlsi_shares *shares, const struct dlsi_alloc *alloc, struct dlsi_dataplane *plane,
	const struct dlsi_id *token);

/* Takes all shares back. */
void dlsi_shares_fini(struct dlsi_shares *shares);

/* Errors: as dlsi_dataplane_offer. */
int dlsi_shares_add(struct dlsi_shares *shares, const struct dlsi_blob *blob, const struct dlsi_source *source,
	struct dls_error *err);

#endif
