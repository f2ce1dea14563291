/* Random bytes that nobody can guess: cluster ids, incarnations, tokens. Through libsodium; the only file that draws
 * them. Thread-safe. */
#ifndef DLSI_RANDOM_H
#define DLSI_RANDOM_H

#include "base/id.h"
#include <stddef.h>

/* Must succeed once before any of the calls below. Errors: DLS_EIO (the system has no source of randomness). */
int dlsi_random_start(void);

void dlsi_random_bytes(void *bytes_out, size_t length);
uint64_t dlsi_random_u64(void);
struct dlsi_id dlsi_random_id(void);

#endif
