#include "net/holder.h"

#include "base/clock.h"
#include "net/endpoint.h"
#include <stdio.h>

static struct dlsi_holder *make(const struct dlsi_alloc *alloc)
{
	struct dlsi_holder *holder = dlsi_calloc(alloc, 1, sizeof *holder);

	if (!holder)
		return NULL;
	holder->alloc = alloc;
	holder->silent_since_ns = DLSI_HOLDER_NOT_SILENT;
	dlsi_list_init(&holder->node);
	dlsi_buffer_init(&holder->message, alloc);
	return holder;
}

int dlsi_holder_create(const struct dlsi_alloc *alloc, void *context, const char *endpoint,
	struct dlsi_holder **holder_out, struct dls_error *err)
{
	struct dlsi_transport_config config = {.context = context, .endpoint = endpoint};
	struct dlsi_holder *holder;
	int rc = dlsi_endpoint_check_numeric(endpoint, err);

	if (rc)
		return rc;
	holder = make(alloc);
	if (!holder)
		return dlsi_fail_memory(err);
	snprintf(holder->endpoint, sizeof holder->endpoint, "%s", endpoint);
	rc = dlsi_transport_dial(alloc, &config, &holder->transport, err);
	if (rc)
		dlsi_free(alloc, holder);
	else
		*holder_out = holder;
	return rc;
}

int dlsi_holder_await(const struct dlsi_alloc *alloc, struct dlsi_transport *server, const struct dlsi_id *token,
	struct dlsi_holder **holder_out, struct dls_error *err)
{
	struct dlsi_holder *holder = make(alloc);

	if (!holder)
		return dlsi_fail_memory(err);
	holder->transport = server;
	holder->comes = true;
	holder->token = *token;
	*holder_out = holder;
	return 0;
}

void dlsi_holder_destroy(struct dlsi_holder *holder)
{
	dlsi_list_remove(&holder->node);
	if (!holder->comes)
		dlsi_transport_destroy(holder->transport, 0);
	dlsi_buffer_fini(&holder->message);
	dlsi_free(holder->alloc, holder);
}

struct dlsi_message_writer dlsi_holder_begin(struct dlsi_holder *holder)
{
	static const struct dlsi_id no_cluster;

	dlsi_buffer_clear(&holder->message);
	return dlsi_message_begin(&holder->message, &no_cluster, 0);
}

int dlsi_holder_send(struct dlsi_holder *holder, struct dls_error *err)
{
	int rc;

	if (holder->message.failed)
		return dlsi_fail_memory(err);
	rc = dlsi_transport_send(
		holder->transport, holder->peer, holder->message.data, holder->message.length, NULL, 0);
	return rc == DLS_ENOMEM ? dlsi_fail_memory(err) : 0;
}

void dlsi_holder_close(struct dlsi_holder *holder, uint64_t fetch)
{
	struct dlsi_message_writer writer = dlsi_holder_begin(holder);
	struct dlsi_record close = {.kind = DLSI_CLOSE, .close = {.fetch = fetch}};

	dlsi_message_add(&writer, &close);
	dlsi_holder_send(holder, NULL);
}

void dlsi_holder_probe(struct dlsi_holder *holder, int64_t now_ns)
{
	struct dlsi_message_writer writer;
	struct dlsi_record open = {.kind = DLSI_OPEN};

	if (now_ns < holder->probe_ns)
		return;
	holder->probe_ns = now_ns + DLSI_SECOND_NS;
	writer = dlsi_holder_begin(holder);
	dlsi_message_add(&writer, &open);
	dlsi_holder_send(holder, NULL); /* without memory for it the next time */
}
