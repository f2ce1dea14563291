/* Content hashes: BLAKE2b with 32 bytes of output (RFC 7693), through libsodium. The only file that hashes with it.
 * Thread-safe as long as each state is used by one thread. */
#ifndef DLSI_HASH_H
#define DLSI_HASH_H

#include "base/id.h"
#include <stddef.h>

#define DLSI_HASH_BYTES      32
#define DLSI_HASH_TEXT_BYTES (2 * DLSI_HASH_BYTES + 1)

struct dlsi_hash {
	uint8_t bytes[DLSI_HASH_BYTES];
};

/* Of a hash that is not complete. It may lie anywhere, and must stay where it was initialised. */
struct dlsi_hash_state {
	unsigned char opaque[384 + 63]; /* crypto_generichash_state, aligned to 64 bytes */
};

void dlsi_hash_init(struct dlsi_hash_state *state);
void dlsi_hash_update(struct dlsi_hash_state *state, const void *data, size_t length);
void dlsi_hash_final(struct dlsi_hash_state *state, struct dlsi_hash *hash_out);

/* The hash of one run of bytes. */
struct dlsi_hash dlsi_hash_of(const void *data, size_t length);

bool dlsi_hash_equal(const struct dlsi_hash *a, const struct dlsi_hash *b);

/* The first half of that hash: finds texts and other bytes in a map. */
struct dlsi_id dlsi_hash_key(const void *data, size_t length);

/* The 128-bit id of a tenant's key: BLAKE2b of both with their lengths before them, so that ("ab", "c") and ("a", "bc")
 * differ. The same key gives the same job on every master. */
struct dlsi_id dlsi_hash_job_id(const char *tenant, const char *key);

#endif
