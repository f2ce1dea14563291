/* The log on disk: entries with consecutive indexes in segments, which are files named by the index of their first
 * entry and only ever grow.
 *
 *   segment   u64 magic, u64 first index, 16 bytes cluster, u64 salt, u32 0, u32 CRC-32C of all before
 *   entry     u32 CRC-32C of the salt and all that follows, u32 length, u64 index, u64 term, u32 type, u32 behind,
 *             data, zeros up to a multiple of 8
 *
 * `behind` says how far below its own index everything was on disk when the entry was written. So what a crash has torn
 * is told from what was damaged later: after a bad entry, one that was written when the bad one was on disk already
 * proves damage; with none such the rest was never promised to anybody and is cut.
 *
 * Nothing is appended to a segment whose last write or sync has failed: nobody knows what of it is on disk. The next
 * entries begin a segment, and what the one before it holds from their indexes on does not count.
 *
 * One thread at a time. */
#ifndef DLSI_JOURNAL_H
#define DLSI_JOURNAL_H

#include "base/id.h"
#include "store/files.h"

struct dlsi_journal;

struct dlsi_journal_entry {
	uint64_t index; /* from 1 on */
	uint64_t term;
	uint32_t type; /* the caller's */
	uint32_t length;
	const uint8_t *data;
};

struct dlsi_journal_config {
	struct dlsi_id cluster;
	uint64_t noted;         /* entries up to this one must be there */
	uint64_t segment_bytes; /* a segment that has so many gets no more entries; 0: DLSI_SEGMENT_BYTES */
	bool read_only;         /* nothing is cut or appended */

	/* Called for each entry in order; what it returns, if not 0, ends the opening. */
	int (*visit)(void *visit_arg, const struct dlsi_journal_entry *entry, struct dls_error *err);
	void *visit_arg;
};

/* Reads all segments. Errors: DLS_EFORMAT (damage: the file and the offset are named), DLS_EIO, DLS_ENOMEM, and those
 * of `visit`. */
int dlsi_journal_open(const struct dlsi_alloc *alloc, struct dlsi_files *files,
	const struct dlsi_journal_config *config, struct dlsi_journal **journal_out, struct dls_error *err);
void dlsi_journal_close(struct dlsi_journal *journal);

/* Entries that follow the last one; on disk when it returns 0. Otherwise none of them counts, and the same can be tried
 * again. Errors: DLS_EIO, DLS_ENOMEM. */
int dlsi_journal_append(
	struct dlsi_journal *journal, const struct dlsi_journal_entry *entries, size_t count, struct dls_error *err);

struct dlsi_journal_facts {
	uint64_t last_index, last_term; /* 0: it is empty */
	uint64_t bytes;                 /* of all segments */
	uint64_t segments;
	uint64_t torn_bytes; /* at its end, that were cut when it was opened */
	uint64_t began; /* segments since it was opened: who counts them notes the last index when there is one more */
};

struct dlsi_journal_facts dlsi_journal_facts(const struct dlsi_journal *journal);

#endif
