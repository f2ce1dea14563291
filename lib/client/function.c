#include "client/function.h"

#include "base/condition.h"
#include "base/tensor.h"
#include "client/result.h"
#include <stdatomic.h>

/* A bundle that travels inside the submission costs no fetch. */
#define BUNDLE_BYTES (DLSI_INLINE_BYTES - DLSI_INLINE_BYTES / 16)

struct bundle {
	struct dls_job *job;
	atomic_size_t holders; /* its calls, and the function while it is open */
};

struct dls_function {
	struct dlsi_errand errand;
	struct dls_job *model; /* what its bundles are like; is never submitted */
	pthread_mutex_t mutex; /* guards what follows */
	struct bundle *open;
};

struct dls_call {
	struct bundle *bundle;
	uint64_t item;
};

/* Perhaps on the loop. */
static void let_go(struct bundle *bundle)
{
	const struct dlsi_alloc *alloc = &bundle->job->client->ctx->alloc;

	if (atomic_fetch_sub_explicit(&bundle->holders, 1, memory_order_acq_rel) > 1)
		return;
	dlsi_node_job_abandon(bundle->job);
	dlsi_free(alloc, bundle);
}

/* Under the function's mutex. What is wrong with the bundle is told by each of its calls. */
static void submit(struct dls_function *function)
{
	struct bundle *bundle = function->open;
	struct dls_error err;
	int rc = dlsi_node_job_begin_adding(bundle->job, &err);

	if (rc == 0) {
		dlsi_node_job_end_adding(bundle->job);
		rc = dlsi_node_job_submit(bundle->job, &err);
	}
	if (rc) {
		pthread_mutex_lock(&bundle->job->client->dialer.mutex);
		dlsi_node_job_end(bundle->job, rc, err.text);
		pthread_mutex_unlock(&bundle->job->client->dialer.mutex);
	}
	function->open = NULL;
	let_go(bundle);
}

/* On the loop. */
static void submit_open(struct dlsi_errand *errand, int64_t now_ns)
{
	struct dls_function *function = dlsi_list_entry(errand, struct dls_function, errand);

	(void)now_ns;
	pthread_mutex_lock(&function->mutex);
	if (function->open && dlsi_inputs_count(&function->open->job->inputs))
		submit(function);
	pthread_mutex_unlock(&function->mutex);
}

int dlsi_node_function_create(struct dls_client *client, const struct dls_job_options *options,
	struct dls_function **function_out, struct dls_error *err)
{
	struct dls_function *function = dlsi_calloc(&client->ctx->alloc, 1, sizeof *function);
	int rc;

	if (!function)
		return dlsi_fail_memory(err);
	rc = dlsi_node_job_create(client, options, &function->model, err);
	if (rc) {
		dlsi_free(&client->ctx->alloc, function);
		return rc;
	}
	function->errand.run = submit_open;
	pthread_mutex_init(&function->mutex, NULL);
	*function_out = function;
	return 0;
}

int dlsi_node_function_check(const struct dls_function *function, struct dls_error *err)
{
	if (!function)
		return dlsi_fail(err, DLS_EINVAL, "the function is NULL");
	return dlsi_node_job_check(function->model, err);
}

int dlsi_node_call_check(const struct dls_call *call, struct dls_error *err)
{
	if (!call)
		return dlsi_fail(err, DLS_EINVAL, "the call is NULL");
	return dlsi_node_job_check(call->bundle->job, err);
}

static int do_nothing(void *arg, int64_t now_ns)
{
	(void)arg;
	(void)now_ns;
	return 0;
}

void dlsi_node_function_destroy(struct dls_function *function)
{
	const struct dlsi_alloc *alloc;

	if (dlsi_node_function_check(function, NULL))
		return;
	alloc = &function->model->client->ctx->alloc;
	dlsi_loop_call(function->model->client->ctx->loop, do_nothing, NULL); /* behind its errand */
	if (function->open)
		let_go(function->open);
	dlsi_node_job_destroy(function->model);
	pthread_mutex_destroy(&function->mutex);
	dlsi_free(alloc, function);
}

/* Under the mutex: a bundle to add to. */
static int open_bundle(struct dls_function *function, struct dls_error *err)
{
	const struct dlsi_alloc *alloc = &function->model->client->ctx->alloc;
	struct bundle *bundle;
	int rc;

	if (function->open)
		return 0;
	bundle = dlsi_calloc(alloc, 1, sizeof *bundle);
	if (!bundle)
		return dlsi_fail_memory(err);
	rc = dlsi_node_job_create_like(function->model, &bundle->job, err);
	if (rc) {
		dlsi_free(alloc, bundle);
		return rc;
	}
	atomic_init(&bundle->holders, 1);
	function->open = bundle;
	return 0;
}

static bool is_full(const struct dlsi_inputs *inputs)
{
	return dlsi_inputs_count(inputs) == DLSI_TASK_ITEMS || dlsi_inputs_bytes(inputs) >= BUNDLE_BYTES;
}

/* Under the mutex: adds an item, whose tensors are released. *first_out: it opens a bundle that the loop must see. */
static int add(struct dls_function *function, const struct dls_tensor *tensors, uint32_t count, struct dls_call *call,
	bool *first_out, struct dls_error *err)
{
	int rc = open_bundle(function, err);
	struct dlsi_inputs *inputs;

	if (rc) {
		dlsi_tensors_release(tensors, count);
		return rc;
	}
	inputs = &function->open->job->inputs;
	rc = dlsi_inputs_add_tensors(inputs, tensors, count, err);
	if (rc == 0) {
		*call = (struct dls_call){function->open, dlsi_inputs_count(inputs) - 1};
		atomic_fetch_add_explicit(&call->bundle->holders, 1, memory_order_relaxed);
		*first_out = call->item == 0;
	}
	if (inputs->broken || is_full(inputs))
		submit(function);
	return rc;
}

int dlsi_node_function_call(struct dls_function *function, const struct dls_tensor *tensors, uint32_t count,
	struct dls_call **call_out, struct dls_error *err)
{
	const struct dlsi_alloc *alloc = &function->model->client->ctx->alloc;
	struct dls_call *call = dlsi_malloc(alloc, sizeof *call);
	bool first = false;
	int rc;

	if (!call) {
		dlsi_tensors_release(tensors, count);
		return dlsi_fail_memory(err);
	}
	pthread_mutex_lock(&function->mutex);
	rc = add(function, tensors, count, call, &first, err);
	pthread_mutex_unlock(&function->mutex);
	if (first)
		dlsi_loop_post(function->model->client->ctx->loop, &function->errand);
	if (rc)
		dlsi_free(alloc, call);
	else
		*call_out = call;
	return rc;
}

/* Under the client's mutex: waits for the page with the result. Pages stay where they are as long as the bundle. */
static int await_page(
	const struct dls_call *call, int64_t until_ns, const struct dlsi_delivery **page_out, struct dls_error *err)
{
	struct dls_job *job = call->bundle->job;
	bool in_time = true;

	while (!(*page_out = dlsi_deliveries_find(&job->deliveries, call->item))) {
		if (dlsi_node_job_has_stopped(job))
			return dlsi_node_job_tell_end(job, call->item, err);
		if (!in_time)
			return dlsi_fail(err, DLS_ETIMEOUT, "the call has no result yet");
		in_time = dlsi_condition_wait(&job->changed, &job->client->dialer.mutex, until_ns);
	}
	return 0;
}

int dlsi_node_call_result(struct dls_call *call, int timeout_ms, struct dls_result **result_out, struct dls_error *err)
{
	struct dls_client *client = call->bundle->job->client;
	int64_t until_ns = dlsi_timeout_end_ns(timeout_ms);
	const struct dlsi_delivery *page;
	int rc;

	pthread_mutex_lock(&client->dialer.mutex);
	rc = await_page(call, until_ns, &page, err);
	pthread_mutex_unlock(&client->dialer.mutex);
	if (rc)
		return rc;
	if (dlsi_result_create(&client->ctx->alloc, &page->page, (uint32_t)(call->item - page->page_first), call->item,
		    page->worker, page->item_ns, result_out))
		return dlsi_fail_memory(err);
	return 0;
}

void dlsi_node_call_destroy(struct dls_call *call)
{
	const struct dlsi_alloc *alloc = &call->bundle->job->client->ctx->alloc;

	let_go(call->bundle);
	dlsi_free(alloc, call);
}
