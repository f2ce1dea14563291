#include "media/exif.h"

#include <stdbool.h>

/* TIFF 6.0, section 2: a header of 8 bytes that leads to a directory of 12-byte entries (tag, type, count, value). */
enum { HEADER_BYTES = 8, ENTRY_BYTES = 12, TAG_ORIENTATION = 274, TYPE_SHORT = 3, NORMAL = 1, LAST = 8 };

struct block {
	const uint8_t *data;
	size_t length;
	bool big_endian;
};

static unsigned read_16(const struct block *block, size_t at)
{
	const uint8_t *b = block->data + at;

	return block->big_endian ? (unsigned)b[0] << 8 | b[1] : (unsigned)b[1] << 8 | b[0];
}

static size_t read_32(const struct block *block, size_t at)
{
	size_t first = read_16(block, at), second = read_16(block, at + 2);

	return block->big_endian ? first << 16 | second : second << 16 | first;
}

unsigned dlsi_exif_orientation(const void *tiff, size_t length)
{
	struct block block = {.data = tiff, .length = length};
	size_t directory, entries;

	if (length < HEADER_BYTES || block.data[0] != block.data[1] || (block.data[0] != 'M' && block.data[0] != 'I'))
		return NORMAL;
	block.big_endian = block.data[0] == 'M';
	directory = read_32(&block, 4);
	if (read_16(&block, 2) != 42 || directory > length - 2)
		return NORMAL;
	entries = read_16(&block, directory);
	for (size_t at = directory + 2; entries && length - at >= ENTRY_BYTES; at += ENTRY_BYTES, entries--) {
		unsigned value = read_16(&block, at + 8);

		if (read_16(&block, at) == TAG_ORIENTATION && read_16(&block, at + 2) == TYPE_SHORT)
			return value >= NORMAL && value <= LAST ? value : NORMAL;
	}
	return NORMAL;
}
