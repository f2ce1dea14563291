#include "worker/model_source.h"

#include "worker/worker.h"
#include <string.h>

static void tell(struct dlsi_errand *errand, int64_t now_ns)
{
	struct dlsi_worker_job *job = dlsi_list_entry(errand, struct dlsi_worker_job, seek_errand);
	struct dls_worker *worker = job->worker;

	dlsi_driver_step(&worker->dialer.driver, now_ns, &job->seek);
	dlsi_worker_job_unref(job);
	dlsi_dialer_end(&worker->dialer);
}

void dlsi_worker_model_tell(struct dlsi_worker_job *job, uint8_t state, uint64_t bytes, uint64_t elapsed_ns)
{
	struct dlsi_event event = {.kind = DLSI_EVENT_SEEK, .job = job->id};

	event.seek.state = state;
	event.seek.bytes = bytes;
	event.seek.elapsed_ns = elapsed_ns;
	job->seek = event;
	job->told = state == DLSI_SEEK_HAS;
	if (job->seek_errand.queued) /* what it would have said has been overtaken */
		return;
	job->seek_errand.run = tell;
	dlsi_worker_job_ref(job);
	dlsi_dialer_begin(&job->worker->dialer);
	dlsi_loop_post(job->worker->ctx->loop, &job->seek_errand);
}

void dlsi_worker_model_note(struct dlsi_worker_model *model, const struct dlsi_effect *effect)
{
	struct dls_worker *worker = model->worker;
	const struct dlsi_effects *effects = &worker->dialer.driver.effects;
	struct dlsi_text holder = dlsi_effects_text(effects, effect->found.holder, effect->found.holder_length);
	struct dlsi_text host = dlsi_effects_text(effects, effect->found.holder_host, effect->found.holder_host_length);

	if (model->offered && !dlsi_id_equal(&model->token, &effect->found.token))
		dlsi_worker_model_withdraw(model);
	model->token = effect->found.token;
	memcpy(model->holder, holder.data ? holder.data : "", holder.length);
	model->holder[holder.length] = '\0';
	model->holder_here = dlsi_dialer_is_local(&worker->dialer, host);
}

struct dlsi_fetch dlsi_worker_model_fetch(const struct dlsi_worker_model *model, const struct dlsi_id **caller_out)
{
	struct dlsi_fetch fetch = dlsi_worker_job_fetch(model->job);

	*caller_out = &model->job->id;
	if (!*model->holder)
		return fetch;
	*caller_out = NULL;
	fetch.endpoint = model->holder;
	fetch.same_host = model->holder_here;
	fetch.token = model->token;
	return fetch;
}

void dlsi_worker_model_offer(struct dlsi_worker_model *model)
{
	struct dls_worker *worker = model->worker;
	struct dls_error err;
	int rc = 0;

	if (dlsi_id_is_zero(&model->token))
		return;
	for (; rc == 0 && model->offered < model->file_count; model->offered += rc == 0) {
		const struct dlsi_worker_model_file *way = &model->ways[model->offered];
		struct dlsi_source source = {.frame = way->file->bytes};

		rc = dlsi_dataplane_offer(worker->dialer.plane, &model->token, &way->blob, &source, &err);
	}
	if (rc)
		dlsi_ctx_log(worker->ctx, DLS_LOG_WARNING, "worker: cannot give a model to others: %s", err.text);
}

void dlsi_worker_model_withdraw(struct dlsi_worker_model *model)
{
	while (model->offered)
		dlsi_dataplane_withdraw(
			model->worker->dialer.plane, &model->token, &model->ways[--model->offered].blob.name);
}
