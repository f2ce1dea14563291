/* The client's state machine: registers with a master, presents jobs until they are accepted and again after every lost
 * connection, takes results once each, keeps the window, fetches offered results.
 *
 * For an attached job this is the durable end: the spec, the manifest and the set of items received live here. */
#ifndef DLSI_SESSION_H
#define DLSI_SESSION_H

#include "core/event.h"

struct dlsi_session;

struct dlsi_session_config {
	const char *tenant;
	const char *host;
	const char *data_endpoint;
	uint64_t incarnation;
	uint64_t seed;
};

int dlsi_session_create(const struct dlsi_alloc *alloc, const struct dlsi_session_config *config,
	struct dlsi_session **session_out, struct dls_error *err);
void dlsi_session_destroy(struct dlsi_session *session, struct dlsi_effects *effects);

/* Events: MESSAGE, CONNECTED, LOST, TIMER, TURN, FETCHED, SUBMIT, CONSUMED, CANCEL, COMMAND, STOP. */
void dlsi_session_step(
	struct dlsi_session *session, int64_t now_ns, const struct dlsi_event *event, struct dlsi_effects *effects);

#endif
