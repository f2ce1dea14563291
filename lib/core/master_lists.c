/* Lists of jobs, page by page: those of some states or of one tenant, and those that have changed.
 *
 * A page of jobs ends at a place that its "next" names: the number of the last job looked at and its id. The next page
 * begins behind that job, or, when it is gone, is searched from the beginning for a later number; a page that only
 * searched is empty and has a "next" too. */
#include "core/master_commands.h"
#include "core/master_places.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_DIGITS = 16, PLACE_BYTES = NUMBER_DIGITS + DLSI_ID_TEXT_BYTES + 1 };

#define SET(state) (1U << (state))
#define PAUSED     SET(0)                   /* no state of the lifecycle, yet one for people */
#define WAITING    SET(DLSI_JOB_FAILED + 1) /* the same */
#define LIVE       (SET(DLSI_JOB_PROPOSED) | SET(DLSI_JOB_ACTIVE) | PAUSED | WAITING)
#define ENDED      (SET(DLSI_JOB_DONE) | SET(DLSI_JOB_CANCELLED) | SET(DLSI_JOB_FAILED))

/* What "state" may say, and the states of a job that are meant. */
static const char *const words[] = {
	"live", "ended", "all", "proposed", "active", "paused", "waiting", "done", "cancelled", "failed", NULL};
static const unsigned states[] = {LIVE, ENDED, LIVE | ENDED, SET(DLSI_JOB_PROPOSED), SET(DLSI_JOB_ACTIVE), PAUSED,
	WAITING, SET(DLSI_JOB_DONE), SET(DLSI_JOB_CANCELLED), SET(DLSI_JOB_FAILED)};

/* One walk over the jobs that live and then over those that have ended. */
struct walk {
	struct request *request;
	cJSON *jobs; /* the page */
	unsigned states;
	const char *tenant, *name, *tag; /* NULL: any */
	unsigned limit;
	unsigned looked_at;
	bool full; /* the page ends here */
};

static bool is_meant(const struct walk *walk, unsigned state, const char *tenant, const struct about *about)
{
	return walk->states & state && (!walk->tenant || strcmp(walk->tenant, tenant) == 0) &&
	       dlsi_about_matches(about, walk->name, walk->tag);
}

/* Whether the page may go on with one more job, whose texts have so many bytes if it is listed. */
static bool goes_on(struct walk *walk, bool listed, size_t texts)
{
	if (walk->looked_at++ == DLSI_LOOKED_AT || (listed && !walk->limit))
		return false;
	if (!listed)
		return true;
	walk->limit--;
	return dlsi_request_has_room(walk->request, texts);
}

static void end_page(struct walk *walk, char kind, uint64_t number, const struct dlsi_id *id)
{
	char place[PLACE_BYTES + 1], text[DLSI_ID_TEXT_BYTES] = "";

	if (id)
		dlsi_hex(id->bytes, DLSI_ID_BYTES, text);
	snprintf(place, sizeof place, "%c%0*" PRIx64 "%s", kind, NUMBER_DIGITS, number, text);
	cJSON_AddStringToObject(walk->request->answer, "next", place);
	walk->full = true;
}

static const struct job *job_of(const struct dlsi_list *node)
{
	return dlsi_list_entry(node, struct job, node);
}

static unsigned state_of(const struct job *job)
{
	if (job->state == DLSI_JOB_ACTIVE && (job->paused || job->waits))
		return job->paused ? PAUSED : WAITING;
	return SET(job->state);
}

/* Those from `node` on whose number is above `floor`. */
static void walk_live(struct walk *walk, const struct dlsi_list *node, uint64_t floor)
{
	const struct dlsi_master *master = walk->request->master;
	const struct job *last = NULL;

	for (; node != &master->jobs; node = node->next) {
		const struct job *job = job_of(node);
		const char *tenant = dlsi_job_tenant(job)->name;
		unsigned state = state_of(job);
		bool listed =
			job->policy.place.order > floor && is_meant(walk, state, tenant, dlsi_job_extras(job)->about);

		if (!goes_on(walk, listed, dlsi_describe_job_texts(job))) {
			uint64_t number = last && last->policy.place.order > floor ? last->policy.place.order : floor;

			end_page(walk, 'l', number, last ? &last->policy.id : NULL);
			return;
		}
		if (listed)
			cJSON_AddItemToArray(walk->jobs, dlsi_describe_job(master, job));
		last = job;
	}
}

/* Those that ended behind change `floor`. */
static void walk_ended(struct walk *walk, uint64_t floor)
{
	const struct dlsi_master *master = walk->request->master;

	if (!(walk->states & ENDED))
		return;
	for (const struct dlsi_list *node = master->ended.next; node != &master->ended; node = node->next) {
		const struct ended *ended = dlsi_list_entry(node, struct ended, node);
		bool listed = is_meant(walk, SET(ended->state), ended->tenant, ended->about);

		if (ended->change <= floor)
			continue;
		if (!goes_on(walk, listed, dlsi_describe_ended_texts(ended))) {
			end_page(walk, 'e', floor, NULL);
			return;
		}
		if (listed)
			cJSON_AddItemToArray(walk->jobs, dlsi_describe_ended(master, ended));
		floor = ended->change;
	}
}

/* Goes on behind the place that a page has named. False: no page has. */
static bool walk_from(struct walk *walk, const char *place)
{
	const struct dlsi_master *master = walk->request->master;
	size_t length = strlen(place);
	char digits[NUMBER_DIGITS + 1] = "";
	const struct job *job = NULL;
	struct dlsi_id id;
	uint8_t bytes[NUMBER_DIGITS / 2];
	uint64_t floor;

	if (length <= NUMBER_DIGITS || length > PLACE_BYTES || (place[0] != 'l' && place[0] != 'e'))
		return false;
	memcpy(digits, place + 1, NUMBER_DIGITS);
	if (!dlsi_unhex(digits, sizeof bytes, bytes))
		return false;
	floor = strtoull(digits, NULL, 16);
	if (dlsi_unhex(place + 1 + NUMBER_DIGITS, DLSI_ID_BYTES, id.bytes))
		job = dlsi_job_find(master, &id);
	else if (length > NUMBER_DIGITS + 1)
		return false;
	if (job && job->policy.place.order > floor)
		job = NULL; /* another one under the same key */
	if (place[0] == 'l')
		walk_live(walk, job ? job->node.next : master->jobs.next, floor);
	if (!walk->full)
		walk_ended(walk, place[0] == 'e' ? floor : 0);
	return true;
}

int dlsi_command_jobs(struct request *request)
{
	struct walk walk = {.request = request, .limit = dlsi_request_limit(request)};
	const char *after = dlsi_json_text(&request->reader, "after", "l0000000000000000");

	walk.states = states[dlsi_json_choice(&request->reader, "state", words, 0)];
	walk.tenant = dlsi_json_text(&request->reader, "tenant", NULL);
	walk.name = dlsi_json_text(&request->reader, "name", NULL);
	walk.tag = dlsi_json_text(&request->reader, "tag", NULL);
	if (request->reader.rc)
		return request->reader.rc;
	walk.jobs = cJSON_AddArrayToObject(request->answer, "jobs");
	if (!walk_from(&walk, after))
		return dlsi_fail(request->err, DLS_EINVAL, "\"after\" is not what the page before said as \"next\"");
	cJSON_AddNumberToObject(request->answer, "count", (double)request->master->job_by_id.count);
	cJSON_AddNumberToObject(request->answer, "ended_count", (double)request->master->ended_count);
	return 0;
}
