/* Little-endian numbers and counted runs, read from foreign bytes and appended to a buffer. A read that does not fit
 * clears `good`, gives zero, and every later one too, so that a sequence is checked once at its end. */
#ifndef DLSI_PROTO_BYTES_H
#define DLSI_PROTO_BYTES_H

#include "base/buffer.h"
#include "proto/record.h"
#include <stdbool.h>

struct dlsi_reader {
	const uint8_t *at;
	const uint8_t *end;
	bool good;
};

uint8_t dlsi_read_u8(struct dlsi_reader *reader);
uint16_t dlsi_read_u16(struct dlsi_reader *reader);
uint32_t dlsi_read_u32(struct dlsi_reader *reader);
uint64_t dlsi_read_u64(struct dlsi_reader *reader);
struct dlsi_id dlsi_read_id(struct dlsi_reader *reader);
struct dlsi_hash dlsi_read_hash(struct dlsi_reader *reader);
struct dlsi_blob dlsi_read_blob(struct dlsi_reader *reader);

/* The next `length` bytes; NULL and not good if they do not fit. */
const uint8_t *dlsi_read_raw(struct dlsi_reader *reader, uint64_t length);

/* u32 length or count, then as many bytes or u64; not good above the limit. Views into what is read. */
struct dlsi_text dlsi_read_text(struct dlsi_reader *reader, uint32_t limit);
struct dlsi_bytes dlsi_read_bytes(struct dlsi_reader *reader, uint32_t limit);
struct dlsi_numbers dlsi_read_numbers(struct dlsi_reader *reader, uint32_t limit);

void dlsi_put_u16(uint8_t *at, uint16_t value);
void dlsi_put_u32(uint8_t *at, uint32_t value);
void dlsi_put_u64(uint8_t *at, uint64_t value);

void dlsi_write_u8(struct dlsi_buffer *buffer, uint8_t value);
void dlsi_write_u16(struct dlsi_buffer *buffer, uint16_t value);
void dlsi_write_u32(struct dlsi_buffer *buffer, uint32_t value);
void dlsi_write_u64(struct dlsi_buffer *buffer, uint64_t value);
void dlsi_write_id(struct dlsi_buffer *buffer, const struct dlsi_id *id);
void dlsi_write_hash(struct dlsi_buffer *buffer, const struct dlsi_hash *hash);
void dlsi_write_blob(struct dlsi_buffer *buffer, const struct dlsi_blob *blob);
void dlsi_write_bytes(struct dlsi_buffer *buffer, const void *data, uint32_t length);
void dlsi_write_numbers(struct dlsi_buffer *buffer, const struct dlsi_numbers *numbers);

#endif
