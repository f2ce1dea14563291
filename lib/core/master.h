/* The master's state machine: peers, jobs, division into tasks, assignment, collection.
 *
 * Rules. An item of a job is in exactly one place: never given out, given back, in a task at a worker or in two that
 * are twins (all its items in both), in a task whose result waits for the client (attached) or the log (durable), or
 * done. A job's durable state is the set of items done;
 * only dlsi_job_apply writes it. Policies choose; they decide nothing that must be replayed. Every limit is in
 * base/limits.h. */
#ifndef DLSI_MASTER_H
#define DLSI_MASTER_H

#include "core/event.h"
#include "core/policy_ops.h"

struct dlsi_master;

struct dlsi_master_config {
	struct dlsi_id cluster;
	uint64_t term;
	uint64_t seed; /* random, of each start: of the tables whose keys come from strangers, and of attempt numbers */
	int64_t heartbeat_ns;
	int64_t worker_timeout_ns; /* also a client's silence */
	int64_t lost_grace_ns;     /* after a hint that a worker is gone */
	int64_t client_timeout_ns; /* a lost client's attached jobs are kept so long */
	int64_t patience_ns;       /* what no peer waits for, like an acceptance, waits so long for company; may be 0 */
	uint64_t job_bytes;        /* of all live jobs; 0: DLSI_JOBS_BYTES */
	bool durable;              /* takes durable jobs; else refuses them */
	const struct dlsi_policy_ops *policy;
	const cJSON *policy_params;                /* an object; NULL: none */
	const cJSON *speculation;                  /* an object: when tasks run a second time; NULL: as usual */
	const struct dlsi_policy_ops *last_policy; /* decides if one fails that replaced none; NULL: `policy` does */

	const struct dlsi_policy_ops *const *policies; /* that may be asked for, NULL behind them */
};

/* Errors: DLS_EINVAL, DLS_ENOMEM. */
int dlsi_master_create(const struct dlsi_alloc *alloc, const struct dlsi_master_config *config,
	struct dlsi_master **master_out, struct dls_error *err);

/* Payloads it still holds are appended to `effects` as releases (NULL: the driver drops them all itself). */
void dlsi_master_destroy(struct dlsi_master *master, struct dlsi_effects *effects);

/* Before the first step: applies a record of the log as DLSI_EFFECT_APPEND once gave it, with the payload that went
 * with it (handed over). Errors: DLS_EFORMAT, DLS_ENOMEM, and what is wrong with the job's specification. */
int dlsi_master_replay(struct dlsi_master *master, uint64_t index, const uint8_t *record, size_t length,
	struct dlsi_payload payload, struct dlsi_effects *effects, struct dls_error *err);

/* What is in its tables now, and what it has counted since it began. */
struct dlsi_master_counts {
	uint64_t workers, clients, jobs, tasks, specs, handlers;
	uint64_t acquaintances; /* jobs that workers have been told of, over all workers */
	uint64_t held_bytes;    /* of results that clients or the log have not taken yet */
	uint64_t job_bytes;     /* what live jobs count for */
	uint64_t kept_results;  /* of durable jobs */
	uint64_t done_ranges;   /* of attached jobs */
	uint64_t done_items, done_tasks, lost_workers, refused_messages;
	uint64_t presented_items;     /* that clients said to have already: nothing here proves it */
	uint64_t refused_transitions; /* more than 0 is a fault of this program */
};

struct dlsi_master_counts dlsi_master_counts(const struct dlsi_master *master);

/* Jobs that have not ended; looks at each. */
uint64_t dlsi_master_live_jobs(const struct dlsi_master *master);

/* Events: MESSAGE, LOST, TIMER, TURN, PERSISTED, STOP. */
void dlsi_master_step(
	struct dlsi_master *master, int64_t now_ns, const struct dlsi_event *event, struct dlsi_effects *effects);

#endif
