#include "net/dataplane.h"

#include "base/clock.h"
#include "base/thread.h"
#include "net/endpoint.h"
#include "net/fetcher.h"
#include "net/outlet.h"
#include "net/server.h"
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { DEFAULT_TIMEOUT_S = 10, LONGEST_WAIT_MS = 60000 };

/* A reader that is still to be connected to. */
struct caller {
	struct dlsi_list node;
	struct dlsi_id token;
	char endpoint[DLSI_ENDPOINT_BYTES + 1];
};

struct dlsi_dataplane {
	const struct dlsi_alloc *alloc;
	struct dlsi_offers *offers;
	struct dlsi_pool *pool;
	struct dlsi_server server;
	bool serves;
	pthread_t thread;
	bool has_thread;
	int wake;
	atomic_ullong taken;

	pthread_mutex_t lock;   /* of what follows */
	struct dlsi_list all;   /* every transfer that has not ended */
	struct dlsi_list fresh; /* those that the thread has not seen yet */
	unsigned waiting_count; /* those that are fresh or waiting */
	struct dlsi_list callers;
	unsigned caller_count;
	uint64_t last_number;
	bool any_cancelled;
	bool stopping;

	struct dlsi_list waiting; /* the thread's, like the fetcher and the outlets */
	struct dlsi_fetcher fetcher;
	struct dlsi_outlets outlets;
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
	if (code == 0 && !transfer->offer)
		atomic_fetch_add_explicit(&plane->taken, transfer->fetch.length, memory_order_relaxed);
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

static void serve_callers(struct dlsi_dataplane *plane, struct dlsi_list *callers)
{
	dlsi_list_each (node, callers) {
		struct caller *caller = dlsi_list_entry(node, struct caller, node);

		dlsi_list_remove(node); /* one that finds no socket calls again */
		dlsi_outlets_serve(&plane->outlets, caller->endpoint, &caller->token, dlsi_clock_monotonic_ns(), NULL);
		dlsi_free(plane->alloc, caller);
	}
}

/* Takes over what others have asked for; false: it is time to stop. */
static bool take_commands(struct dlsi_dataplane *plane)
{
	bool any_cancelled, stopping;
	struct dlsi_list callers;
	uint64_t count;

	dlsi_list_init(&callers);

	while (read(plane->wake, &count, sizeof count) < 0 && errno == EINTR)
		;
	pthread_mutex_lock(&plane->lock);
	dlsi_list_move(&plane->fresh, &plane->waiting);
	dlsi_list_move(&plane->callers, &callers);
	plane->caller_count = 0;
	any_cancelled = plane->any_cancelled;
	plane->any_cancelled = false;
	stopping = plane->stopping;
	pthread_mutex_unlock(&plane->lock);
	if (any_cancelled || stopping)
		cancel_marked(plane, stopping);
	serve_callers(plane, &callers);
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
	zmq_pollitem_t items[1 + DLSI_SERVER_POLL + DLSI_FETCHER_POLL + DLSI_OUTLETS_POLL];
	int64_t fetch_ns = dlsi_fetcher_due_ns(&plane->fetcher), outlet_ns = dlsi_outlets_due_ns(&plane->outlets);
	int64_t left_ns = (fetch_ns < outlet_ns ? fetch_ns : outlet_ns) - dlsi_clock_monotonic_ns();
	long wait_ms = LONGEST_WAIT_MS;
	unsigned count = 1;

	items[0] = (zmq_pollitem_t){.fd = plane->wake, .events = ZMQ_POLLIN};
	if (plane->serves) {
		dlsi_server_poll_items(&plane->server, items + count);
		count += DLSI_SERVER_POLL;
	}
	count += dlsi_fetcher_poll_items(&plane->fetcher, items + count);
	count += dlsi_outlets_poll_items(&plane->outlets, items + count);
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
		dlsi_outlets_step(&plane->outlets, dlsi_clock_monotonic_ns());
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
	dlsi_list_init(&plane->callers);
	plane->fetcher = (struct dlsi_fetcher){.alloc = alloc,
		.context = config->context,
		.timeout_ns = config->timeout_ns ? config->timeout_ns : DEFAULT_TIMEOUT_S * DLSI_SECOND_NS,
		.ended = ended,
		.arg = plane};
	dlsi_fetcher_init(&plane->fetcher);
}

static void hear(void *arg, const struct dlsi_arrival *arrival)
{
	struct dlsi_dataplane *plane = arg;

	dlsi_fetcher_hear(&plane->fetcher, arrival, dlsi_clock_monotonic_ns());
}

static void lose(void *arg, struct dlsi_peer peer)
{
	struct dlsi_dataplane *plane = arg;

	dlsi_fetcher_lose(&plane->fetcher, peer, dlsi_clock_monotonic_ns());
}

static int listen(struct dlsi_dataplane *plane, const struct dlsi_dataplane_config *config, struct dls_error *err)
{
	int rc =
		dlsi_server_listen(&plane->server, plane->alloc, config->context, config->endpoint, plane->offers, err);

	if (rc)
		return rc;
	plane->serves = true;
	plane->server.owner = (struct dlsi_server_owner){.hear = hear, .lose = lose, .arg = plane};
	plane->fetcher.server = plane->server.transport;
	return 0;
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
	dlsi_outlets_init(&plane->outlets, alloc, config->context, plane->offers);
	if (rc == 0 && config->endpoint)
		rc = listen(plane, config, err);
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
	dlsi_outlets_fini(&plane->outlets);
	dlsi_list_each (node, &plane->callers)
		dlsi_free(plane->alloc, dlsi_list_entry(node, struct caller, node));
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

int dlsi_dataplane_serve(
	struct dlsi_dataplane *plane, const char *endpoint, const struct dlsi_id *token, struct dls_error *err)
{
	struct caller *caller;
	int rc = dlsi_endpoint_check_numeric(endpoint, err);

	if (rc)
		return rc;
	caller = dlsi_malloc(plane->alloc, sizeof *caller);
	if (!caller)
		return dlsi_fail_memory(err);
	caller->token = *token;
	memcpy(caller->endpoint, endpoint, strlen(endpoint) + 1);
	dlsi_list_init(&caller->node);
	pthread_mutex_lock(&plane->lock);
	if (plane->caller_count < DLSI_OUTLETS) {
		plane->caller_count++;
		dlsi_list_append(&plane->callers, &caller->node);
	} else {
		rc = dlsi_fail(err, DLS_EBUSY, "%d readers wait to be connected to already", DLSI_OUTLETS);
	}
	pthread_mutex_unlock(&plane->lock);
	if (rc)
		dlsi_free(plane->alloc, caller);
	else
		wake(plane);
	return rc;
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

struct dlsi_dataplane_counts dlsi_dataplane_counts(const struct dlsi_dataplane *plane)
{
	return (struct dlsi_dataplane_counts){.given = dlsi_offers_given(plane->offers),
		.taken = atomic_load_explicit(&plane->taken, memory_order_relaxed)};
}
