/* Jobs as people name them: by their id, or by how it begins. */
#include "core/master_commands.h"

#include <string.h>

enum { DIGITS_LEAST = 8, DIGITS = 2 * DLSI_ID_BYTES };

/* How an id begins: whole bytes, and perhaps half of one more. */
struct beginning {
	uint8_t bytes[DLSI_ID_BYTES];
	unsigned length;
	bool half;
};

static bool read_beginning(const char *text, struct beginning *beginning_out)
{
	size_t digits = strlen(text);
	char padded[DIGITS + 2];

	if (digits < DIGITS_LEAST || digits > DIGITS)
		return false;
	memcpy(padded, text, digits);
	memcpy(padded + digits, "0", 2);
	beginning_out->half = digits % 2;
	beginning_out->length = (unsigned)digits / 2;
	if (!beginning_out->half)
		padded[digits] = '\0';
	return dlsi_unhex(padded, (unsigned)strlen(padded) / 2, beginning_out->bytes);
}

static bool begins(const struct dlsi_id *id, const struct beginning *with)
{
	return memcmp(id->bytes, with->bytes, with->length) == 0 &&
	       (!with->half || id->bytes[with->length] >> 4 == with->bytes[with->length] >> 4);
}

static const struct dlsi_id *id_of(const struct found *found)
{
	return found->job ? &found->job->policy.id : found->ended ? &found->ended->id : NULL;
}

static bool is_whole(const struct beginning *beginning)
{
	return beginning->length == DLSI_ID_BYTES;
}

/* Whether all jobs may be looked at for one more name. */
static bool may_search(struct dlsi_master *master)
{
	master->searched += master->job_by_id.count;
	return master->searched <= DLSI_SEARCHED_JOBS;
}

/* Of one id the job that lives is meant, else the one that ended last. False: there are two. */
static bool add_found(struct found *found, struct job *job, const struct ended *ended)
{
	const struct dlsi_id *known = id_of(found), *id = job ? &job->policy.id : &ended->id;

	if (known && !dlsi_id_equal(known, id))
		return false;
	if (job)
		found->job = job;
	else if (!found->job)
		found->ended = ended;
	return true;
}

static bool search_live(const struct dlsi_master *master, const struct beginning *beginning, struct found *found_out)
{
	struct dlsi_id id;

	if (is_whole(beginning)) {
		memcpy(id.bytes, beginning->bytes, sizeof id.bytes);
		found_out->job = dlsi_job_find(master, &id);
		return true;
	}
	dlsi_list_each (node, &master->jobs) {
		struct job *job = dlsi_list_entry(node, struct job, node);

		if (begins(&job->policy.id, beginning) && !add_found(found_out, job, NULL))
			return false;
	}
	return true;
}

static bool search_ended(const struct dlsi_master *master, const struct beginning *beginning, struct found *found_out)
{
	dlsi_list_each (node, &master->ended) {
		const struct ended *ended = dlsi_list_entry(node, struct ended, node);

		if (begins(&ended->id, beginning) && !add_found(found_out, NULL, ended))
			return false;
	}
	return true;
}

int dlsi_find_job(struct dlsi_master *master, const char *text, struct found *found_out, struct dls_error *err)
{
	struct beginning beginning;
	struct found found = {0};

	if (!read_beginning(text, &beginning))
		return dlsi_fail(err, DLS_EINVAL,
			"\"%.40s\" names no job: that takes the %d hexadecimal digits of its id, or at least the first "
			"%d",
			text, DIGITS, DIGITS_LEAST);
	if (!is_whole(&beginning) && !may_search(master))
		return dlsi_fail(err, DLS_ELIMIT,
			"the master has too many jobs, %zu, to look for those whose ids begin with %s; give all %d "
			"digits",
			master->job_by_id.count, text, DIGITS);
	if (!search_live(master, &beginning, &found) || !search_ended(master, &beginning, &found))
		return dlsi_fail(err, DLS_ENOTFOUND, "the ids of several jobs begin with %s; give more digits", text);
	if (!id_of(&found))
		return dlsi_fail(err, DLS_ENOTFOUND,
			"the master knows no job %s; of those that have ended it remembers the last %d", text,
			DLSI_ENDED_JOBS);
	*found_out = found;
	return 0;
}
