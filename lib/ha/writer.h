/* The thread that waits for the disk: appends entries to the log in the order in which they come, all that wait in one
 * group, and tries again until that has worked. The loop's thread puts in and takes out; `wake` is called on the
 * writer's. */
#ifndef DLSI_WRITER_H
#define DLSI_WRITER_H

#include "store/ballot.h"
#include "store/journal.h"
#include <pthread.h>

struct dlsi_writer_job {
	struct dlsi_writer_job *next;
	struct dlsi_journal_entry *entries; /* borrowed until the job is taken out */
	size_t count;
};

struct dlsi_writer_group;

struct dlsi_writer {
	const struct dlsi_alloc *alloc;
	struct dlsi_files *files;
	struct dlsi_journal *journal; /* the thread's */
	struct dlsi_ballot ballot;    /* the thread's */
	struct dlsi_writer_group *group;
	uint64_t noted_segments;
	void (*wake)(void *wake_arg);
	void *wake_arg;
	pthread_t thread;

	pthread_mutex_t mutex; /* guards what follows */
	pthread_cond_t changed;
	struct dlsi_writer_job *waiting, **waiting_end;
	struct dlsi_writer_job *done, **done_end;
	struct dls_error trouble; /* with a code: of the last try */
	uint64_t bytes;           /* of the log */
	bool ending;
};

/* The journal and the files are the thread's until the writer is stopped. Errors: DLS_EIO,
 * DLS_ENOMEM. */
int dlsi_writer_start(struct dlsi_writer *writer, struct dls_error *err);

/* Of jobs that are not written yet it lets go. Then the ballot notes how far the log went. */
void dlsi_writer_stop(struct dlsi_writer *writer);

void dlsi_writer_put(struct dlsi_writer *writer, struct dlsi_writer_job *job);

/* The next job that is on disk, or NULL. */
struct dlsi_writer_job *dlsi_writer_take(struct dlsi_writer *writer);

/* After it was stopped: the next of all jobs, done or not. */
struct dlsi_writer_job *dlsi_writer_take_any(struct dlsi_writer *writer);

/* The error of the last try to write, 0 if that has worked; and how long the log is. */
int dlsi_writer_state(struct dlsi_writer *writer, uint64_t *bytes_out, struct dls_error *trouble_out);

#endif
