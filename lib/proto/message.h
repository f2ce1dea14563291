/* One message: a fixed header, records (proto/record.h), and payload frames that travel behind them untouched.
 *
 *   offset bytes
 *     0     4   magic "DLS1"
 *     4     1   version
 *     5     1   zero
 *     6     2   records
 *     8     2   payload frames
 *    10     2   zero
 *    12     4   bytes of all records
 *    16    16   cluster
 *    32     8   term
 *    40         records: u16 kind, u16 zero, u32 length, fields
 *
 * All numbers are little-endian. A message is taken whole or refused whole: dlsi_message_open checks every length,
 * limit and kind before anybody looks at a record. Pure; reading allocates nothing. */
#ifndef DLSI_MESSAGE_H
#define DLSI_MESSAGE_H

#include "base/buffer.h"
#include "base/error.h"
#include "proto/record.h"

#define DLSI_PROTOCOL_VERSION     1
#define DLSI_MESSAGE_HEADER_BYTES 40
#define DLSI_RECORD_HEADER_BYTES  8

/* A message being read; the block stays the caller's and must outlive it. */
struct dlsi_message {
	struct dlsi_id cluster;
	uint64_t term;
	uint8_t version;
	uint16_t records;
	uint16_t frames;
	const uint8_t *at; /* the next record */
	const uint8_t *end;
};

/* Checks a received block that came with `frames` payload frames. *message_out is then ready for dlsi_message_next.
 * Errors: DLS_EPROTOCOL (no message of ours, lengths that do not fit, an unknown kind), DLS_EVERSION, DLS_ELIMIT. */
int dlsi_message_open(
	const uint8_t *block, size_t length, size_t frames, struct dlsi_message *message_out, struct dls_error *err);

/* The next record, in order; false at the end. Fields this side does not get are zero. */
bool dlsi_message_next(struct dlsi_message *message, struct dlsi_record *record_out);

/* Payload frames that belong to this record. */
uint16_t dlsi_record_frames(const struct dlsi_record *record);

/* A message being written at the end of a buffer; a failed allocation shows in buffer->failed. */
struct dlsi_message_writer {
	struct dlsi_buffer *buffer;
	size_t start; /* of the header in the buffer */
};

struct dlsi_message_writer dlsi_message_begin(struct dlsi_buffer *buffer, const struct dlsi_id *cluster, uint64_t term);

/* Appends one record. The caller keeps to the limits of base/limits.h. */
void dlsi_message_add(struct dlsi_message_writer *writer, const struct dlsi_record *record);

/* Bytes of the message so far, header included. */
size_t dlsi_message_length(const struct dlsi_message_writer *writer);

#endif
