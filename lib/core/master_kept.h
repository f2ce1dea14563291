/* What a master keeps of a durable job: its results, for whoever comes for them, and how it ended. They go to one
 * client at a time, which submitted the job or attached to it since, in the order of their items and within its window;
 * the word that the job has ended follows the last of them. */
#ifndef DLSI_MASTER_KEPT_H
#define DLSI_MASTER_KEPT_H

#include "core/master_state.h"

/* An encoded change on its way through the log. */
struct proposal {
	struct dlsi_list node;
	uint64_t index;
	uint64_t attempt; /* whose result it is; 0: none */
	uint64_t size;    /* with its payload */
	struct dlsi_buffer bytes;
};

/* A result that a durable job keeps. */
struct kept_result {
	uint64_t first, end;
	uint64_t elapsed_ns;
	uint32_t failed;
	struct dlsi_numbers again; /* items of it that are not done by it: core/again.h */
	bool sent;                 /* to the client of now, or it had it before */
	bool confirmed;            /* by that client */
	struct dlsi_payload payload;
	char *worker;
};

/* What is kept of a durable job, and how much of it its client has. */
struct kept {
	struct kept_result *at; /* by their first item */
	size_t count, capacity;
	size_t unsent;        /* all before it are sent */
	uint64_t outstanding; /* bytes that were sent and are not confirmed */
	uint64_t window_end, window_bytes;
	uint64_t most_items;  /* of a task, so that its result can be kept; 0: as many as there are */
	const bool *log_full; /* the master's */
	int32_t code;         /* of its end ... */
	char *sentence;       /* ... NULL before it */
	bool told_end;
	bool forgotten; /* that is on its way through the log */
};

static inline struct kept *dlsi_job_kept(const struct job *job)
{
	return dlsi_job_extras(job)->kept;
}

/* For a durable job. False: there is no memory. */
bool dlsi_kept_create(struct dlsi_master *master, struct job *job);
void dlsi_kept_destroy(struct dlsi_master *master, struct kept *kept);

/* The payload is handed over. */
void dlsi_kept_add(
	struct dlsi_master *master, struct job *job, const struct dlsi_change *change, struct dlsi_payload payload);
void dlsi_kept_end(struct dlsi_master *master, struct job *job, const struct dlsi_change *change);

/* Sends the job's client what its window lets, and the end when that was all. */
void dlsi_kept_feed(struct dlsi_master *master, struct job *job);

/* Its client has come anew, and has had the items of these ranges. */
void dlsi_kept_present(
	struct job *job, uint64_t window_end, uint64_t window_bytes, const struct dlsi_numbers *received);
void dlsi_kept_ack(struct dlsi_master *master, struct job *job, const struct dlsi_ack *record);
void dlsi_client_attach(struct dlsi_master *master, struct client *client, const struct dlsi_attach *record);

/* Looks again whether the log has too much to do. */
void dlsi_master_weigh_log(struct dlsi_master *master);

/* Why no durable job can be taken; 0: it can. */
int dlsi_kept_object(const struct dlsi_master *master, const struct dlsi_submit *record, struct dls_error *err);

/* master_tasks.c: its result is the caller's from now on. */
struct dlsi_payload dlsi_task_surrender(struct dlsi_master *master, struct task *task);

#endif
