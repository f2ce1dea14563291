/* A master: takes in workers and jobs, divides jobs into tasks, hands them out and passes results on. */
#ifndef DLSCHED_MASTER_H
#define DLSCHED_MASTER_H

#include <dlsched/ctx.h>
#include <dlsched/sized.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dls_master;

struct dls_master_options {
	size_t size;
	const char
		*bind; /* "tcp://127.0.0.1:7700", "tcp://127.0.0.1:0" for a free port, "ipc://path"; NULL: the first */
	int insecure;  /* 1: may listen beyond loopback although nothing is encrypted or authenticated */
	const char *policy;         /* NULL: "roundrobin" */
	uint32_t heartbeat_ms;      /* 0: 1,000 */
	uint32_t worker_timeout_ms; /* a silent worker is lost after this; 0: 5,000; at least three heartbeats */
	uint32_t client_timeout_ms; /* a lost client's jobs are kept so long for its return; 0: 10,000 */
	const char *policy_params;  /* a JSON object, as docs/policies.md lists them for each policy; NULL: none */
	const char *plugins; /* a folder with policies in C (dlsched/policy.h) that can be asked for; NULL: none */
	uint64_t job_memory_bytes; /* what live jobs may take; one without large inputs counts for less than 1 KB. 0: 4
				      GB */
	const char *speculation;   /* a JSON object: when tasks are run a second time (docs/policies.md); NULL: {} */

	/* A folder for the log, made if it is missing: detached jobs are kept there, and go on when a master is made
	 * with the same folder again, whatever became of this one. One master at a time has it. NULL: no detached jobs.
	 */
	const char *data;
};

#define DLS_MASTER_OPTIONS_INIT DLS_SIZED(struct dls_master_options)

/* Listens when it returns. Errors: DLS_EADDRESS (in use, unresolvable, not allowed), DLS_EDENIED (beyond loopback
 * without `insecure`), DLS_EINVAL, DLS_ENOMEM; of plug-ins DLS_ENOTFOUND (no such folder), DLS_EDENIED (others than
 * this user and root could change them), DLS_EVERSION (made for another release), DLS_EIO; of `data` as
 * dls_master_inspect. */
int dls_master_create(struct dls_ctx *ctx, const struct dls_master_options *options, struct dls_master **master_out,
	struct dls_error *err);

/* Whether a master could be made with these options, as far as it shows without listening: the address resolves and is
 * allowed, the policy exists and takes its parameters. Errors: as dls_master_create. */
int dls_master_check(struct dls_ctx *ctx, const struct dls_master_options *options, struct dls_error *err);

/* What a data folder holds. */
struct dls_master_data {
	size_t size;
	char cluster[33];               /* its id */
	uint64_t term;                  /* of the last opening */
	uint64_t entries, files, bytes; /* of the log */
	uint64_t torn_bytes;            /* at its end, of what was being written when the master was killed; no loss */
	uint64_t jobs, unfinished_jobs, results; /* detached jobs and what is kept of them */
};

#define DLS_MASTER_DATA_INIT DLS_SIZED(struct dls_master_data)

/* Reads and proves all of a data folder that no master has now, and changes nothing. data_out->size is set by the
 * caller. Errors: DLS_ENOTFOUND, DLS_EBUSY (a master has it), DLS_EFORMAT (damage: file and offset are named), DLS_EIO,
 * DLS_ENOMEM. */
int dls_master_inspect(
	struct dls_ctx *ctx, const char *folder, struct dls_master_data *data_out, struct dls_error *err);

/* The endpoint it listens on, with the real port. Valid as long as the master. */
const char *dls_master_endpoint(const struct dls_master *master);

void dls_master_destroy(struct dls_master *master);

#ifdef __cplusplus
}
#endif
#endif
