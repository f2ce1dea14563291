/* BLAKE2b-256 as other programs compute it, and job ids that are the same on every master. */
#include "base/hash.h"
#include "test/unit/unit.h"
#include <string.h>

static void assert_hash(const void *data, size_t length, const char *expected)
{
	struct dlsi_hash hash = dlsi_hash_of(data, length);
	char text[DLSI_HASH_TEXT_BYTES];

	dlsi_hex(hash.bytes, DLSI_HASH_BYTES, text);
	assert_string_equal(text, expected);
}

/* Expected by Python's hashlib.blake2b(data, digest_size=32). */
static void test_known_hashes(void **state)
{
	uint8_t bytes[256];

	(void)state;
	for (int i = 0; i < 256; i++)
		bytes[i] = (uint8_t)i;
	assert_hash("", 0, "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
	assert_hash("abc", 3, "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
	assert_hash(bytes, 256, "39a7eb9fedc19aabc83425c6755dd90e6f9d0c804964a1f4aaeea3b9fb599835");
}

static void test_in_pieces(void **state)
{
	uint8_t bytes[1000];
	struct dlsi_rng rng = unit_rng(1);

	(void)state;
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)dlsi_rng_next(&rng);
	for (int round = 0; round < 200; round++) {
		struct dlsi_hash_state hashing;
		struct dlsi_hash whole = dlsi_hash_of(bytes, sizeof bytes), pieces;

		dlsi_hash_init(&hashing);
		for (size_t at = 0, length; at < sizeof bytes; at += length) {
			length = dlsi_rng_below(&rng, 300);
			length = length < sizeof bytes - at ? length : sizeof bytes - at;
			dlsi_hash_update(&hashing, bytes + at, length);
		}
		dlsi_hash_final(&hashing, &pieces);
		assert_true(dlsi_hash_equal(&whole, &pieces));
		bytes[dlsi_rng_below(&rng, sizeof bytes)] ^= 1;
		pieces = dlsi_hash_of(bytes, sizeof bytes);
		assert_false(dlsi_hash_equal(&whole, &pieces));
	}
}

/* Expected by hashlib over pack("<Q", 6) + b"tenant" + pack("<Q", 3) + b"key". */
static void test_job_ids(void **state)
{
	struct dlsi_id id = dlsi_hash_job_id("tenant", "key"), other;
	char text[DLSI_ID_TEXT_BYTES];

	(void)state;
	dlsi_hex(id.bytes, DLSI_ID_BYTES, text);
	assert_string_equal(text, "41ec47302a298951cefb9fc65b245ead");
	id = dlsi_hash_job_id("ab", "c");
	other = dlsi_hash_job_id("a", "bc");
	assert_false(dlsi_id_equal(&id, &other));
}

UNIT_MAIN(test_known_hashes, test_in_pieces, test_job_ids)
