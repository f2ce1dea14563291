/* The log of a master that has a data folder: its core comes out of what the log holds, and every record that the core
 * appends goes there. On the loop's thread, but for opening and closing. */
#ifndef DLSI_DURABLE_H
#define DLSI_DURABLE_H

#include "core/effect.h"
#include "ha/group.h"
#include "node/loop.h"
#include <dlsched/master.h>

struct dls_master;

struct dlsi_durable {
	struct dlsi_errand errand; /* first */
	struct dls_master *master;
	struct dlsi_group *group; /* NULL: there is no log */
	uint64_t committed;       /* records */
	int trouble;              /* that the core knows of */
	bool closing;
};

/* Makes master->core and fills it. Errors: as dlsi_group_open, dlsi_master_create and dlsi_master_replay. */
int dlsi_durable_open(struct dls_master *master, const char *folder, struct dls_error *err);

/* A record of the core. Errors: DLS_ENOMEM. */
int dlsi_durable_append(struct dls_master *master, const struct dlsi_effect *effect);

/* From any thread but the loop's, when the driver has left the loop. */
void dlsi_durable_close(struct dls_master *master);

/* On the loop's thread: without waiting for what is on its way. */
void dlsi_durable_abandon(struct dls_master *master);

/* Errors: as dls_master_inspect. */
int dlsi_durable_inspect(
	const struct dlsi_alloc *alloc, const char *folder, struct dls_master_data *data_out, struct dls_error *err);

#endif
