#include "base/hash.h"

#include <sodium.h>
#include <string.h>

#define ALIGNMENT 64

_Static_assert(
	sizeof(struct dlsi_hash_state) >= sizeof(crypto_generichash_state) + ALIGNMENT - 1, "room for the state");
_Static_assert(_Alignof(crypto_generichash_state) <= ALIGNMENT, "what is aligned here is enough");

static crypto_generichash_state *inner(struct dlsi_hash_state *state)
{
	size_t off = -(uintptr_t)state->opaque % ALIGNMENT;

	return (crypto_generichash_state *)(void *)(state->opaque + off);
}

void dlsi_hash_init(struct dlsi_hash_state *state)
{
	crypto_generichash_init(inner(state), NULL, 0, DLSI_HASH_BYTES);
}

void dlsi_hash_update(struct dlsi_hash_state *state, const void *data, size_t length)
{
	crypto_generichash_update(inner(state), data, length);
}

void dlsi_hash_final(struct dlsi_hash_state *state, struct dlsi_hash *hash_out)
{
	crypto_generichash_final(inner(state), hash_out->bytes, DLSI_HASH_BYTES);
}

struct dlsi_hash dlsi_hash_of(const void *data, size_t length)
{
	struct dlsi_hash hash;

	crypto_generichash(hash.bytes, DLSI_HASH_BYTES, data, length, NULL, 0);
	return hash;
}

struct dlsi_id dlsi_hash_key(const void *data, size_t length)
{
	struct dlsi_hash hash = dlsi_hash_of(data, length);
	struct dlsi_id key;

	memcpy(key.bytes, hash.bytes, sizeof key.bytes);
	return key;
}

bool dlsi_hash_equal(const struct dlsi_hash *a, const struct dlsi_hash *b)
{
	return memcmp(a->bytes, b->bytes, DLSI_HASH_BYTES) == 0;
}

static void update_text(struct dlsi_hash_state *state, const char *text)
{
	uint64_t length = strlen(text);
	uint8_t prefix[8];

	for (int i = 0; i < 8; i++)
		prefix[i] = (uint8_t)(length >> 8 * i);
	dlsi_hash_update(state, prefix, sizeof prefix);
	dlsi_hash_update(state, text, length);
}

struct dlsi_id dlsi_hash_job_id(const char *tenant, const char *key)
{
	struct dlsi_hash_state state;
	struct dlsi_hash hash;
	struct dlsi_id id;

	dlsi_hash_init(&state);
	update_text(&state, tenant);
	update_text(&state, key);
	dlsi_hash_final(&state, &hash);
	memcpy(id.bytes, hash.bytes, sizeof id.bytes);
	return id;
}
