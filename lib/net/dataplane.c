#include "net/dataplane.h"

#include "base/clock.h"
#include "base/thread.h"
#include "net/fetcher.h"
#include "net/server.h"
#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { DEFAULT_TIMEOUT_S = 10, LONGEST_WAIT_MS = 60000 };

struct dlsi_dataplane {
	const struct dlsi_alloc *alloc;
	struct dlsi_offers *offers;
	struct dlsi_pool *pool;
	struct dlsi_server server;
	bool serves;
	pthread_t thread;
	bool has_thread;
	int wake;

	pthread_mutex_t lock;   /* of what follows */
	struct dlsi_list all;   /* every transfer that has not ended */
	struct dlsi_list fresh; /* those that the thread has not seen yet */
	unsigned waiting_count; /* those that are fresh or waiting */
	uint64_t last_number;
	bool any_cancelled;
	bool stopping;

	struct dlsi_list waiting; /* the thread's, like the fetcher */
	struct dlsi_fetcher fetcher;
};

static void wake(struct dlsi_dataplane *plane)
{
	const uint64_t one = 1;

	while (write(plane->wake, &one, sizeof one) < 0 && errno == EINTR)
		;
}

/* A transfer that is in no list any more has ended. */
static void ended(void *arg, struct dlsi_transfer *transfer, int code, const struct dls_error *err)
{
	struct dlsi_dataplane *plane = arg;

	pthread_mutex_lock(&plane->lock);
	dlsi_list_remove(&transfer->in_all);
	pthread_mutex_unlock(&plane->lock);
	dlsi_transfer_end(transfer, code, err);
}

static void cancel_waiting(struct dlsi_dataplane *plane, struct dlsi_transfer *transfer, const struct dls_error *err)
{
	dlsi_list_remove(&transfer->node);
	pthread_mutex_lock(&plane->lock);
	plane->waiting_count--;
	pthread_mutex_unlock(&plane->lock);
	ended(plane, transfer, DLS_ECANCELLED, err);
}

/* Ends the transfers that are cancelled, or all. */
static void cancel_marked(struct dlsi_dataplane *plane, bool all)
{
	struct dls_error err = {0};

	dlsi_fail(&err, DLS_ECANCELLED, "the fetch was cancelled");
	dlsi_list_each (node, &plane->waiting) {
		struct dlsi_transfer *transfer = dlsi_list_entry(node, struct dlsi_transfer, node);

		if (all || transfer->cancelled)
			cancel_waiting(plane, transfer, &err);
	}
	dlsi_list_each (node, &plane->fetcher.active) {
		struct dlsi_transfer *transfer = dlsi_list_entry(node, struct dlsi_transfer, node);

		if (all || transfer->cancelled)
			dlsi_fetcher_end(&plane->fetcher, transfer, DLS_ECANCELLED, &err);
	}
}

/* Takes over what others have asked for; false: it is time to stop. */
static bool take_commands(struct dlsi_dataplane *plane)
{
	bool any_cancelled, stopping;
	uint64_t count;

	while (read(plane->wake, &count, sizeof count) < 0 && errno == EINTR)
		;
	pthread_mutex_lock(&plane->lock);
	dlsi_list_each (node, &plane->fresh) {
		dlsi_list_remove(node);
		dlsi_list_append(&plane->waiting, node);
	}
	any_cancelled = plane->any_cancelled;
	plane->any_cancelled = false;
	stopping = plane->stopping;
	pthread_mutex_unlock(&plane->lock);
	if (any_cancelled || stopping)
		cancel_marked(plane, stopping);
	return !stopping;
}

static void start_waiting(struct dlsi_dataplane *plane, int64_t now_ns)
{
	while (plane->fetcher.active_count < DLSI_FETCHES_AT_ONCE && !dlsi_list_empty(&plane->waiting)) {
		struct dlsi_transfer *transfer = dlsi_list_entry(plane->waiting.next, struct dlsi_transfer, node);

		dlsi_list_remove(&transfer->node);
		pthread_mutex_lock(&plane->lock);
		plane->waiting_count--;
		pthread_mutex_unlock(&plane->lock);
		dlsi_fetcher_start(&plane->fetcher, transfer, now_ns);
	}
}

/* Waits for something to do; false: libzmq's context was terminated. */
static bool wait_for_work(struct dlsi_dataplane *plane)
{
	zmq_pollitem_t items[1 + DLSI_SERVER_POLL + DLSI_FETCHER_POLL];
	int64_t due_ns = dlsi_fetcher_due_ns(&plane->fetcher), left_ns = due_ns - dlsi_clock_monotonic_ns();
	long wait_ms = LONGEST_WAIT_MS;
	unsigned count = 1;

	items[0] = (zmq_pollitem_t){.fd = plane->wake, .events = ZMQ_POLLIN};
	if (plane->serves) {
		dlsi_server_poll_items(&plane->server, items + count);
		count += DLSI_SERVER_POLL;
	}
	count += dlsi_fetcher_poll_items(&plane->fetcher, items + count);
	if (left_ns < LONGEST_WAIT_MS * DLSI_MILLISECOND_NS)
		wait_ms = left_ns <= 0 ? 0 : (long)(left_ns / DLSI_MILLISECOND_NS) + 1;
	return zmq_poll(items, (int)count, wait_ms) >= 0 || errno != ETERM;
}

static void *run(void *arg)
{
	struct dlsi_dataplane *plane = arg;

	while (take_commands(plane)) {
		start_waiting(plane, dlsi_clock_monotonic_ns());
		if (!wait_for_work(plane)) {
			pthread_mutex_lock(&plane->lock);
			plane->stopping = true;
			pthread_mutex_unlock(&plane->lock);
			continue;
		}
		if (plane->serves)
			dlsi_server_step(&plane->server);
		dlsi_fetcher_step(&plane->fetcher, dlsi_clock_monotonic_ns());
	}
	return NULL;
}

static void init(
	struct dlsi_dataplane *plane, const struct dlsi_alloc *alloc, const struct dlsi_dataplane_config *config)
{
	plane->alloc = alloc;
	plane->wake = -1;
	pthread_mutex_init(&plane->lock, NULL);
	dlsi_list_init(&plane->all);
	dlsi_list_init(&plane->fresh);
	dlsi_list_init(&plane->waiting);
	plane->fetcher = (struct dlsi_fetcher){.alloc = alloc,
		.context = config->context,
		.timeout_ns = config->timeout_ns ? config->timeout_ns : DEFAULT_TIMEOUT_S * DLSI_SECOND_NS,
		.ended = ended,
		.arg = plane};
	dlsi_fetcher_init(&plane->fetcher);
}

int dlsi_dataplane_create(const struct dlsi_alloc *alloc, const struct dlsi_dataplane_config *config,
	struct dlsi_dataplane **plane_out, struct dls_error *err)
{
	struct dlsi_dataplane *plane = dlsi_calloc(alloc, 1, sizeof *plane);
	int rc;

	if (!plane)
		return dlsi_fail_memory(err);
	init(plane, alloc, config);
	plane->pool = dlsi_pool_create(alloc);
	rc = plane->pool ? dlsi_offers_create(alloc, &plane->offers, err) : dlsi_fail_memory(err);
	plane->fetcher.offers = plane->offers;
	if (rc == 0 && config->endpoint) {
		rc = dlsi_server_init(&plane->server, alloc, config->context, config->endpoint, plane->offers, err);
		plane->serves = rc == 0;
	}
	if (rc == 0) {
		plane->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (plane->wake < 0)
			rc = dlsi_fail_errno(err, DLS_EIO, errno, "cannot make a descriptor for the data plane");
	}
	if (rc == 0) {
		rc = dlsi_thread_start(&plane->thread, "dls-data", run, plane, err);
		plane->has_thread = rc == 0;
	}
	if (rc)
		dlsi_dataplane_destroy(plane);
	else
		*plane_out = plane;
	return rc;
}

void dlsi_dataplane_destroy(struct dlsi_dataplane *plane)
{
	if (!plane)
		return;
	if (plane->has_thread) {
		pthread_mutex_lock(&plane->lock);
		plane->stopping = true;
		pthread_mutex_unlock(&plane->lock);
		wake(plane);
		pthread_join(plane->thread, NULL);
	}
	dlsi_fetcher_fini(&plane->fetcher);
	if (plane->serves)
		dlsi_server_fini(&plane->server);
	if (plane->wake >= 0)
		close(plane->wake);
	dlsi_offers_destroy(plane->offers);
	dlsi_pool_unref(plane->pool);
	pthread_mutex_destroy(&plane->lock);
	dlsi_free(plane->alloc, plane);
}

const char *dlsi_dataplane_endpoint(const struct dlsi_dataplane *plane)
{
	return plane->serves ? dlsi_transport_endpoint(plane->server.transport) : "";
}

int dlsi_dataplane_offer(struct dlsi_dataplane *plane, const struct dlsi_id *token, const struct dlsi_blob *blob,
	const struct dlsi_source *source, struct dls_error *err)
{
	return dlsi_offers_add(plane->offers, token, blob, source, err);
}

void dlsi_dataplane_withdraw(struct dlsi_dataplane *plane, const struct dlsi_id *token, const struct dlsi_hash *name)
{
	dlsi_offers_remove(plane->offers, token, name);
}

int dlsi_dataplane_fetch(
	struct dlsi_dataplane *plane, const struct dlsi_fetch *fetch, uint64_t *number_out, struct dls_error *err)
{
	struct dlsi_transfer *transfer;
	int rc = dlsi_transfer_create(plane->alloc, plane->pool, fetch, &transfer, err);

	if (rc)
		return rc;
	pthread_mutex_lock(&plane->lock);
	if (plane->stopping) {
		rc = dlsi_fail(err, DLS_ESTATE, "the data plane is being shut down");
	} else if (plane->waiting_count == DLSI_FETCHES_WAITING) {
		rc = dlsi_fail(err, DLS_EBUSY, "%d fetches wait already", DLSI_FETCHES_WAITING);
	} else {
		plane->waiting_count++;
		transfer->number = ++plane->last_number;
		if (number_out)
			*number_out = transfer->number;
		dlsi_list_append(&plane->fresh, &transfer->node);
		dlsi_list_append(&plane->all, &transfer->in_all);
	}
	pthread_mutex_unlock(&plane->lock);
	if (rc)
		dlsi_transfer_destroy(transfer);
	else
		wake(plane);
	return rc;
}

void dlsi_dataplane_cancel(struct dlsi_dataplane *plane, uint64_t number)
{
	pthread_mutex_lock(&plane->lock);
	dlsi_list_each (node, &plane->all) {
		struct dlsi_transfer *transfer = dlsi_list_entry(node, struct dlsi_transfer, in_all);

		if (transfer->number == number) {
			transfer->cancelled = true;
			plane->any_cancelled = true;
		}
	}
	pthread_mutex_unlock(&plane->lock);
	wake(plane);
}
