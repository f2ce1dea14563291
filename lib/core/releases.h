/* Payloads on their way back to the driver. They wait until the turn ends: a message of this turn may still name them.
 */
#ifndef DLSI_RELEASES_H
#define DLSI_RELEASES_H

#include "core/effect.h"

struct dlsi_releases {
	struct dlsi_payload *at;
	size_t count;
	size_t capacity;
	bool failed; /* memory ran out: some will never come back */
	const struct dlsi_alloc *alloc;
};

void dlsi_releases_init(struct dlsi_releases *releases, const struct dlsi_alloc *alloc);
void dlsi_releases_fini(struct dlsi_releases *releases);

/* Does nothing for no payload. */
void dlsi_releases_add(struct dlsi_releases *releases, struct dlsi_payload payload);

/* Makes them effects; if some are lost, the effects have failed. */
void dlsi_releases_flush(struct dlsi_releases *releases, struct dlsi_effects *effects);

#endif
