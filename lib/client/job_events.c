/* The job as the loop sees it: what the program has noted goes to the session, what the session says is kept here. */
#include "client/job.h"
#include "client/result_fetch.h"

#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>

/* Under the mutex: the job has news. True if the client's descriptor does not say that there are any. */
static bool note_news(struct dls_job *job)
{
	bool first = dlsi_list_empty(&job->client->news);

	if (!dlsi_list_empty(&job->news))
		return false;
	dlsi_list_append(&job->client->news, &job->news);
	return first;
}

static void tell(struct dls_job *job, bool untold)
{
	pthread_cond_broadcast(&job->changed);
	if (untold)
		eventfd_write(job->client->dialer.news_fd, 1);
}

void dlsi_node_job_wake(struct dls_job *job)
{
	tell(job, note_news(job));
}

void dlsi_node_job_end(struct dls_job *job, int code, const char *sentence)
{
	if (job->stage == DLSI_STAGE_ENDED)
		return;
	job->stage = DLSI_STAGE_ENDED;
	job->progress.running = 0;
	if (code)
		dlsi_fail(&job->end, code, "%s", sentence);
	dlsi_node_job_wake(job);
}

/* Whether the session knows this job, and not another one of the same key, by its id. */
static bool is_submitted(const struct dls_job *job)
{
	return dlsi_map_get(&job->client->submitted, &job->id) == job;
}

/* The cluster is told too, or it would work on for nobody until the job is destroyed. */
static void end_without_memory(struct dls_job *job)
{
	pthread_mutex_lock(&job->client->dialer.mutex);
	dlsi_node_job_end(job, DLS_ENOMEM, "out of memory");
	pthread_mutex_unlock(&job->client->dialer.mutex);
	if (is_submitted(job))
		dlsi_node_client_break_job(job->client, job);
}

void dlsi_node_job_deliver(struct dls_job *job, struct dlsi_frame *frame, const struct dlsi_delivery_facts *facts)
{
	const struct dlsi_alloc *alloc = &job->client->ctx->alloc;
	struct dlsi_delivery *delivery;
	bool untold = false, kept = true;

	if (dlsi_delivery_create(alloc, frame, facts, &delivery)) {
		end_without_memory(job);
		return;
	}
	pthread_mutex_lock(&job->client->dialer.mutex);
	if (job->stage != DLSI_STAGE_SUBMITTED) {
		dlsi_delivery_destroy(delivery, alloc);
	} else if (dlsi_deliveries_add(&job->deliveries, delivery)) {
		dlsi_delivery_destroy(delivery, alloc);
		kept = false;
	} else {
		job->waiting_bytes += delivery->bytes;
		job->progress.done += delivery->end - delivery->first;
		job->progress.failed += delivery->failed;
		untold = note_news(job);
	}
	pthread_mutex_unlock(&job->client->dialer.mutex);
	tell(job, untold); /* not before: who wakes would run into the lock */
	if (!kept)
		end_without_memory(job);
}

/* Under the mutex. Of a job that has ended here the session may still speak, but there is no news of it: the program
 * may have left it. */
static void take_notice(struct dls_job *job, const struct dlsi_effect *effect, struct dlsi_text text)
{
	char sentence[DLS_ERROR_TEXT_BYTES];

	if (job->stage != DLSI_STAGE_SUBMITTED)
		return;
	switch (effect->notify.notice) {
	case DLSI_NOTICE_ACCEPTED:
		job->progress.accepted = 1;
		job->items = effect->notify.count;
		dlsi_node_job_wake(job);
		job->progress.deferred = 0;
		break;
	case DLSI_NOTICE_DEFERRED:
		job->progress.deferred = effect->notify.code;
		snprintf(job->progress.deferred_text, sizeof job->progress.deferred_text, "%.*s", (int)text.length,
			text.data);
		dlsi_node_job_wake(job);
		break;
	case DLSI_NOTICE_PROGRESS:
		job->progress.running = effect->notify.running;
		job->progress.workers = effect->notify.workers;
		break;
	case DLSI_NOTICE_ENDED:
		snprintf(sentence, sizeof sentence, "%.*s", (int)text.length, text.data);
		dlsi_node_job_end(job, effect->notify.code, sentence);
		break;
	default:
		break;
	}
}

void dlsi_node_job_notice(struct dls_job *job, const struct dlsi_effect *effect, struct dlsi_text text)
{
	pthread_mutex_lock(&job->client->dialer.mutex);
	take_notice(job, effect, text);
	pthread_mutex_unlock(&job->client->dialer.mutex);
}

/* The event that brings it to the session. */
static void describe(struct dls_job *job, struct dlsi_event *event)
{
	event->submit.token = job->shares.token;
	event->submit.durable = job->detached;
	event->submit.spec = (struct dlsi_bytes){(const uint8_t *)job->spec, (uint32_t)job->spec_length};
	event->submit.about = (struct dlsi_bytes){(const uint8_t *)job->about, job->about ? strlen(job->about) : 0};
	event->submit.count = job->items;
	event->submit.priority = job->priority;
	event->submit.deadline_ns = job->deadline_ns;
	event->submit.manifest_blob = job->manifest_blob;
	event->submit.manifest_head = job->manifest_head;
	event->submit.window_items = job->window_items;
	event->submit.window_bytes = job->window_bytes;
	if (job->manifest)
		event->submit.manifest = dlsi_driver_adopt(&job->client->dialer.driver, dlsi_frame_ref(job->manifest));
}

static void describe_attached(const struct dls_job *job, struct dlsi_event *event)
{
	event->kind = DLSI_EVENT_ATTACH;
	event->attach.token = job->shares.token;
	event->attach.window_items = job->window_items;
	event->attach.window_bytes = job->window_bytes;
}

static void submit(struct dls_job *job, int64_t now_ns)
{
	struct dls_client *client = job->client;
	struct dlsi_event event = {.kind = DLSI_EVENT_SUBMIT, .job = job->id};

	if (dlsi_map_get(&client->submitted, &job->id)) {
		pthread_mutex_lock(&client->dialer.mutex);
		dlsi_node_job_end(
			job, DLS_EEXISTS, "this client has another job with the same key; destroy that one first");
		pthread_mutex_unlock(&client->dialer.mutex);
		return;
	}
	if (dlsi_map_put(&client->submitted, &job->id, job)) {
		end_without_memory(job);
		return;
	}
	if (job->attached)
		describe_attached(job, &event);
	else
		describe(job, &event);
	dlsi_driver_step(&client->dialer.driver, now_ns, &event);
}

static void tell_window(struct dls_job *job, int64_t now_ns)
{
	struct dlsi_event event = {.kind = DLSI_EVENT_CONSUMED, .job = job->id};

	pthread_mutex_lock(&job->client->dialer.mutex);
	event.consumed.next = job->next;
	event.consumed.bytes = job->waiting_bytes;
	pthread_mutex_unlock(&job->client->dialer.mutex);
	dlsi_driver_step(&job->client->dialer.driver, now_ns, &event);
}

/* Of a job that has ended for the session it takes no notice; one that ended here, without memory, is not such a job.
 */
void dlsi_node_job_withdraw(struct dls_job *job, int64_t now_ns)
{
	struct dlsi_event event = {.kind = DLSI_EVENT_CANCEL, .job = job->id};

	dlsi_node_client_drop_fetches(job->client, &job->id);
	dlsi_driver_step(&job->client->dialer.driver, now_ns, &event);
}

/* The master goes on with it, and this client does not want its results any more. */
static void detach(struct dls_job *job, int64_t now_ns)
{
	struct dlsi_event event = {.kind = DLSI_EVENT_DETACH, .job = job->id};

	dlsi_driver_step(&job->client->dialer.driver, now_ns, &event);
}

int dlsi_node_job_forget(void *arg, int64_t now_ns)
{
	struct dls_job *job = arg;

	if (!is_submitted(job))
		return 0;
	dlsi_list_remove(&job->broken);
	if (job->detached)
		detach(job, now_ns);
	else
		dlsi_node_job_withdraw(job, now_ns);
	dlsi_map_remove(&job->client->submitted, &job->id);
	return 0;
}

void dlsi_node_job_run(struct dlsi_errand *errand, int64_t now_ns)
{
	struct dls_job *job = dlsi_list_entry(errand, struct dls_job, errand);
	bool want_submit, want_window, want_cancel;

	pthread_mutex_lock(&job->client->dialer.mutex);
	want_submit = job->want_submit;
	want_window = job->want_window;
	want_cancel = job->want_cancel;
	job->want_submit = job->want_window = job->want_cancel = false;
	pthread_mutex_unlock(&job->client->dialer.mutex);
	if (want_submit)
		submit(job, now_ns);
	if (want_window && is_submitted(job))
		tell_window(job, now_ns);
	if (want_cancel && is_submitted(job))
		dlsi_node_job_withdraw(job, now_ns);
}

void dlsi_node_job_part(struct dlsi_errand *farewell, int64_t now_ns)
{
	struct dls_job *job = dlsi_list_entry(farewell, struct dls_job, farewell);

	dlsi_node_job_forget(job, now_ns);
	dlsi_node_job_free(job);
}
