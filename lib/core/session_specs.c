/* The session's specifications: each is sent once per connection and named by its number. */
#include "core/session_state.h"

#include <string.h>

/* The place of this JSON in the table: where it is already, else one that no job uses, else a new one. -1: no room. */
static int64_t place_spec(struct dlsi_session *session, struct dlsi_bytes json)
{
	int64_t unused = -1;
	struct spec *grown;

	for (uint32_t i = 0; i < session->spec_count; i++) {
		const struct spec *spec = &session->specs[i];

		if (spec->length == json.length && memcmp(spec->json, json.data, json.length) == 0)
			return i;
		if (!spec->uses)
			unused = i;
	}
	if (unused >= 0 || session->spec_count == DLSI_CLIENT_SPECS)
		return unused;
	grown = dlsi_realloc(session->alloc, session->specs, (session->spec_count + 1) * sizeof *grown);
	if (!grown)
		return -1;
	session->specs = grown;
	grown[session->spec_count] = (struct spec){0};
	return session->spec_count++;
}

/* A reference to the specification with this JSON; -1 if there is no room. */
int64_t dlsi_session_use_spec(struct dlsi_session *session, struct dlsi_bytes json)
{
	int64_t place = place_spec(session, json);
	struct spec *spec = place < 0 ? NULL : &session->specs[place];

	if (!spec)
		return -1;
	if (spec->length != json.length || memcmp(spec->json, json.data, json.length) != 0) {
		uint8_t *copy = dlsi_malloc(session->alloc, json.length);

		if (!copy)
			return -1;
		memcpy(copy, json.data, json.length);
		dlsi_free(session->alloc, spec->json);
		*spec = (struct spec){.json = copy, .length = json.length};
	}
	spec->uses++;
	return place;
}

void dlsi_session_post_spec(struct dlsi_session *session, uint32_t number)
{
	struct dlsi_record record = {.kind = DLSI_SPEC};
	struct spec *spec = &session->specs[number];

	if (spec->sent)
		return;
	spec->sent = true;
	record.spec.number = number;
	record.spec.json = (struct dlsi_bytes){spec->json, spec->length};
	dlsi_link_post(&session->link, &record, (struct dlsi_payload){0});
}
