/* The log that a group of masters keeps together: libraft over a data folder. So far the group is one master, which
 * leads and commits what its own disk has.
 *
 * The loop's thread proposes records and steps the group; a thread of its own writes them, as many at once as have come
 * meanwhile, and asks through `wake` for the next step. What libraft is told is written stays written: a disk that is
 * full or fails holds everything back until it works again, and says so through dlsi_group_trouble.
 *
 * The log is the state: opening hands all of it to `replay` from disk, so libraft is given an empty snapshot of its end
 * and keeps no old entries in memory. */
#ifndef DLSI_GROUP_H
#define DLSI_GROUP_H

#include "base/alloc.h"
#include "base/error.h"
#include "base/id.h"
#include <stdbool.h>
#include <stdint.h>

struct dlsi_group;

struct dlsi_group_record {
	const uint8_t *bytes;
	size_t length;
	const uint8_t *payload; /* NULL: none */
	size_t payload_length;
};

struct dlsi_group_config {
	const char *folder;
	uint64_t log_bytes; /* a log that is longer counts as trouble */

	/* While it is opened: first of all whose log it is, and the term of this opening. */
	int (*begin)(void *arg, const struct dlsi_id *cluster, uint64_t term, struct dls_error *err);

	/* Then each record of the log in order. What they return, if not 0, ends the opening. */
	int (*replay)(void *arg, const struct dlsi_group_record *record, struct dls_error *err);

	/* From the writing thread: dlsi_group_step is to be called soon. */
	void (*wake)(void *arg);

	/* Within dlsi_group_step: `count` more records are committed, in the order in which they were proposed. */
	void (*committed)(void *arg, uint64_t count);
	void *arg;
};

/* Begins a log in a folder that holds none. Errors: DLS_EBUSY (another process has the folder), DLS_EFORMAT (damage:
 * the file and the offset are named), DLS_EIO, DLS_ENOMEM, and those of `begin` and `replay`. */
int dlsi_group_open(const struct dlsi_alloc *alloc, const struct dlsi_group_config *config,
	struct dlsi_group **group_out, struct dls_error *err);

/* Records that are not on disk yet may or may not be there afterwards. NULL is allowed. */
void dlsi_group_close(struct dlsi_group *group);

/* Copied; goes to the log with the next step. Errors: DLS_ENOMEM; then the group is of no use any more. */
int dlsi_group_propose(struct dlsi_group *group, const struct dlsi_group_record *record);

/* Errors: as dlsi_group_propose. */
int dlsi_group_step(struct dlsi_group *group);

/* Why nothing new may be promised, which lasts for as long as it is true: the disk, or the length of the log. 0:
 * nothing. Errors: DLS_EIO, DLS_ELIMIT. */
int dlsi_group_trouble(struct dlsi_group *group, struct dls_error *err);

/* What a folder holds. */
struct dlsi_group_facts {
	struct dlsi_id cluster;
	uint64_t term, entries, segments, bytes, torn_bytes;
};

/* Reads and proves all of it, and changes nothing. Errors: as dlsi_group_open, and DLS_ENOTFOUND. */
int dlsi_group_check(const struct dlsi_alloc *alloc, const struct dlsi_group_config *config,
	struct dlsi_group_facts *facts_out, struct dls_error *err);

#endif
