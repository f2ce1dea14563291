/* The data plane among strangers: holders that lie, are silent, die and come back, and readers that ask for too much.
 */
#include "base/clock.h"
#include "base/crc32c.h"
#include "base/file.h"
#include "proto/message.h"
#include "test/unit/fetch.h"
#include "test/unit/transport.h"
#include "test/unit/unit.h"
#include <malloc.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { CHUNK = DLSI_BLOB_CHUNK_BYTES, LENGTH = 10 * CHUNK + 7 };

static const struct dlsi_id token = {{9, 9}};

/* A holder that the test plays itself, and one fetch from it. */
struct play {
	void *context;
	struct dlsi_transport *holder;
	struct dlsi_dataplane *reader;
	uint8_t *bytes;
	struct dlsi_blob blob;
	struct dlsi_fetch fetch;
	struct unit_result result;
	struct dlsi_arrival arrival; /* the message that records are read from */
	struct dlsi_message message;
};

static void begin(struct play *play, enum dlsi_proof proof, int64_t timeout_ns)
{
	memset(play, 0, sizeof *play);
	play->context = zmq_ctx_new();
	play->holder = unit_listen(play->context, "tcp://127.0.0.1:0");
	play->reader = unit_plane(play->context, NULL, timeout_ns);
	play->bytes = unit_bytes(1, LENGTH);
	play->blob = unit_blob(play->bytes, LENGTH, proof);
	play->fetch = unit_fetch_of(dlsi_transport_endpoint(play->holder), &token, &play->blob);
	unit_fetch(play->reader, &play->fetch, &play->result);
}

static void end(struct play *play, int code)
{
	assert_int_equal(unit_wait(&play->result), code);
	unit_result_fini(&play->result);
	dlsi_dataplane_destroy(play->reader);
	dlsi_transport_destroy(play->holder, 0);
	zmq_ctx_term(play->context);
	test_free(play->bytes);
}

/* The next record that the reader sends. */
static struct dlsi_record next_record(struct play *play)
{
	struct dlsi_record record;

	while (!dlsi_message_next(&play->message, &record)) {
		play->arrival = unit_expect(play->holder, DLSI_ARRIVAL_MESSAGE);
		assert_int_equal(dlsi_message_open(play->arrival.block, play->arrival.length, play->arrival.frame_count,
					 &play->message, NULL),
			0);
	}
	return record;
}

static void answer_open(struct play *play)
{
	struct dlsi_record asked = next_record(play), data = {.kind = DLSI_DATA, .data = {.total = LENGTH}};

	assert_int_equal(asked.kind, DLSI_OPEN);
	assert_true(dlsi_id_equal(&asked.open.token, &token));
	assert_true(dlsi_hash_equal(&asked.open.name, &play->blob.name));
	data.data.fetch = asked.open.fetch;
	unit_send_record(play->holder, play->arrival.peer, &data, NULL);
}

/* Answers the next READ with what is asked for, but for what the test changes: the checksum, and how many bytes come.
 */
static struct dlsi_read answer_read(struct play *play, uint32_t checksum_error, int length_error)
{
	struct dlsi_record asked = next_record(play), data = {.kind = DLSI_DATA};
	const uint8_t *bytes = play->bytes + asked.read.offset;
	size_t length = asked.read.length + (size_t)length_error;
	struct dlsi_frame *frame = dlsi_frame_copy(unit_alloc(), bytes, length);

	assert_int_equal(asked.kind, DLSI_READ);
	data.data = (struct dlsi_data){
		.fetch = asked.read.fetch, .offset = asked.read.offset, .total = LENGTH, .frames = 1};
	if (asked.read.checked)
		data.data.checksum = dlsi_crc32c(0, bytes, length) ^ checksum_error;
	unit_send_record(play->holder, play->arrival.peer, &data, frame);
	dlsi_frame_unref(frame);
	return asked.read;
}

static void test_chunks_are_asked_for_in_a_window(void **state)
{
	struct play play;
	uint64_t offset = 0;

	(void)state;
	begin(&play, DLSI_PROOF_CHECKSUM, 0);
	answer_open(&play);
	for (int i = 0; i <= 10; i++) {
		struct dlsi_read read = answer_read(&play, 0, 0);

		assert_int_equal(read.offset, offset);
		assert_int_equal(read.length, i < 10 ? CHUNK : 7);
		assert_int_equal(read.checked, 1);
		offset += read.length;
	}
	end(&play, 0);
}

static void test_damaged_chunk(void **state)
{
	struct play play;

	(void)state;
	begin(&play, DLSI_PROOF_CHECKSUM, 0);
	answer_open(&play);
	answer_read(&play, 0, 0);
	answer_read(&play, 1, 0);
	assert_int_equal(unit_wait(&play.result), DLS_EFORMAT);
	assert_non_null(strstr(play.result.err.text, "checksum"));
	end(&play, DLS_EFORMAT);
}

static void test_chunk_of_another_length(void **state)
{
	struct play play;

	(void)state;
	for (int error = -1; error <= 1; error += 2) {
		begin(&play, DLSI_PROOF_HASH, 0);
		answer_open(&play);
		answer_read(&play, 0, error);
		end(&play, DLS_EFORMAT);
	}
}

static void test_silence_after_the_first_answers(void **state)
{
	struct play play;

	(void)state;
	begin(&play, DLSI_PROOF_HASH, 300 * DLSI_MILLISECOND_NS);
	answer_open(&play);
	answer_read(&play, 0, 0);
	assert_int_equal(unit_wait(&play.result), DLS_EUNREACHABLE);
	assert_non_null(strstr(play.result.err.text, play.fetch.endpoint));
	end(&play, DLS_EUNREACHABLE);
}

static void test_errors_of_the_holder(void **state)
{
	struct play play;
	struct dlsi_record asked,
		error = {.kind = DLSI_ERROR, .error = {.code = 7, .sentence = dlsi_text_of("no\x1b[2J way")}};

	(void)state;
	begin(&play, DLSI_PROOF_HASH, 0);
	asked = next_record(&play);
	error.error.fetch = asked.open.fetch;
	unit_send_record(play.holder, play.arrival.peer, &error, NULL);
	assert_int_equal(unit_wait(&play.result), DLS_EPROTOCOL); /* its code is none */
	assert_non_null(strstr(play.result.err.text, "no?[2J way"));
	end(&play, DLS_EPROTOCOL);
}

static void test_what_was_not_asked_for_is_ignored(void **state)
{
	struct play play;
	struct dlsi_record data = {.kind = DLSI_DATA, .data = {.frames = 1}}, other = {.kind = DLSI_LEAVE};
	struct dlsi_frame *frame = dlsi_frame_copy(unit_alloc(), "rubbish", 7);

	(void)state;
	begin(&play, DLSI_PROOF_CHECKSUM, 0);
	data.data.fetch = next_record(&play).open.fetch;
	data.data.offset = CHUNK;
	unit_send_record(play.holder, play.arrival.peer, &data, frame); /* before it is open */
	unit_send_record(play.holder, play.arrival.peer, &other, NULL);
	assert_int_equal(
		dlsi_transport_send(play.holder, play.arrival.peer, (const uint8_t *)"no message", 10, &frame, 1), 0);
	data.data = (struct dlsi_data){.fetch = data.data.fetch, .total = LENGTH};
	unit_send_record(play.holder, play.arrival.peer, &data, NULL);
	unit_send_record(play.holder, play.arrival.peer, &data, NULL); /* a second time */
	data.data = (struct dlsi_data){.fetch = data.data.fetch, .offset = 5 * CHUNK, .frames = 1};
	unit_send_record(play.holder, play.arrival.peer, &data, frame);
	data.data.fetch += 1;
	unit_send_record(play.holder, play.arrival.peer, &data, frame);
	for (int i = 0; i <= 10; i++)
		answer_read(&play, 0, 0);
	dlsi_frame_unref(frame);
	end(&play, 0);
}

/* The holder dies in the middle; the next one at its address is asked only for what is missing. */
static void test_resumes_where_it_was(void **state)
{
	struct play play;
	char endpoint[DLSI_ENDPOINT_BYTES + 1];
	uint64_t offset;

	(void)state;
	begin(&play, DLSI_PROOF_HASH, 0);
	snprintf(endpoint, sizeof endpoint, "%s", dlsi_transport_endpoint(play.holder));
	answer_open(&play);
	for (int i = 0; i < 6; i++)
		answer_read(&play, 0, 0);
	while (next_record(&play).read.offset <
		9 * CHUNK) /* it has the first two at least when it asks for the tenth */
		;
	dlsi_transport_destroy(play.holder, 0);
	play.holder = unit_listen(play.context, endpoint);
	play.message = (struct dlsi_message){0};
	offset = answer_read(&play, 0, 0).offset;
	assert_in_range(offset, 2 * CHUNK, 6 * CHUNK);
	for (offset += CHUNK; offset < LENGTH; offset += CHUNK)
		assert_int_equal(answer_read(&play, 0, 0).offset, offset);
	end(&play, 0);
}

/* Sends messages of all sorts to a data plane that offers one blob, and fetches that in the end. */
static void test_readers_that_ask_for_too_much(void **state)
{
	const struct dlsi_id wrong = {{1}};
	void *context = zmq_ctx_new();
	struct dlsi_dataplane *plane = unit_plane(context, "tcp://127.0.0.1:0", 0),
			      *reader = unit_plane(context, NULL, 0);
	struct dlsi_transport *stranger = unit_dial(context, dlsi_dataplane_endpoint(plane));
	uint8_t *bytes = unit_bytes(1, LENGTH);
	struct dlsi_blob blob = unit_blob(bytes, LENGTH, DLSI_PROOF_HASH);
	struct dlsi_fetch fetch = unit_fetch_of(dlsi_dataplane_endpoint(plane), &token, &blob);
	const struct {
		struct dlsi_read read;
		int code;
	} cases[] = {
		{{.token = wrong, .name = blob.name, .length = 1}, DLS_EDENIED},
		{{.token = token, .length = 1}, DLS_ENOTFOUND},
		{{.token = token, .name = blob.name, .offset = UINT64_C(1) << 40, .length = 1}, DLS_EINVAL},
		{{.token = token, .name = blob.name, .offset = UINT64_MAX, .length = 2}, DLS_EINVAL},
		{{.token = token, .name = blob.name, .length = UINT32_MAX}, DLS_ELIMIT},
		{{.token = token, .name = blob.name, .offset = LENGTH - 1, .length = 2}, DLS_EINVAL},
	};
	struct dlsi_peer peer = unit_expect(stranger, DLSI_ARRIVAL_CONNECTED).peer;
	struct unit_result result;

	(void)state;
	unit_offer(plane, &token, &blob, bytes);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dlsi_record read = {.kind = DLSI_READ, .read = cases[i].read}, error;
		struct dlsi_arrival arrival;
		struct dlsi_message message;

		read.read.fetch = i;
		unit_say(stranger, peer, "no message");
		unit_send_record(stranger, peer, &read, NULL);
		arrival = unit_expect(stranger, DLSI_ARRIVAL_MESSAGE);
		assert_int_equal(
			dlsi_message_open(arrival.block, arrival.length, arrival.frame_count, &message, NULL), 0);
		assert_true(dlsi_message_next(&message, &error));
		assert_int_equal(error.kind, DLSI_ERROR);
		assert_int_equal(error.error.fetch, i);
		assert_int_equal(error.error.code, cases[i].code);
	}
	unit_fetch(reader, &fetch, &result);
	assert_int_equal(unit_wait(&result), 0);
	unit_result_fini(&result);
	dlsi_transport_destroy(stranger, 0);
	dlsi_dataplane_destroy(reader);
	dlsi_dataplane_destroy(plane);
	zmq_ctx_term(context);
	test_free(bytes);
}

/* How many chunks wait for a reader, or are on their way: all that come before the answer to an OPEN. An OPEN is not
 * answered while too many wait, so it is sent again after each. */
static unsigned count_waiting_chunks(struct dlsi_transport *reader, struct dlsi_peer peer, const struct dlsi_blob *blob)
{
	struct dlsi_record open = {.kind = DLSI_OPEN, .open = {.fetch = 77, .token = token, .name = blob->name}};

	for (unsigned count = 0;; count++) {
		struct dlsi_arrival arrival;

		unit_send_record(reader, peer, &open, NULL);
		arrival = unit_expect(reader, DLSI_ARRIVAL_MESSAGE);
		unit_arrival_release(&arrival);
		if (arrival.frame_count == 0)
			return count;
	}
}

/* One that asks for a chunk ten thousand times and reads nothing holds nobody up, and nothing much is kept for it. */
static void test_reader_that_does_not_read(void **state)
{
	enum {
		MESSAGES = 10,
		SOCKETS = 1000 + 100 /* messages in the reader's own queue, and in the system's buffers */
	};
	const struct dlsi_id no_cluster = {{0}};
	void *context = zmq_ctx_new();
	struct dlsi_dataplane *plane = unit_plane(context, "tcp://127.0.0.1:0", 0),
			      *reader = unit_plane(context, NULL, 0);
	struct dlsi_transport *stranger = unit_dial(context, dlsi_dataplane_endpoint(plane));
	struct dlsi_peer peer = unit_expect(stranger, DLSI_ARRIVAL_CONNECTED).peer;
	uint8_t *bytes = unit_bytes(1, LENGTH);
	struct dlsi_blob blob = unit_blob(bytes, LENGTH, DLSI_PROOF_HASH);
	struct dlsi_fetch fetch = unit_fetch_of(dlsi_dataplane_endpoint(plane), &token, &blob);
	struct dlsi_record read = {.kind = DLSI_READ, .read = {.token = token, .name = blob.name, .length = CHUNK / 4}};
	struct dlsi_message_writer writer;
	struct dlsi_buffer buffer;
	struct unit_result result;

	(void)state;
	unit_offer(plane, &token, &blob, bytes);
	dlsi_buffer_init(&buffer, unit_alloc());
	writer = dlsi_message_begin(&buffer, &no_cluster, 0);
	for (int i = 0; i < 1000; i++)
		dlsi_message_add(&writer, &read);
	for (int i = 0; i < MESSAGES; i++)
		assert_int_equal(dlsi_transport_send(stranger, peer, buffer.data, buffer.length, NULL, 0), 0);
	unit_fetch(reader, &fetch, &result);
	assert_int_equal(unit_wait(&result), 0);
	unit_result_fini(&result);
	assert_in_range(count_waiting_chunks(stranger, peer, &blob), DLSI_BLOB_CHUNKS_IN_FLIGHT,
		2 * DLSI_FETCHES_AT_ONCE * (DLSI_BLOB_CHUNKS_IN_FLIGHT + 1) + SOCKETS);
	dlsi_buffer_fini(&buffer);
	dlsi_transport_destroy(stranger, 0);
	dlsi_dataplane_destroy(reader);
	dlsi_dataplane_destroy(plane);
	zmq_ctx_term(context);
	test_free(bytes);
}

/* Many fetches from an address where nobody is end together, before they could have waited one after another; and when
 * somebody is there, that is found out. */
static void test_dead_holder_costs_one_timeout(void **state)
{
	enum { FETCHES = 100 * DLSI_FETCHES_AT_ONCE };
	void *context = zmq_ctx_new();
	struct dlsi_transport *gone = unit_listen(context, "tcp://127.0.0.1:0");
	struct dlsi_dataplane *reader = unit_plane(context, NULL, DLSI_SECOND_NS), *plane;
	struct unit_result *results = test_malloc(FETCHES * sizeof *results);
	int64_t give_up_ns = dlsi_clock_monotonic_ns() + 2 * UNIT_WAIT_MS * DLSI_MILLISECOND_NS;
	uint8_t *bytes = unit_bytes(1, LENGTH);
	struct dlsi_blob blob = unit_blob(bytes, LENGTH, DLSI_PROOF_HASH);
	char endpoint[DLSI_ENDPOINT_BYTES + 1];
	struct dlsi_fetch fetch = unit_fetch_of(endpoint, &token, &blob);
	int code = DLS_EUNREACHABLE;

	(void)state;
	snprintf(endpoint, sizeof endpoint, "%s", dlsi_transport_endpoint(gone));
	dlsi_transport_destroy(gone, 0);
	fetch.fails_fast = true;
	for (int i = 0; i < FETCHES; i++)
		unit_fetch(reader, &fetch, &results[i]);
	for (int i = FETCHES - 1; i >= 0; i--) { /* the last first: none waits longer than others */
		assert_int_equal(unit_wait(&results[i]), DLS_EUNREACHABLE);
		assert_non_null(strstr(results[i].err.text, endpoint));
		unit_result_fini(&results[i]);
	}
	plane = unit_plane(context, endpoint, 0);
	unit_offer(plane, &token, &blob, bytes);
	while (code == DLS_EUNREACHABLE && dlsi_clock_monotonic_ns() < give_up_ns) {
		unit_fetch(reader, &fetch, &results[0]);
		code = unit_wait(&results[0]);
		unit_result_fini(&results[0]);
	}
	assert_int_equal(code, 0);
	dlsi_dataplane_destroy(reader);
	dlsi_dataplane_destroy(plane);
	zmq_ctx_term(context);
	test_free(results);
	test_free(bytes);
}

static bool is_over(struct unit_result *result)
{
	bool over;

	pthread_mutex_lock(&result->lock);
	over = result->calls > 0;
	pthread_mutex_unlock(&result->lock);
	return over;
}

/* Fetches again and again until the holder is asked for anything. */
static void fetch_until_asked(struct play *play)
{
	int64_t give_up_ns = dlsi_clock_monotonic_ns() + UNIT_WAIT_MS * DLSI_MILLISECOND_NS;

	for (;;) {
		unit_fetch(play->reader, &play->fetch, &play->result);
		while (!is_over(&play->result)) {
			if (dlsi_transport_next(play->holder, &play->arrival) == 1)
				return;
			sched_yield();
		}
		assert_int_equal(unit_wait(&play->result), DLS_EUNREACHABLE);
		unit_result_fini(&play->result);
		if (dlsi_clock_monotonic_ns() > give_up_ns)
			fail_msg("the holder is not asked again");
	}
}

/* A holder to which a question was lost, over a connection that lives: however fast one fetch follows the other, it is
 * asked again, and found to be there when it answers. */
static void test_silent_holder_is_asked_again(void **state)
{
	struct dlsi_record error = {.kind = DLSI_ERROR, .error = {.code = DLS_ENOTFOUND}};
	struct play play;

	(void)state;
	begin(&play, DLSI_PROOF_HASH, 300 * DLSI_MILLISECOND_NS);
	next_record(&play); /* and no answer */
	play.fetch.fails_fast = true;
	do {
		assert_int_equal(unit_wait(&play.result), DLS_EUNREACHABLE);
		unit_result_fini(&play.result);
		fetch_until_asked(&play);
		assert_int_equal(dlsi_message_open(play.arrival.block, play.arrival.length, play.arrival.frame_count,
					 &play.message, NULL),
			0);
		error.error.fetch = next_record(&play).open.fetch;
		unit_send_record(play.holder, play.arrival.peer, &error, NULL);
	} while (unit_wait(&play.result) == DLS_EUNREACHABLE);
	end(&play, DLS_ENOTFOUND);
}

/* ---- many that take nothing */

static atomic_size_t in_use, most_in_use; /* bytes of the holder's memory */

static void *resize_measuring(void *arg, void *old, size_t size)
{
	size_t before = malloc_usable_size(old), now, most = most_in_use;
	void *memory;

	(void)arg;
	if (!size) {
		free(old);
		in_use -= before;
		return NULL;
	}
	memory = realloc(old, size);
	if (!memory)
		return NULL;
	now = in_use += malloc_usable_size(memory) - before;
	while (now > most && !atomic_compare_exchange_weak(&most_in_use, &most, now))
		;
	return memory;
}

static const struct dlsi_alloc measuring = {.resize = resize_measuring};

enum { HOGS = 80, ASKED = 40 };

/* A socket that takes next to nothing unless it is read, and has asked for the whole blob many times. */
static void *begin_hog(void *context, const char *endpoint, const struct dlsi_blob *blob)
{
	static const struct dlsi_id no_cluster;
	const int one = 1, buffer_bytes = 4096, no_linger = 0;
	void *socket = zmq_socket(context, ZMQ_DEALER);
	struct dlsi_message_writer writer;
	struct dlsi_buffer buffer;

	zmq_setsockopt(socket, ZMQ_RCVHWM, &one, sizeof one);
	zmq_setsockopt(socket, ZMQ_RCVBUF, &buffer_bytes, sizeof buffer_bytes);
	zmq_setsockopt(socket, ZMQ_LINGER, &no_linger, sizeof no_linger);
	assert_int_equal(zmq_connect(socket, endpoint), 0);
	dlsi_buffer_init(&buffer, unit_alloc());
	writer = dlsi_message_begin(&buffer, &no_cluster, 0);
	for (uint64_t i = 0; i < ASKED; i++) {
		struct dlsi_record read = {
			.kind = DLSI_READ, .read = {.fetch = i, .token = token, .name = blob->name, .length = CHUNK}};

		dlsi_message_add(&writer, &read);
	}
	assert_int_equal(zmq_send(socket, buffer.data, buffer.length, 0), (int)buffer.length);
	dlsi_buffer_fini(&buffer);
	return socket;
}

/* It takes its answers after all: all come, in the order of the questions. */
static void expect_all_answers(void *socket)
{
	zmq_msg_t part;

	for (uint64_t i = 0; i < ASKED; i++) {
		zmq_pollitem_t item = {.socket = socket, .events = ZMQ_POLLIN};
		struct dlsi_message message;
		struct dlsi_record record;

		assert_int_equal(zmq_poll(&item, 1, UNIT_WAIT_MS), 1);
		zmq_msg_init(&part);
		zmq_msg_recv(&part, socket, 0);
		assert_int_equal(dlsi_message_open(zmq_msg_data(&part), zmq_msg_size(&part), 1, &message, NULL), 0);
		assert_true(dlsi_message_next(&message, &record));
		assert_int_equal(record.kind, DLSI_DATA);
		assert_int_equal(record.data.fetch, i);
		zmq_msg_recv(&part, socket, 0);
		assert_int_equal(zmq_msg_size(&part), CHUNK);
		zmq_msg_close(&part);
	}
}

/* Fetches from the file that the hogs read too. */
static void expect_fetch(struct dlsi_dataplane *reader, const char *endpoint, const struct dlsi_blob *blob)
{
	struct dlsi_fetch fetch = unit_fetch_of(endpoint, &token, blob);
	struct unit_result result;

	unit_fetch(reader, &fetch, &result);
	assert_int_equal(unit_wait(&result), 0);
	unit_result_fini(&result);
}

/* Readers that have the token, ask for 10 MB each and take none of it: the holder keeps no more for them than it may,
 * others are served, and so are they themselves when they begin to take. */
static void test_readers_that_take_nothing(void **state)
{
	const size_t half = DLSI_SERVED_BYTES / 2; /* about so much is kept for them at least, when all have asked */
	const size_t expected = half - (half >> 3);
	const int64_t give_up_ns = dlsi_clock_monotonic_ns() + 2 * UNIT_WAIT_MS * DLSI_MILLISECOND_NS;
	void *contexts[2] = {zmq_ctx_new(), zmq_ctx_new()}, *hogs[HOGS];
	struct dlsi_dataplane_config config = {.context = contexts[0], .endpoint = "tcp://127.0.0.1:0"};
	struct dlsi_dataplane *plane, *reader = unit_plane(contexts[1], NULL, 0);
	uint8_t *bytes = unit_bytes(1, LENGTH);
	struct dlsi_blob blob = unit_blob(bytes, LENGTH, DLSI_PROOF_HASH);
	char path[200];
	struct dlsi_source source = {.path = path};

	(void)state;
	snprintf(path, sizeof path, "%s/blob", unit_folder());
	assert_int_equal(dlsi_file_write(unit_alloc(), path, 0600, bytes, LENGTH, NULL), 0);
	assert_int_equal(dlsi_dataplane_create(&measuring, &config, &plane, NULL), 0);
	assert_int_equal(dlsi_dataplane_offer(plane, &token, &blob, &source, NULL), 0);
	for (int i = 0; i < HOGS; i++)
		hogs[i] = begin_hog(contexts[1], dlsi_dataplane_endpoint(plane), &blob);
	while (in_use < expected && dlsi_clock_monotonic_ns() < give_up_ns)
		expect_fetch(reader, dlsi_dataplane_endpoint(plane), &blob);
	if (in_use < expected)
		fail_msg("%zu bytes are kept for readers that take nothing, not %zu", (size_t)in_use, expected);
	expect_fetch(reader, dlsi_dataplane_endpoint(plane), &blob);
	expect_all_answers(hogs[0]);
	expect_all_answers(hogs[HOGS - 1]);
	assert_true(most_in_use < DLSI_SERVED_BYTES);
	for (int i = 0; i < HOGS; i++)
		zmq_close(hogs[i]);
	dlsi_dataplane_destroy(reader);
	dlsi_dataplane_destroy(plane);
	zmq_ctx_term(contexts[1]);
	zmq_ctx_term(contexts[0]);
	assert_int_equal(in_use, 0);
	test_free(bytes);
}

UNIT_MAIN(test_chunks_are_asked_for_in_a_window, test_damaged_chunk, test_chunk_of_another_length,
	test_silence_after_the_first_answers, test_errors_of_the_holder, test_what_was_not_asked_for_is_ignored,
	test_resumes_where_it_was, test_readers_that_ask_for_too_much, test_reader_that_does_not_read,
	test_dead_holder_costs_one_timeout, test_silent_holder_is_asked_again, test_readers_that_take_nothing)
