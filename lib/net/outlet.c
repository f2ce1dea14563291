#include "net/outlet.h"

#include "base/clock.h"
#include <string.h>

struct outlet {
	struct dlsi_list node;
	struct dlsi_server server;
	struct dlsi_peer peer; /* the reader, while there is a connection; else generation 0 */
	struct dlsi_id tokens[DLSI_OUTLET_TOKENS];
	unsigned token_count; /* ever; the last ones are kept */
	uint64_t questions;   /* that the server had been asked when it was looked at last */
	int64_t used_ns;
};

void dlsi_outlets_init(
	struct dlsi_outlets *outlets, const struct dlsi_alloc *alloc, void *context, struct dlsi_offers *offers)
{
	*outlets = (struct dlsi_outlets){.alloc = alloc, .context = context, .offers = offers};
	dlsi_list_init(&outlets->list);
}

static void drop(struct dlsi_outlets *outlets, struct outlet *outlet)
{
	dlsi_list_remove(&outlet->node);
	outlets->count--;
	dlsi_server_fini(&outlet->server);
	dlsi_free(outlets->alloc, outlet);
}

void dlsi_outlets_fini(struct dlsi_outlets *outlets)
{
	dlsi_list_each (node, &outlets->list)
		drop(outlets, dlsi_list_entry(node, struct outlet, node));
}

static void say(struct outlet *outlet, const struct dlsi_id *token)
{
	struct dlsi_record record = {.kind = DLSI_SERVE, .serve = {.token = *token}};

	if (outlet->peer.generation)
		dlsi_server_say(&outlet->server, outlet->peer, &record); /* lost: it is said on the next connection */
}

static void meet(void *arg, struct dlsi_peer peer)
{
	struct outlet *outlet = arg;

	outlet->peer = peer;
	for (unsigned i = 0; i < outlet->token_count && i < DLSI_OUTLET_TOKENS; i++)
		say(outlet, &outlet->tokens[i]);
}

static void lose(void *arg, struct dlsi_peer peer)
{
	(void)peer;
	((struct outlet *)arg)->peer = (struct dlsi_peer){0};
}

static int create(struct dlsi_outlets *outlets, const char *endpoint, struct outlet **outlet_out, struct dls_error *err)
{
	struct outlet *outlet = dlsi_calloc(outlets->alloc, 1, sizeof *outlet);
	int rc;

	if (!outlet)
		return dlsi_fail_memory(err);
	rc = dlsi_server_dial(&outlet->server, outlets->alloc, outlets->context, endpoint, outlets->offers, err);
	if (rc) {
		dlsi_free(outlets->alloc, outlet);
		return rc;
	}
	outlet->server.owner = (struct dlsi_server_owner){.meet = meet, .lose = lose, .arg = outlet};
	dlsi_list_append(&outlets->list, &outlet->node);
	outlets->count++;
	*outlet_out = outlet;
	return 0;
}

static struct outlet *find(const struct dlsi_outlets *outlets, const char *endpoint)
{
	dlsi_list_each (node, &outlets->list) {
		struct outlet *outlet = dlsi_list_entry(node, struct outlet, node);

		if (strcmp(dlsi_transport_endpoint(outlet->server.transport), endpoint) == 0)
			return outlet;
	}
	return NULL;
}

/* NULL if there is none. */
static struct outlet *longest_unused(const struct dlsi_outlets *outlets)
{
	struct outlet *longest = NULL;

	dlsi_list_each (node, &outlets->list) {
		struct outlet *outlet = dlsi_list_entry(node, struct outlet, node);

		if (!longest || outlet->used_ns < longest->used_ns)
			longest = outlet;
	}
	return longest;
}

static bool knows(const struct outlet *outlet, const struct dlsi_id *token)
{
	for (unsigned i = 0; i < outlet->token_count && i < DLSI_OUTLET_TOKENS; i++)
		if (dlsi_id_equal(&outlet->tokens[i], token))
			return true;
	return false;
}

int dlsi_outlets_serve(struct dlsi_outlets *outlets, const char *endpoint, const struct dlsi_id *token, int64_t now_ns,
	struct dls_error *err)
{
	struct outlet *outlet = find(outlets, endpoint);
	bool fresh = !outlet;
	int rc = 0;

	if (fresh && outlets->count == DLSI_OUTLETS)
		drop(outlets, longest_unused(outlets));
	if (fresh)
		rc = create(outlets, endpoint, &outlet, err);
	if (rc)
		return rc;
	if (!knows(outlet, token))
		outlet->tokens[outlet->token_count++ % DLSI_OUTLET_TOKENS] = *token;
	outlet->used_ns = now_ns;
	if (fresh)
		dlsi_server_step(&outlet->server); /* it may be connected by now */
	else
		say(outlet, token);
	return 0;
}

unsigned dlsi_outlets_poll_items(const struct dlsi_outlets *outlets, zmq_pollitem_t *items)
{
	unsigned count = 0;

	dlsi_list_each (node, &outlets->list) {
		dlsi_server_poll_items(&dlsi_list_entry(node, struct outlet, node)->server, items + count);
		count += DLSI_SERVER_POLL;
	}
	return count;
}

int64_t dlsi_outlets_due_ns(const struct dlsi_outlets *outlets)
{
	const struct outlet *first = longest_unused(outlets);

	return first ? first->used_ns + DLSI_OUTLET_IDLE_S * DLSI_SECOND_NS : INT64_MAX;
}

void dlsi_outlets_step(struct dlsi_outlets *outlets, int64_t now_ns)
{
	dlsi_list_each (node, &outlets->list) {
		struct outlet *outlet = dlsi_list_entry(node, struct outlet, node);

		dlsi_server_step(&outlet->server);
		if (outlet->server.questions != outlet->questions)
			outlet->used_ns = now_ns;
		outlet->questions = outlet->server.questions;
		if (now_ns - outlet->used_ns >= DLSI_OUTLET_IDLE_S * DLSI_SECOND_NS)
			drop(outlets, outlet);
	}
}
