/* A client on the loop: its session with a master, and what its threads wait for.
 *
 * The loop's thread carries out the session's effects; the program's threads wait on condition variables. Between them
 * lies the dialer's mutex, held for moments only, never while something is read, decoded or called back. Jobs share it
 * (client/job.h). */
#ifndef DLSI_CLIENT_H
#define DLSI_CLIENT_H

#include "base/map.h"
#include "core/session.h"
#include "node/dialer.h"
#include <dlsched/client.h>

struct dls_job;

struct dls_client {
	struct dlsi_dialer dialer; /* first */
	struct dls_ctx *ctx;
	struct dlsi_session *session;
	char *tenant;
	uint64_t window_items;
	uint64_t window_bytes;

	/* the loop's */
	struct dlsi_map submitted;   /* jobs the session knows, by id */
	struct dlsi_list broken;     /* of them those that ended here alone, and are still to be cancelled ... */
	struct dlsi_errand mourning; /* ... by this, since it happens while the session is in a step */
	bool mourns;

	/* guarded by the dialer's mutex */
	struct dlsi_list jobs;
	struct dlsi_list news;      /* jobs that dls_client_process has to notify */
	struct dlsi_list questions; /* client/command.c */
	uint64_t asked;
};

/* `options` are complete and in range. Errors: as dls_client_create. */
int dlsi_node_client_create(struct dls_ctx *ctx, const struct dls_client_options *options,
	struct dls_client **client_out, struct dls_error *err);
void dlsi_node_client_destroy(struct dls_client *client);

/* Errors: DLS_EINVAL (NULL), DLS_EFORK. */
int dlsi_node_client_check(const struct dls_client *client, struct dls_error *err);

int dlsi_node_client_wait(struct dls_client *client, int timeout_ms, struct dls_error *err);
void dlsi_node_client_process(struct dls_client *client);

/* On the loop's thread: the job has ended here but not for the session, which is told soon. */
void dlsi_node_client_break_job(struct dls_client *client, struct dls_job *job);

#endif
