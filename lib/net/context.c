#include "net/context.h"

#include "base/thread.h"
#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <zmq.h>

/* What libzmq starts with, and two descriptors to spare; no more than that is needed at any other time. */
enum { FILES = 8, THREADS = 2 };

int dlsi_context_check_files(struct dls_error *err)
{
	int fds[FILES], count = 0, os_error;

	while (count < FILES && (fds[count] = eventfd(0, EFD_CLOEXEC)) >= 0)
		count++;
	os_error = errno;
	for (int i = 0; i < count; i++)
		close(fds[i]);
	if (count == FILES)
		return 0;
	return dlsi_fail_errno(err, DLS_EIO, os_error,
		"the network needs %d open files and may have %d; raise their limit (ulimit -n)", FILES, count);
}

static void *pass(void *arg)
{
	pthread_mutex_t *gate = arg;

	pthread_mutex_lock(gate);
	pthread_mutex_unlock(gate);
	return NULL;
}

static int check_threads(struct dls_error *err)
{
	pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER; /* keeps them until all have been started */
	pthread_t threads[THREADS];
	int count = 0, rc = 0;

	pthread_mutex_lock(&gate);
	while (rc == 0 && count < THREADS) {
		rc = dlsi_thread_start(&threads[count], "dls-trial", pass, &gate, err);
		count += rc == 0;
	}
	pthread_mutex_unlock(&gate);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	if (rc == 0)
		return 0;
	return dlsi_fail_in(
		err, rc, "the network needs %d threads and may have %d; raise their limit (ulimit -u)", THREADS, count);
}

int dlsi_context_create(void **context_out, struct dls_error *err)
{
	int rc = dlsi_context_check_files(err);
	void *context, *first;

	if (rc == 0)
		rc = check_threads(err);
	if (rc)
		return rc;
	context = zmq_ctx_new();
	first = context ? zmq_socket(context, ZMQ_PAIR) : NULL;
	if (!first) {
		rc = dlsi_fail_errno(err, DLS_EIO, errno, "cannot start the network");
		dlsi_context_destroy(context);
		return rc;
	}
	zmq_close(first);
	*context_out = context;
	return 0;
}

void dlsi_context_destroy(void *context)
{
	while (context && zmq_ctx_term(context) < 0 && errno == EINTR)
		;
}
