/* 128-bit identities: jobs, clusters, tokens. Compared and ordered by their bytes, never by where they lie in memory.
 */
#ifndef DLSI_ID_H
#define DLSI_ID_H

#include <stdbool.h>
#include <stdint.h>

#define DLSI_ID_BYTES      16
#define DLSI_ID_TEXT_BYTES (2 * DLSI_ID_BYTES + 1) /* as lower-case hexadecimal with its NUL */

struct dlsi_id {
	uint8_t bytes[DLSI_ID_BYTES];
};

/* For tables; as good as random for whoever does not know the seed. */
uint64_t dlsi_id_hash(const struct dlsi_id *id, uint64_t seed);

int dlsi_id_compare(const struct dlsi_id *a, const struct dlsi_id *b);
bool dlsi_id_equal(const struct dlsi_id *a, const struct dlsi_id *b);
bool dlsi_id_is_zero(const struct dlsi_id *id);

/* Writes `length` bytes as lower-case hexadecimal and a NUL into text (2 * length + 1 bytes). */
void dlsi_hex(const uint8_t *bytes, unsigned length, char *text);

/* Reads exactly `length` bytes of hexadecimal, either case; false if the text is anything else. */
bool dlsi_unhex(const char *text, unsigned length, uint8_t *bytes_out);

#endif
