#include "ha/writer.h"

#include "base/clock.h"
#include "base/condition.h"
#include "base/limits.h"
#include "base/thread.h"

#define RETRY_NS (200 * DLSI_MILLISECOND_NS)

enum { GROUP_ENTRIES = 4096 };

/* The entries of the jobs that one write takes. */
struct dlsi_writer_group {
	struct dlsi_journal_entry entries[GROUP_ENTRIES];
	size_t count;
	size_t bytes;
	struct dlsi_writer_job *last; /* in it; behind it others may come meanwhile */
};

static bool fits(const struct dlsi_writer_group *group, const struct dlsi_writer_job *job)
{
	return !group->count || (group->count + job->count <= GROUP_ENTRIES && group->bytes < DLSI_LOG_GROUP_BYTES);
}

static void add(struct dlsi_writer_group *group, const struct dlsi_writer_job *job)
{
	for (size_t i = 0; i < job->count; i++) {
		group->entries[group->count++] = job->entries[i];
		group->bytes += job->entries[i].length;
	}
}

/* Waits for jobs and gathers them; false: the end has come. */
static bool gather(struct dlsi_writer *writer, struct dlsi_writer_group *group)
{
	struct dlsi_writer_job *job;
	bool found;

	*group = (struct dlsi_writer_group){0};
	pthread_mutex_lock(&writer->mutex);
	while (!writer->waiting && !writer->ending)
		dlsi_condition_wait(&writer->changed, &writer->mutex, INT64_MAX);
	for (job = writer->waiting; job && fits(group, job); job = job->next) {
		add(group, job);
		group->last = job;
	}
	found = group->count != 0;
	pthread_mutex_unlock(&writer->mutex);
	return found;
}

/* A note is worth having and no promise: the log is there without it. */
static void note_progress(struct dlsi_writer *writer)
{
	struct dlsi_journal_facts facts = dlsi_journal_facts(writer->journal);

	if (facts.began == writer->noted_segments)
		return;
	writer->ballot.noted = facts.last_index;
	if (dlsi_ballot_write(writer->files, &writer->ballot, NULL) == 0)
		writer->noted_segments = facts.began;
}

static void hand_over(struct dlsi_writer *writer, const struct dlsi_writer_group *group)
{
	struct dlsi_writer_job *last = group->last;

	*writer->done_end = writer->waiting;
	writer->done_end = &last->next;
	writer->waiting = last->next;
	if (!writer->waiting)
		writer->waiting_end = &writer->waiting;
	last->next = NULL;
}

/* False: it has failed, and the end has come. */
static bool settle(struct dlsi_writer *writer, const struct dlsi_writer_group *group, const struct dls_error *trouble)
{
	bool goes_on = true;

	pthread_mutex_lock(&writer->mutex);
	writer->trouble = *trouble;
	writer->bytes = dlsi_journal_facts(writer->journal).bytes;
	if (trouble->code) {
		if (!writer->ending)
			dlsi_condition_wait(&writer->changed, &writer->mutex, dlsi_clock_monotonic_ns() + RETRY_NS);
		goes_on = !writer->ending;
	} else {
		hand_over(writer, group);
	}
	pthread_mutex_unlock(&writer->mutex);
	return goes_on;
}

static void *run(void *arg)
{
	struct dlsi_writer *writer = arg;
	struct dlsi_writer_group *group = writer->group;
	bool goes_on = true;

	while (goes_on && gather(writer, group)) {
		struct dls_error trouble = {0};
		bool told = writer->trouble.code != 0;

		dlsi_journal_append(writer->journal, group->entries, group->count, &trouble);
		if (trouble.code && !told) { /* at once, not after the pause */
			pthread_mutex_lock(&writer->mutex);
			writer->trouble = trouble;
			pthread_mutex_unlock(&writer->mutex);
			writer->wake(writer->wake_arg);
		}
		goes_on = settle(writer, group, &trouble);
		if (!trouble.code) {
			note_progress(writer);
			writer->wake(writer->wake_arg);
		}
	}
	return NULL;
}

int dlsi_writer_start(struct dlsi_writer *writer, struct dls_error *err)
{
	int rc;

	writer->waiting_end = &writer->waiting;
	writer->done_end = &writer->done;
	writer->bytes = dlsi_journal_facts(writer->journal).bytes;
	writer->group = dlsi_malloc(writer->alloc, sizeof *writer->group);
	if (!writer->group)
		return dlsi_fail_memory(err);
	pthread_mutex_init(&writer->mutex, NULL);
	dlsi_condition_init(&writer->changed);
	rc = dlsi_thread_start(&writer->thread, "dls-writer", run, writer, err);
	if (rc) {
		pthread_cond_destroy(&writer->changed);
		pthread_mutex_destroy(&writer->mutex);
		dlsi_free(writer->alloc, writer->group);
	}
	return rc;
}

void dlsi_writer_stop(struct dlsi_writer *writer)
{
	pthread_mutex_lock(&writer->mutex);
	writer->ending = true;
	pthread_mutex_unlock(&writer->mutex);
	pthread_cond_signal(&writer->changed);
	pthread_join(writer->thread, NULL);
	pthread_cond_destroy(&writer->changed);
	pthread_mutex_destroy(&writer->mutex);
	dlsi_free(writer->alloc, writer->group);
	writer->ballot.noted = dlsi_journal_facts(writer->journal).last_index;
	(void)dlsi_ballot_write(writer->files, &writer->ballot, NULL);
}

void dlsi_writer_put(struct dlsi_writer *writer, struct dlsi_writer_job *job)
{
	job->next = NULL;
	pthread_mutex_lock(&writer->mutex);
	*writer->waiting_end = job;
	writer->waiting_end = &job->next;
	pthread_mutex_unlock(&writer->mutex);
	pthread_cond_signal(&writer->changed);
}

struct dlsi_writer_job *dlsi_writer_take(struct dlsi_writer *writer)
{
	struct dlsi_writer_job *job;

	pthread_mutex_lock(&writer->mutex);
	job = writer->done;
	if (job) {
		writer->done = job->next;
		if (!writer->done)
			writer->done_end = &writer->done;
	}
	pthread_mutex_unlock(&writer->mutex);
	return job;
}

struct dlsi_writer_job *dlsi_writer_take_any(struct dlsi_writer *writer)
{
	struct dlsi_writer_job **from = writer->done ? &writer->done : &writer->waiting, *job = *from;

	if (job)
		*from = job->next;
	return job;
}

int dlsi_writer_state(struct dlsi_writer *writer, uint64_t *bytes_out, struct dls_error *trouble_out)
{
	pthread_mutex_lock(&writer->mutex);
	*bytes_out = writer->bytes;
	*trouble_out = writer->trouble;
	pthread_mutex_unlock(&writer->mutex);
	return trouble_out->code;
}
