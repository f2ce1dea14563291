/* Holders that nobody can connect to: they are called, connect themselves, and serve over that connection what the
 * fetches that wait for them need. */
#include "base/clock.h"
#include "base/limits.h"
#include "proto/message.h"
#include "test/unit/fetch.h"
#include "test/unit/site.h"
#include "test/unit/transport.h"
#include "test/unit/unit.h"
#include <string.h>

enum { CHUNK = DLSI_BLOB_CHUNK_BYTES, LENGTH = 12 * CHUNK + 5 };

static const struct dlsi_id token = {{5, 6, 7}};

/* A reader that listens, and a holder that does not. */
struct play {
	void *context;
	struct dlsi_dataplane *reader, *holder;
	uint8_t *bytes;
	struct dlsi_blob blob;
	struct dlsi_fetch fetch;
	struct unit_result result;
	atomic_uint calls;
	bool deaf;                 /* the holder does not heed them */
	struct dlsi_message asked; /* of it, where the test plays the holder */
};

static struct play play;

/* On the reader's thread. */
static void call(void *arg)
{
	(void)arg;
	if (!play.deaf)
		assert_int_equal(
			dlsi_dataplane_serve(play.holder, dlsi_dataplane_endpoint(play.reader), &token, NULL), 0);
	atomic_fetch_add(&play.calls, 1);
}

static void begin(const char *endpoint, int64_t timeout_ns)
{
	memset(&play, 0, sizeof play);
	play.context = zmq_ctx_new();
	play.reader = unit_plane(play.context, "tcp://127.0.0.1:0", timeout_ns);
	play.holder = unit_plane(play.context, NULL, 0);
	play.bytes = unit_bytes(3, LENGTH);
	play.blob = unit_blob(play.bytes, LENGTH, DLSI_PROOF_HASH);
	unit_offer(play.holder, &token, &play.blob, play.bytes);
	play.fetch = unit_fetch_of(endpoint, &token, &play.blob);
	play.fetch.call = call;
	play.fetch.fails_fast = true;
}

static void end(void)
{
	dlsi_dataplane_destroy(play.reader);
	dlsi_dataplane_destroy(play.holder);
	zmq_ctx_term(play.context);
	test_free(play.bytes);
}

static void fetch_well(void)
{
	unit_fetch(play.reader, &play.fetch, &play.result);
	if (unit_wait(&play.result))
		fail_msg("%s", play.result.err.text);
	assert_memory_equal(dlsi_frame_data(play.result.frame), play.bytes, LENGTH);
	unit_result_fini(&play.result);
}

static void test_holder_without_an_endpoint_connects(void **state)
{
	(void)state;
	begin("", 0);
	fetch_well();
	fetch_well(); /* over the same connection */
	assert_int_equal(atomic_load(&play.calls), 1);
	end();
}

/* Nobody listens there; after the first one has found that out the others call at once, or go over its connection. */
static void test_holder_out_of_reach_connects(void **state)
{
	(void)state;
	begin("ipc:///no/such/socket", 0);
	for (int i = 0; i < 3; i++)
		fetch_well();
	assert_int_equal(atomic_load(&play.calls), 1);
	end();
}

static void test_several_readers_of_one_holder(void **state)
{
	enum { FETCHES = 20 };
	struct unit_result results[FETCHES];

	(void)state;
	begin("", 0);
	for (int i = 0; i < FETCHES; i++)
		unit_fetch(play.reader, &play.fetch, &results[i]);
	for (int i = 0; i < FETCHES; i++) {
		assert_int_equal(unit_wait(&results[i]), 0);
		assert_memory_equal(dlsi_frame_data(results[i].frame), play.bytes, LENGTH);
		unit_result_fini(&results[i]);
	}
	end();
}

static void test_holder_that_does_not_come_is_given_up(void **state)
{
	(void)state;
	begin("", 300 * DLSI_MILLISECOND_NS);
	play.deaf = true;
	unit_fetch(play.reader, &play.fetch, &play.result);
	assert_int_equal(unit_wait(&play.result), DLS_EUNREACHABLE);
	assert_non_null(strstr(play.result.err.text, "has not connected here"));
	unit_result_fini(&play.result);
	assert_int_equal(atomic_load(&play.calls), 1);
	end();
}

static void test_who_cannot_be_called_has_no_address(void **state)
{
	(void)state;
	begin("", 0);
	play.fetch.call = NULL;
	unit_fetch(play.reader, &play.fetch, &play.result);
	assert_int_equal(unit_wait(&play.result), DLS_EADDRESS);
	unit_result_fini(&play.result);
	end();
}

/* A holder that the test plays itself: dials the reader and serves a token. */
static struct dlsi_transport *come(const struct dlsi_id *served, struct dlsi_peer *peer_out)
{
	struct dlsi_transport *transport = unit_dial(play.context, dlsi_dataplane_endpoint(play.reader));
	struct dlsi_record serve = {.kind = DLSI_SERVE, .serve = {.token = *served}};

	play.asked = (struct dlsi_message){0};
	*peer_out = unit_expect(transport, DLSI_ARRIVAL_CONNECTED).peer;
	unit_send_record(transport, *peer_out, &serve, NULL);
	return transport;
}

static struct dlsi_record next_question(struct dlsi_transport *transport)
{
	struct dlsi_record asked;

	while (!dlsi_message_next(&play.asked, &asked)) {
		struct dlsi_arrival arrival = unit_expect(transport, DLSI_ARRIVAL_MESSAGE);

		assert_int_equal(dlsi_message_open(arrival.block, arrival.length, 0, &play.asked, NULL), 0);
	}
	return asked;
}

/* Answers questions until so many chunks have been sent; where the first of them began. */
static uint64_t serve_chunks(struct dlsi_transport *transport, struct dlsi_peer peer, unsigned chunks)
{
	uint64_t first = UINT64_MAX;

	while (chunks) {
		struct dlsi_record asked = next_question(transport);
		struct dlsi_record data = {.kind = DLSI_DATA, .data = {.fetch = asked.read.fetch, .total = LENGTH}};
		struct dlsi_frame *frame = NULL;

		if (asked.kind == DLSI_READ) {
			first = first == UINT64_MAX ? asked.read.offset : first;
			data.data.offset = asked.read.offset;
			data.data.frames = 1;
			frame = dlsi_frame_copy(unit_alloc(), play.bytes + asked.read.offset, asked.read.length);
			chunks--;
		}
		unit_send_record(transport, peer, &data, frame);
		dlsi_frame_unref(frame);
	}
	return first;
}

/* The connection breaks in the middle: the holder is called again, and asked for the rest alone. */
static void test_lost_connection_is_called_back(void **state)
{
	struct dlsi_transport *transport;
	struct dlsi_peer peer;
	uint64_t offset;

	(void)state;
	begin("", 0);
	play.deaf = true;
	unit_fetch(play.reader, &play.fetch, &play.result);
	SITE_WAIT(atomic_load(&play.calls) == 1);
	transport = come(&token, &peer);
	serve_chunks(transport, peer, 10); /* the tenth is asked for when the first two have come */
	dlsi_transport_destroy(transport, 0);
	transport = come(&token, &peer);
	offset = serve_chunks(transport, peer, 1);
	assert_true(offset >= 2 * CHUNK);
	serve_chunks(transport, peer, (unsigned)((LENGTH - offset + CHUNK - 1) / CHUNK) - 1);
	assert_int_equal(unit_wait(&play.result), 0);
	assert_memory_equal(dlsi_frame_data(play.result.frame), play.bytes, LENGTH);
	unit_result_fini(&play.result);
	dlsi_transport_destroy(transport, 0);
	end();
}

/* Who does not know the token is asked for nothing. */
static void test_strangers_serve_nobody(void **state)
{
	const struct dlsi_id wrong = {{1}};
	struct dlsi_transport *stranger;
	struct dlsi_arrival arrival;
	struct dlsi_peer peer;

	(void)state;
	begin("", 0);
	play.deaf = true;
	unit_fetch(play.reader, &play.fetch, &play.result);
	SITE_WAIT(atomic_load(&play.calls) == 1);
	stranger = come(&wrong, &peer);
	play.deaf = false;
	call(NULL);
	assert_int_equal(unit_wait(&play.result), 0);
	unit_result_fini(&play.result);
	assert_int_equal(dlsi_transport_next(stranger, &arrival), 0);
	dlsi_transport_destroy(stranger, 0);
	end();
}

static void test_token_that_opens_nothing_is_refused(void **state)
{
	struct dlsi_id other = {{8}};

	(void)state;
	begin("", 0);
	play.fetch.token = other;
	play.deaf = true;
	unit_fetch(play.reader, &play.fetch, &play.result);
	SITE_WAIT(atomic_load(&play.calls) == 1);
	assert_int_equal(dlsi_dataplane_serve(play.holder, dlsi_dataplane_endpoint(play.reader), &other, NULL), 0);
	assert_int_equal(unit_wait(&play.result), DLS_EDENIED);
	unit_result_fini(&play.result);
	end();
}

UNIT_MAIN(test_holder_without_an_endpoint_connects, test_holder_out_of_reach_connects,
	test_several_readers_of_one_holder, test_holder_that_does_not_come_is_given_up,
	test_who_cannot_be_called_has_no_address, test_lost_connection_is_called_back, test_strangers_serve_nobody,
	test_token_that_opens_nothing_is_refused)
