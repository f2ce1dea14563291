/* Attached jobs that have ended: the last DLSI_ENDED_JOBS of them, for whoever asks how they did. Kept as far as there
 * is memory: nothing depends on them. */
#include "core/master_places.h"
#include "core/master_times.h"

#include <string.h>

/* Copies the text and its NUL to *at, moves it behind, and returns the copy. */
static const char *keep_text(char **at, const char *text, size_t length)
{
	char *copy = *at;

	memcpy(copy, text, length);
	copy[length] = '\0';
	*at += length + 1;
	return copy;
}

static void forget(struct dlsi_master *master, struct ended *ended)
{
	dlsi_list_remove(&ended->node);
	if (dlsi_map_get(&master->stopped, &ended->id) == ended)
		dlsi_map_remove(&master->stopped, &ended->id);
	dlsi_free(master->alloc, ended->about);
	dlsi_free(master->alloc, ended);
	master->ended_count--;
}

void dlsi_ended_keep(struct dlsi_master *master, struct job *job, const struct dlsi_change *end)
{
	const char *tenant = dlsi_job_tenant(job)->name, *handler = job->spec->class->handler->name;
	size_t tenant_length = strlen(tenant), handler_length = strlen(handler);
	struct ended *ended = dlsi_calloc(
		master->alloc, 1, sizeof *ended + tenant_length + handler_length + end->end.sentence.length + 3);
	char *texts = (char *)(ended + 1);

	if (!ended)
		return;
	ended->change = job->change;
	ended->id = job->policy.id;
	ended->token = job->token;
	ended->state = job->state;
	ended->code = end->end.code;
	ended->priority = job->policy.priority;
	ended->count = job->count;
	ended->done_items = dlsi_job_run(job)->done_items;
	ended->failed_items = dlsi_job_run(job)->failed_items;
	ended->traffic = dlsi_job_run(job)->traffic;
	ended->retried = dlsi_job_run(job)->retries ? job->run->retries->retried : 0;
	ended->moves = dlsi_job_run(job)->moves;
	ended->second_runs = dlsi_job_run(job)->second_runs;
	ended->begun_ns = job->policy.since_ns;
	ended->ended_ns = master->now_ns;
	ended->about = dlsi_job_extras(job)->about;
	if (job->extras)
		job->extras->about = NULL;
	ended->tenant = keep_text(&texts, tenant, tenant_length);
	ended->handler = keep_text(&texts, handler, handler_length);
	ended->sentence = keep_text(&texts, end->end.sentence.data, end->end.sentence.length);
	dlsi_list_append(&master->ended, &ended->node);
	if (job->stopped)
		(void)dlsi_map_put(&master->stopped, &ended->id, ended);
	if (++master->ended_count > DLSI_ENDED_JOBS)
		forget(master, dlsi_list_entry(master->ended.next, struct ended, node));
}

void dlsi_ended_forget_all(struct dlsi_master *master)
{
	dlsi_list_each (node, &master->ended)
		forget(master, dlsi_list_entry(node, struct ended, node));
}

const struct ended *dlsi_ended_by_command(
	const struct dlsi_master *master, const struct dlsi_id *id, const struct dlsi_id *token)
{
	const struct ended *ended = dlsi_map_get(&master->stopped, id);

	return ended && dlsi_id_equal(&ended->token, token) ? ended : NULL;
}
