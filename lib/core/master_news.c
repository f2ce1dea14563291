/* What the operator is told of workers and jobs, a line each. Workers and jobs are both INFO: an operator who asks for
 * that wants to see what the cluster does.
 *
 * Who reaches the port can make workers and jobs come and go as fast as it likes. So each kind has an allowance of
 * lines that refills slowly: a cluster that starts and one with a job every few seconds are told whole, a hundred
 * thousand jobs a second cost a comparison each and are told in samples that say how many were left out. At DEBUG
 * everything is told; the log itself stays bounded (node/log.h). */
#include "core/master_news.h"
#include "core/master_places.h"

#include "core/agent.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define INTERVAL_NS (INT64_C(1000000000) / DLSI_NEWS_PER_SECOND)

/* Whether a line of this kind may be made now. Every line moves the time until which the allowance is used up. */
static bool may_tell(const struct dlsi_master *master, struct news *news, enum dls_log_level level)
{
	int64_t until_ns = news->until_ns > master->now_ns ? news->until_ns : master->now_ns;
	bool used_up = until_ns - master->now_ns >= DLSI_NEWS_AT_ONCE * INTERVAL_NS;

	if (master->effects->log_level < level)
		return false;
	if (used_up && master->effects->log_level < DLS_LOG_DEBUG) {
		news->left_out++;
		return false;
	}
	news->until_ns = until_ns + INTERVAL_NS;
	return true;
}

static void tell(struct dlsi_master *master, struct news *news, enum dls_log_level level, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static void tell(struct dlsi_master *master, struct news *news, enum dls_log_level level, const char *format, ...)
{
	char line[DLS_ERROR_TEXT_BYTES], note[64] = "";
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	if (news->left_out)
		snprintf(note, sizeof note, "(%" PRIu64 " lines left out) ", news->left_out);
	news->left_out = 0;
	dlsi_effects_log(master->effects, level, "%s%s", note, line);
}

/* "a, b, models"; what is too long is cut. */
static void list_handlers(const struct worker *worker, char *text, size_t room)
{
	*text = '\0';
	for (uint16_t i = 0; i < worker->handler_count; i++) {
		const char *name = worker->handlers[i]->name;
		size_t length = strlen(text);

		if (strcmp(name, DLSI_HANDLER_MODEL) == 0)
			name = "models";
		snprintf(text + length, room - length, "%s%s", i ? ", " : "", name);
	}
}

void dlsi_news_joined(struct dlsi_master *master, const struct worker *worker)
{
	char handlers[256];

	if (!may_tell(master, &master->worker_news, DLS_LOG_INFO))
		return;
	list_handlers(worker, handlers, sizeof handlers);
	tell(master, &master->worker_news, DLS_LOG_INFO, "worker %s has joined: data at %s, devices: %u, runs: %s",
		worker->origin->name, worker->origin->data_endpoint, worker->device_count, handlers);
}

void dlsi_news_of_worker(struct dlsi_master *master, const struct worker *worker, const char *what)
{
	uint64_t held = 0;

	if (!may_tell(master, &master->worker_news, DLS_LOG_INFO))
		return;
	for (uint16_t i = 0; i < worker->device_count; i++)
		held += worker->devices[i].policy.held;
	tell(master, &master->worker_news, DLS_LOG_INFO, "worker %s %s; it had %" PRIu64 " tasks", worker->origin->name,
		what, held);
}

void dlsi_news_silent(struct dlsi_master *master, const struct peer *peer)
{
	double seconds = (double)(master->now_ns - peer->heard_ns) / 1e9;

	if (may_tell(master, &master->worker_news, DLS_LOG_INFO))
		tell(master, &master->worker_news, DLS_LOG_INFO,
			"%s%s has been silent for %.1f s and is taken for lost",
			peer->worker ? "worker " : "a client of ",
			peer->worker ? peer->worker->origin->name : peer->client->tenant->name, seconds);
}

void dlsi_news_gap(struct dlsi_master *master, uint64_t sent, uint64_t received)
{
	if (may_tell(master, &master->worker_news, DLS_LOG_WARNING))
		tell(master, &master->worker_news, DLS_LOG_WARNING,
			"of %" PRIu64 " messages on a connection %" PRIu64 " have come; it is begun anew", sent,
			received);
}

static const char *tenant(const struct job *job)
{
	const char *name = dlsi_job_tenant(job)->name;

	return *name ? name : "nobody";
}

void dlsi_news_accepted(struct dlsi_master *master, const struct job *job)
{
	char id[DLSI_ID_TEXT_BYTES];

	if (!may_tell(master, &master->job_news, DLS_LOG_INFO))
		return;
	dlsi_hex(job->policy.id.bytes, DLSI_ID_BYTES, id);
	tell(master, &master->job_news, DLS_LOG_INFO, "job %s of %s is accepted: %" PRIu64 " items for %s", id,
		tenant(job), job->count, job->spec->class->handler->name);
}

void dlsi_news_commanded(struct dlsi_master *master, const struct job *job, const char *what, const char *by)
{
	char id[DLSI_ID_TEXT_BYTES];

	if (!may_tell(master, &master->job_news, DLS_LOG_INFO))
		return;
	dlsi_hex(job->policy.id.bytes, DLSI_ID_BYTES, id);
	tell(master, &master->job_news, DLS_LOG_INFO, "job %s of %s is %s by a command of %s", id, tenant(job), what,
		by);
}

void dlsi_news_ended(struct dlsi_master *master, const struct job *job, struct dlsi_text sentence)
{
	char id[DLSI_ID_TEXT_BYTES];

	if (!may_tell(master, &master->job_news, DLS_LOG_INFO))
		return;
	dlsi_hex(job->policy.id.bytes, DLSI_ID_BYTES, id);
	tell(master, &master->job_news, DLS_LOG_INFO,
		"job %s of %s is %s after %.3f s: items %" PRIu64 ", done %" PRIu64 ", of them failed %" PRIu64
		"%s%.*s",
		id, tenant(job), dlsi_job_state_name(job->state), (double)(master->now_ns - job->policy.since_ns) / 1e9,
		job->count, dlsi_job_run(job)->done_items, dlsi_job_run(job)->failed_items, sentence.length ? "; " : "",
		(int)sentence.length, sentence.data);
}
