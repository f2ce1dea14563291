/* A connection that is cut in the middle of a frame, by a relay between reader and holder: the fetch goes on over the
 * next one with what is missing, and nothing comes twice but what was on its way. */
#include "base/limits.h"
#include "test/unit/fetch.h"
#include "test/unit/transport.h"
#include "test/unit/unit.h"
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CHUNK = DLSI_BLOB_CHUNK_BYTES, LENGTH = 24 * CHUNK, WINDOW = DLSI_BLOB_CHUNKS_IN_FLIGHT * CHUNK };

static const struct dlsi_id token = {{4, 2}};

struct relay {
	int listener;
	char endpoint[64];
	const char *holder;
	size_t cut;       /* bytes of answers after which the first connection ends */
	size_t passed[2]; /* over the first connection, and the second */
	pthread_t thread;
};

static void listen_anywhere(struct relay *relay)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof address;

	relay->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(relay->listener, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(listen(relay->listener, 4), 0);
	assert_int_equal(getsockname(relay->listener, (struct sockaddr *)&address, &length), 0);
	snprintf(relay->endpoint, sizeof relay->endpoint, "tcp://127.0.0.1:%u", ntohs(address.sin_port));
}

/* False: the connection has ended, or `most` bytes have passed. */
static bool pass(int from, int to, size_t most, size_t *passed)
{
	char bytes[16384];
	size_t room = most - *passed < sizeof bytes ? most - *passed : sizeof bytes;
	ssize_t got = room ? recv(from, bytes, room, 0) : 0;

	if (got <= 0 || send(to, bytes, (size_t)got, MSG_NOSIGNAL) != got)
		return false;
	*passed += (size_t)got;
	return true;
}

static void connect_through(const struct relay *relay, size_t most, size_t *passed)
{
	int reader = accept(relay->listener, NULL, NULL), holder = unit_connect(relay->holder);
	struct pollfd ends[] = {{.fd = reader, .events = POLLIN}, {.fd = holder, .events = POLLIN}};
	size_t asked = 0;
	bool good = true;

	while (good && poll(ends, 2, -1) > 0) {
		if (ends[0].revents)
			good = pass(reader, holder, SIZE_MAX, &asked);
		if (good && ends[1].revents)
			good = pass(holder, reader, most, passed);
	}
	close(reader);
	close(holder);
}

static void *run(void *arg)
{
	struct relay *relay = arg;

	connect_through(relay, relay->cut, &relay->passed[0]);
	connect_through(relay, SIZE_MAX, &relay->passed[1]);
	return NULL;
}

static void test_goes_on_where_it_was_cut(void **state)
{
	void *context = zmq_ctx_new();
	struct dlsi_dataplane *holder = unit_plane(context, "tcp://127.0.0.1:0", 0),
			      *reader = unit_plane(context, NULL, 0);
	struct relay relay = {.holder = dlsi_dataplane_endpoint(holder), .cut = 16 * CHUNK + 1000};
	uint8_t *bytes = unit_bytes(9, LENGTH);
	struct dlsi_blob blob = unit_blob(bytes, LENGTH, DLSI_PROOF_HASH);
	struct unit_result result;
	struct dlsi_fetch fetch;

	(void)state;
	unit_offer(holder, &token, &blob, bytes);
	listen_anywhere(&relay);
	assert_int_equal(pthread_create(&relay.thread, NULL, run, &relay), 0);
	fetch = unit_fetch_of(relay.endpoint, &token, &blob);
	unit_fetch(reader, &fetch, &result);
	assert_int_equal(unit_wait(&result), 0);
	assert_memory_equal(dlsi_frame_data(result.frame), bytes, LENGTH);
	unit_result_fini(&result);
	dlsi_dataplane_destroy(reader);
	pthread_join(relay.thread, NULL);
	assert_int_equal(relay.passed[0], relay.cut);
	/* The chunk that was cut comes again too, and each has a header. */
	assert_in_range(relay.passed[1], LENGTH - relay.cut, LENGTH - relay.cut + WINDOW + CHUNK);
	close(relay.listener);
	dlsi_dataplane_destroy(holder);
	zmq_ctx_term(context);
	test_free(bytes);
}

UNIT_MAIN(test_goes_on_where_it_was_cut)
