#include "base/random.h"

#include "base/error.h"
#include <sodium.h>

int dlsi_random_start(void)
{
	return sodium_init() < 0 ? DLS_EIO : 0;
}

void dlsi_random_bytes(void *bytes_out, size_t length)
{
	randombytes_buf(bytes_out, length);
}

uint64_t dlsi_random_u64(void)
{
	uint64_t value;

	dlsi_random_bytes(&value, sizeof value);
	return value;
}

struct dlsi_id dlsi_random_id(void)
{
	struct dlsi_id id;

	dlsi_random_bytes(id.bytes, sizeof id.bytes);
	return id;
}
