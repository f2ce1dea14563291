#include "worker/crew.h"

#include "base/thread.h"
#include <stdatomic.h>
#include <stdbool.h>

struct dlsi_crew {
	const struct dlsi_alloc *alloc;
	pthread_mutex_t mutex;
	pthread_cond_t called;
	pthread_cond_t done;
	uint64_t runs; /* begun so far: a helper joins each once */
	unsigned busy; /* helpers that have not left the run */
	bool ending;

	void (*part)(void *arg, uint32_t i);
	void *arg;
	uint32_t count;
	atomic_uint next;

	unsigned helpers;
	pthread_t threads[];
};

static void take_parts(struct dlsi_crew *crew)
{
	for (uint32_t i; (i = atomic_fetch_add_explicit(&crew->next, 1, memory_order_relaxed)) < crew->count;)
		crew->part(crew->arg, i);
}

static void *help(void *arg)
{
	struct dlsi_crew *crew = arg;
	uint64_t seen = 0;

	pthread_mutex_lock(&crew->mutex);
	for (;;) {
		while (crew->runs == seen && !crew->ending)
			pthread_cond_wait(&crew->called, &crew->mutex);
		if (crew->ending)
			break;
		seen = crew->runs;
		pthread_mutex_unlock(&crew->mutex);
		take_parts(crew);
		pthread_mutex_lock(&crew->mutex);
		if (--crew->busy == 0)
			pthread_cond_signal(&crew->done);
	}
	pthread_mutex_unlock(&crew->mutex);
	return NULL;
}

int dlsi_crew_create(
	const struct dlsi_alloc *alloc, unsigned helpers, struct dlsi_crew **crew_out, struct dls_error *err)
{
	struct dlsi_crew *crew = dlsi_calloc(alloc, 1, sizeof *crew + helpers * sizeof *crew->threads);
	int rc = 0;

	if (!crew)
		return dlsi_fail_memory(err);
	crew->alloc = alloc;
	pthread_mutex_init(&crew->mutex, NULL);
	pthread_cond_init(&crew->called, NULL);
	pthread_cond_init(&crew->done, NULL);
	for (; crew->helpers < helpers && rc == 0; crew->helpers += rc == 0)
		rc = dlsi_thread_start(&crew->threads[crew->helpers], "dls-crew", help, crew, err);
	if (rc)
		dlsi_crew_destroy(crew);
	else
		*crew_out = crew;
	return rc;
}

void dlsi_crew_destroy(struct dlsi_crew *crew)
{
	if (!crew)
		return;
	pthread_mutex_lock(&crew->mutex);
	crew->ending = true;
	pthread_cond_broadcast(&crew->called);
	pthread_mutex_unlock(&crew->mutex);
	for (unsigned i = 0; i < crew->helpers; i++)
		pthread_join(crew->threads[i], NULL);
	pthread_cond_destroy(&crew->done);
	pthread_cond_destroy(&crew->called);
	pthread_mutex_destroy(&crew->mutex);
	dlsi_free(crew->alloc, crew);
}

void dlsi_crew_run(struct dlsi_crew *crew, void (*part)(void *arg, uint32_t i), void *arg, uint32_t count)
{
	bool together = crew->helpers && count > 1;

	pthread_mutex_lock(&crew->mutex);
	crew->part = part;
	crew->arg = arg;
	crew->count = count;
	atomic_store_explicit(&crew->next, 0, memory_order_relaxed);
	if (together) {
		crew->runs++;
		crew->busy = crew->helpers;
		pthread_cond_broadcast(&crew->called);
	}
	pthread_mutex_unlock(&crew->mutex);
	take_parts(crew);
	pthread_mutex_lock(&crew->mutex);
	while (crew->busy)
		pthread_cond_wait(&crew->done, &crew->mutex);
	pthread_mutex_unlock(&crew->mutex);
}
