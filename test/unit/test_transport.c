/* Transports over real sockets: what they promise to a driver when peers come, go and stop reading. */
#include "net/endpoint.h"
#include "test/unit/transport.h"
#include "test/unit/unit.h"
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* An endpoint of every scheme. */
static const char *const *endpoints(void)
{
	static char ipc[64];
	static const char *const all[] = {"tcp://127.0.0.1:0", ipc, "inproc://transport", NULL};

	snprintf(ipc, sizeof ipc, "ipc:///tmp/dlsched-transport-%d", (int)getpid());
	return all;
}

/* Nothing stays in the file system, and whoever comes next can have the address. */
static void test_listener_takes_its_socket_file_along(void **state)
{
	const char *path = endpoints()[1] + strlen("ipc://");
	void *context = zmq_ctx_new();

	(void)state;
	for (int round = 0; round < 2; round++) {
		struct dlsi_transport *listener = unit_listen(context, endpoints()[1]);

		assert_int_equal(access(path, F_OK), 0);
		dlsi_transport_destroy(listener, 0);
		assert_int_equal(access(path, F_OK), -1);
	}
	zmq_ctx_term(context);
}

static void test_messages_both_ways(void **state)
{
	uint8_t *large = test_malloc(200000);

	(void)state;
	memset(large, 7, 200000);
	for (const char *const *endpoint = endpoints(); *endpoint; endpoint++) {
		void *context = zmq_ctx_new();
		struct dlsi_transport *listener = unit_listen(context, *endpoint), *dialer;
		struct dlsi_frame *frames[3] = {dlsi_frame_copy(unit_alloc(), "payload", 7),
			dlsi_frame_copy(unit_alloc(), NULL, 0), dlsi_frame_copy(unit_alloc(), large, 200000)};
		struct dlsi_arrival arrival;
		struct dlsi_peer peer;

		dialer = unit_join(context, listener, "hello", &peer);
		for (int round = 0; round < 3; round++) { /* the same frames again and again, forwarded back */
			assert_int_equal(dlsi_transport_send(listener, peer, (const uint8_t *)"take", 4, frames, 3), 0);
			arrival = unit_expect(dialer, DLSI_ARRIVAL_MESSAGE);
			assert_int_equal(arrival.frame_count, 3);
			assert_int_equal(dlsi_frame_size(arrival.frames[0]), 7);
			assert_int_equal(dlsi_frame_size(arrival.frames[1]), 0);
			assert_int_equal(dlsi_frame_size(arrival.frames[2]), 200000);
			assert_memory_equal(dlsi_frame_data(arrival.frames[2]), large, 200000);
			assert_int_equal(dlsi_transport_send(
						 dialer, arrival.peer, (const uint8_t *)"back", 4, arrival.frames, 3),
				0);
			unit_arrival_release(&arrival);
			arrival = unit_expect(listener, DLSI_ARRIVAL_MESSAGE);
			assert_true(dlsi_peer_equal(arrival.peer, peer));
			assert_memory_equal(arrival.block, "back", 4);
			assert_memory_equal(dlsi_frame_data(arrival.frames[2]), large, 200000);
			unit_arrival_release(&arrival);
		}
		for (int i = 0; i < 3; i++)
			dlsi_frame_unref(frames[i]);
		dlsi_transport_destroy(dialer, 0);
		dlsi_transport_destroy(listener, 0);
		zmq_ctx_term(context);
	}
	test_free(large);
}

/* Sends until libzmq has noticed that the peer is gone, which over inproc nothing else tells. */
static void expect_gone(struct dlsi_transport *listener, struct dlsi_peer peer)
{
	for (int i = 0; dlsi_transport_send(listener, peer, (const uint8_t *)"x", 1, NULL, 0) != DLS_ELOST; i++) {
		assert_true(i < UNIT_WAIT_MS);
		zmq_poll(NULL, 0, 1);
	}
}

static void expect_lost(struct dlsi_transport *listener, struct dlsi_peer peer)
{
	assert_true(dlsi_peer_equal(unit_expect(listener, DLSI_ARRIVAL_LOST).peer, peer));
	assert_int_equal(dlsi_transport_send(listener, peer, (const uint8_t *)"x", 1, NULL, 0), DLS_ELOST);
}

static void test_loss_is_seen_and_others_stay(void **state)
{
	(void)state;
	for (const char *const *endpoint = endpoints(); *endpoint; endpoint++) {
		void *context = zmq_ctx_new();
		struct dlsi_transport *listener = unit_listen(context, *endpoint), *left, *right;
		struct dlsi_peer left_peer, right_peer, again;
		bool has_monitor = strncmp(*endpoint, "inproc", 6) != 0;

		left = unit_join(context, listener, "left", &left_peer);
		right = unit_join(context, listener, "right", &right_peer);
		dlsi_transport_destroy(left, 0);
		if (has_monitor)
			expect_lost(listener, left_peer);
		else
			expect_gone(listener, left_peer);
		unit_say(listener, right_peer, "still here");
		unit_expect_text(right, "still here");
		left = unit_join(context, listener, "left", &again);
		assert_false(dlsi_peer_equal(left_peer, again));
		assert_int_equal(again.slot, left_peer.slot);
		dlsi_transport_destroy(left, 0);
		dlsi_transport_destroy(right, 0);
		dlsi_transport_destroy(listener, 0);
		zmq_ctx_term(context);
	}
}

static void test_what_was_sent_before_the_end_comes_first(void **state)
{
	void *context = zmq_ctx_new();
	struct dlsi_transport *listener = unit_listen(context, "tcp://127.0.0.1:0"), *dialer;
	struct dlsi_peer peer;

	(void)state;
	dialer = unit_join(context, listener, "hello", &peer);
	for (int i = 0; i < 500; i++)
		unit_say(dialer, (struct dlsi_peer){0, 1}, "result");
	dlsi_transport_destroy(dialer, UNIT_WAIT_MS);
	for (int i = 0; i < 500; i++)
		assert_true(dlsi_peer_equal(unit_expect_text(listener, "result"), peer));
	expect_lost(listener, peer);
	dlsi_transport_destroy(listener, 0);
	zmq_ctx_term(context);
}

enum { AT_ONCE = 10 };

/* Peers that come and go, as the listener has heard of them. */
struct crowd {
	struct dlsi_peer there[AT_ONCE + 1]; /* those that have not been ended; the first stays all the time */
	unsigned there_count, greeted, lost;
};

/* Takes what arrives until so many have greeted and been lost in all. */
static void listen_to(struct crowd *crowd, struct dlsi_transport *listener, unsigned greeted, unsigned lost)
{
	while (crowd->greeted < greeted || crowd->lost < lost) {
		struct dlsi_arrival arrival = unit_next(listener);

		if (arrival.kind == DLSI_ARRIVAL_MESSAGE) {
			crowd->there[crowd->there_count++] = arrival.peer;
			crowd->greeted++;
			continue;
		}
		for (unsigned i = 0; i < crowd->there_count; i++)
			assert_false(dlsi_peer_equal(arrival.peer, crowd->there[i]));
		crowd->lost++;
	}
}

/* Peers come and go so fast that their descriptors are used again at once, among strangers that never become peers:
 * each is lost once, after its end, and the one that stays is not. */
static void test_losses_are_of_the_right_peers(void **state)
{
	enum { ROUNDS = 60 };
	void *context = zmq_ctx_new(), *others = zmq_ctx_new();
	struct dlsi_transport *listener, *staying, *dialers[AT_ONCE];
	struct crowd crowd = {.there_count = 1};

	(void)state;
	listener = unit_listen(context, "tcp://127.0.0.1:0");
	staying = unit_join(others, listener, "staying", &crowd.there[0]);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < AT_ONCE; i++) {
			close(unit_connect(dlsi_transport_endpoint(listener)));
			dialers[i] = unit_dial(others, dlsi_transport_endpoint(listener));
		}
		for (int i = 0; i < AT_ONCE; i++)
			unit_say(dialers[i], unit_expect(dialers[i], DLSI_ARRIVAL_CONNECTED).peer, "hello");
		listen_to(&crowd, listener, crowd.greeted + AT_ONCE, 0);
		for (int i = 0; i < AT_ONCE; i++)
			dlsi_transport_destroy(dialers[i], 0);
		crowd.there_count = 1;
	}
	listen_to(&crowd, listener, 0, ROUNDS * AT_ONCE);
	assert_int_equal(crowd.lost, ROUNDS * AT_ONCE);
	unit_say(listener, crowd.there[0], "still here");
	unit_expect_text(staying, "still here");
	dlsi_transport_destroy(staying, 0);
	expect_lost(listener, crowd.there[0]);
	dlsi_transport_destroy(listener, 0);
	zmq_ctx_term(others);
	zmq_ctx_term(context);
}

/* A listener's goodbye goes out although its address is given back at once. The other side is libzmq alone: a dialer
 * may drop what comes just before the end of a connection. */
static void test_last_words_of_a_listener(void **state)
{
	void *context = zmq_ctx_new(), *raw = zmq_socket(context, ZMQ_DEALER);
	struct dlsi_transport *listener = unit_listen(context, "tcp://127.0.0.1:0");
	const int wait_ms = UNIT_WAIT_MS;
	char text[10];

	(void)state;
	zmq_setsockopt(raw, ZMQ_RCVTIMEO, &wait_ms, sizeof wait_ms);
	zmq_connect(raw, dlsi_transport_endpoint(listener));
	assert_int_equal(zmq_send(raw, "hello", 5, 0), 5);
	unit_say(listener, unit_expect_text(listener, "hello"), "goodbye");
	dlsi_transport_destroy(listener, UNIT_WAIT_MS);
	assert_int_equal(zmq_recv(raw, text, sizeof text, 0), 7);
	assert_memory_equal(text, "goodbye", 7);
	zmq_close(raw);
	zmq_ctx_term(context);
}

/* A process that dials, says hello and does then what it is made for. */
static pid_t fork_dialer(const int *endpoint_pipe, void (*go_on)(void *socket))
{
	pid_t child = fork();
	char endpoint[100] = "";
	void *socket;

	if (child)
		return child;
	if (read(endpoint_pipe[0], endpoint, sizeof endpoint - 1) <= 0)
		_exit(1);
	socket = zmq_socket(zmq_ctx_new(), ZMQ_DEALER);
	zmq_connect(socket, endpoint);
	zmq_send(socket, "hello", 5, 0);
	go_on(socket);
	_exit(0);
}

/* Tells it where, and waits for its hello. */
static struct dlsi_peer meet(const int *endpoint_pipe, struct dlsi_transport *listener)
{
	const char *endpoint = dlsi_transport_endpoint(listener);

	assert_true(write(endpoint_pipe[1], endpoint, strlen(endpoint)) > 0);
	close(endpoint_pipe[0]);
	close(endpoint_pipe[1]);
	return unit_expect_text(listener, "hello");
}

static void wait_for_the_end(void *socket)
{
	(void)socket;
	pause();
}

static void test_killed_process_is_lost(void **state)
{
	struct dlsi_transport *listener;
	struct dlsi_peer peer;
	void *context;
	int tube[2], status;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(tube), 0);
	child = fork_dialer(tube, wait_for_the_end); /* before this process has threads */
	assert_true(child > 0);
	context = zmq_ctx_new();
	listener = unit_listen(context, "tcp://127.0.0.1:0");
	peer = meet(tube, listener);
	kill(child, SIGKILL);
	expect_lost(listener, peer);
	assert_int_equal(waitpid(child, &status, 0), child);
	dlsi_transport_destroy(listener, 0);
	zmq_ctx_term(context);
}

static void test_dialer_comes_back_as_another_peer(void **state)
{
	void *context = zmq_ctx_new();
	struct dlsi_transport *listener = unit_listen(context, "tcp://127.0.0.1:0"), *dialer;
	struct dlsi_peer peer, server, again;
	char endpoint[DLSI_ENDPOINT_BYTES + 1];

	(void)state;
	snprintf(endpoint, sizeof endpoint, "%s", dlsi_transport_endpoint(listener));
	dialer = unit_dial(context, endpoint);
	server = unit_expect(dialer, DLSI_ARRIVAL_CONNECTED).peer;
	assert_true(server.generation > 0);
	unit_say(dialer, server, "hello");
	peer = unit_expect_text(listener, "hello");
	dlsi_transport_destroy(listener, 0);
	assert_true(dlsi_peer_equal(unit_expect(dialer, DLSI_ARRIVAL_LOST).peer, server));
	assert_int_equal(dlsi_transport_send(dialer, server, (const uint8_t *)"x", 1, NULL, 0), DLS_ELOST);
	listener = unit_listen(context, endpoint);
	again = unit_expect(dialer, DLSI_ARRIVAL_CONNECTED).peer;
	assert_false(dlsi_peer_equal(server, again));
	assert_int_equal(dlsi_transport_send(dialer, server, (const uint8_t *)"x", 1, NULL, 0), DLS_ELOST);
	unit_say(dialer, again, "hello again");
	peer = unit_expect_text(listener, "hello again");
	dlsi_transport_destroy(dialer, 0);
	expect_lost(listener, peer);
	dlsi_transport_destroy(listener, 0);
	zmq_ctx_term(context);
}

/* What is sent after the connection has ended, and before that is told, does not come over the next one. */
static void test_old_messages_stay_behind(void **state)
{
	void *context = zmq_ctx_new();
	struct dlsi_transport *listener = unit_listen(context, "tcp://127.0.0.1:0"), *dialer;
	char endpoint[DLSI_ENDPOINT_BYTES + 1];
	zmq_pollitem_t items[DLSI_TRANSPORT_POLL];
	struct dlsi_peer server;

	(void)state;
	snprintf(endpoint, sizeof endpoint, "%s", dlsi_transport_endpoint(listener));
	dialer = unit_dial(context, endpoint);
	server = unit_expect(dialer, DLSI_ARRIVAL_CONNECTED).peer;
	dlsi_transport_destroy(listener, 0);
	dlsi_transport_poll_items(dialer, items);
	assert_true(zmq_poll(items, DLSI_TRANSPORT_POLL, UNIT_WAIT_MS) > 0);
	dlsi_transport_send(dialer, server, (const uint8_t *)"too late", 8, NULL, 0);
	unit_expect(dialer, DLSI_ARRIVAL_LOST);
	listener = unit_listen(context, endpoint);
	unit_say(dialer, unit_expect(dialer, DLSI_ARRIVAL_CONNECTED).peer, "hello again");
	unit_expect_text(listener, "hello again");
	dlsi_transport_destroy(dialer, 0);
	dlsi_transport_destroy(listener, 0);
	zmq_ctx_term(context);
}

static void test_reopened_dialer_is_another_peer(void **state)
{
	(void)state;
	for (const char *const *endpoint = endpoints(); *endpoint; endpoint++) {
		void *context = zmq_ctx_new();
		struct dlsi_transport *listener = unit_listen(context, *endpoint), *dialer;
		struct dlsi_peer before, after, server;

		dialer = unit_join(context, listener, "hello", &before);
		unit_say(listener, before, "never read");
		assert_int_equal(dlsi_transport_reopen(dialer, NULL), 0);
		assert_int_equal(
			dlsi_transport_send(dialer, (struct dlsi_peer){0, 1}, (const uint8_t *)"x", 1, NULL, 0),
			DLS_ELOST);
		server = unit_expect(dialer, DLSI_ARRIVAL_CONNECTED).peer;
		assert_int_equal(server.generation, 2);
		unit_say(dialer, server, "hello again");
		after = before;
		while (dlsi_peer_equal(before, after)) { /* over tcp and ipc its loss is told too, before or after */
			struct dlsi_arrival arrival = unit_next(listener);

			if (arrival.kind == DLSI_ARRIVAL_MESSAGE)
				after = arrival.peer;
		}
		unit_say(listener, after, "welcome");
		unit_expect_text(dialer, "welcome");
		dlsi_transport_destroy(dialer, 0);
		dlsi_transport_destroy(listener, 0);
		zmq_ctx_term(context);
	}
}

static void test_forgotten_peer_is_new_when_it_speaks(void **state)
{
	void *context = zmq_ctx_new();
	struct dlsi_transport *listener = unit_listen(context, "inproc://forget"), *dialer;
	struct dlsi_peer before, after;

	(void)state;
	dialer = unit_join(context, listener, "hello", &before);
	dlsi_transport_forget(listener, before);
	dlsi_transport_forget(listener, before);
	assert_int_equal(dlsi_transport_send(listener, before, (const uint8_t *)"x", 1, NULL, 0), DLS_ELOST);
	unit_say(dialer, (struct dlsi_peer){0, 1}, "me again");
	after = unit_expect_text(listener, "me again");
	assert_int_equal(after.slot, before.slot);
	assert_int_equal(after.generation, before.generation + 1);
	dlsi_transport_destroy(dialer, 0);
	dlsi_transport_destroy(listener, 0);
	zmq_ctx_term(context);
}

/* ---- a peer that does not read */

enum { QUEUE = 10, LAZY_BYTES = 500000 };

/* Takes numbered messages, whole and in order, until "end". */
static void read_numbered(void *socket)
{
	const int wait_ms = UNIT_WAIT_MS;
	uint8_t *block = malloc(LAZY_BYTES), payload[8];
	uint32_t number;
	int length;

	zmq_setsockopt(socket, ZMQ_RCVTIMEO, &wait_ms, sizeof wait_ms);
	for (uint32_t i = 0; (length = zmq_recv(socket, block, LAZY_BYTES, 0)) == LAZY_BYTES; i++) {
		memcpy(&number, block, sizeof number);
		if (number != i || zmq_recv(socket, payload, sizeof payload, 0) != 7 || memcmp(payload, "payload", 7))
			_exit(2);
	}
	_exit(length == 3 && memcmp(block, "end", 3) == 0 ? 0 : 3);
}

/* What the system keeps of a connection at most, both ends together. */
static uint64_t connection_bytes(void)
{
	static const char *const limits[] = {"/proc/sys/net/ipv4/tcp_rmem", "/proc/sys/net/ipv4/tcp_wmem"};
	unsigned long long most, sum = 0;

	for (int i = 0; i < 2; i++) {
		FILE *file = fopen(limits[i], "r");

		assert_non_null(file);
		assert_int_equal(fscanf(file, "%*u %*u %llu", &most), 1);
		fclose(file);
		sum += most;
	}
	return sum;
}

/* Sends numbered messages until the queue is full. */
static void fill_queue(struct dlsi_transport *listener, struct dlsi_peer peer)
{
	/* One more is with libzmq's thread, and one on its way. */
	const uint64_t most = QUEUE + 2 + connection_bytes() / LAZY_BYTES;
	struct dlsi_frame *frame = dlsi_frame_copy(unit_alloc(), "payload", 7);
	uint8_t *block = test_calloc(1, LAZY_BYTES);
	uint32_t sent = 0;
	int rc;

	while ((rc = dlsi_transport_send(listener, peer, block, LAZY_BYTES, &frame, 1)) == 0) {
		sent++;
		memcpy(block, &sent, sizeof sent);
		assert_true(sent <= most);
	}
	assert_int_equal(rc, DLS_EBUSY);
	assert_true(sent >= QUEUE);
	dlsi_frame_unref(frame);
	test_free(block);
}

/* One peer does not read: the rest is served, and what it gets in the end is whole and in order. It is a process that
 * stands still, since the threads of libzmq would read for it without any limit. */
static void test_full_queue_holds_nobody_up(void **state)
{
	struct dlsi_transport_config config = {.endpoint = "tcp://127.0.0.1:0", .queue = QUEUE};
	struct dlsi_transport *listener, *eager;
	struct dlsi_peer lazy_peer, eager_peer;
	int tube[2], status;
	pid_t lazy;

	(void)state;
	assert_int_equal(pipe(tube), 0);
	lazy = fork_dialer(tube, read_numbered); /* before this process has threads */
	assert_true(lazy > 0);
	config.context = zmq_ctx_new();
	assert_int_equal(dlsi_transport_listen(unit_alloc(), &config, &listener, NULL), 0);
	lazy_peer = meet(tube, listener);
	kill(lazy, SIGSTOP);
	assert_int_equal(waitpid(lazy, &status, WUNTRACED), lazy);
	assert_true(WIFSTOPPED(status));
	eager = unit_join(config.context, listener, "eager", &eager_peer);
	fill_queue(listener, lazy_peer);
	for (int i = 0; i < 5; i++) {
		unit_say(listener, eager_peer, "for you");
		unit_expect_text(eager, "for you");
	}
	kill(lazy, SIGCONT);
	while (dlsi_transport_send(listener, lazy_peer, (const uint8_t *)"end", 3, NULL, 0) == DLS_EBUSY)
		zmq_poll(NULL, 0, 1);
	assert_int_equal(waitpid(lazy, &status, 0), lazy);
	assert_int_equal(status, 0);
	dlsi_transport_destroy(eager, 0);
	dlsi_transport_destroy(listener, 0);
	zmq_ctx_term(config.context);
}

static void assert_refused(void *context, const char *endpoint, const char *word)
{
	struct dlsi_transport_config config = {.context = context, .endpoint = endpoint};
	struct dlsi_transport *transport = NULL;
	struct dls_error err;

	assert_int_equal(dlsi_transport_listen(unit_alloc(), &config, &transport, &err), DLS_EADDRESS);
	assert_null(transport);
	if (!strstr(err.text, word) || !strstr(err.text, endpoint))
		fail_msg("%s", err.text);
}

static void test_addresses_that_cannot_be_used(void **state)
{
	void *context = zmq_ctx_new();
	struct dlsi_transport *listener = unit_listen(context, "tcp://127.0.0.1:0");
	struct dlsi_transport_config config = {.context = context, .endpoint = "tcp://no-such-host.invalid:1"};
	struct dlsi_transport *dialer;
	struct dls_error err;

	(void)state;
	assert_refused(context, dlsi_transport_endpoint(listener), "in use");
	assert_refused(context, "tcp://192.0.2.1:5555", "not an address of this machine");
	assert_refused(context, "tcp://no-such-host.invalid:1", "cannot be resolved");
	assert_refused(context, "ipc:///no/such/folder/socket", "folder does not exist");
	assert_refused(context, "udp://127.0.0.1:5", "not an address");
	assert_int_equal(dlsi_transport_dial(unit_alloc(), &config, &dialer, &err), DLS_EADDRESS);
	assert_non_null(strstr(err.text, "no-such-host.invalid"));
	dlsi_transport_destroy(listener, 0);
	zmq_ctx_term(context);
}

static bool is_told(const struct dlsi_transport *transport, int wait_ms)
{
	int fds[DLSI_TRANSPORT_POLL];
	struct pollfd items[DLSI_TRANSPORT_POLL];

	dlsi_transport_descriptors(transport, fds);
	for (unsigned i = 0; i < DLSI_TRANSPORT_POLL; i++)
		items[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
	return poll(items, DLSI_TRANSPORT_POLL, wait_ms) > 0;
}

static void drain(struct dlsi_transport *transport)
{
	struct dlsi_arrival arrival;

	while (dlsi_transport_next(transport, &arrival) == 1)
		unit_arrival_release(&arrival);
	assert_false(dlsi_transport_has_unread(transport));
}

/* Something came: either the descriptors say so, or a send has used that up and the transport says so itself. */
static void test_descriptors_tell_what_comes(void **state)
{
	(void)state;
	for (const char *const *endpoint = endpoints(); *endpoint; endpoint++) {
		void *context = zmq_ctx_new();
		struct dlsi_transport *listener = unit_listen(context, *endpoint), *dialer;
		struct dlsi_peer peer, server = {0, 1};

		dialer = unit_join(context, listener, "hello", &peer);
		for (int round = 0; round < 100; round++) {
			drain(dialer);
			unit_say(listener, peer, "one");
			unit_say(listener, peer, "two");
			assert_true(is_told(dialer, UNIT_WAIT_MS));
			for (int i = 0; i < 1000 && is_told(dialer, 0); i++)
				unit_say(dialer, server, "noise");
			assert_true(dlsi_transport_has_unread(dialer) || is_told(dialer, UNIT_WAIT_MS));
			unit_expect_text(dialer, "one");
			assert_true(dlsi_transport_has_unread(dialer));
			unit_expect_text(dialer, "two");
			drain(listener);
		}
		dlsi_transport_destroy(dialer, 0);
		dlsi_transport_destroy(listener, 0);
		zmq_ctx_term(context);
	}
}

UNIT_MAIN(test_killed_process_is_lost, test_full_queue_holds_nobody_up, test_losses_are_of_the_right_peers,
	test_last_words_of_a_listener, test_messages_both_ways, test_listener_takes_its_socket_file_along,
	test_loss_is_seen_and_others_stay, test_what_was_sent_before_the_end_comes_first,
	test_dialer_comes_back_as_another_peer, test_old_messages_stay_behind, test_reopened_dialer_is_another_peer,
	test_forgotten_peer_is_new_when_it_speaks, test_addresses_that_cannot_be_used, test_descriptors_tell_what_comes)
