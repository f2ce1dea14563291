#include "node/executor.h"

#include "base/thread.h"
#include "kernel/parallel.h"

struct dlsi_executor {
	const struct dlsi_alloc *alloc;
	pthread_t thread;
	int threads; /* of its team */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct dlsi_list queue; /* of works */
	bool ending;
};

/* Waits for the next work; NULL when there is none and none will come. */
static struct dlsi_work *next(struct dlsi_executor *executor)
{
	struct dlsi_work *work = NULL;

	pthread_mutex_lock(&executor->lock);
	while (dlsi_list_empty(&executor->queue) && !executor->ending)
		pthread_cond_wait(&executor->changed, &executor->lock);
	if (!dlsi_list_empty(&executor->queue)) {
		work = dlsi_list_entry(executor->queue.next, struct dlsi_work, node);
		dlsi_list_remove(&work->node);
	}
	pthread_mutex_unlock(&executor->lock);
	return work;
}

static void *serve(void *arg)
{
	struct dlsi_executor *executor = arg;
	struct dlsi_work *work;

	dlsi_parallel_set_threads(executor->threads);
	while ((work = next(executor)))
		work->run(work);
	return NULL;
}

int dlsi_executor_create(const struct dlsi_alloc *alloc, const char *name, int threads,
	struct dlsi_executor **executor_out, struct dls_error *err)
{
	struct dlsi_executor *executor = dlsi_calloc(alloc, 1, sizeof *executor);
	int rc;

	if (!executor)
		return dlsi_fail_memory(err);
	executor->alloc = alloc;
	executor->threads = threads;
	dlsi_list_init(&executor->queue);
	pthread_mutex_init(&executor->lock, NULL);
	pthread_cond_init(&executor->changed, NULL);
	rc = dlsi_thread_start(&executor->thread, name, serve, executor, err);
	if (rc == 0) {
		*executor_out = executor;
		return 0;
	}
	pthread_cond_destroy(&executor->changed);
	pthread_mutex_destroy(&executor->lock);
	dlsi_free(alloc, executor);
	return rc;
}

void dlsi_executor_destroy(struct dlsi_executor *executor)
{
	if (!executor)
		return;
	pthread_mutex_lock(&executor->lock);
	executor->ending = true;
	pthread_cond_signal(&executor->changed);
	pthread_mutex_unlock(&executor->lock);
	pthread_join(executor->thread, NULL);
	pthread_cond_destroy(&executor->changed);
	pthread_mutex_destroy(&executor->lock);
	dlsi_free(executor->alloc, executor);
}

void dlsi_executor_submit(struct dlsi_executor *executor, struct dlsi_work *work)
{
	pthread_mutex_lock(&executor->lock);
	dlsi_list_append(&executor->queue, &work->node);
	pthread_mutex_unlock(&executor->lock);
	pthread_cond_signal(&executor->changed); /* not before: its thread would run into the lock */
}

bool dlsi_executor_withdraw(struct dlsi_executor *executor, struct dlsi_work *work)
{
	bool waits;

	pthread_mutex_lock(&executor->lock);
	waits = !dlsi_list_empty(&work->node);
	dlsi_list_remove(&work->node);
	pthread_mutex_unlock(&executor->lock);
	return waits;
}
