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
	int64_t patience_ns; /* confirmations that the master can do without wait so long for company; may be 0 */
};

int dlsi_session_create(const struct dlsi_alloc *alloc, const struct dlsi_session_config *config,
	struct dlsi_session **session_out, struct dls_error *err);
void dlsi_session_destroy(struct dlsi_session *session, struct dlsi_effects *effects);

/* What is in its tables now, and what it has counted since it began. */
struct dlsi_session_counts {
	uint64_t jobs;
	uint64_t fetches;
	uint64_t commands;            /* that wait for an answer */
	uint64_t refused;             /* what a master or a driver should not have said */
	uint64_t refused_transitions; /* more than 0 is a fault of this program */
};

struct dlsi_session_counts dlsi_session_counts(const struct dlsi_session *session);

/* Events: MESSAGE, CONNECTED, LOST, TIMER, TURN, FETCHED, SUBMIT, ATTACH, DETACH, CONSUMED, CANCEL, COMMAND, STOP. */
void dlsi_session_step(
	struct dlsi_session *session, int64_t now_ns, const struct dlsi_event *event, struct dlsi_effects *effects);

#endif
