#include "core/releases.h"

void dlsi_releases_init(struct dlsi_releases *releases, const struct dlsi_alloc *alloc)
{
	*releases = (struct dlsi_releases){.alloc = alloc};
}

void dlsi_releases_fini(struct dlsi_releases *releases)
{
	dlsi_free(releases->alloc, releases->at);
}

void dlsi_releases_add(struct dlsi_releases *releases, struct dlsi_payload payload)
{
	if (!payload.handle)
		return;
	if (releases->count == releases->capacity) {
		size_t capacity = releases->capacity ? 2 * releases->capacity : 64;
		struct dlsi_payload *grown = dlsi_realloc(releases->alloc, releases->at, capacity * sizeof *grown);

		if (!grown) {
			releases->failed = true;
			return;
		}
		releases->at = grown;
		releases->capacity = capacity;
	}
	releases->at[releases->count++] = payload;
}

void dlsi_releases_flush(struct dlsi_releases *releases, struct dlsi_effects *effects)
{
	for (size_t i = 0; i < releases->count; i++)
		dlsi_effects_release(effects, releases->at[i]);
	releases->count = 0;
	effects->failed |= releases->failed;
}
