/* A worker that runs out of memory at any moment while it runs a model: its items say so, or it stops and another
 * worker does them; none is lost, and all that was taken is given back. */
#include "test/unit/site.h"
#include "test/unit/unit.h"
#include <stdatomic.h>
#include <string.h>

enum { ITEMS = 20, PIXELS = 28 * 28, SLICE_MS = 20 };

static uint8_t pictures[ITEMS][PIXELS];
static const char *cache;

/* A worker with a context of its own. */
struct poor {
	struct dls_ctx *ctx;
	struct dls_worker *worker; /* NULL: memory did not suffice to start it */
	atomic_bool stopped;
	atomic_uint requests; /* that are still granted */
	bool once;            /* only the next one fails, not all after it */
};

static void *resize(void *resize_arg, void *old, size_t size)
{
	struct poor *poor = resize_arg;
	unsigned left = atomic_load(&poor->requests);

	while (size && left && !atomic_compare_exchange_weak(&poor->requests, &left, left - 1))
		;
	if (size && (left == 1 || (left == 0 && !poor->once)))
		return NULL;
	return unit_alloc()->resize(unit_alloc()->arg, old, size);
}

static void watch_log(void *log_arg, enum dls_log_level level, int64_t time_ns, const char *line)
{
	struct poor *poor = log_arg;

	(void)level;
	(void)time_ns;
	if (strstr(line, "it has stopped"))
		atomic_store(&poor->stopped, true);
}

static int start_worker(struct dls_ctx *ctx, const char *master, struct dls_worker **worker_out)
{
	struct dls_worker_options options = DLS_WORKER_OPTIONS_INIT;
	struct dls_worker *worker;
	int rc;

	options.master = master;
	options.cache_dir = cache;
	rc = dls_worker_create(ctx, &options, &worker, NULL);
	if (rc)
		return rc;
	rc = dls_worker_start(worker, NULL);
	if (rc)
		dls_worker_destroy(worker);
	else
		*worker_out = worker;
	return rc;
}

/* Its n-th request for memory fails. */
static void start_poor(struct poor *poor, unsigned n, bool once, const char *master)
{
	struct dls_ctx_options options = DLS_CTX_OPTIONS_INIT;

	*poor = (struct poor){.requests = n, .once = once};
	options.resize = resize;
	options.resize_arg = poor;
	options.log = watch_log;
	options.log_arg = poor;
	if (dls_ctx_create(&options, &poor->ctx, NULL) == 0)
		start_worker(poor->ctx, master, &poor->worker);
}

static struct dls_job *submit(struct dls_client *client)
{
	struct dls_job_options options = DLS_JOB_OPTIONS_INIT;
	struct dls_tensor batch = DLS_TENSOR_INIT;
	struct dls_job *job;

	options.model = "examples/fashion";
	options.task_items = 5;
	assert_int_equal(dls_job_create(client, &options, &job, NULL), 0);
	batch.dtype = DLS_UINT8;
	batch.rank = 3;
	batch.dims[0] = ITEMS;
	batch.dims[1] = batch.dims[2] = 28;
	batch.data = pictures;
	batch.bytes = sizeof pictures;
	assert_int_equal(dls_job_add_batch(job, &batch, NULL), 0);
	assert_int_equal(dls_job_submit(job, NULL), 0);
	return job;
}

/* Takes all results; when the poor worker has come to nothing, another one is started. Returns how many items failed.
 */
static unsigned take_all(struct dls_job *job, struct poor *poor, struct dls_ctx *ctx, const char *master)
{
	struct dls_worker *other = NULL;
	unsigned taken = 0, failed = 0, waited_ms = 0;

	while (taken < ITEMS) {
		struct dls_result *result;
		int rc = dls_job_next(job, SLICE_MS, &result, NULL);

		if (rc == 1) {
			assert_true(result->code == 0 || result->code == DLS_ENOMEM);
			failed += result->code != 0;
			taken++;
			dls_result_destroy(result);
			continue;
		}
		assert_int_equal(rc, DLS_ETIMEOUT);
		waited_ms += SLICE_MS;
		assert_true(waited_ms < SITE_TIMEOUT_MS);
		if (!other && (!poor->worker || atomic_load(&poor->stopped)))
			assert_int_equal(start_worker(ctx, master, &other), 0);
	}
	dls_worker_destroy(other);
	return failed;
}

static void sweep(bool once)
{
	struct dls_master_options master_options = DLS_MASTER_OPTIONS_INIT;
	struct dls_client_options client_options = DLS_CLIENT_OPTIONS_INIT;
	unsigned started = 0, failed = 0, good = 0;
	struct dls_master *master;
	struct dls_client *client;
	struct dls_ctx *ctx;

	site_reset();
	cache = unit_folder();
	ctx = site_ctx();
	master_options.bind = "tcp://127.0.0.1:0";
	assert_int_equal(dls_master_create(ctx, &master_options, &master, NULL), 0);
	client_options.master = dls_master_endpoint(master);
	assert_int_equal(dls_client_create(ctx, &client_options, &client, NULL), 0);
	for (unsigned n = 1; good < 3; n += 1 + n / 12) {
		struct poor poor;
		struct dls_job *job;

		start_poor(&poor, n, once, client_options.master);
		job = submit(client);
		failed += take_all(job, &poor, ctx, client_options.master);
		started += poor.worker != NULL;
		good = atomic_load(&poor.requests) ? good + 1 : 0; /* not all that was granted was asked for */
		dls_job_destroy(job);
		dls_worker_destroy(poor.worker);
		dls_ctx_destroy(poor.ctx);
	}
	assert_true(started > 10);
	assert_true(once == (failed > 0));
	dls_client_destroy(client);
	dls_master_destroy(master);
	dls_ctx_destroy(ctx);
}

/* It cannot even say why an item failed, and stops. */
static void test_memory_that_has_run_out(void **state)
{
	(void)state;
	sweep(false);
}

/* It goes on, and most of the time only some items fail. */
static void test_one_request_that_fails(void **state)
{
	(void)state;
	sweep(true);
}

UNIT_MAIN(test_memory_that_has_run_out, test_one_request_that_fails)
