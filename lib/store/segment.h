/* How entries lie in a segment (store/journal.h): writing them into a buffer, and finding them again among whatever a
 * crash has left. Pure. */
#ifndef DLSI_SEGMENT_H
#define DLSI_SEGMENT_H

#include "base/buffer.h"
#include "store/journal.h"

#define DLSI_SEGMENT_HEADER_BYTES 48
#define DLSI_ENTRY_HEADER_BYTES   32

struct dlsi_segment_header {
	struct dlsi_id cluster;
	uint64_t first;
	uint64_t salt; /* random, so that no data that entries carry can look like an entry of the segment */
};

void dlsi_segment_write_header(const struct dlsi_segment_header *header, uint8_t bytes[DLSI_SEGMENT_HEADER_BYTES]);
bool dlsi_segment_read_header(const uint8_t *data, size_t length, struct dlsi_segment_header *header_out);

/* Appends the entry; all up to `synced` are on disk. */
void dlsi_segment_write_entry(
	struct dlsi_buffer *buffer, uint64_t salt, const struct dlsi_journal_entry *entry, uint64_t synced);

/* An entry that lies in a segment. */
struct dlsi_segment_place {
	struct dlsi_journal_entry entry;
	uint64_t synced; /* entries up to this one were on disk when it was written */
	size_t bytes;    /* that it takes */
};

/* Whether an undamaged entry begins at `offset`. */
bool dlsi_segment_read_entry(
	const uint8_t *data, size_t length, size_t offset, uint64_t salt, struct dlsi_segment_place *place_out);

/* Whether the entry `index`, which is bad, was on disk once: an undamaged one behind `offset` was written after it. */
bool dlsi_segment_proves_damage(const uint8_t *data, size_t length, size_t offset, uint64_t salt, uint64_t index);

#endif
