#include "net/link.h"

#include <stdio.h>

int dlsi_link_create(const struct dlsi_alloc *alloc, void *context, const char *endpoint, struct dlsi_link **link_out,
	struct dls_error *err)
{
	struct dlsi_transport_config config = {.context = context, .endpoint = endpoint};
	struct dlsi_link *link = dlsi_calloc(alloc, 1, sizeof *link);
	int rc;

	if (!link)
		return dlsi_fail_memory(err);
	link->alloc = alloc;
	dlsi_list_init(&link->node);
	dlsi_buffer_init(&link->message, alloc);
	snprintf(link->endpoint, sizeof link->endpoint, "%s", endpoint);
	rc = dlsi_transport_dial(alloc, &config, &link->transport, err);
	if (rc)
		dlsi_free(alloc, link);
	else
		*link_out = link;
	return rc;
}

void dlsi_link_destroy(struct dlsi_link *link)
{
	dlsi_list_remove(&link->node);
	dlsi_transport_destroy(link->transport, 0);
	dlsi_buffer_fini(&link->message);
	dlsi_free(link->alloc, link);
}

struct dlsi_message_writer dlsi_link_begin(struct dlsi_link *link)
{
	static const struct dlsi_id no_cluster;

	dlsi_buffer_clear(&link->message);
	return dlsi_message_begin(&link->message, &no_cluster, 0);
}

int dlsi_link_send(struct dlsi_link *link, struct dls_error *err)
{
	int rc;

	if (link->message.failed)
		return dlsi_fail_memory(err);
	rc = dlsi_transport_send(link->transport, link->peer, link->message.data, link->message.length, NULL, 0);
	return rc == DLS_ENOMEM ? dlsi_fail_memory(err) : 0;
}
