/* A master on the loop: a listener, the state machine of core/master.h, and the policy that it asks.
 *
 * When memory has run out it begins anew, as another cluster unless it has a log: workers and clients come back and
 * present what they have. */
#ifndef DLSI_NODE_MASTER_H
#define DLSI_NODE_MASTER_H

#include "core/master.h"
#include "master/durable.h"
#include "master/plugins.h"
#include "node/driver.h"
#include <dlsched/master.h>

struct dls_master {
	struct dlsi_driver driver; /* first */
	struct dlsi_master *core;
	struct dlsi_master_config config;
	struct dlsi_plugins *plugins;
	struct dlsi_durable durable;
	char *data;                         /* its folder; NULL: it has none */
	cJSON *policy_params, *speculation; /* NULL: none */
	struct dlsi_transport_config transport;
	char endpoint[DLSI_ENDPOINT_BYTES + 1]; /* with the real port */
};

/* `options` are complete and in range. Errors: as dls_master_create. */
int dlsi_node_master_create(struct dls_ctx *ctx, const struct dls_master_options *options,
	struct dls_master **master_out, struct dls_error *err);

/* What of that shows without listening. */
int dlsi_node_master_check(const struct dls_master_options *options, struct dls_error *err);

/* Tells all peers. NULL is allowed. */
void dlsi_node_master_destroy(struct dls_master *master);

#endif
