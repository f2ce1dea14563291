/* A client on the loop: its session with a master, and what its threads wait for.
 *
 * The loop's thread carries out the session's effects; the program's threads wait on condition variables. Between them
 * lies `mutex`, held for moments only, never while something is read, decoded or called back. Jobs share their client's
 * mutex (node/job.h). */
#ifndef DLSI_CLIENT_H
#define DLSI_CLIENT_H

#include "base/map.h"
#include "core/session.h"
#include "node/driver.h"
#include "node/fetches.h"
#include <dlsched/client.h>

struct dls_client {
	struct dlsi_driver driver; /* first */
	struct dls_ctx *ctx;
	struct dlsi_session *session;
	struct dlsi_dataplane *plane;
	struct dlsi_fetches fetches;
	char *master;
	char *tenant;
	uint64_t window_items;
	uint64_t window_bytes;
	int news_fd;

	struct dlsi_map submitted; /* the loop's: jobs the session knows, by id */

	pthread_mutex_t mutex; /* guards what follows */
	pthread_cond_t changed;
	bool reached;          /* there is a connection, to whomever */
	bool connected;        /* a master has answered over it */
	struct dls_error over; /* with a code: the session is over for good, and why */
	struct dlsi_list jobs;
	struct dlsi_list news; /* jobs that dls_client_process has to notify */
	struct dlsi_list questions;
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
int dlsi_node_client_command(
	struct dls_client *client, const char *json, int timeout_ms, char **json_out, struct dls_error *err);

#endif
