#include "client/shares.h"

void dlsi_shares_init(struct dlsi_shares *shares, const struct dlsi_alloc *alloc, struct dlsi_dataplane *plane,
	const struct dlsi_id *token)
{
	*shares = (struct dlsi_shares){.plane = plane, .token = *token, .alloc = alloc};
}

void dlsi_shares_fini(struct dlsi_shares *shares)
{
	for (size_t i = 0; i < shares->count; i++)
		dlsi_dataplane_withdraw(shares->plane, &shares->token, &shares->names[i]);
	dlsi_free(shares->alloc, shares->names);
	shares->names = NULL;
	shares->count = shares->capacity = 0;
}

static int reserve(struct dlsi_shares *shares)
{
	size_t capacity = shares->capacity ? 2 * shares->capacity : 8;
	struct dlsi_hash *grown;

	if (shares->count < shares->capacity)
		return 0;
	grown = dlsi_realloc(shares->alloc, shares->names, capacity * sizeof *grown);
	if (!grown)
		return DLS_ENOMEM;
	shares->names = grown;
	shares->capacity = capacity;
	return 0;
}

int dlsi_shares_add(struct dlsi_shares *shares, const struct dlsi_blob *blob, const struct dlsi_source *source,
	struct dls_error *err)
{
	int rc = reserve(shares);

	if (rc)
		return dlsi_fail_memory(err);
	rc = dlsi_dataplane_offer(shares->plane, &shares->token, blob, source, err);
	if (rc == 0)
		shares->names[shares->count++] = blob->name;
	return rc;
}
