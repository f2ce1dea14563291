/* The master's tables, seen only by the files of core/ that make up the master: what a peer, a worker, a client, a job
 * and a task are, and who points to whom.
 *
 *   peer   a connection. Belongs to one worker or client, or is not in the table yet.
 *   worker, client   a process, known by its incarnation: outlives its connection for a while.
 *   job    belongs to a client (attached), or to nobody (durable, or its client is lost).
 *   task   items of a job at a worker, or their result on its way to the sink.
 *   acquaintance   a worker has been told about a job. */
#ifndef DLSI_MASTER_STATE_H
#define DLSI_MASTER_STATE_H

#include "base/heap.h"
#include "base/index.h"
#include "base/limits.h"
#include "base/list.h"
#include "base/map.h"
#include "base/ranges.h"
#include "core/change.h"
#include "core/division.h"
#include "core/lateness.h"
#include "core/lifecycle.h"
#include "core/master.h"
#include "core/master_job.h"
#include "core/outbox.h"
#include "core/releases.h"
#include "core/resources.h"
#include "core/retry_rules.h"
#include "core/speculation.h"

struct peer {
	struct dlsi_outbox outbox;
	struct dlsi_list dirty; /* on master->dirty while the outbox holds something */
	int64_t due_ns;         /* when that leaves at the latest */
	struct timer heartbeat;
	int64_t heard_ns;
	uint64_t received;     /* messages on this connection since REGISTER */
	struct worker *worker; /* one of the two */
	struct client *client;
};

struct device {
	struct dlsi_policy_device policy;
	struct worker *worker;
	struct dlsi_list node; /* on master->loaded[held] while it has a free credit */
	uint16_t index;
	uint16_t offered;
	uint32_t cores;
	uint64_t memory_bytes;
	uint64_t task_ns; /* averages */
	uint64_t task_bytes;
	uint64_t done_tasks;
	int64_t turned_ns; /* when its last result came, or a task to where there was none: the next one runs since then
			    */
	bool relieved;     /* it gets nothing more until its task in front is over */
	uint64_t planned_ns; /* that the tasks it holds are expected to take */
	char *name;
	struct dlsi_list services;
	uint32_t loading;               /* services that are */
	struct dlsi_resources reserved; /* it runs one of its tasks at a time: the largest demand of them */
};

/* What a device does for a class. */
struct service {
	struct dlsi_list device_node, class_node;
	struct device *device;
	struct class *class;
	uint32_t held; /* of its tasks */
	struct dlsi_measured measured;
	struct dlsi_sizes sizes;
	uint64_t speed; /* what it counts for in class->speed: 0 while its worker is not connected */
	bool loaded;    /* it has the model of the class, as far as its worker has said */
	bool loading;   /* it will load it for a task that it holds */
};

struct label {
	struct dlsi_id key; /* of its text */
	char *name;
};

/* What a tenant uses of a worker. */
struct stake {
	struct dlsi_list node; /* on worker->stakes */
	const struct dlsi_policy_tenant *tenant;
	uint32_t tasks;
	struct dlsi_resources used;
};

#define DLSI_SPEED_UNIT UINT64_C(1000000000000000) /* of a speed: items in so many nanoseconds */

/* Who a worker is. Its results say it, also those that outlive it. */
struct origin {
	uint64_t uses;
	char *name, *host, *data_endpoint;
};

struct worker {
	struct dlsi_list node; /* on master->workers */
	uint64_t number;
	uint64_t incarnation;
	struct peer *peer; /* NULL: lost */
	struct timer grace;
	bool drained; /* by a command: it gets no more tasks */
	bool leaving; /* nor if it says so itself */
	struct origin *origin;
	struct device *devices;
	uint16_t device_count;
	struct handler **handlers;
	uint16_t handler_count;
	struct label *labels;
	uint16_t label_count;
	struct dlsi_resources capacity, reserved; /* the latter by its devices, never more than the former */
	struct dlsi_list stakes;
	struct dlsi_list tasks;  /* that it has not answered, in the order in which they were given */
	struct dlsi_list offers; /* tasks whose results it keeps */
	struct dlsi_list jobs;   /* acquaintances */
	uint64_t job_count;
	struct dlsi_list copies, loads; /* of models (master_models.c) */
	struct dlsi_buffer taken;       /* u64 each: attempts to confirm in the next message */
	uint64_t done_items;
	struct traffic traffic;
};

struct client_spec {
	struct spec *spec; /* NULL: it was refused */
	char *refusal;     /* why; NULL if there was no memory even for that */
	int code;
};

struct client {
	struct dlsi_list node; /* on master->clients, or when it has gone for good on master->gone */
	bool gone;
	struct dlsi_list weighed;     /* on master->weighed */
	struct dlsi_list *to_look_at; /* the next of its jobs that are to be looked at again; NULL: none */
	struct dlsi_list *to_tell;    /* the next of its jobs whose progress it is told; NULL: the first */
	uint64_t number;
	uint64_t incarnation;
	struct peer *peer; /* NULL: lost */
	struct timer grace;
	struct tenant *tenant;
	char *host, *data_endpoint;
	struct dlsi_list jobs;
	uint32_t connections;      /* so far */
	uint64_t window_bytes;     /* its usual room for the results of a job */
	uint64_t held_bytes;       /* of results that it has not confirmed */
	bool full;                 /* they are too many: its jobs get no more tasks until half of them are gone */
	uint64_t offers;           /* that it has not confirmed */
	bool crowded;              /* they are too many: until half are gone a job gets a task when it has none */
	struct client_spec *specs; /* by the number that this connection gave it */
	uint32_t spec_count;
	uint64_t refusal_bytes;
	struct dlsi_list specs_paid; /* those that count for it: it was the first to name them */
	uint64_t paid_count, paid_bytes;
	uint64_t job_count, job_bytes, done_ranges; /* of its attached jobs */
	unsigned answers;                           /* to its commands, since its last turn */
	uint64_t answer_bytes;                      /* the same in bytes */
};

/* A specification, shared by all jobs whose JSON is the same to the byte. */
struct spec {
	struct dlsi_id key;
	uint64_t uses;
	struct client *payer; /* NULL: it has gone */
	struct dlsi_list payer_node;
	uint8_t *json;
	uint32_t length;
	struct class *class;
	struct model *model;            /* NULL: its jobs have a handler */
	uint32_t task_items;            /* 0: the master divides */
	struct dlsi_retry_rules *retry; /* NULL: nothing is tried again */
	bool once;                      /* none of their tasks is to run twice at a time */
	uint64_t time_limit_ns;         /* of each of its jobs, from when it may run; 0: none */
	struct dlsi_measured measured;  /* of the items of its jobs: a new one need not find out */
};

struct task {
	struct dlsi_list job_node;
	struct dlsi_list worker_node; /* on its worker's tasks or offers */
	struct job *job;
	struct device *device; /* NULL once its worker is gone */
	struct task *twin;     /* another attempt at the same items, both at workers; NULL: there is none */
	bool second;           /* of the two this one was begun later */
	uint64_t attempt;
	uint64_t first, end;
	int64_t given_ns;            /* when its worker was given it */
	int64_t stopped_ns;          /* when its worker was asked for its rest; 0: it was not */
	uint64_t planned_ns;         /* how long it was expected to take then */
	uint8_t state;               /* enum dlsi_task_state */
	struct dlsi_payload payload; /* of the result, if it travels inside messages */
	struct dlsi_result result;   /* its texts are the origin's, `again` is a copy: what is not final */
	struct origin *origin;       /* NULL: no result yet */
	bool presented;              /* by its worker, which has registered again */
};

/* What is still known of an attached job that has ended. */
struct ended {
	struct dlsi_list node; /* on master->ended, in the order of `change` */
	uint64_t change;       /* its end's number */
	struct dlsi_id id, token;
	uint8_t state; /* enum dlsi_job_state */
	int32_t code;
	int32_t priority;
	uint64_t count, done_items, failed_items, retried;
	struct traffic traffic;
	int64_t begun_ns, ended_ns;
	struct about *about;
	uint32_t moves, second_runs;
	const char *tenant, *handler, *sentence; /* behind it, in the same memory */
};

/* What workers offer and specifications ask for. */
struct handler {
	char *name;
	uint64_t uses;
	uint32_t free_devices; /* of connected workers that have it: those with a free credit */
};

/* What specifications ask of a worker: jobs that ask for the same share it. */
struct class
{
	struct dlsi_list node; /* on master->classes */
	struct dlsi_id key;
	uint64_t uses;
	struct dlsi_policy_class policy;
	struct handler *handler;
	struct dlsi_id *labels, *preferred;
	uint16_t label_count, preferred_count;
	uint32_t workers, devices; /* connected ones that suit it */
	struct dlsi_lateness lateness;
	uint64_t found_none; /* master->openings when no device could take a task; none can until there are more */
	struct dlsi_list services; /* those that have its model loaded come first */
	bool has_model;
	struct dlsi_hash model; /* the bundle, if so */
	uint64_t load_ns;       /* that a device takes to load it, on average; 0: not known, or nothing is loaded */
	uint32_t loaded;        /* devices that have */
	int64_t served_ns;      /* when a device was last given a task of it */
	uint64_t ready;         /* items of jobs that are offered to the policy */
	uint64_t number, queues;
	uint64_t speed;          /* of all services together */
	struct service *fastest; /* of them; NULL: none is measured */
};

/* What a tenant has used since this master knows it. */
struct usage {
	uint64_t jobs; /* that were accepted */
	uint64_t items, failed_items;
	uint64_t device_ns;    /* of results that have come, whatever became of them */
	uint64_t input_bytes;  /* of lists of inputs, with the values that travel in them */
	uint64_t result_bytes; /* of result pages */
};

struct tenant {
	struct dlsi_list node; /* on master->tenants, in the order of policy.number */
	struct dlsi_list idle; /* on master->idle_tenants: it is known for its usage alone */
	struct usage usage;
	uint64_t live_jobs;
	struct dlsi_policy_tenant policy;
	char *name;
	uint64_t uses;
	bool kept;                   /* holds a reference to itself: its weight or quota was set */
	struct dlsi_resources quota; /* what its tasks may take together, zero of what is unlimited */
};

/* The jobs of one class and one tenant. */
struct queue {
	struct dlsi_policy_queue policy;
	struct class *class;
	uint64_t jobs;
};

static inline struct queue *dlsi_job_queue(const struct job *job)
{
	return dlsi_list_entry(job->policy.queue, struct queue, policy);
}

/* A kind of resource that has a name of its own. */
struct kind {
	char *name;
	uint64_t uses;
};

struct acquaintance {
	struct dlsi_list worker_node;
	struct dlsi_list job_node;
	struct worker *worker;
	struct job *job;
};

/* How much may be logged of one kind. */
struct news {
	int64_t until_ns;  /* the lines told so far use up the allowance until then */
	uint64_t left_out; /* since the last line */
};

/* A policy without jobs that could decide; `ops` is NULL: there is none. */
struct replacement {
	const struct dlsi_policy_ops *ops;
	void *policy;
};

/* Jobs on their way from one policy to another: while the first part is under way those that are ready are the old
 * one's, later the new one's. */
struct exchange {
	struct replacement from;
	bool failed;            /* it is not kept */
	bool leaving;           /* the first part */
	struct dlsi_list *next; /* on master->jobs; NULL: there is none under way */
};

struct dlsi_master {
	const struct dlsi_alloc *alloc;
	struct dlsi_master_config config;
	int64_t now_ns;
	int64_t due_ns;               /* when it asked to be stepped at the latest */
	struct dlsi_effects *effects; /* of the running step */

	struct peer **peers; /* by slot */
	uint32_t peer_capacity;
	struct dlsi_list dirty;
	struct dlsi_heap timers;

	struct dlsi_list workers, clients, jobs, classes, tenants;
	struct dlsi_list gone;         /* clients whose jobs are to be ended */
	struct dlsi_list weighed;      /* clients whose jobs are to be looked at again */
	uint64_t searched;             /* jobs that were looked at in this turn to find some */
	struct dlsi_list idle_tenants; /* the one that was used last at the end */
	struct dlsi_list changed;      /* jobs, the one that changed last at the end */
	struct dlsi_list ended;
	uint64_t ended_count;
	struct dlsi_list decided; /* jobs whose waiting for others is over */
	struct dlsi_map stopped;  /* of those that have ended, the ones that a command ended, by id */
	uint64_t changes;         /* counts them */
	struct dlsi_map worker_by_incarnation, worker_by_name, client_by_incarnation, handler_by_name;
	struct dlsi_index job_by_id;
	struct dlsi_map spec_by_key, model_by_key, class_by_key, tenant_by_name, queue_by_owners, task_by_attempt,
		known;
	struct dlsi_list loaded[DLSI_DEVICE_CREDITS]; /* devices with a free credit, by the tasks they hold */
	uint64_t loads;                               /* bit n: loaded[n] may have some */
	const struct dlsi_policy_ops *policy_ops;
	void *policy;
	struct exchange exchange;
	struct replacement previous, last; /* of a policy that fails: the one before it, or else this */
	char *policy_failure;              /* of the last one that failed since one was asked for; NULL: none */
	uint64_t turns;
	struct dlsi_resources total; /* of all connected workers */
	struct kind kinds[DLSI_RESOURCE_KINDS];
	uint64_t kept_tenants;
	bool relaxed;      /* devices that are left may be given what they have not loaded ... */
	bool held_back;    /* ... which something waits for */
	uint64_t openings; /* how often a device could take a task that could not before */

	struct dlsi_list proposals; /* in order of index */
	uint64_t next_index;
	uint64_t proposed_bytes;           /* of all proposals */
	uint64_t kept_results, kept_bytes; /* of durable jobs */
	bool log_full;                     /* durable jobs get no tasks */
	struct dls_error log_trouble;      /* with a code: why nothing new is taken for the log */
	uint64_t next_number, next_attempt;

	struct dlsi_releases releases;
	uint64_t held_bytes, job_bytes; /* of results, of jobs */
	uint64_t spec_bytes, refusal_bytes, done_ranges, retry_runs;

	uint64_t done_items, done_tasks, lost_workers, refused_transitions, refused_messages;
	uint64_t presented_items; /* that clients said to have, from wherever */
	int64_t longest_turn_ns;  /* of what drives it ... */
	int64_t recent_turn_ns;   /* ... and of late */
	struct timer review;
	bool review_due;
	struct speculation speculation;
	uint64_t pairs, second_runs, second_wins, preemptions; /* pairs: of tasks that are each other's twin now */
	uint64_t unwanted_results;                             /* of attempts that nobody waited for any more */
	struct news worker_news, job_news;
	bool recovered; /* from a log, and has not taken a turn yet */
	bool failed;    /* memory ran out within a step */
};

/* Whether it may be given tasks. */
static inline bool dlsi_worker_is_open(const struct worker *worker)
{
	return worker->peer && !worker->drained && !worker->leaving;
}

/* master_peers.c: connections and what is said over them */
struct peer *dlsi_master_peer(const struct dlsi_master *master, struct dlsi_peer id);
struct peer *dlsi_master_add_peer(struct dlsi_master *master, struct dlsi_peer id); /* NULL: no room */

/* Its connection is gone; a worker that is not dead has a while to come back. */
void dlsi_master_lose_peer(struct dlsi_master *master, struct peer *peer, bool dead);
void dlsi_master_drop_peer(struct dlsi_master *master, struct peer *peer);
void dlsi_master_post(
	struct dlsi_master *master, struct peer *peer, const struct dlsi_record *record, struct dlsi_payload payload);
void dlsi_master_welcome(struct dlsi_master *master, struct peer *peer, bool again);
void dlsi_master_heartbeat(struct dlsi_master *master, struct peer *peer);

/* Sends what is due, and tells when the rest will be. */
int64_t dlsi_master_flush(struct dlsi_master *master);

/* Says no to somebody who may have no entry: to a submission, or with NULL to a whole message. */
void dlsi_master_refuse(struct dlsi_master *master, struct dlsi_peer to, const struct dlsi_submit *submit, int code,
	uint32_t retry_after_ms, const char *sentence);

/* master.c: what all parts need */
void dlsi_master_set_timer(struct dlsi_master *master, struct timer *timer, int64_t due_ns);
void dlsi_master_stop_timer(struct dlsi_master *master, struct timer *timer);

/* master_handlers.c: the handler of this name, with a reference; NULL: memory is exhausted */
struct handler *dlsi_handler_ref(struct dlsi_master *master, struct dlsi_text name);
void dlsi_handler_unref(struct dlsi_master *master, struct handler *handler);

/* One device more, or less, of the worker has a free credit. */
void dlsi_handler_count_free(const struct worker *worker, bool more);

/* master_workers.c: who works, and with what */
void dlsi_worker_register(struct dlsi_master *master, struct dlsi_peer from, const struct dlsi_register *record,
	struct dlsi_message rest);
void dlsi_worker_lost(struct dlsi_master *master, struct worker *worker, bool dead);

/* It has said goodbye. */
void dlsi_worker_leave(struct dlsi_master *master, struct worker *worker);

/* The master itself was away: if the worker is lost it has all its time again to come back. */
void dlsi_worker_excuse(struct dlsi_master *master, struct worker *worker);
void dlsi_worker_destroy(struct dlsi_master *master, struct worker *worker);

/* Drops a reference. */
void dlsi_origin_unref(struct dlsi_master *master, struct origin *origin);
bool dlsi_worker_has_handler(const struct worker *worker, const struct handler *handler);

/* The next message to the worker says that nobody needs the attempt's result from it any more. */
void dlsi_worker_confirm(struct dlsi_master *master, struct worker *worker, uint64_t attempt);

/* master_clients.c: who submits, and what it is told */
void dlsi_client_register(struct dlsi_master *master, struct dlsi_peer from, const struct dlsi_register *record);

/* master_submit.c: specifications and jobs. False if no client may give this number. */
bool dlsi_client_spec(struct dlsi_master *master, struct client *client, const struct dlsi_spec_record *record);
void dlsi_client_drop_spec(struct dlsi_master *master, struct client *client, struct client_spec *place);
void dlsi_client_submit(struct dlsi_master *master, struct client *client, const struct dlsi_submit *record,
	struct dlsi_payload manifest);

void dlsi_client_ack(struct dlsi_master *master, struct client *client, const struct dlsi_ack *record);
void dlsi_client_cancel(struct dlsi_master *master, struct client *client, const struct dlsi_cancel *record);

/* Of one job, and of the client's next DLSI_LOOKED_AT jobs, in turns; what it has been told already is not said again.
 */
void dlsi_client_tell_progress(struct dlsi_master *master, struct client *client, struct job *job);
void dlsi_client_progress(struct dlsi_master *master, struct client *client);
void dlsi_client_forget_told(struct job *job);

void dlsi_client_send_end(struct dlsi_master *master, struct client *client, const struct dlsi_id *job, uint8_t state);
void dlsi_client_send_result(struct dlsi_master *master, struct task *task);

/* A result waits for it, in so many bytes here or as an offer, or does not wait any more. */
void dlsi_client_hold(struct dlsi_master *master, struct client *client, uint64_t bytes, bool offered);
void dlsi_client_unhold(struct dlsi_master *master, struct client *client, uint64_t bytes, bool offered);
void dlsi_client_lost(struct dlsi_master *master, struct client *client);
void dlsi_client_excuse(struct dlsi_master *master, struct client *client);
void dlsi_client_destroy(struct dlsi_master *master, struct client *client);

/* It is of no client any more. */
void dlsi_client_part(struct job *job);

/* What is left to do with the jobs of clients, many of which may be one's: ends those of clients that have gone, and
 * looks again at those of clients whose room has changed. True if there are more than one turn may. */
bool dlsi_clients_catch_up(struct dlsi_master *master);

/* master_specs.c: specifications, interned. A new one counts for `payer`, NULL for nobody, until one of the two is
 * gone. */
struct spec *dlsi_spec_intern(
	struct dlsi_master *master, struct client *payer, struct dlsi_bytes json, struct dls_error *err);
void dlsi_spec_forget_payer(struct client *payer);
void dlsi_spec_unref(struct dlsi_master *master, struct spec *spec);

/* master_models.c: the model that a specification names, its member `model`, with a reference; NULL: memory is
 * exhausted
 */
struct model *dlsi_model_ref(struct dlsi_master *master, const cJSON *json);
void dlsi_model_unref(struct dlsi_master *master, struct model *model);

/* How a worker stands with the model of a job. */
void dlsi_worker_seek(struct dlsi_master *master, struct worker *worker, const struct dlsi_seek *record);

/* What the worker had asked for it asks for again, if it still wants it; or it has gone with all it had. */
void dlsi_worker_forget_loads(struct dlsi_master *master, struct worker *worker);
void dlsi_worker_forget_models(struct dlsi_master *master, struct worker *worker);

/* master_about.c: what a submission says of its job alone. *about_out is freed by the caller; NULL where nothing is
 * said. Errors: DLS_EFORMAT, DLS_EINVAL, DLS_ELIMIT, DLS_ENOMEM. */
int dlsi_about_read(
	struct dlsi_master *master, struct dlsi_bytes bytes, struct about **about_out, struct dls_error *err);

/* master_jobs.c: their items and states */
struct job *dlsi_job_find(const struct dlsi_master *master, const struct dlsi_id *id);

/* Those of its structures that not every job has; they are made where there are none. NULL: memory is exhausted. */
struct run *dlsi_job_begin(struct dlsi_master *master, struct job *job);
struct extras *dlsi_job_extend(struct dlsi_master *master, struct job *job);

/* How many items of it are in no other place: that nobody has been given. */
uint64_t dlsi_job_waiting(const struct job *job);

/* An entry in no state yet; the reference to spec is handed over on success. NULL: memory is exhausted. */
struct job *dlsi_job_create(
	struct dlsi_master *master, const struct dlsi_id *id, struct spec *spec, struct tenant *tenant, uint64_t count);

/* The payload is handed over; the blob is that of the whole manifest. False: memory is exhausted. */
bool dlsi_job_keep_manifest(struct dlsi_master *master, struct job *job, struct dlsi_payload manifest,
	const struct dlsi_blob *blob, uint32_t head);
struct dlsi_payload dlsi_job_manifest(const struct job *job);

/* What it counts for in what live jobs may take. */
uint64_t dlsi_job_bytes(const struct job *job);

/* For so many bytes of results its client has room. */
uint64_t dlsi_job_window_bytes(const struct job *job);

/* Its client has room for results of items up to `end`, of so many bytes. */
void dlsi_job_set_window(struct dlsi_master *master, struct job *job, uint64_t end, uint64_t bytes);
void dlsi_job_destroy(struct dlsi_master *master, struct job *job);

/* The only writer of state, done, paused, and of the priority of an accepted job. Returns how many items are done that
 * were not before. */
uint64_t dlsi_job_apply(struct dlsi_master *master, struct job *job, const struct dlsi_change *change);

/* Applies a change at once (attached) or gives it to the log (durable); `task` is that whose result it commits, or
 * NULL. False: the job has ended by it and is gone. */
bool dlsi_job_change(struct dlsi_master *master, struct job *job, const struct dlsi_change *change, struct task *task,
	struct dlsi_payload payload);
void dlsi_job_persisted(struct dlsi_master *master, uint64_t index);
void dlsi_job_end(struct dlsi_master *master, struct job *job, uint8_t state, int code, const char *sentence);

/* The policy has it no more, if it had. */
void dlsi_job_withdraw(struct dlsi_master *master, struct job *job);

/* Tells the policy whether the job has items to give out now. After every change of its items or window. */
void dlsi_job_refresh(struct dlsi_master *master, struct job *job);

/* First item that the cursor may give out and the end of those the window allows. */
struct dlsi_range dlsi_job_fresh(const struct job *job);

/* What holds a job back whose results, those that wait and those that are being made, fill what there is room for. */
enum held_back {
	HELD_BACK_NOT,
	HELD_BACK_CLIENT, /* its client's results fill what is here for them */
	HELD_BACK_OFFERS, /* too many of its client's results wait at workers */
	HELD_BACK_BYTES,  /* the job's window */
	HELD_BACK_LOG,    /* what waits for the log, or is kept by it */
};

enum held_back dlsi_job_held_back(const struct job *job);

/* The items of the next task, for the device, `most` at most (0: as many as usual); false if there are none. */
bool dlsi_job_take(struct dlsi_master *master, struct job *job, const struct device *device, uint64_t most,
	struct dlsi_range *range_out);
void dlsi_job_give_back(struct dlsi_master *master, struct job *job, uint64_t first, uint64_t end);

/* master_ended.c: jobs that have ended */
void dlsi_ended_keep(struct dlsi_master *master, struct job *job, const struct dlsi_change *end);
void dlsi_ended_forget_all(struct dlsi_master *master);

/* The job as it was presented, if a command has ended it; else NULL. Its client may not have heard of that. */
const struct ended *dlsi_ended_by_command(
	const struct dlsi_master *master, const struct dlsi_id *id, const struct dlsi_id *token);

/* master_recovery.c: ends jobs whose last item is in the log but not their end */
void dlsi_master_end_complete_jobs(struct dlsi_master *master);

/* master_acquaintances.c: which worker knows which job */
bool dlsi_master_acquainted(const struct dlsi_master *master, const struct worker *worker, const struct job *job);
bool dlsi_master_acquaint(struct dlsi_master *master, struct worker *worker, struct job *job, bool *known_out);
void dlsi_master_part(struct dlsi_master *master, struct acquaintance *acquaintance);

/* master_tasks.c: from assignment until the result is at its sink */
struct task *dlsi_task_find(const struct dlsi_master *master, uint64_t attempt);
bool dlsi_task_assign(struct dlsi_master *master, struct job *job, struct device *device, struct dlsi_range range);

/* False if the worker says something else of its task than what it was given; then the payload is the caller's. */
bool dlsi_task_result(struct dlsi_master *master, struct worker *worker, const struct dlsi_result *record,
	struct dlsi_payload payload);
void dlsi_task_taken(struct dlsi_master *master, struct task *task);

/* The sink has its result, or, of a durable job, the log is to have it: what is final of it is done. False: it was the
 * last, and the job is gone. */
bool dlsi_task_commit(struct dlsi_master *master, struct task *task);

/* Whether what is final of its result is done without it. */
bool dlsi_task_is_done(const struct task *task);

/* Gives its items back unless they are not wanted any more, and ends the task. */
void dlsi_task_drop(struct dlsi_master *master, struct task *task, bool give_back);

/* master_commands.c: what clients ask and tell the master, and its answers */
void dlsi_master_answer(struct dlsi_master *master, struct client *client, const struct dlsi_command *command);

#endif
