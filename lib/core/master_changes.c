/* What has changed of jobs since somebody looked last: each job once, as it is now, the oldest change first. The master
 * counts the changes of all jobs; "next" of an answer is "after" of the following question. */
#include "core/master_commands.h"

#include <inttypes.h>
#include <stdio.h>

static const struct job *job_of(const struct dlsi_list *node)
{
	return dlsi_list_entry(node, struct job, change_node);
}

static const struct ended *ended_of(const struct dlsi_list *node)
{
	return dlsi_list_entry(node, struct ended, node);
}

static uint64_t change_of_job(const struct dlsi_list *node)
{
	return job_of(node)->change;
}

static uint64_t change_of_ended(const struct dlsi_list *node)
{
	return ended_of(node)->change;
}

/* The first of a list that changed behind `after`. Looks at the last DLSI_LOOKED_AT only; *left_out_out: there are
 * more. */
static const struct dlsi_list *find_first(const struct dlsi_list *list, uint64_t (*change_of)(const struct dlsi_list *),
	uint64_t after, bool *left_out_out)
{
	const struct dlsi_list *node = list->previous;

	for (unsigned looked_at = 0; node != list && change_of(node) > after; node = node->previous)
		if (looked_at++ == DLSI_LOOKED_AT) {
			*left_out_out = true;
			break;
		}
	return node->next;
}

/* Adds what changed next, of jobs that live or have ended, and returns its number; 0: nothing has, or there is no room.
 */
static uint64_t add_next(
	struct request *request, cJSON *list, const struct dlsi_list **job, const struct dlsi_list **ended)
{
	const struct dlsi_master *master = request->master;
	uint64_t of_job = *job == &master->changed ? UINT64_MAX : change_of_job(*job);
	uint64_t of_ended = *ended == &master->ended ? UINT64_MAX : change_of_ended(*ended);
	const struct dlsi_list *node = of_job < of_ended ? *job : *ended;

	if (of_job == of_ended) /* there are none: no two changes have one number */
		return 0;
	if (!dlsi_request_has_room(request, of_job < of_ended ? dlsi_describe_job_texts(job_of(node))
							      : dlsi_describe_ended_texts(ended_of(node))))
		return 0;
	if (of_job < of_ended) {
		cJSON_AddItemToArray(list, dlsi_describe_job(master, job_of(node)));
		*job = node->next;
		return of_job;
	}
	cJSON_AddItemToArray(list, dlsi_describe_ended(master, ended_of(node)));
	*ended = node->next;
	return of_ended;
}

static uint64_t list_changes(struct request *request, uint64_t after, unsigned limit)
{
	const struct dlsi_master *master = request->master;
	cJSON *list = cJSON_AddArrayToObject(request->answer, "jobs");
	bool left_out = false;
	const struct dlsi_list *job = find_first(&master->changed, change_of_job, after, &left_out);
	const struct dlsi_list *ended = find_first(&master->ended, change_of_ended, after, &left_out);
	uint64_t change;

	cJSON_AddBoolToObject(request->answer, "left_out", left_out);
	while (limit-- && (change = add_next(request, list, &job, &ended)))
		after = change;
	return after;
}

int dlsi_command_changes(struct request *request)
{
	int64_t after = dlsi_json_integer(&request->reader, "after", -1, 0, INT64_MAX);
	unsigned limit = dlsi_request_limit(request);
	uint64_t next = request->master->changes;
	char text[24];

	if (request->reader.rc)
		return request->reader.rc;
	if (after >= 0)
		next = list_changes(request, (uint64_t)after, limit);
	snprintf(text, sizeof text, "%" PRIu64, next);
	cJSON_AddStringToObject(request->answer, "next", text);
	return 0;
}
