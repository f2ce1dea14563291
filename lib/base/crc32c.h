/* CRC-32C (Castagnoli polynomial, RFC 3720 appendix B.4): proves chunks and log records against flipped bits. */
#ifndef DLSI_CRC32C_H
#define DLSI_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Continues `crc` (0 to begin) over more bytes: crc32c(crc32c(0, a), b) is that of a followed by b. Uses the
 * processor's instruction where there is one. Thread-safe. */
uint32_t dlsi_crc32c(uint32_t crc, const void *data, size_t length);

#endif
