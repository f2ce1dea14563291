/* A client: the connection of a program to a master, over which it submits jobs (job.h).
 *
 * It connects in the background, reconnects by itself, and after a master's restart presents its unfinished jobs again,
 * with the items it has received, so that they go on. */
#ifndef DLSCHED_CLIENT_H
#define DLSCHED_CLIENT_H

#include <dlsched/ctx.h>
#include <dlsched/sized.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dls_client;

struct dls_client_options {
	size_t size;
	const char *master; /* "tcp://host:port", "ipc://path"; required */
	const char *tenant; /* who the work is accounted to; NULL: "default" */

	/* Where workers fetch this client's models and inputs above 64 KB. NULL: a free port of the loopback interface
	 * for a master on loopback, the interface that reaches the master otherwise. Beyond loopback needs `insecure`.
	 * A wildcard is refused: others are told this address. "none": nobody can connect to this client. It connects
	 * to the workers then, as it also does, after two seconds each, where they find that they cannot reach it. */
	const char *data_bind;
	int insecure; /* 1: may use a master or listen beyond loopback, unencrypted and unauthenticated */

	uint64_t window_items; /* results kept for one job until dls_job_next takes them; 0: 16,777,216 */
	uint64_t window_bytes; /* the same in bytes, which results under way may overfill; 0: 256 MiB */
};

#define DLS_CLIENT_OPTIONS_INIT DLS_SIZED(struct dls_client_options)

/* Does not wait for the master. Errors: DLS_EINVAL, DLS_EADDRESS (an address that cannot be parsed, resolved or bound),
 * DLS_EDENIED (beyond loopback without `insecure`), DLS_ENOMEM. */
int dls_client_create(struct dls_ctx *ctx, const struct dls_client_options *options, struct dls_client **client_out,
	struct dls_error *err);

/* Tells the master and does not wait for it. Its jobs must have been destroyed: while there is one, nothing happens but
 * a line in the log. NULL is allowed. */
void dls_client_destroy(struct dls_client *client);

/* Waits until the master has answered. timeout_ms below 0 waits for ever. Errors: DLS_EUNREACHABLE (nobody answered in
 * time), DLS_EVERSION, DLS_EPROTOCOL (what listens there is no master). */
int dls_client_wait(struct dls_client *client, int timeout_ms, struct dls_error *err);

/* For event loops: a descriptor that becomes readable when a job has news. It belongs to the client; do not read or
 * close it. dls_client_process clears it and calls the `notify` of every job that has news, in this thread. */
int dls_client_fd(struct dls_client *client);
int dls_client_process(struct dls_client *client, struct dls_error *err);

/* Asks the master, {"command":"status"} for instance; the answer is a JSON object. docs/PROTOCOL.md lists the commands,
 * docs/CLI.md what the answers hold. The caller frees *json_out with dls_free. Errors: DLS_EUNREACHABLE, DLS_ETIMEOUT,
 * DLS_EINVAL (unknown command or member), DLS_EBUSY (too many at once), and those of the command. */
int dls_client_command(
	struct dls_client *client, const char *json, int timeout_ms, char **json_out, struct dls_error *err);

#ifdef __cplusplus
}
#endif
#endif
