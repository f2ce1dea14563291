/* Which data plane a handle uses: one per address in its context, shared by the handles that serve there, and made when
 * the first one needs it. */
#ifndef DLSI_PLANE_H
#define DLSI_PLANE_H

#include "net/dataplane.h"
#include "node/ctx.h"

/* What a client or worker says about itself. */
struct dlsi_plane_options {
	const char *master;    /* the address it dials */
	const char *data_bind; /* NULL: within the process if the master is in it, loopback if the master is reached
				* over it, else the interface that reaches the master, any free port */
	bool insecure;         /* beyond loopback is allowed */
	bool may_hide; /* data_bind may be DLSI_PLANE_NONE: nobody can connect, and who wants to read is connected
			* to */
};

#define DLSI_PLANE_NONE "none"

/* Errors: DLS_EADDRESS, DLS_EDENIED (beyond loopback without `insecure`), DLS_ENOMEM. May wait for a name server. */
int dlsi_plane_ref(struct dls_ctx *ctx, const struct dlsi_plane_options *options, struct dlsi_dataplane **plane_out,
	struct dls_error *err);

/* What of that shows without serving anywhere. May wait for a name server too. */
int dlsi_plane_check(const struct dlsi_plane_options *options, struct dls_error *err);

/* NULL is allowed. The last one ends it; all offers and fetches of the handle are gone by then. */
void dlsi_plane_unref(struct dls_ctx *ctx, struct dlsi_dataplane *plane);

#endif
