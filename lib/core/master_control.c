/* Commands that change jobs, whoever has submitted them: cancel, pause, resume, priority. Each is given up to
 * DLSI_COMMANDED_JOBS jobs and says of each what has become of it, or why nothing has. */
#include "core/master_commands.h"
#include "core/master_kept.h"
#include "core/master_news.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Changes a job that lives, which may end by it, and says what it is then: "paused". */
typedef const char *(*change)(struct request *request, struct job *job);

static const char *spell_id(const struct dlsi_id *id, char text[DLSI_ID_TEXT_BYTES])
{
	dlsi_hex(id->bytes, DLSI_ID_BYTES, text);
	return text;
}

/* How a job has ended that is to be changed. */
static int refuse_ended(const struct dlsi_master *master, const struct ended *ended, struct dls_error *err)
{
	char id[DLSI_ID_TEXT_BYTES];

	return dlsi_fail(err, DLS_ESTATE,
		"job %s has ended already: %s %.1f s ago with %" PRIu64 " of its %" PRIu64
		" items done, of them %" PRIu64 " failed",
		spell_id(&ended->id, id), dlsi_job_state_name(ended->state),
		(double)(master->now_ns - ended->ended_ns) / 1e9, ended->done_items, ended->count, ended->failed_items);
}

static int find_live(struct dlsi_master *master, const char *name, struct job **job_out, struct dls_error *err)
{
	char id[DLSI_ID_TEXT_BYTES];
	struct found found = {0};
	int rc = dlsi_find_job(master, name, &found, err);

	if (rc)
		return rc;
	if (!found.job)
		return refuse_ended(master, found.ended, err);
	if (found.job->state > DLSI_JOB_ACTIVE || found.job->ending)
		return dlsi_fail(err, DLS_ESTATE, "job %s has ended already: %s", spell_id(&found.job->policy.id, id),
			found.job->ending ? "its end is being written down" : dlsi_job_state_name(found.job->state));
	*job_out = found.job;
	return 0;
}

static cJSON *describe_failure(const char *name, const struct dls_error *error)
{
	cJSON *json = cJSON_CreateObject();

	cJSON_AddStringToObject(json, "job", name);
	cJSON_AddNumberToObject(json, "code", error->code);
	cJSON_AddStringToObject(json, "error", dls_error_name(error->code));
	cJSON_AddStringToObject(json, "text", error->text);
	return json;
}

static cJSON *change_job(struct request *request, const char *name, change change)
{
	struct dls_error error = {0};
	char id[DLSI_ID_TEXT_BYTES];
	struct job *job = NULL;
	cJSON *json;

	if (find_live(request->master, name, &job, &error))
		return describe_failure(name, &error);
	json = cJSON_CreateObject();
	cJSON_AddStringToObject(json, "job", spell_id(&job->policy.id, id));
	cJSON_AddStringToObject(json, "state", change(request, job));
	return json;
}

static int check_names(struct request *request, const cJSON *names)
{
	const cJSON *name;

	if (request->reader.rc)
		return request->reader.rc;
	if (cJSON_GetArraySize(names) < 1 || cJSON_GetArraySize(names) > DLSI_COMMANDED_JOBS)
		return dlsi_fail(request->err, DLS_EINVAL, "the command: \"jobs\" must name from 1 to %d jobs",
			DLSI_COMMANDED_JOBS);
	cJSON_ArrayForEach (name, names)
		if (!cJSON_IsString(name) || strlen(name->valuestring) > DLSI_NAME_BYTES)
			return dlsi_fail(
				request->err, DLS_EINVAL, "the command: \"jobs\" must be ids of jobs, as texts");
	return 0;
}

static int change_all(struct request *request, change change)
{
	const cJSON *names = dlsi_json_array(&request->reader, "jobs"), *name;
	int rc = check_names(request, names);
	cJSON *jobs;

	if (rc)
		return rc;
	jobs = cJSON_AddArrayToObject(request->answer, "jobs");
	cJSON_ArrayForEach (name, names)
		cJSON_AddItemToArray(jobs, change_job(request, name->valuestring, change));
	return 0;
}

/* A durable job is so when the log has it. */
static void apply(struct request *request, struct job *job, const struct dlsi_change *change, const char *what)
{
	dlsi_news_commanded(request->master, job, what, request->client->tenant->name);
	dlsi_job_change(request->master, job, change, NULL, (struct dlsi_payload){0});
}

static const char *cancel(struct request *request, struct job *job)
{
	char sentence[DLSI_SENTENCE_BYTES + 1];

	snprintf(sentence, sizeof sentence, "the job was cancelled by a command of %s", request->client->tenant->name);
	job->stopped = true;
	dlsi_job_end(request->master, job, DLSI_JOB_CANCELLED, DLS_ECANCELLED, sentence);
	return "cancelled";
}

static const char *set_paused(struct request *request, struct job *job, bool paused)
{
	struct dlsi_change change = {.kind = DLSI_CHANGE_PAUSE, .job = job->policy.id};
	const char *what = paused ? "paused" : "resumed";

	change.pause.paused = paused;
	apply(request, job, &change, what);
	return what;
}

static const char *pause(struct request *request, struct job *job)
{
	return set_paused(request, job, true);
}

static const char *resume(struct request *request, struct job *job)
{
	return set_paused(request, job, false);
}

static const char *prioritise(struct request *request, struct job *job)
{
	struct dlsi_change change = {.kind = DLSI_CHANGE_PRIORITY, .job = job->policy.id};

	change.priority.priority =
		(int32_t)dlsi_json_integer(&request->reader, "priority", 0, -DLSI_PRIORITY, DLSI_PRIORITY);
	apply(request, job, &change, "given another priority");
	return "changed";
}

/* Of a durable job that has ended nothing is kept any more. */
static int forget(struct request *request, const char *name, struct dls_error *err)
{
	struct dlsi_change change = {.kind = DLSI_CHANGE_FORGET};
	struct found found = {0};
	int rc = dlsi_find_job(request->master, name, &found, err);

	if (rc)
		return rc;
	if (!found.job || !found.job->durable || dlsi_job_kept(found.job)->forgotten)
		return dlsi_fail(err, DLS_ENOTFOUND, "the master keeps no detached job %.64s", name);
	if (found.job->state <= DLSI_JOB_ACTIVE)
		return dlsi_fail(err, DLS_ESTATE, "job %.64s has not ended; cancel it first", name);
	dlsi_job_kept(found.job)->forgotten = true;
	change.job = found.job->policy.id;
	apply(request, found.job, &change, "forgotten");
	return 0;
}

int dlsi_command_forget(struct request *request)
{
	const cJSON *names = dlsi_json_array(&request->reader, "jobs"), *name;
	int rc = check_names(request, names);
	cJSON *jobs, *json;

	if (rc)
		return rc;
	jobs = cJSON_AddArrayToObject(request->answer, "jobs");
	cJSON_ArrayForEach (name, names) {
		struct dls_error error = {0};

		if (forget(request, name->valuestring, &error)) {
			json = describe_failure(name->valuestring, &error);
		} else {
			json = cJSON_CreateObject();
			cJSON_AddStringToObject(json, "job", name->valuestring);
			cJSON_AddStringToObject(json, "state", "forgotten");
		}
		cJSON_AddItemToArray(jobs, json);
	}
	return 0;
}

int dlsi_command_cancel(struct request *request)
{
	return change_all(request, cancel);
}

int dlsi_command_pause(struct request *request)
{
	return change_all(request, pause);
}

int dlsi_command_resume(struct request *request)
{
	return change_all(request, resume);
}

int dlsi_command_priority(struct request *request)
{
	dlsi_json_require(&request->reader, "priority");
	dlsi_json_integer(&request->reader, "priority", 0, -DLSI_PRIORITY, DLSI_PRIORITY);
	return change_all(request, prioritise);
}
