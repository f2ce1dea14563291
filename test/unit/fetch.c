#include "test/unit/fetch.h"

#include "base/clock.h"
#include "base/random.h"
#include "test/unit/transport.h"
#include "test/unit/unit.h"
#include <errno.h>
#include <string.h>
#include <time.h>

struct dlsi_dataplane *unit_plane(void *context, const char *endpoint, int64_t timeout_ns)
{
	struct dlsi_dataplane_config config = {.context = context, .endpoint = endpoint, .timeout_ns = timeout_ns};
	struct dlsi_dataplane *plane = NULL;
	struct dls_error err = {0};

	if (dlsi_dataplane_create(unit_alloc(), &config, &plane, &err))
		fail_msg("%s", err.text);
	return plane;
}

uint8_t *unit_bytes(uint64_t seed, size_t length)
{
	uint8_t *bytes = test_malloc(length + 8);
	struct dlsi_rng rng;

	dlsi_rng_init(&rng, seed);
	for (size_t i = 0; i < length; i += 8) {
		uint64_t number = dlsi_rng_next(&rng);

		memcpy(bytes + i, &number, sizeof number);
	}
	return bytes;
}

struct dlsi_blob unit_blob(const uint8_t *bytes, size_t length, enum dlsi_proof proof)
{
	struct dlsi_blob blob = {.length = length, .proof = (uint8_t)proof};

	if (proof == DLSI_PROOF_HASH)
		blob.name = dlsi_hash_of(bytes, length);
	else
		dlsi_random_bytes(blob.name.bytes, sizeof blob.name.bytes);
	return blob;
}

void unit_offer(
	struct dlsi_dataplane *plane, const struct dlsi_id *token, const struct dlsi_blob *blob, const uint8_t *bytes)
{
	struct dlsi_source source = {.frame = dlsi_frame_wrap(unit_alloc(), bytes, (size_t)blob->length, NULL, NULL)};
	struct dls_error err = {0};

	if (dlsi_dataplane_offer(plane, token, blob, &source, &err))
		fail_msg("%s", err.text);
	dlsi_frame_unref(source.frame);
}

static void note(void *arg, int code, struct dlsi_frame *frame, const struct dls_error *err)
{
	struct unit_result *result = arg;

	pthread_mutex_lock(&result->lock);
	result->calls++;
	result->code = code;
	result->frame = frame;
	if (code)
		result->err = *err;
	pthread_cond_signal(&result->changed);
	pthread_mutex_unlock(&result->lock);
}

struct dlsi_fetch unit_fetch_of(const char *endpoint, const struct dlsi_id *token, const struct dlsi_blob *blob)
{
	return (struct dlsi_fetch){.endpoint = endpoint, .token = *token, .blob = *blob, .length = blob->length};
}

int unit_try_fetch(
	struct dlsi_dataplane *plane, struct dlsi_fetch *fetch, struct unit_result *result, struct dls_error *err)
{
	memset(result, 0, sizeof *result);
	pthread_mutex_init(&result->lock, NULL);
	pthread_cond_init(&result->changed, NULL);
	fetch->done = note;
	fetch->arg = result;
	return dlsi_dataplane_fetch(plane, fetch, &result->number, err);
}

void unit_fetch(struct dlsi_dataplane *plane, struct dlsi_fetch *fetch, struct unit_result *result)
{
	struct dls_error err = {0};

	if (unit_try_fetch(plane, fetch, result, &err))
		fail_msg("%s", err.text);
}

int unit_wait(struct unit_result *result)
{
	struct timespec until;
	int rc = 0, code;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += UNIT_WAIT_MS / 1000;
	pthread_mutex_lock(&result->lock);
	while (!result->calls && rc != ETIMEDOUT)
		rc = pthread_cond_timedwait(&result->changed, &result->lock, &until);
	code = result->code;
	pthread_mutex_unlock(&result->lock);
	if (rc == ETIMEDOUT)
		fail_msg("the fetch does not end");
	return code;
}

void unit_result_fini(struct unit_result *result)
{
	pthread_mutex_lock(&result->lock);
	assert_int_equal(result->calls, 1);
	pthread_mutex_unlock(&result->lock);
	dlsi_frame_unref(result->frame);
	pthread_cond_destroy(&result->changed);
	pthread_mutex_destroy(&result->lock);
}
