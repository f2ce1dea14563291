/* Memory that runs out at any moment of a whole cluster's life: calls fail or time out, nothing crashes or hangs, and
 * all that was taken is given back. */
#include "client/deliveries.h"
#include "test/unit/site.h"
#include "test/unit/unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 200, NOTHING_COMES_MS = 50 };

/* What a round has made so far. */
struct round {
	struct dls_ctx *ctx;
	struct dls_cluster *cluster;
	struct dls_client *client;
	struct dls_job *job;
};

static void *resize_unit(void *resize_arg, void *old, size_t size)
{
	const struct dlsi_alloc *alloc = resize_arg;

	return alloc->resize(alloc->arg, old, size);
}

static int start(struct round *round, const struct dlsi_alloc *alloc)
{
	struct dls_ctx_options options = DLS_CTX_OPTIONS_INIT;
	struct dls_cluster_options cluster = DLS_CLUSTER_OPTIONS_INIT;
	struct dls_client_options client = DLS_CLIENT_OPTIONS_INIT;
	int rc;

	options.resize = resize_unit;
	options.resize_arg = (void *)(uintptr_t)alloc;
	cluster.workers = 2;
	cluster.worker.no_models = 1;
	rc = dls_ctx_create(&options, &round->ctx, NULL);
	if (rc == 0)
		rc = dls_cluster_local(round->ctx, &cluster, &round->cluster, NULL);
	for (uint32_t i = 0; rc == 0 && i < 2; i++)
		rc = site_try_handlers(dls_cluster_worker(round->cluster, i));
	if (rc == 0)
		rc = dls_cluster_start(round->cluster, NULL);
	client.master = dls_cluster_endpoint(round->cluster);
	if (rc == 0)
		rc = dls_client_create(round->ctx, &client, &round->client, NULL);
	return rc;
}

static void free_data(void *release_arg, const void *data)
{
	(void)release_arg;
	free((void *)(uintptr_t)data);
}

static int submit(struct round *round, const char *handler)
{
	struct dls_job_options options = DLS_JOB_OPTIONS_INIT;
	struct dls_tensor batch = DLS_TENSOR_INIT;
	int rc;

	options.handler = handler;
	options.params = "{\"bytes\":70000}";
	rc = dls_job_create(round->client, &options, &round->job, NULL);
	if (rc)
		return rc;
	batch.dtype = DLS_UINT8;
	batch.rank = 2;
	batch.dims[0] = ITEMS;
	batch.dims[1] = 1;
	batch.bytes = ITEMS;
	batch.data = calloc(1, ITEMS);
	batch.release = free_data;
	rc = dls_job_add_batch(round->job, &batch, NULL);
	return rc ? rc : dls_job_submit(round->job, NULL);
}

/* One result. As long as memory has not run out it must come, however slow the machine is. */
static int take_one(struct round *round, struct dls_result **result_out)
{
	int rc;

	do
		rc = dls_job_next(round->job, NOTHING_COMES_MS, result_out, NULL);
	while (rc == DLS_ETIMEOUT && !unit_alloc_has_failed());
	return rc;
}

/* Takes results until one does not come. */
static int take(struct round *round, uint64_t *taken_out)
{
	struct dls_result *result;
	int rc;

	while ((rc = take_one(round, &result)) == 1) {
		assert_int_equal(result->item, (*taken_out)++);
		dls_result_destroy(result);
	}
	return rc;
}

static int run(const struct dlsi_alloc *alloc, const char *handler, uint64_t *taken_out)
{
	struct round round = {0};
	int rc = start(&round, alloc);

	*taken_out = 0;
	if (rc == 0)
		rc = submit(&round, handler);
	if (rc == 0)
		rc = take(&round, taken_out);
	dls_job_destroy(round.job);
	dls_client_destroy(round.client);
	dls_cluster_destroy(round.cluster);
	dls_ctx_destroy(round.ctx);
	return rc;
}

static void sweep(const char *handler)
{
	uint64_t taken = 0;

	site_reset();
	for (unsigned n = 1; taken < ITEMS; n += 1 + n / 8) {
		int rc = run(unit_alloc_failing_at(n), handler, &taken);

		if (rc > 0 || (rc == 0 && taken != ITEMS))
			fail_msg("%u requests: %d after %u items", n, rc, (unsigned)taken);
	}
}

static void test_small_results(void **state)
{
	(void)state;
	sweep("echo");
}

static void test_large_results(void **state)
{
	(void)state;
	sweep("large");
}

static atomic_bool exhausted;

static void *resize_until_exhausted(void *resize_arg, void *old, size_t size)
{
	if (size && atomic_load(&exhausted))
		return NULL;
	return resize_unit(resize_arg, old, size);
}

static void watch_log(void *log_arg, enum dls_log_level level, int64_t time_ns, const char *line)
{
	(void)level;
	(void)time_ns;
	if (strstr(line, "has stopped"))
		atomic_store((atomic_bool *)log_arg, true);
}

/* A master that has run out of memory is there again as soon as there is some, and its clients and workers go on. */
static void test_master_begins_anew(void **state)
{
	struct dls_ctx_options ctx_options = DLS_CTX_OPTIONS_INIT;
	struct dls_master_options options = DLS_MASTER_OPTIONS_INIT;
	struct dls_worker_options worker_options = DLS_WORKER_OPTIONS_INIT;
	struct dls_client_options client_options = DLS_CLIENT_OPTIONS_INIT;
	atomic_bool stopped = false;
	struct dls_master *master;
	struct dls_worker *worker;
	struct dls_ctx *poor;
	struct dls_job *job, *more;
	struct site site;

	(void)state;
	site_reset();
	ctx_options.resize = resize_until_exhausted;
	ctx_options.resize_arg = (void *)(uintptr_t)unit_alloc();
	ctx_options.log = watch_log;
	ctx_options.log_arg = &stopped;
	assert_int_equal(dls_ctx_create(&ctx_options, &poor, NULL), 0);
	options.bind = "tcp://127.0.0.1:0";
	assert_int_equal(dls_master_create(poor, &options, &master, NULL), 0);
	site.ctx = site_ctx();
	worker_options.master = client_options.master = dls_master_endpoint(master);
	worker_options.no_models = 1;
	assert_int_equal(dls_worker_create(site.ctx, &worker_options, &worker, NULL), 0);
	site_handlers(worker);
	assert_int_equal(dls_worker_start(worker, NULL), 0);
	assert_int_equal(dls_client_create(site.ctx, &client_options, &site.client, NULL), 0);
	job = site_job(&site, "gate", NULL);
	site_add_bytes(job, 100);
	assert_int_equal(dls_job_submit(job, NULL), 0);
	SITE_WAIT(atomic_load(&site_gate->running));
	atomic_store(&exhausted, true);
	more = site_job(&site, "echo", NULL); /* for which it has no memory */
	site_add_bytes(more, 1);
	assert_int_equal(dls_job_submit(more, NULL), 0);
	SITE_WAIT(atomic_load(&stopped));
	atomic_store(&exhausted, false);
	atomic_store(&site_gate->open, true);
	for (uint64_t item = 0; item < 100; item++)
		dls_result_destroy(site_next(job, item));
	dls_result_destroy(site_next(more, 0));
	dls_job_destroy(job);
	dls_job_destroy(more);
	dls_client_destroy(site.client);
	dls_worker_destroy(worker);
	dls_ctx_destroy(site.ctx);
	dls_master_destroy(master);
	dls_ctx_destroy(poor);
}

static const char worker_name[] = "w";

/* No memory for what a client keeps of a page that has come. */
static void *resize_but_for_deliveries(void *resize_arg, void *old, size_t size)
{
	if (!old && size == sizeof(struct dlsi_delivery) + sizeof worker_name)
		return NULL;
	return resize_unit(resize_arg, old, size);
}

static bool has_no_jobs(struct site *site, struct dls_client *client)
{
	char *json;
	bool none;

	assert_int_equal(dls_client_command(client, "{\"command\":\"status\"}", SITE_TIMEOUT_MS, &json, NULL), 0);
	none = strstr(json, "\"jobs\":0") != NULL;
	dls_free(site->ctx, json);
	return none;
}

/* A job that ends at its client alone, which has no memory for its results, ends for the cluster too, although the
 * program keeps its handle. */
static void test_job_that_ends_here_leaves_the_cluster(void **state)
{
	struct dls_ctx_options ctx_options = DLS_CTX_OPTIONS_INIT;
	struct dls_master_options options = DLS_MASTER_OPTIONS_INIT;
	struct dls_worker_options worker_options = DLS_WORKER_OPTIONS_INIT;
	struct dls_client_options client_options = DLS_CLIENT_OPTIONS_INIT;
	struct dls_client *other;
	struct dls_master *master;
	struct dls_worker *worker;
	struct dls_ctx *poor;
	struct dls_error err;
	struct dls_job *job;
	struct site site;

	(void)state;
	site_reset();
	ctx_options.resize = resize_but_for_deliveries;
	ctx_options.resize_arg = (void *)(uintptr_t)unit_alloc();
	assert_int_equal(dls_ctx_create(&ctx_options, &poor, NULL), 0);
	site.ctx = site_ctx();
	options.bind = "tcp://127.0.0.1:0";
	assert_int_equal(dls_master_create(site.ctx, &options, &master, NULL), 0);
	worker_options.master = client_options.master = dls_master_endpoint(master);
	worker_options.no_models = 1;
	worker_options.name = worker_name;
	assert_int_equal(dls_worker_create(site.ctx, &worker_options, &worker, NULL), 0);
	site_handlers(worker);
	assert_int_equal(dls_worker_start(worker, NULL), 0);
	assert_int_equal(dls_client_create(site.ctx, &client_options, &other, NULL), 0);
	client_options.window_items = 10; /* the rest of the job waits for what nobody takes */
	assert_int_equal(dls_client_create(poor, &client_options, &site.client, NULL), 0);
	job = site_job(&site, "echo", NULL);
	site_add_bytes(job, 100);
	assert_int_equal(dls_job_submit(job, NULL), 0);
	assert_int_equal(dls_job_wait(job, SITE_TIMEOUT_MS, &err), DLS_ENOMEM);
	SITE_WAIT(has_no_jobs(&site, other));
	dls_job_destroy(job);
	dls_client_destroy(site.client);
	dls_client_destroy(other);
	dls_worker_destroy(worker);
	dls_master_destroy(master);
	dls_ctx_destroy(site.ctx);
	dls_ctx_destroy(poor);
}

UNIT_MAIN(test_small_results, test_large_results, test_master_begins_anew, test_job_that_ends_here_leaves_the_cluster)
