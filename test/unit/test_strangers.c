/* A listener that strangers send to: whatever it is, it is dropped or told as what it is, and good peers are served. */
#include "base/limits.h"
#include "proto/message.h"
#include "test/unit/transport.h"
#include "test/unit/unit.h"
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static void send_raw(void *socket, const void *data, size_t length, bool more)
{
	assert_int_equal(zmq_send(socket, data, length, more ? ZMQ_SNDMORE : 0), length);
}

/* Nothing of ours; its frames are dropped. */
static void assert_rubbish(const struct dlsi_arrival *arrival)
{
	struct dlsi_message message;

	if (arrival->kind == DLSI_ARRIVAL_MESSAGE)
		assert_int_not_equal(
			dlsi_message_open(arrival->block, arrival->length, arrival->frame_count, &message, NULL), 0);
	unit_arrival_release(arrival);
}

/* 10,000 messages of random shape from a socket of libzmq: each arrives as what it is or is dropped. */
static void test_random_messages(void **state)
{
	enum { BLOBS = 10000, FRAMES = 6 };
	struct dlsi_rng rng = unit_rng(1);
	void *context = zmq_ctx_new(), *raw = zmq_socket(context, ZMQ_DEALER);
	struct dlsi_transport *listener = unit_listen(context, "tcp://127.0.0.1:0"), *dialer;
	uint8_t bytes[3000];
	unsigned arrived = 0;
	struct dlsi_peer peer;

	(void)state;
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)dlsi_rng_next(&rng);
	zmq_connect(raw, dlsi_transport_endpoint(listener));
	for (int i = 0; i < BLOBS; i++) {
		uint64_t frames = 1 + dlsi_rng_below(&rng, FRAMES);

		for (uint64_t k = 0; k < frames; k++) {
			size_t length = dlsi_rng_below(&rng, 3) ? dlsi_rng_below(&rng, 200)
								: dlsi_rng_below(&rng, sizeof bytes / 2);

			send_raw(raw, bytes + dlsi_rng_below(&rng, sizeof bytes / 2), length, k + 1 < frames);
		}
		for (struct dlsi_arrival arrival; dlsi_transport_next(listener, &arrival) == 1; arrived++) {
			assert_int_equal(arrival.kind, DLSI_ARRIVAL_MESSAGE);
			assert_true(arrival.frame_count < FRAMES);
			assert_rubbish(&arrival);
		}
	}
	send_raw(raw, "the end", 7, false);
	for (bool end = false; !end;) {
		struct dlsi_arrival arrival = unit_expect(listener, DLSI_ARRIVAL_MESSAGE);

		end = arrival.length == 7 && memcmp(arrival.block, "the end", 7) == 0;
		unit_arrival_release(&arrival);
		arrived++;
	}
	assert_true(arrived > BLOBS * 9 / 10); /* all but the empty ones */
	dialer = unit_join(context, listener, "a good one", &peer);
	dlsi_transport_destroy(dialer, 0);
	dlsi_transport_destroy(listener, 0);
	zmq_close(raw);
	zmq_ctx_term(context);
}

static void test_too_many_frames_are_dropped(void **state)
{
	void *context = zmq_ctx_new(), *raw = zmq_socket(context, ZMQ_DEALER);
	struct dlsi_transport *listener = unit_listen(context, "inproc://frames");
	struct dlsi_arrival arrival;

	(void)state;
	zmq_connect(raw, "inproc://frames");
	for (int extra = 1; extra >= 0; extra--)
		for (int i = 0; i <= DLSI_MESSAGE_FRAMES + extra; i++)
			send_raw(raw, "frame", 5, i < DLSI_MESSAGE_FRAMES + extra);
	arrival = unit_expect(listener, DLSI_ARRIVAL_MESSAGE);
	assert_int_equal(arrival.frame_count, DLSI_MESSAGE_FRAMES);
	assert_int_equal(dlsi_transport_dropped(listener), 1);
	unit_arrival_release(&arrival);
	zmq_close(raw);
	dlsi_transport_destroy(listener, 0);
	zmq_ctx_term(context);
}

static void test_chosen_routing_ids_are_dropped(void **state)
{
	void *context = zmq_ctx_new(), *raw = zmq_socket(context, ZMQ_DEALER);
	struct dlsi_transport *listener = unit_listen(context, "tcp://127.0.0.1:0"), *dialer;
	struct dlsi_arrival arrival;
	struct dlsi_peer peer;

	(void)state;
	zmq_setsockopt(raw, ZMQ_ROUTING_ID, "taken", 5);
	zmq_connect(raw, dlsi_transport_endpoint(listener));
	send_raw(raw, "hello", 5, false);
	for (int64_t i = 0; dlsi_transport_dropped(listener) == 0; i++) {
		zmq_pollitem_t items[DLSI_TRANSPORT_POLL];

		dlsi_transport_poll_items(listener, items);
		assert_true(zmq_poll(items, DLSI_TRANSPORT_POLL, UNIT_WAIT_MS) > 0);
		while (dlsi_transport_next(listener, &arrival) == 1)
			assert_rubbish(&arrival);
	}
	dialer = unit_join(context, listener, "a good one", &peer);
	dlsi_transport_destroy(dialer, 0);
	zmq_close(raw);
	dlsi_transport_destroy(listener, 0);
	zmq_ctx_term(context);
}

/* 10,000 connections with bytes that are no ZMTP, or by chance that of its first version. */
static void test_random_bytes_on_the_port(void **state)
{
	enum { BLOBS = 10000, AT_ONCE = 100 };
	struct dlsi_rng rng = unit_rng(2);
	void *context = zmq_ctx_new();
	struct dlsi_transport *listener = unit_listen(context, "tcp://127.0.0.1:0"), *dialer;
	struct dlsi_arrival arrival;
	uint8_t bytes[512];
	int fds[AT_ONCE];

	(void)state;
	for (int i = 0; i < BLOBS; i += AT_ONCE) {
		for (int k = 0; k < AT_ONCE; k++) {
			size_t length = dlsi_rng_below(&rng, sizeof bytes);

			for (size_t at = 0; at < length; at++)
				bytes[at] = (uint8_t)dlsi_rng_next(&rng);
			fds[k] = unit_connect(dlsi_transport_endpoint(listener));
			unit_write(fds[k], bytes, length);
		}
		for (int k = 0; k < AT_ONCE; k++)
			close(fds[k]);
		while (dlsi_transport_next(listener, &arrival) == 1)
			assert_rubbish(&arrival);
	}
	dialer = unit_dial(context, dlsi_transport_endpoint(listener));
	unit_say(dialer, unit_expect(dialer, DLSI_ARRIVAL_CONNECTED).peer, "a good one");
	do { /* what the others sent may still be on its way */
		arrival = unit_next(listener);
		unit_arrival_release(&arrival);
	} while (arrival.length != 10 || memcmp(arrival.block, "a good one", 10) != 0);
	dlsi_transport_destroy(dialer, 0);
	dlsi_transport_destroy(listener, 0);
	zmq_ctx_term(context);
}

/* Connects to the listener as ZMTP 3.0 wants it and says hello, so that it is a peer like others. */
static int connect_as_peer(struct dlsi_transport *listener)
{
	static const uint8_t greeting[64] = {0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3, 0, 'N', 'U', 'L', 'L'};
	static const uint8_t ready[] = {4, 28, 5, 'R', 'E', 'A', 'D', 'Y', 11, 'S', 'o', 'c', 'k', 'e', 't', '-', 'T',
		'y', 'p', 'e', 0, 0, 0, 6, 'D', 'E', 'A', 'L', 'E', 'R'};
	static const uint8_t hello[] = {0, 5, 'h', 'e', 'l', 'l', 'o'};
	int fd = unit_connect(dlsi_transport_endpoint(listener));
	uint8_t answer[sizeof greeting + 2], rest[255];

	assert_true(unit_write(fd, greeting, sizeof greeting) && unit_write(fd, ready, sizeof ready));
	assert_int_equal(recv(fd, answer, sizeof answer, MSG_WAITALL), sizeof answer);
	assert_int_equal(recv(fd, rest, answer[65], MSG_WAITALL), answer[65]);
	assert_true(unit_write(fd, hello, sizeof hello));
	unit_expect_text(listener, "hello");
	return fd;
}

static void test_announced_lengths(void **state)
{
	static const uint8_t frames[][10] = {
		{2, 0, 0, 1, 0, 0, 0, 0, 0, 'x'}, /* 2^40 bytes */
		{6, 0, 0, 1, 0, 0, 0, 0, 0, 'x'}, /* as a command of ZMTP */
		{2, 255, 255, 255, 255, 255, 255, 255, 255, 'x'}, {2, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 'x'},
		{2, 0, 0, 0, 0, 0, 0x20, 0, 0, 'x'}, /* 2 MiB */
	};
	void *context = zmq_ctx_new();
	struct dlsi_transport *listener = unit_listen(context, "tcp://127.0.0.1:0");
	struct rusage before, after;

	(void)state;
	getrusage(RUSAGE_SELF, &before);
	for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
		int fd = connect_as_peer(listener);

		assert_true(unit_write(fd, frames[i], sizeof frames[i]));
		assert_true(unit_is_closed(fd));
		unit_expect(listener, DLSI_ARRIVAL_LOST);
		close(fd);
	}
	getrusage(RUSAGE_SELF, &after);
	assert_true(after.ru_maxrss - before.ru_maxrss < 16 * 1024);
	close(connect_as_peer(listener));
	unit_expect(listener, DLSI_ARRIVAL_LOST);
	dlsi_transport_destroy(listener, 0);
	zmq_ctx_term(context);
}

/* libzmq numbers connections on from a value of rand(), and ends the process when it comes to a number that a stranger
 * has claimed. */
static void test_routing_ids_cannot_be_guessed(void **state)
{
	enum { CLAIMS = 8, GOOD = 3 };
	void *context = zmq_ctx_new(), *raw[CLAIMS];
	struct dlsi_transport *listener, *dialers[GOOD];
	uint32_t first, begin;
	struct dlsi_peer peer;

	(void)state;
	srand(1);
	begin = (uint32_t)rand();
	first = begin | (uint32_t)rand() << 31;
	srand(1);
	listener = unit_listen(context, "tcp://127.0.0.1:0");
	assert_int_equal(rand(), begin); /* nobody else has drawn from it */
	for (uint32_t i = 0; i < CLAIMS; i++) {
		uint32_t claimed = htonl(first + i);
		uint8_t id[5] = {0};

		memcpy(id + 1, &claimed, sizeof claimed);
		raw[i] = zmq_socket(context, ZMQ_DEALER);
		assert_int_equal(zmq_setsockopt(raw[i], ZMQ_ROUTING_ID, id, sizeof id), 0);
		zmq_connect(raw[i], dlsi_transport_endpoint(listener));
		send_raw(raw[i], "hello", 5, false);
		unit_expect_text(listener, "hello");
	}
	for (int i = 0; i < GOOD; i++)
		dialers[i] = unit_join(context, listener, "a good one", &peer);
	for (int i = 0; i < GOOD; i++)
		dlsi_transport_destroy(dialers[i], 0);
	for (int i = 0; i < CLAIMS; i++)
		zmq_close(raw[i]);
	dlsi_transport_destroy(listener, 0);
	zmq_ctx_term(context);
}

/* Many messages that nobody reads yet, and then the connection breaks. Where libzmq has stopped reading at its limit,
 * a sign of life that is due then ends the process. */
static void test_flood_that_breaks_off(void **state)
{
	enum { MESSAGES = 5000, HEARTBEAT_MS = 10, TIMEOUT_MS = 20000 };
	static const uint8_t message_and_ping[] = {0, 5, 'h', 'e', 'l', 'l', 'o', 4, 7, 4, 'P', 'I', 'N', 'G', 0, 0};
	const struct linger reset = {.l_onoff = 1};
	void *context = zmq_ctx_new();
	struct dlsi_transport_config config = {.context = context,
		.endpoint = "tcp://127.0.0.1:0",
		.heartbeat_ms = HEARTBEAT_MS,
		.timeout_ms = TIMEOUT_MS};
	struct dlsi_transport *listener;
	zmq_pollitem_t items[DLSI_TRANSPORT_POLL];
	struct dlsi_arrival arrival;
	int fd;

	(void)state;
	assert_int_equal(dlsi_transport_listen(unit_alloc(), &config, &listener, NULL), 0);
	fd = connect_as_peer(listener);
	for (int i = 0; i < MESSAGES; i++)
		assert_true(unit_write(fd, message_and_ping, sizeof message_and_ping));
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
	close(fd);
	dlsi_transport_poll_items(listener, items);
	assert_true(zmq_poll(&items[1], 1, UNIT_WAIT_MS) > 0); /* the monitor's: it is seen while all is unread */
	do {
		arrival = unit_next(listener);
		unit_arrival_release(&arrival);
	} while (arrival.kind != DLSI_ARRIVAL_LOST);
	close(connect_as_peer(listener));
	dlsi_transport_destroy(listener, 0);
	zmq_ctx_term(context);
}

/* One message of three frames arrives while memory fails from the n-th request on: 1 if it was told, 0 if it was
 * dropped because its sender found no place, or a code. */
static int receive_failing_at(unsigned n)
{
	void *context = zmq_ctx_new(), *raw = zmq_socket(context, ZMQ_DEALER);
	struct dlsi_transport_config config = {.context = context, .endpoint = "inproc://memory"};
	struct dlsi_transport *listener = NULL;
	struct dlsi_arrival arrival;
	int rc = dlsi_transport_listen(unit_alloc_failing_at(n), &config, &listener, NULL);

	if (rc == 0) {
		zmq_connect(raw, "inproc://memory");
		for (int i = 0; i < 3; i++)
			send_raw(raw, "frame", 5, i < 2);
		rc = dlsi_transport_next(listener, &arrival);
		if (rc == 1)
			unit_arrival_release(&arrival);
		assert_int_equal(dlsi_transport_dropped(listener), rc != 1);
		assert_int_equal(dlsi_transport_next(listener, &arrival), 0);
	}
	dlsi_transport_destroy(listener, 0);
	zmq_close(raw);
	zmq_ctx_term(context);
	return rc;
}

static void test_memory_runs_out(void **state)
{
	unsigned n = 1;
	int rc;

	(void)state;
	assert_int_equal(receive_failing_at(1), DLS_ENOMEM);
	while ((rc = receive_failing_at(++n)) != 1) {
		assert_true(rc == 0 || rc == DLS_ENOMEM);
		assert_true(n < 20);
	}
	assert_true(n > 4);
}

UNIT_MAIN(test_random_messages, test_too_many_frames_are_dropped, test_chosen_routing_ids_are_dropped,
	test_random_bytes_on_the_port, test_announced_lengths, test_routing_ids_cannot_be_guessed,
	test_flood_that_breaks_off, test_memory_runs_out)
