/* A crew: threads that help one other thread with work of many equal parts, like decoding the photos of a batch.
 * Without work they sleep. */
#ifndef DLSI_CREW_H
#define DLSI_CREW_H

#include "base/alloc.h"
#include "base/error.h"
#include <stdint.h>

struct dlsi_crew;

/* With no helpers the calling thread does everything. Errors: DLS_EIO (the system has no more threads), DLS_ENOMEM. */
int dlsi_crew_create(
	const struct dlsi_alloc *alloc, unsigned helpers, struct dlsi_crew **crew_out, struct dls_error *err);

/* NULL is allowed. */
void dlsi_crew_destroy(struct dlsi_crew *crew);

/* Calls part(arg, i) once for each i below `count`, here and on the helpers, in no particular order; returns when all
 * are done. One thread at a time. */
void dlsi_crew_run(struct dlsi_crew *crew, void (*part)(void *arg, uint32_t i), void *arg, uint32_t count);

#endif
