#include "node/log.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/condition.h"
#include "base/limits.h"
#include "base/thread.h"
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Lines that found no room. */
struct loss {
	uint64_t count;
	enum dls_log_level level; /* of the gravest of them */
};

/* Stands in the ring before the text of a line. */
struct header {
	int64_t time_ns;
	struct loss loss; /* just before it */
	enum dls_log_level level;
	size_t length;
};

struct dlsi_log {
	void (*take)(void *log_arg, enum dls_log_level level, int64_t time_ns, const char *line);
	void *take_arg;
	pthread_t thread;

	pthread_mutex_t mutex; /* guards what follows */
	pthread_cond_t changed;
	uint64_t begin, end; /* of what is in the ring, counted in bytes since ever */
	bool full;           /* and not half empty again */
	struct loss loss;    /* since the last line that found room */
	bool ending;
	bool over;      /* the thread is done */
	bool abandoned; /* nobody waits for the thread */
	uint8_t ring[DLSI_LOG_BYTES];
};

static void put(struct dlsi_log *log, const void *data, size_t length)
{
	size_t at = log->end % DLSI_LOG_BYTES, first = DLSI_LOG_BYTES - at;

	if (first > length)
		first = length;
	memcpy(log->ring + at, data, first);
	memcpy(log->ring, (const uint8_t *)data + first, length - first);
	log->end += length;
}

static void get(struct dlsi_log *log, void *data, size_t length)
{
	size_t at = log->begin % DLSI_LOG_BYTES, first = DLSI_LOG_BYTES - at;

	if (first > length)
		first = length;
	memcpy(data, log->ring + at, first);
	memcpy((uint8_t *)data + first, log->ring, length - first);
	log->begin += length;
}

static void lose(struct dlsi_log *log, enum dls_log_level level)
{
	log->full = true;
	if (!log->loss.count++ || level < log->loss.level)
		log->loss.level = level;
}

void dlsi_log_write(struct dlsi_log *log, enum dls_log_level level, const char *line)
{
	struct header header = {.time_ns = dlsi_clock_utc_ns(), .level = level, .length = strlen(line)};

	pthread_mutex_lock(&log->mutex);
	if (log->full || sizeof header + header.length > DLSI_LOG_BYTES - (log->end - log->begin)) {
		lose(log, level);
	} else {
		header.loss = log->loss;
		log->loss = (struct loss){0};
		put(log, &header, sizeof header);
		put(log, line, header.length);
	}
	pthread_mutex_unlock(&log->mutex);
	pthread_cond_signal(&log->changed);
}

static void take_next(struct dlsi_log *log, struct header *header, char *line)
{
	if (log->begin == log->end) { /* what came last is lost */
		*header = (struct header){.time_ns = dlsi_clock_utc_ns(), .loss = log->loss};
		log->loss = (struct loss){0};
	} else {
		get(log, header, sizeof *header);
		get(log, line, header->length);
	}
	line[header->length] = '\0';
	if (log->end - log->begin <= DLSI_LOG_BYTES / 2)
		log->full = false;
}

/* Waits for a line, or a loss alone, whose header then has no level. False: there will be none. */
static bool next(struct dlsi_log *log, struct header *header_out, char *line_out)
{
	bool found;

	pthread_mutex_lock(&log->mutex);
	while (log->begin == log->end && !log->loss.count && !log->ending)
		dlsi_condition_wait(&log->changed, &log->mutex, INT64_MAX);
	found = (log->begin != log->end || log->loss.count) && !log->abandoned;
	if (found)
		take_next(log, header_out, line_out);
	pthread_mutex_unlock(&log->mutex);
	return found;
}

/* Whether the program may be gone by now, and all that `take` needs with it. */
static bool is_abandoned(struct dlsi_log *log)
{
	bool abandoned;

	pthread_mutex_lock(&log->mutex);
	abandoned = log->abandoned;
	pthread_mutex_unlock(&log->mutex);
	return abandoned;
}

static void pass_on(struct dlsi_log *log, const struct header *header, const char *line)
{
	char notice[128];

	if (header->loss.count) {
		snprintf(notice, sizeof notice,
			"log: %" PRIu64 " lines are lost here, since earlier ones were not taken", header->loss.count);
		log->take(log->take_arg, header->loss.level, header->time_ns, notice);
	}
	if (header->level && !(header->loss.count && is_abandoned(log)))
		log->take(log->take_arg, header->level, header->time_ns, line);
}

static void free_log(struct dlsi_log *log)
{
	pthread_cond_destroy(&log->changed);
	pthread_mutex_destroy(&log->mutex);
	dlsi_free(&dlsi_alloc_libc, log);
}

static void *run(void *arg)
{
	struct dlsi_log *log = arg;
	char line[DLSI_LOG_LINE_BYTES + 1];
	struct header header;
	bool abandoned;

	while (next(log, &header, line))
		pass_on(log, &header, line);
	pthread_mutex_lock(&log->mutex);
	log->over = true;
	abandoned = log->abandoned;
	pthread_cond_broadcast(&log->changed);
	pthread_mutex_unlock(&log->mutex);
	if (abandoned)
		free_log(log);
	return NULL;
}

int dlsi_log_create(const struct dls_ctx_options *options, struct dlsi_log **log_out, struct dls_error *err)
{
	/* Not the program's memory: a thread that is left behind may need it longer than the program keeps that. */
	struct dlsi_log *log = dlsi_calloc(&dlsi_alloc_libc, 1, sizeof *log);
	int rc;

	if (!log)
		return dlsi_fail_memory(err);
	log->take = options->log;
	log->take_arg = options->log_arg;
	pthread_mutex_init(&log->mutex, NULL);
	dlsi_condition_init(&log->changed);
	rc = dlsi_thread_start(&log->thread, "dls-log", run, log, err);
	if (rc)
		free_log(log);
	else
		*log_out = log;
	return rc;
}

void dlsi_log_destroy(struct dlsi_log *log)
{
	int64_t until_ns = dlsi_timeout_end_ns(DLSI_LOG_FLUSH_MS);
	bool over, in_time = true;
	pthread_t thread;

	if (!log)
		return;
	pthread_mutex_lock(&log->mutex);
	log->ending = true;
	pthread_cond_broadcast(&log->changed);
	while (!log->over && in_time)
		in_time = dlsi_condition_wait(&log->changed, &log->mutex, until_ns);
	over = log->over;
	log->abandoned = !over;
	thread = log->thread;
	pthread_mutex_unlock(&log->mutex);
	if (!over) {
		pthread_detach(thread); /* from here on the log is the thread's */
		return;
	}
	pthread_join(thread, NULL);
	free_log(log);
}
