/* Blobs between data planes over real sockets: whole and in parts, in memory and in files, many at once, refused,
 * cancelled. */
#include "base/clock.h"
#include "base/file.h"
#include "test/unit/fetch.h"
#include "test/unit/transport.h"
#include "test/unit/unit.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct dlsi_id token = {{1, 2, 3}}, wrong_token = {{1, 2, 4}};

/* Two processes, as far as they can tell. */
struct planes {
	void *contexts[2];
	struct dlsi_dataplane *holder, *reader;
	const char *endpoint;
};

static struct planes begin(const char *endpoint)
{
	struct planes planes = {.contexts = {zmq_ctx_new(), zmq_ctx_new()}};
	void *readers = strncmp(endpoint, "inproc", 6) == 0 ? planes.contexts[0] : planes.contexts[1];

	planes.holder = unit_plane(planes.contexts[0], endpoint, 0);
	planes.reader = unit_plane(readers, NULL, 0);
	planes.endpoint = dlsi_dataplane_endpoint(planes.holder);
	return planes;
}

static void end(struct planes *planes)
{
	dlsi_dataplane_destroy(planes->reader);
	dlsi_dataplane_destroy(planes->holder);
	zmq_ctx_term(planes->contexts[0]);
	zmq_ctx_term(planes->contexts[1]);
}

static void assert_frame(const struct unit_result *result, const uint8_t *bytes, size_t length)
{
	assert_non_null(result->frame);
	assert_int_equal(dlsi_frame_size(result->frame), length);
	assert_memory_equal(dlsi_frame_data(result->frame), bytes, length);
}

/* Fetches and expects this code; the sentence is in *result for a caller that wants it. */
static void expect_code(struct dlsi_dataplane *plane, struct dlsi_fetch *fetch, int code, struct unit_result *result)
{
	unit_fetch(plane, fetch, result);
	assert_int_equal(unit_wait(result), code);
	assert_null(result->frame);
	unit_result_fini(result);
}

static void test_whole_blobs_and_parts(void **state)
{
	static const size_t lengths[] = {
		0, 1, DLSI_BLOB_CHUNK_BYTES - 1, DLSI_BLOB_CHUNK_BYTES, DLSI_BLOB_CHUNK_BYTES + 1, 5000000};
	char ipc[200];
	const char *const endpoints[] = {"tcp://127.0.0.1:0", ipc, "inproc://holder"};

	(void)state;
	snprintf(ipc, sizeof ipc, "ipc://%s/socket", unit_folder());
	for (size_t e = 0; e < sizeof endpoints / sizeof *endpoints; e++) {
		struct planes planes = begin(endpoints[e]);

		for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
			struct dlsi_rng rng = unit_rng(100 * e + i + 1);
			uint8_t *bytes = unit_bytes(i + 1, lengths[i]);
			struct dlsi_blob blob = unit_blob(bytes, lengths[i], 1 + (e + i) % 2);
			struct dlsi_fetch fetch = unit_fetch_of(planes.endpoint, &token, &blob);
			struct unit_result result;

			unit_offer(planes.holder, &token, &blob, bytes);
			fetch.same_host = i % 3 == 0;
			unit_fetch(planes.reader, &fetch, &result);
			assert_int_equal(unit_wait(&result), 0);
			assert_frame(&result, bytes, lengths[i]);
			unit_result_fini(&result);
			for (int part = 0; part < 5; part++) {
				fetch.offset = dlsi_rng_below(&rng, lengths[i] + 1);
				fetch.length = dlsi_rng_below(&rng, lengths[i] - fetch.offset + 1);
				unit_fetch(planes.reader, &fetch, &result);
				assert_int_equal(unit_wait(&result), 0);
				assert_frame(&result, bytes + fetch.offset, (size_t)fetch.length);
				unit_result_fini(&result);
			}
			dlsi_dataplane_withdraw(planes.holder, &token, &blob.name);
			test_free(bytes);
		}
		end(&planes);
	}
}

static void test_from_a_file(void **state)
{
	enum { BEFORE = 1000, LENGTH = 3000000 };
	struct planes planes = begin("tcp://127.0.0.1:0");
	uint8_t *bytes = unit_bytes(1, BEFORE + LENGTH);
	struct dlsi_blob blob = unit_blob(bytes + BEFORE, LENGTH, DLSI_PROOF_HASH);
	struct dlsi_fetch fetch = unit_fetch_of(planes.endpoint, &token, &blob);
	char path[200];
	struct dlsi_source source = {.path = path, .offset = BEFORE};
	struct unit_result result;

	(void)state;
	snprintf(path, sizeof path, "%s/file", unit_folder());
	assert_int_equal(dlsi_file_write(unit_alloc(), path, 0600, bytes, BEFORE + LENGTH, NULL), 0);
	assert_int_equal(dlsi_dataplane_offer(planes.holder, &token, &blob, &source, NULL), 0);
	for (int own = 0; own < 2; own++) { /* over the socket, and in the process that offers it */
		unit_fetch(own ? planes.holder : planes.reader, &fetch, &result);
		assert_int_equal(unit_wait(&result), 0);
		assert_int_equal(dlsi_frame_size(result.frame), LENGTH);
		assert_memory_equal(dlsi_frame_data(result.frame), bytes + BEFORE, LENGTH);
		unit_result_fini(&result);
	}
	bytes[BEFORE + LENGTH - 1] ^= 1;
	assert_int_equal(dlsi_file_write(unit_alloc(), path, 0600, bytes, BEFORE + LENGTH, NULL), 0);
	expect_code(planes.reader, &fetch, DLS_EFORMAT, &result);
	expect_code(planes.holder, &fetch, DLS_EFORMAT, &result);
	assert_int_equal(truncate(path, LENGTH), 0);
	expect_code(planes.reader, &fetch, DLS_EIO, &result);
	assert_non_null(strstr(result.err.text, "shorter"));
	test_free(bytes);
	end(&planes);
}

static void test_many_at_once(void **state)
{
	enum { FETCHES = 3 * DLSI_FETCHES_AT_ONCE, LENGTH = 1500000 };
	struct planes left = begin("tcp://127.0.0.1:0"), right = begin("tcp://127.0.0.1:0");
	struct unit_result *results = test_malloc(FETCHES * sizeof *results);
	uint8_t *bytes = unit_bytes(1, LENGTH + FETCHES);
	struct dlsi_blob blobs[FETCHES];

	(void)state;
	for (int i = 0; i < FETCHES; i++) {
		struct planes *holder = i % 2 ? &left : &right;
		struct dlsi_fetch fetch;

		blobs[i] = unit_blob(bytes + i, LENGTH, i % 3 ? DLSI_PROOF_HASH : DLSI_PROOF_CHECKSUM);
		unit_offer(holder->holder, &token, &blobs[i], bytes + i);
		fetch = unit_fetch_of(holder->endpoint, &token, &blobs[i]);
		unit_fetch(left.reader, &fetch, &results[i]);
	}
	for (int i = 0; i < FETCHES; i++) {
		assert_int_equal(unit_wait(&results[i]), 0);
		assert_frame(&results[i], bytes + i, LENGTH);
		unit_result_fini(&results[i]);
	}
	end(&left);
	end(&right);
	test_free(bytes);
	test_free(results);
}

static void test_refusals_name_their_reason(void **state)
{
	struct planes planes = begin("tcp://127.0.0.1:0");
	uint8_t *bytes = unit_bytes(1, 1000);
	struct dlsi_blob blob = unit_blob(bytes, 1000, DLSI_PROOF_HASH);
	struct dlsi_fetch fetch = unit_fetch_of(planes.endpoint, &wrong_token, &blob);
	struct unit_result result;

	(void)state;
	unit_offer(planes.holder, &token, &blob, bytes);
	expect_code(planes.reader, &fetch, DLS_EDENIED, &result);
	assert_non_null(strstr(result.err.text, planes.endpoint));
	expect_code(planes.holder, &fetch, DLS_EDENIED, &result); /* from itself, by its socket */
	fetch.token = token;
	fetch.blob.name.bytes[0] ^= 1;
	expect_code(planes.reader, &fetch, DLS_ENOTFOUND, &result);
	fetch.blob = blob;
	fetch.blob.length = 1001;
	expect_code(planes.reader, &fetch, DLS_EFORMAT, &result);
	expect_code(planes.holder, &fetch, DLS_EFORMAT, &result);
	fetch.offset = 2;
	assert_int_equal(dlsi_dataplane_fetch(planes.reader, &fetch, NULL, NULL), DLS_EINVAL);
	fetch.blob.length = UINT64_MAX;
	assert_int_equal(dlsi_dataplane_fetch(planes.reader, &fetch, NULL, NULL), DLS_EINVAL);
	fetch = unit_fetch_of("nonsense", &token, &blob);
	expect_code(planes.reader, &fetch, DLS_EADDRESS, &result);
	fetch = unit_fetch_of("tcp://localhost:1", &token, &blob); /* a name that a server might have to be asked for */
	expect_code(planes.reader, &fetch, DLS_EADDRESS, &result);
	fetch = unit_fetch_of(planes.endpoint, &token, &blob);
	bytes[7] ^= 1; /* what is offered is not what its name says */
	expect_code(planes.reader, &fetch, DLS_EFORMAT, &result);
	assert_non_null(strstr(result.err.text, "hash"));
	dlsi_dataplane_withdraw(planes.holder, &token, &blob.name);
	expect_code(planes.reader, &fetch, DLS_ENOTFOUND, &result);
	test_free(bytes);
	end(&planes);
}

static void test_own_memory_is_not_copied(void **state)
{
	void *context = zmq_ctx_new();
	struct dlsi_dataplane *plane = unit_plane(context, NULL, 0);
	uint8_t *bytes = unit_bytes(1, 1000000);
	struct dlsi_blob blob = unit_blob(bytes, 1000000, DLSI_PROOF_CHECKSUM);
	struct dlsi_fetch fetch = unit_fetch_of("", &token, &blob);
	struct unit_result result;

	(void)state;
	assert_string_equal(dlsi_dataplane_endpoint(plane), "");
	unit_offer(plane, &token, &blob, bytes);
	fetch.offset = 10;
	fetch.length = 999000;
	unit_fetch(plane, &fetch, &result);
	assert_int_equal(unit_wait(&result), 0);
	assert_ptr_equal(dlsi_frame_data(result.frame), bytes + 10);
	assert_int_equal(dlsi_frame_size(result.frame), 999000);
	unit_result_fini(&result);
	dlsi_dataplane_destroy(plane);
	zmq_ctx_term(context);
	test_free(bytes);
}

static void test_unreachable_holder_is_named(void **state)
{
	void *context = zmq_ctx_new();
	struct dlsi_dataplane *plane = unit_plane(context, NULL, 200 * DLSI_MILLISECOND_NS);
	struct dlsi_blob blob = {.length = 1000, .proof = DLSI_PROOF_HASH};
	struct dlsi_transport *listener = unit_listen(context, "tcp://127.0.0.1:0");
	struct dlsi_fetch silent = unit_fetch_of(dlsi_transport_endpoint(listener), &token, &blob);
	struct dlsi_fetch absent = unit_fetch_of("ipc:///no/such/socket", &token, &blob);
	struct unit_result result;

	(void)state;
	expect_code(plane, &silent, DLS_EUNREACHABLE, &result);
	assert_non_null(strstr(result.err.text, silent.endpoint));
	expect_code(plane, &absent, DLS_EUNREACHABLE, &result);
	assert_non_null(strstr(result.err.text, absent.endpoint));
	dlsi_dataplane_destroy(plane);
	dlsi_transport_destroy(listener, 0);
	zmq_ctx_term(context);
}

/* A holder that never answers, so that all fetches from it stay. */
static void test_cancel_and_limits(void **state)
{
	enum { FETCHES = DLSI_FETCHES_AT_ONCE + DLSI_FETCHES_WAITING };
	void *context = zmq_ctx_new();
	struct dlsi_dataplane *plane = unit_plane(context, NULL, 0);
	struct dlsi_transport *listener = unit_listen(context, "inproc://silent");
	struct dlsi_blob blob = {.length = 1000, .proof = DLSI_PROOF_HASH};
	struct dlsi_fetch fetch = unit_fetch_of("inproc://silent", &token, &blob);
	struct unit_result *results = test_malloc(FETCHES * sizeof *results);
	int rc = 0;

	(void)state;
	for (int i = 0; i < DLSI_FETCHES_AT_ONCE; i++)
		unit_fetch(plane, &fetch, &results[i]);
	for (int i = 0; i < DLSI_FETCHES_AT_ONCE; i++) { /* all have begun */
		struct dlsi_arrival arrival = unit_expect(listener, DLSI_ARRIVAL_MESSAGE);

		unit_arrival_release(&arrival);
	}
	for (int i = DLSI_FETCHES_AT_ONCE; i < FETCHES; i++)
		unit_fetch(plane, &fetch, &results[i]);
	rc = dlsi_dataplane_fetch(plane, &fetch, NULL, NULL);
	assert_int_equal(rc, DLS_EBUSY);
	for (int i = 0; i < FETCHES; i += FETCHES - 1) { /* one that has begun, one that waits */
		dlsi_dataplane_cancel(plane, results[i].number);
		assert_int_equal(unit_wait(&results[i]), DLS_ECANCELLED);
	}
	dlsi_dataplane_cancel(plane, results[0].number);
	dlsi_dataplane_cancel(plane, 1000000);
	dlsi_dataplane_destroy(plane);
	for (int i = 0; i < FETCHES; i++) {
		assert_int_equal(unit_wait(&results[i]), DLS_ECANCELLED);
		unit_result_fini(&results[i]);
	}
	dlsi_transport_destroy(listener, 0);
	zmq_ctx_term(context);
	test_free(results);
}

static void test_terminated_context(void **state)
{
	void *context = zmq_ctx_new();
	struct dlsi_dataplane *plane = unit_plane(context, "inproc://terminated", 0);
	struct dlsi_transport *listener = unit_listen(context, "inproc://silent");
	struct dlsi_blob blob = {.length = 1000, .proof = DLSI_PROOF_HASH};
	struct dlsi_fetch fetch = unit_fetch_of("inproc://silent", &token, &blob);
	struct dlsi_arrival arrival;
	struct unit_result result;

	(void)state;
	unit_fetch(plane, &fetch, &result);
	unit_expect(listener, DLSI_ARRIVAL_MESSAGE); /* it has begun */
	zmq_ctx_shutdown(context);
	assert_int_equal(unit_wait(&result), DLS_ECANCELLED);
	assert_int_equal(dlsi_dataplane_fetch(plane, &fetch, NULL, NULL), DLS_ESTATE);
	assert_int_equal(dlsi_transport_next(listener, &arrival), DLS_ESTATE);
	unit_result_fini(&result);
	dlsi_dataplane_destroy(plane);
	dlsi_transport_destroy(listener, 0);
	zmq_ctx_term(context);
}

/* One fetch by a plane whose memory fails from the n-th request on. Frames that cannot be kept look like a holder that
 * does not answer. */
static int fetch_failing_at(unsigned n, struct dlsi_dataplane *holder, const struct dlsi_blob *blob)
{
	void *context = zmq_ctx_new();
	struct dlsi_dataplane_config config = {.context = context, .timeout_ns = 100 * DLSI_MILLISECOND_NS};
	struct dlsi_dataplane *plane = NULL;
	struct unit_result result;
	int rc = dlsi_dataplane_create(unit_alloc_failing_at(n), &config, &plane, NULL);

	if (rc == 0) {
		struct dlsi_fetch fetch = unit_fetch_of(dlsi_dataplane_endpoint(holder), &token, blob);

		rc = unit_try_fetch(plane, &fetch, &result, NULL);
		if (rc == 0) {
			rc = unit_wait(&result);
			unit_result_fini(&result);
		}
		dlsi_dataplane_destroy(plane);
	}
	zmq_ctx_term(context);
	return rc;
}

static void test_memory_runs_out(void **state)
{
	struct planes planes = begin("tcp://127.0.0.1:0");
	uint8_t *bytes = unit_bytes(1, 600000);
	struct dlsi_blob blob = unit_blob(bytes, 600000, DLSI_PROOF_HASH);
	unsigned n = 1;
	int rc;

	(void)state;
	unit_offer(planes.holder, &token, &blob, bytes);
	while ((rc = fetch_failing_at(n, planes.holder, &blob))) {
		assert_true(rc == DLS_ENOMEM || rc == DLS_EUNREACHABLE);
		assert_true(++n < 60);
	}
	assert_true(n > 10);
	test_free(bytes);
	end(&planes);
}

/* Fetches are begun from the callback of others. */
struct chain {
	struct dlsi_dataplane *plane;
	struct dlsi_fetch fetch;
	unsigned left;
	struct unit_result last;
};

static void follow(void *arg, int code, struct dlsi_frame *frame, const struct dls_error *err)
{
	struct chain *chain = arg;
	struct unit_result *last = &chain->last;

	(void)err;
	dlsi_frame_unref(frame);
	if (code == 0 && --chain->left)
		code = dlsi_dataplane_fetch(chain->plane, &chain->fetch, NULL, NULL);
	if (code == 0 && chain->left)
		return;
	pthread_mutex_lock(&last->lock);
	last->calls++;
	last->code = code;
	pthread_cond_signal(&last->changed);
	pthread_mutex_unlock(&last->lock);
}

static void test_callbacks_may_fetch(void **state)
{
	struct planes planes = begin("tcp://127.0.0.1:0");
	uint8_t *bytes = unit_bytes(1, 300000);
	struct dlsi_blob blob = unit_blob(bytes, 300000, DLSI_PROOF_HASH);
	struct chain chain = {
		.plane = planes.reader, .fetch = unit_fetch_of(planes.endpoint, &token, &blob), .left = 50};

	(void)state;
	unit_offer(planes.holder, &token, &blob, bytes);
	pthread_mutex_init(&chain.last.lock, NULL);
	pthread_cond_init(&chain.last.changed, NULL);
	chain.fetch.done = follow;
	chain.fetch.arg = &chain;
	assert_int_equal(dlsi_dataplane_fetch(planes.reader, &chain.fetch, NULL, NULL), 0);
	assert_int_equal(unit_wait(&chain.last), 0);
	assert_int_equal(chain.left, 0);
	unit_result_fini(&chain.last);
	end(&planes);
	test_free(bytes);
}

static void test_idle_holders_are_dropped_and_made_again(void **state)
{
	enum { HOLDERS = 70 }; /* more than a reader keeps */
	void *context = zmq_ctx_new();
	struct dlsi_dataplane *holders[HOLDERS], *reader = unit_plane(context, NULL, 0);
	uint8_t *bytes = unit_bytes(1, 1000);
	struct dlsi_blob blob = unit_blob(bytes, 1000, DLSI_PROOF_HASH);

	(void)state;
	for (int i = 0; i < HOLDERS; i++) {
		char name[40];

		snprintf(name, sizeof name, "inproc://holder-%d", i);
		holders[i] = unit_plane(context, name, 0);
		unit_offer(holders[i], &token, &blob, bytes);
	}
	for (int i = 0; i < 2 * HOLDERS; i++) {
		struct dlsi_fetch fetch = unit_fetch_of(dlsi_dataplane_endpoint(holders[i % HOLDERS]), &token, &blob);
		struct unit_result result;

		unit_fetch(reader, &fetch, &result);
		assert_int_equal(unit_wait(&result), 0);
		unit_result_fini(&result);
	}
	dlsi_dataplane_destroy(reader);
	for (int i = 0; i < HOLDERS; i++)
		dlsi_dataplane_destroy(holders[i]);
	zmq_ctx_term(context);
	test_free(bytes);
}

UNIT_MAIN(test_whole_blobs_and_parts, test_from_a_file, test_many_at_once, test_refusals_name_their_reason,
	test_own_memory_is_not_copied, test_unreachable_holder_is_named, test_cancel_and_limits,
	test_callbacks_may_fetch, test_idle_holders_are_dropped_and_made_again, test_terminated_context,
	test_memory_runs_out)
