#include "store/segment.h"

#include "base/crc32c.h"
#include "proto/bytes.h"
#include <string.h>

#define MAGIC UINT64_C(0x313047474f4c5344) /* "DSLOGG01" */

void dlsi_segment_write_header(const struct dlsi_segment_header *header, uint8_t bytes[DLSI_SEGMENT_HEADER_BYTES])
{
	memset(bytes, 0, DLSI_SEGMENT_HEADER_BYTES);
	dlsi_put_u64(bytes, MAGIC);
	dlsi_put_u64(bytes + 8, header->first);
	memcpy(bytes + 16, header->cluster.bytes, DLSI_ID_BYTES);
	dlsi_put_u64(bytes + 32, header->salt);
	dlsi_put_u32(bytes + 44, dlsi_crc32c(0, bytes, 44));
}

bool dlsi_segment_read_header(const uint8_t *data, size_t length, struct dlsi_segment_header *header_out)
{
	struct dlsi_reader reader = {data, data + length, true};
	struct dlsi_segment_header header;

	if (length < DLSI_SEGMENT_HEADER_BYTES || dlsi_read_u64(&reader) != MAGIC)
		return false;
	header.first = dlsi_read_u64(&reader);
	header.cluster = dlsi_read_id(&reader);
	header.salt = dlsi_read_u64(&reader);
	if (dlsi_read_u32(&reader) != 0 || dlsi_read_u32(&reader) != dlsi_crc32c(0, data, 44))
		return false;
	*header_out = header;
	return true;
}

static uint32_t checksum(uint64_t salt, const uint8_t *data, size_t length)
{
	uint8_t bytes[8];

	dlsi_put_u64(bytes, salt);
	return dlsi_crc32c(dlsi_crc32c(0, bytes, sizeof bytes), data, length);
}

static size_t padded(size_t length)
{
	return (length + 7) / 8 * 8;
}

void dlsi_segment_write_entry(
	struct dlsi_buffer *buffer, uint64_t salt, const struct dlsi_journal_entry *entry, uint64_t synced)
{
	size_t data_bytes = padded(entry->length);
	uint8_t *at = dlsi_buffer_extend(buffer, DLSI_ENTRY_HEADER_BYTES + data_bytes);

	if (!at)
		return;
	dlsi_put_u32(at + 4, entry->length);
	dlsi_put_u64(at + 8, entry->index);
	dlsi_put_u64(at + 16, entry->term);
	dlsi_put_u32(at + 24, entry->type);
	dlsi_put_u32(at + 28, (uint32_t)(entry->index - synced));
	memset(at + DLSI_ENTRY_HEADER_BYTES, 0, data_bytes);
	if (entry->length)
		memcpy(at + DLSI_ENTRY_HEADER_BYTES, entry->data, entry->length);
	dlsi_put_u32(at, checksum(salt, at + 4, DLSI_ENTRY_HEADER_BYTES - 4 + data_bytes));
}

bool dlsi_segment_read_entry(
	const uint8_t *data, size_t length, size_t offset, uint64_t salt, struct dlsi_segment_place *place_out)
{
	struct dlsi_reader reader = {data + offset, data + length, true};
	struct dlsi_segment_place place = {0};
	uint32_t crc = dlsi_read_u32(&reader);

	place.entry.length = dlsi_read_u32(&reader);
	place.entry.index = dlsi_read_u64(&reader);
	place.entry.term = dlsi_read_u64(&reader);
	place.entry.type = dlsi_read_u32(&reader);
	place.synced = place.entry.index - dlsi_read_u32(&reader);
	place.entry.data = dlsi_read_raw(&reader, padded(place.entry.length));
	place.bytes = DLSI_ENTRY_HEADER_BYTES + padded(place.entry.length);
	if (!reader.good || !place.entry.index || crc != checksum(salt, data + offset + 4, place.bytes - 4))
		return false;
	*place_out = place;
	return true;
}

/* Whether what lies there can be an entry not far behind `index`: computing a checksum at every place would take long.
 */
static bool may_follow(const uint8_t *data, size_t length, size_t offset, uint64_t index)
{
	struct dlsi_reader reader = {data + offset + 8, data + length, true};
	uint64_t found = dlsi_read_u64(&reader);

	return found > index && found - index <= length / DLSI_ENTRY_HEADER_BYTES;
}

bool dlsi_segment_proves_damage(const uint8_t *data, size_t length, size_t offset, uint64_t salt, uint64_t index)
{
	struct dlsi_segment_place place;

	for (; offset + DLSI_ENTRY_HEADER_BYTES <= length; offset += 8)
		if (may_follow(data, length, offset, index) &&
			dlsi_segment_read_entry(data, length, offset, salt, &place) && place.synced >= index)
			return true;
	return false;
}
