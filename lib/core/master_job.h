/* A job of the master. A million of them may wait: what only some need is in structures of its own, which dlsi_job_run
 * and dlsi_job_extras read whether they are there or not. */
#ifndef DLSI_MASTER_JOB_H
#define DLSI_MASTER_JOB_H

#include "base/limits.h"
#include "base/list.h"
#include "base/ranges.h"
#include "core/effect.h"
#include "core/master_timer.h"
#include "core/policy_ops.h"

/* What a job says of itself alone; its texts lie behind it. */
struct about {
	const char *name; /* may be empty */
	unsigned tag_count, after_count;
	const char *tags[DLSI_TAGS];
	const char *after[DLSI_AFTER]; /* names of jobs, as dlsi_find_job takes them */
	enum { AFTER_ENDED, AFTER_SUCCEEDED, AFTER_ANY } after_when;
};

/* A job waits for another. */
struct follow {
	struct dlsi_list node; /* on that one's followers */
	struct job *follower;
};

/* Bytes that tasks have moved. */
struct traffic {
	uint64_t read;   /* inputs, from whoever has them to workers */
	uint64_t direct; /* results, from workers to clients */
	uint64_t passed; /* through the master: lists of inputs, and results that travel inside messages */
	uint64_t items;  /* of those tasks */
};

/* What a job has from when something of it is given out or known to be done, or when its client has not as much room
 * for its results as usual. Most of those that wait have nothing of this. */
struct run {
	struct traffic traffic;
	struct dlsi_ranges done; /* only dlsi_job_apply writes it and done_items */
	uint64_t done_items;
	uint64_t failed_items; /* by what workers said; those of which the client alone has told are not among them */
	struct dlsi_ranges retry; /* given back */
	uint64_t retry_items;
	uint64_t cursor; /* items from here on have never been given out by this master */
	uint64_t window_end, window_bytes;
	struct dlsi_list tasks;
	uint64_t task_count;
	uint64_t running;                 /* items of tasks at workers */
	uint64_t returned;                /* items whose results wait */
	uint32_t moves;                   /* tasks of which all or a part came back from workers that had them */
	uint32_t second_runs;             /* tasks that were begun once more while the first attempt ran */
	unsigned lost_offers;             /* one after another */
	uint64_t lost_before;             /* attempts below were given out before the last of them was lost */
	struct dlsi_list workers;         /* acquaintances */
	uint64_t told_done, told_running; /* to the client */
	struct retries *retries;          /* NULL: nothing has failed that is tried again */
};

extern const struct run dlsi_run_none;

/* What few jobs have. */
struct extras {
	struct job *job;
	struct about *about;  /* NULL: nothing */
	uint32_t about_bytes; /* that it counts for, also when it has been handed on */
	struct timer limit;
	int64_t released_ns;        /* when it could run first */
	struct dlsi_list followers; /* jobs that wait for this one */
	struct follow *follows;     /* those it waits for itself: */
	unsigned follow_count;
	unsigned open;            /* that have not ended */
	bool doomed;              /* what it waits for cannot come true any more ... */
	struct dlsi_id doomed_by; /* ... since this job has ended */
	struct dlsi_list decided; /* on master->decided: its waiting is over */
	struct dlsi_blob manifest_blob;
	struct dlsi_id asked; /* durable: the token that the client named last */
	struct kept *kept;    /* durable: core/master_kept.h */
};

extern const struct extras dlsi_extras_none;

struct job {
	struct dlsi_list node;        /* on master->jobs, in the order of their numbers: policy.place.order */
	struct dlsi_list client_node; /* on client->jobs */
	struct dlsi_list change_node; /* on master->changed, in the order of `change` */
	uint64_t change;              /* the number of its last change */
	struct dlsi_policy_job policy;
	void *same_chain; /* master->job_by_id's */
	struct dlsi_id token;
	struct spec *spec;
	struct client *client;
	struct run *run;       /* NULL: as dlsi_run_none */
	struct extras *extras; /* NULL: as dlsi_extras_none */
	uint64_t count;
	uint64_t manifest; /* a payload's handle ... */
	uint32_t manifest_bytes, manifest_head;
	uint32_t presented;    /* over which of its client's connections it was submitted last */
	uint16_t told_workers; /* to the client: how many can run it */
	uint8_t state;         /* enum dlsi_job_state */
	bool durable : 1;
	bool offered : 1; /* to the policy, as ready */
	bool ending : 1;  /* durable: its end is on its way through the log */
	bool stopped : 1; /* somebody's command ends it */
	bool paused : 1; /* nothing of it is given out; only dlsi_job_apply writes it, and the priority once accepted */
	bool waits : 1;  /* for others: nothing of it is given out */
};

static inline const struct run *dlsi_job_run(const struct job *job)
{
	return job->run ? job->run : &dlsi_run_none;
}

static inline const struct extras *dlsi_job_extras(const struct job *job)
{
	return job->extras ? job->extras : &dlsi_extras_none;
}

/* The token that its client has named last. */
static inline const struct dlsi_id *dlsi_job_asked(const struct job *job)
{
	return job->durable && job->extras ? &job->extras->asked : &job->token;
}

#endif
