/* Kinds of resources: their names and numbers. A kind that workers or classes named is there while one of them is. */
#include "core/master_places.h"

#include <math.h>
#include <string.h>

static const char *const known[DLSI_RESOURCES_KNOWN] = {
	[DLSI_RESOURCE_DEVICES] = "devices",
	[DLSI_RESOURCE_CORES] = "cores",
	[DLSI_RESOURCE_MEMORY] = "memory_bytes",
};

const char *dlsi_kind_name(const struct dlsi_master *master, unsigned kind)
{
	return kind < DLSI_RESOURCES_KNOWN ? known[kind] : master->kinds[kind].name;
}

static bool is_named(const struct dlsi_master *master, unsigned kind, struct dlsi_text name)
{
	const char *own = dlsi_kind_name(master, kind);

	return own && strlen(own) == name.length && memcmp(own, name.data, name.length) == 0;
}

int dlsi_kind_ref(struct dlsi_master *master, struct dlsi_text name, unsigned *kind_out, struct dls_error *err)
{
	unsigned kind = 0;

	while (kind < DLSI_RESOURCE_KINDS && !is_named(master, kind, name))
		kind++;
	if (kind == DLSI_RESOURCE_KINDS) {
		for (kind = DLSI_RESOURCES_KNOWN; kind < DLSI_RESOURCE_KINDS && master->kinds[kind].name;)
			kind++;
		if (kind == DLSI_RESOURCE_KINDS)
			return dlsi_fail(err, DLS_ELIMIT,
				"the resource %.*s is one kind more than the %d that a master keeps at once",
				(int)name.length, name.data, DLSI_RESOURCE_KINDS);
		master->kinds[kind].name = dlsi_strndup(master->alloc, name.data, name.length);
		if (!master->kinds[kind].name)
			return dlsi_fail_memory(err);
	}
	master->kinds[kind].uses++;
	*kind_out = kind;
	return 0;
}

int dlsi_kinds_read(struct dlsi_master *master, const char *what, const cJSON *json, struct dlsi_resources *amounts,
	struct dls_error *err)
{
	const cJSON *amount;
	unsigned kind;
	int rc;

	cJSON_ArrayForEach (amount, json) {
		if (!cJSON_IsNumber(amount) || !(amount->valuedouble > 0) || amount->valuedouble > DLSI_RESOURCE_MOST)
			return dlsi_fail(err, DLS_EINVAL, "%s: \"%.64s\" must be a number above 0, and at most 1e15",
				what, amount->string);
		if (!*amount->string || strlen(amount->string) > DLSI_NAME_BYTES)
			return dlsi_fail(err, DLS_EINVAL, "%s: a name has 1 to %d bytes", what, DLSI_NAME_BYTES);
		rc = dlsi_kind_ref(master, dlsi_text_of(amount->string), &kind, err);
		if (rc)
			return rc;
		amounts->amount[kind] = (uint64_t)ceil(amount->valuedouble * DLSI_RESOURCE_UNIT);
	}
	return 0;
}

void dlsi_kinds_unref(struct dlsi_master *master, const struct dlsi_resources *amounts)
{
	for (unsigned i = DLSI_RESOURCES_KNOWN; i < DLSI_RESOURCE_KINDS; i++) {
		if (!amounts->amount[i] || --master->kinds[i].uses)
			continue;
		dlsi_free(master->alloc, master->kinds[i].name);
		master->kinds[i].name = NULL;
	}
}
