#include "client/result_fetch.h"

#include "client/client.h"
#include "node/fetch.h"
#include <stdio.h>

struct fetch {
	struct dlsi_pending_fetch pending; /* first */
	struct dls_client *client;
	struct dlsi_id job;
	uint64_t attempt;
};

static void done(struct dlsi_pending_fetch *pending, int64_t now_ns)
{
	struct fetch *fetch = (struct fetch *)pending;
	struct dls_client *client = fetch->client;
	struct dlsi_event event = {.kind = DLSI_EVENT_FETCHED, .job = fetch->job, .attempt = fetch->attempt};

	event.fetched.code = pending->err.code;
	if (pending->frame)
		event.fetched.payload = dlsi_driver_adopt(&client->dialer.driver, pending->frame);
	else
		dlsi_ctx_log(client->ctx, DLS_LOG_INFO, "client: a result could not be fetched: %s", pending->err.text);
	dlsi_free(&client->ctx->alloc, fetch);
	dlsi_driver_step(&client->dialer.driver, now_ns, &event);
}

void dlsi_node_client_fetch(struct dls_client *client, const struct dlsi_effect *effect)
{
	const struct dlsi_effects *effects = &client->dialer.driver.effects;
	struct dlsi_text holder = dlsi_effects_text(effects, effect->fetch.holder, effect->fetch.holder_length);
	struct dlsi_text host = dlsi_effects_text(effects, effect->fetch.holder_host, effect->fetch.holder_host_length);
	char endpoint[DLSI_ENDPOINT_BYTES + 1];
	struct dlsi_fetch wanted = {.endpoint = endpoint, .token = effect->fetch.token, .blob = effect->fetch.offer};
	struct fetch *fetch = dlsi_calloc(&client->ctx->alloc, 1, sizeof *fetch);

	if (!fetch) {
		client->dialer.driver.failure = DLS_ENOMEM;
		return;
	}
	fetch->client = client;
	fetch->job = effect->job;
	fetch->attempt = effect->attempt;
	snprintf(endpoint, sizeof endpoint, "%.*s", (int)holder.length, holder.data);
	wanted.same_host = dlsi_dialer_is_local(&client->dialer, host);
	wanted.length = wanted.blob.length;
	dlsi_fetch_begin(&client->dialer, &fetch->pending, &wanted, NULL, done);
}

void dlsi_node_client_drop_fetches(struct dls_client *client, const struct dlsi_id *job)
{
	dlsi_list_each (node, &client->dialer.fetches) {
		struct fetch *fetch = (struct fetch *)dlsi_list_entry(node, struct dlsi_pending_fetch, node);

		if (dlsi_id_equal(&fetch->job, job))
			dlsi_fetch_cancel(&fetch->pending);
	}
}
