/* The simulator: one master, workers and clients that run the real core and the real codec on virtual time, with
 * everything around them made up from one seed. The same seed replays the same run to the last byte.
 *
 * The made-up transport keeps the contract of net/ (network.c): first in, first out within one connection; a connection
 * may break at any moment and lose an unknown tail in either direction; each side learns of it late, early or only by
 * its heartbeat; messages of an old and a new connection of one process may interleave. Processes are killed, stopped
 * for a while and started again, or run out of memory. The log persists late, and a killed master loses what it had not
 * persisted.
 *
 * Every byte goes through the links of its sender and its receiver, none of which ever carries more than it can
 * (links.c): messages, inputs on their way to a worker, results that a client fetches. A worker reads the inputs of its
 * next tasks while it executes one (tasks.c).
 *
 * A test run (sim.c) has a phase of faults and one without, at whose end every job must be over, every item must have
 * exactly one result at its sink, every command one answer, and no payload and no entry may be left in anybody's tables
 * (checks.c). bench/sim.c runs the same world without chance and faults, by a plan: thousands of workers, one job. */
#ifndef SIM_H
#define SIM_H

#include "base/heap.h"
#include "base/limits.h"
#include "base/list.h"
#include "base/map.h"
#include "base/rng.h"
#include "core/agent.h"
#include "core/master.h"
#include "core/session.h"

enum { SIM_JOBS = 6, SIM_PAUSED = 64, SIM_DEVICES = 3 };

#define SIM_MS             INT64_C(1000000)
#define SIM_S              (1000 * SIM_MS)

#define SIM_PLAN_BEGINS_NS (2 * SIM_S) /* when all have registered, a plan's job is submitted */

struct sim;
struct sim_node;
struct sim_connection;
struct sim_task;

/* A world without chance; the tests have none and draw instead what is said here. All of it is the caller's. */
struct sim_plan {
	unsigned workers;
	unsigned stores;                   /* that hold inputs and do nothing else */
	uint64_t items;                    /* of the only job */
	uint64_t window_bytes;             /* that its client keeps of results */
	uint64_t item_bytes, result_bytes; /* of one item */
	uint64_t row_bytes, head_bytes;    /* of an item in the list of inputs, of its head; both lie at the client */
	uint64_t model_bytes;              /* of the job's model, which its client has; 0: a handler runs it */
	uint64_t link_bytes_per_s;         /* of each node, in each direction */
	int64_t latency_ns;                /* from one node to another, whatever the links do */
	int64_t message_ns;                /* that a node's loop works for each message it gets or sends */
	const struct dlsi_policy_ops *policy;
	const char *speculation; /* JSON, when tasks run a second time; NULL: as usual */

	/* How long a worker's device executes a task of so many items. */
	int64_t (*run_ns)(struct sim *sim, unsigned worker, uint64_t items);

	/* Where an item's input lies, and the end of those that lie there behind it. */
	struct sim_node *(*holder)(struct sim *sim, uint64_t item, uint64_t *end_out);
	const void *arg;
};

/* What a payload holds, as far as the checks care. */
struct sim_content {
	struct dlsi_id job;
	uint64_t attempt; /* 0: the job's manifest */
	uint64_t first, end;
	uint64_t bytes;
};

/* Something that happens later. Void when its node has been killed or started anew meanwhile. */
struct sim_happening {
	struct dlsi_heap_node node;
	void (*run)(struct sim *sim, struct sim_happening *happening);
	struct sim_node *at; /* NULL: the world itself */
	uint64_t life;
	struct sim_connection *connection;
	bool to_master;
	struct sim_link *link;
	struct sim_transfer *transfer;
	uint64_t number;
	struct dlsi_id job;
	unsigned submission;
	uint8_t *block;
	size_t length;
	struct sim_content *contents;
	size_t content_count;
	struct dlsi_event event;
};

enum sim_kind { SIM_MASTER, SIM_WORKER, SIM_CLIENT, SIM_STORE };

/* One direction of a node's way to the network. Messages go first, the bytes of transfers one transfer after another.
 */
struct sim_link {
	uint64_t bytes_per_s;
	int64_t messages_until_ns; /* those that have been sent take the link until then */
	struct dlsi_list waiting;  /* transfers; the first is being served */
	int64_t served_from_ns;    /* since when the first has the link, or when it will */
	uint64_t served_bytes;     /* of the first, before that */

	uint64_t bytes; /* that it has carried */
	int64_t used_until_ns;
	int64_t window; /* the last one in which it carried anything, and how much */
	uint64_t window_bytes;
};

/* Bytes on their way from one node to another. */
struct sim_transfer {
	struct dlsi_list node; /* on the link that serves it, or in which it waits */
	struct sim_node *from, *to;
	uint64_t bytes;
	void (*arrived)(struct sim *sim, struct sim_transfer *transfer); /* frees it */
};

struct sim_page {
	struct dlsi_heap_node node; /* on job->pages, by the end of its items */
	uint64_t bytes;
};

/* What jobs ask of workers. */
struct sim_spec {
	const char *json;
	uint64_t cores, gpus;
	bool labelled;
	unsigned retries; /* how often what fails is tried again; 0: nothing fails */
	bool models;
};

enum { SIM_SPECS = 6, SIM_SPEC_MODEL = 5 };

extern const struct sim_spec sim_specs[SIM_SPECS]; /* the first one asks for nothing */

struct sim_job {
	struct dlsi_id id, token;
	unsigned spec;       /* in sim_specs */
	unsigned submission; /* under this id */
	uint64_t count;
	uint64_t window, window_bytes;
	bool durable, submitted, ended, cancelled;
	bool stopped; /* a command may have cancelled it */
	uint8_t state;
	uint64_t next;     /* item that the program takes next */
	uint8_t *received; /* a bit each */
	uint8_t *failures; /* of each item, at any worker */
	uint64_t delivered;
	struct dlsi_heap pages;     /* delivered and not taken whole */
	uint64_t waiting, fetching; /* bytes of these, and of fetches under way */
};

/* A record of the master's log. */
struct sim_log_record {
	uint8_t *bytes;
	size_t length;
	struct sim_content content;
	bool has_payload;
};

/* What a node has of memory, and when it gets none. */
struct sim_memory {
	struct dlsi_alloc alloc;
	uint64_t blocks; /* that it has now */
	uint64_t plenty; /* requests until one fails; 0: none will */
	bool for_good;   /* and all after it */
	bool has_failed;
};

/* What executes tasks, one at a time. */
struct sim_device {
	uint64_t load, credits;    /* tasks that it has and are wanted, and how many it takes */
	uint64_t loads[SIM_SPECS]; /* of `load`, those of jobs of each specification */
	struct dlsi_list ready;    /* those whose inputs are here; the first is being executed if one is */
	bool busy;
	unsigned ends; /* that were planned of what it executes */
	int64_t busy_until_ns, busy_ns;
};

struct sim_node {
	enum sim_kind kind;
	unsigned index;
	uint64_t life; /* counts its starts */
	bool up;
	int64_t stopped_until_ns;
	struct sim_memory memory;
	struct dlsi_effects effects;
	int64_t timer_ns; /* the earliest timer that is scheduled, and its number */
	uint64_t timer_number;
	bool turn_due;
	struct sim_connection *connection; /* of a worker or client: the newest */
	union {
		struct dlsi_master *master;
		struct dlsi_agent *agent;
		struct dlsi_session *session;
	};
	uint64_t incarnation;
	struct sim_link uplink, downlink;
	int64_t busy_until_ns;     /* its loop, in a world without chance */
	uint64_t held;             /* payloads */
	struct dlsi_map open_jobs; /* worker: those it was told of and not yet to close */
	uint64_t open_count;
	struct sim_device devices[SIM_DEVICES];
	uint64_t cores, gpus; /* worker: what it has */
	bool labelled;
	struct dlsi_map task_by_attempt;
	struct dlsi_list tasks;   /* all it has */
	unsigned model;           /* how it stands with it (models.c) */
	struct dlsi_id model_job; /* the job that needed it first */
	uint64_t model_bytes, model_missing;
	int64_t model_begun_ns;
	struct dlsi_list lackers;      /* tasks that wait for it */
	struct dlsi_list readers;      /* tasks with reads that have not begun */
	unsigned reads;                /* under way */
	bool has_head;                 /* of the list of inputs */
	uint64_t input_bytes;          /* of tasks that may read */
	struct sim_job jobs[SIM_JOBS]; /* client */
	unsigned job_count;
	uint64_t asked, answered; /* client: commands; bit n - 1 is that of number n */
};

struct sim {
	const struct sim_plan *plan; /* NULL: chance */
	uint64_t seed;
	struct dlsi_rng rng;
	int64_t now_ns;
	uint64_t order;
	struct dlsi_heap happenings;
	bool faults;
	struct dlsi_id paused[SIM_PAUSED]; /* jobs that somebody has told the master to pause */
	unsigned paused_count;
	bool settling; /* they are over, and a client that begins now has no jobs */
	bool trace;
	uint64_t digest; /* of all that happened */

	struct sim_node master, *workers, *clients, *stores;
	unsigned worker_count, client_count, store_count;
	struct dlsi_id cluster;
	uint64_t term;
	bool keeps_log; /* the master comes back as the same cluster with its log; else as a new one */

	struct sim_log_record *log;
	uint64_t log_count, log_persisted, log_capacity;

	struct sim_payload **payloads; /* by handle - 1 */
	uint64_t payload_count, payload_capacity;

	struct sim_connection **slots; /* of the master's transport */
	uint32_t *generations;
	uint32_t slot_count;
	struct dlsi_list connections;

	uint64_t messages, kills, breaks, starved, delivered, executions;
};

/* world.c: who is there, time, chance, and what fails. A plan outlives the world. */
void sim_init(struct sim *sim, uint64_t seed, const struct sim_plan *plan, bool trace);
void sim_fini(struct sim *sim);
bool sim_run_next(struct sim *sim); /* false: nothing is left to happen */

void sim_fail(struct sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));
void sim_trace(struct sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));
uint64_t sim_below(struct sim *sim, uint64_t bound);
bool sim_chance(struct sim *sim, unsigned percent);
struct sim_happening *sim_schedule(struct sim *sim, int64_t delay_ns, struct sim_node *at,
	void (*run)(struct sim *sim, struct sim_happening *happening));
void sim_postpone(struct sim *sim, struct sim_happening *happening, int64_t until_ns);
void *sim_calloc(size_t size);

/* A number that belongs to the run, as its trace does. */
void sim_note(struct sim *sim, uint64_t number);

/* faults.c: what goes wrong, from now until sim->faults is false */
void sim_faults_begin(struct sim *sim);
void sim_faults_end(struct sim *sim);
void sim_faults_drained(struct sim *sim, struct sim_node *node); /* a worker that was to leave may do so */

/* links.c: what carries bytes, and how fast */
void sim_link_init(struct sim_link *link, uint64_t bytes_per_s);
void sim_link_clear(struct sim_link *link); /* frees what waits */

/* Carries a message as soon as those before it are through; the time when its last byte is. */
int64_t sim_link_message(struct sim *sim, struct sim_link *link, uint64_t bytes);

/* Asks the holder for bytes and carries them; `arrived` is called when all are there, and frees the transfer, which is
 * memory of sim_calloc. From a node to itself they are there at once. */
void sim_transfer_begin(struct sim *sim, struct sim_transfer *transfer);

/* memory.c: what nodes have, and that they give it back */
void sim_memory_init(struct sim_memory *memory);
void sim_memory_starve(struct sim_memory *memory, uint64_t plenty, bool for_good);

/* payloads.c: who holds what */
struct dlsi_payload sim_payload_add(struct sim *sim, struct sim_node *owner, struct sim_content content);
const struct sim_content *sim_payload_get(struct sim *sim, const struct sim_node *owner, uint64_t handle);
void sim_payload_release(struct sim *sim, struct sim_node *owner, uint64_t handle);
void sim_payload_drop_all(struct sim *sim, struct sim_node *owner);
bool sim_payload_offered(const struct sim *sim, const struct sim_node *owner, uint64_t attempt);

/* nodes.c: driving a core */
void sim_node_step(struct sim *sim, struct sim_node *node, const struct dlsi_event *event);
void sim_node_start(struct sim *sim, struct sim_node *node);

/* In a plan: the time when the node's loop has dealt with a message that it gets or sends at from_ns. */
int64_t sim_node_work(const struct sim *sim, struct sim_node *node, int64_t from_ns);
void sim_node_kill(struct sim *sim, struct sim_node *node);
void sim_node_stop(struct sim *sim, struct sim_node *node);          /* in good order */
void sim_node_restart_later(struct sim *sim, struct sim_node *node); /* a client stays away */
void sim_node_name(const struct sim_node *node, char name[32]);

/* master.c, worker.c, client.c: what is particular to each */
void sim_master_start(struct sim *sim, struct sim_node *node);
void sim_master_effect(struct sim *sim, struct sim_node *node, const struct dlsi_effect *effect);
void sim_worker_start(struct sim *sim, struct sim_node *node);
void sim_worker_effect(struct sim *sim, struct sim_node *node, const struct dlsi_effect *effect);
void sim_worker_clear(struct sim_node *node);
void sim_client_start(struct sim *sim, struct sim_node *node);
void sim_client_effect(struct sim *sim, struct sim_node *node, const struct dlsi_effect *effect);
void sim_client_clear(struct sim_node *node);
struct sim_job *sim_client_job(const struct sim *sim, const struct dlsi_id *id); /* of any client; NULL */

/* tasks.c: what a worker was given to execute */
void sim_tasks_init(struct sim_node *node);
void sim_tasks_clear(struct sim_node *node);
void sim_task_execute(struct sim *sim, struct sim_node *node, const struct dlsi_effect *effect);
void sim_task_cancel(struct sim_node *node, uint64_t attempt);
void sim_task_recall(struct sim *sim, struct sim_node *node, const struct dlsi_effect *effect);

/* Whether the item fails in this attempt, if its job has failures. */
bool sim_item_fails(const struct sim *sim, uint64_t attempt, uint64_t item);

/* The model that tasks waited for is here. */
void sim_tasks_have_model(struct sim *sim, struct sim_node *node);

/* models.c: false: it is on its way */
void sim_models_init(struct sim_node *node);
bool sim_model_get(struct sim *sim, struct sim_node *node, const struct dlsi_id *job);
void sim_model_found(struct sim *sim, struct sim_node *node, const struct dlsi_effect *effect);

/* commands.c: what clients ask and tell the master. `number` of the happening is the command's. */
void sim_command_ask(struct sim *sim, struct sim_happening *happening);
void sim_command_answered(struct sim *sim, struct sim_node *node, const struct dlsi_effect *effect);

/* Once nothing goes wrong any more: what is paused or drained goes on. */
void sim_command_settle(struct sim *sim, struct sim_happening *happening);

/* network.c */
void sim_network_dial(struct sim *sim, struct sim_node *node, int64_t delay_ns);
void sim_network_send(struct sim *sim, struct sim_node *from, const struct dlsi_effect *effect);
void sim_network_forget(struct sim *sim, struct dlsi_peer peer); /* the master's transport drops a slot */
void sim_network_break(struct sim *sim, struct sim_node *dialer);
const struct sim_node *sim_network_receiver(
	const struct sim *sim, const struct sim_connection *connection, bool to_master);
void sim_network_master_gone(struct sim *sim);
void sim_network_fini(struct sim *sim);

/* stragglers.c: fails if a job does not end much sooner for running late tasks a second time */
void sim_check_stragglers(void);

/* audit.c: fails if the master's tables do not hold together */
void sim_audit(struct sim *sim);

/* checks.c */
void sim_check_node(struct sim *sim, const struct sim_node *node);
bool sim_all_over(const struct sim *sim);
void sim_check_over(struct sim *sim);
void sim_check_end(struct sim *sim);

#endif
