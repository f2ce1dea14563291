/* Results that were offered: the session has them fetched over the data plane. On the loop's thread. */
#ifndef DLSI_RESULT_FETCH_H
#define DLSI_RESULT_FETCH_H

#include "core/effect.h"
#include <dlsched/client.h>

/* Carries out DLSI_EFFECT_FETCH. */
void dlsi_node_client_fetch(struct dls_client *client, const struct dlsi_effect *effect);

/* The results of this job are not wanted any more. */
void dlsi_node_client_drop_fetches(struct dls_client *client, const struct dlsi_id *job);

#endif
