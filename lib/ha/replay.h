/* The log of a data folder as its owner's records. */
#ifndef DLSI_REPLAY_H
#define DLSI_REPLAY_H

#include "ha/group.h"
#include "store/ballot.h"
#include "store/journal.h"

/* Tells the owner whose log it is and all its records, and opens it. Errors: as dlsi_group_open. */
int dlsi_group_read(struct dlsi_files *files, const struct dlsi_alloc *alloc, const struct dlsi_ballot *ballot,
	bool read_only, struct dlsi_group_config *config, struct dlsi_journal **journal_out, struct dls_error *err);

#endif
