/* What a voter must never forget: its cluster, the term it has seen last and whom it voted for in it, and beside that
 * how far its log went for certain. It lies in two files that are written in turn, so that a write which is cut short
 * leaves the one before it. Not thread-safe. */
#ifndef DLSI_BALLOT_H
#define DLSI_BALLOT_H

#include "base/id.h"
#include "store/files.h"

struct dlsi_ballot {
	struct dlsi_id cluster;
	uint64_t serial; /* counts what was written */
	uint64_t term;
	uint64_t vote;  /* 0: nobody */
	uint64_t noted; /* the log has had all entries up to this one on disk */
};

/* Errors: DLS_ENOTFOUND (neither file is there), DLS_EFORMAT (none of those that are there can be read), DLS_EIO,
 * DLS_ENOMEM. */
int dlsi_ballot_read(struct dlsi_files *files, const struct dlsi_alloc *alloc, struct dlsi_ballot *ballot_out,
	struct dls_error *err);

/* On disk when it returns 0; counts ballot->serial up. Errors: DLS_EIO. */
int dlsi_ballot_write(struct dlsi_files *files, struct dlsi_ballot *ballot, struct dls_error *err);

#endif
