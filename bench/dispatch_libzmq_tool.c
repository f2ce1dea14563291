/* What libzmq alone does where a master, its workers and a client pass tasks on, for bench/dispatch.py: a loop around
 * one ROUTER, with messages of the sizes that lib/ sends for a task of one item, one task a message, and the same
 * number of tasks at each worker. Nothing is kept, counted or sent again.
 *
 *   dispatch_libzmq_tool master WORKERS CREDIT   prints its endpoint and works until it is killed
 *   dispatch_libzmq_tool worker MASTER           works until it is killed
 *   dispatch_libzmq_tool batch MASTER ITEMS      prints items a second
 *   dispatch_libzmq_tool latency MASTER COUNT    one item at a time: prints the median and the 99th of 100 in
 * microseconds dispatch_libzmq_tool payload WORKERS CREDIT COUNT BYTES prints its endpoint and, once so many workers
 * (`reader`) are there, tasks a second of items that go to them straight and without a copy dispatch_libzmq_tool reader
 * ENDPOINT         works until it is killed
 *
 * A task is its number, which the client alone would know, so the master makes it: that spares this side the bytes of
 * the inputs. */
#include "base/clock.h"
#include "bench/tool.h"
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <zmq.h>

/* Header and one record, and the page behind a result. */
enum { ASSIGN_BYTES = 106, RESULT_BYTES = 216, PAGE_BYTES = 50, ACK_BYTES = 104 };
enum { WORKERS_MOST = 128, WARM_UP = 200, ACK_EVERY = 64, ID_BYTES = 5, BUFFERS = 256 };

static void fail(const char *what)
{
	fprintf(stderr, "dispatch_libzmq_tool: %s: %s\n", what, zmq_strerror(zmq_errno()));
	exit(1);
}

static void *make_socket(int type)
{
	void *context = zmq_ctx_new(), *socket = context ? zmq_socket(context, type) : NULL;
	int unlimited = 0;

	if (!socket || zmq_setsockopt(socket, ZMQ_SNDHWM, &unlimited, sizeof unlimited) ||
		zmq_setsockopt(socket, ZMQ_RCVHWM, &unlimited, sizeof unlimited))
		fail("no socket");
	return socket;
}

static void *connect_to(const char *endpoint)
{
	void *socket = make_socket(ZMQ_DEALER);

	if (zmq_connect(socket, endpoint))
		fail(endpoint);
	return socket;
}

static void send_bytes(void *socket, const void *data, size_t length, int flags)
{
	if (zmq_send(socket, data, length, flags) < 0)
		fail("cannot send");
}

/* The length of the frame; what does not fit is cut. */
static size_t receive(void *socket, void *data, size_t room)
{
	int length = zmq_recv(socket, data, room, 0);

	if (length < 0)
		fail("cannot receive");
	return (size_t)length;
}

/* ---- master: tasks that the client wants go to the worker with the fewest, results back to the client */

struct master {
	void *socket;
	unsigned credit, workers_wanted;
	uint64_t next, wanted; /* items */
	struct peer {
		uint8_t id[ID_BYTES];
		unsigned held;
	} workers[WORKERS_MOST];
	unsigned worker_count;
	uint8_t client[ID_BYTES];
};

static struct peer *least_loaded(struct master *master)
{
	struct peer *least = &master->workers[0];

	for (unsigned i = 1; i < master->worker_count; i++)
		if (master->workers[i].held < least->held)
			least = &master->workers[i];
	return least;
}

static void assign(struct master *master)
{
	uint8_t block[ASSIGN_BYTES] = {0};

	while (master->next < master->wanted && master->worker_count == master->workers_wanted) {
		struct peer *peer = least_loaded(master);

		if (peer->held == master->credit)
			return;
		memcpy(block, &master->next, sizeof master->next);
		send_bytes(master->socket, peer->id, ID_BYTES, ZMQ_SNDMORE);
		send_bytes(master->socket, block, sizeof block, 0);
		peer->held++;
		master->next++;
	}
}

static void take_result(struct master *master, const uint8_t *id, const uint8_t *block)
{
	zmq_msg_t page;

	for (unsigned i = 0; i < master->worker_count; i++)
		master->workers[i].held -= memcmp(master->workers[i].id, id, ID_BYTES) == 0;
	zmq_msg_init(&page);
	if (zmq_msg_recv(&page, master->socket, 0) < 0)
		fail("cannot receive");
	send_bytes(master->socket, master->client, ID_BYTES, ZMQ_SNDMORE);
	send_bytes(master->socket, block, RESULT_BYTES, ZMQ_SNDMORE);
	if (zmq_msg_send(&page, master->socket, 0) < 0)
		fail("cannot send");
}

static void tell_endpoint(void *socket)
{
	char endpoint[100];
	size_t room = sizeof endpoint;

	if (zmq_bind(socket, "tcp://127.0.0.1:*") || zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, endpoint, &room))
		fail("cannot bind");
	puts(endpoint);
	fflush(stdout);
}

static void be_master(unsigned workers, unsigned credit)
{
	struct master master = {.socket = make_socket(ZMQ_ROUTER), .credit = credit, .workers_wanted = workers};

	tell_endpoint(master.socket);
	while (true) {
		uint8_t id[ID_BYTES], block[RESULT_BYTES];
		size_t length;

		receive(master.socket, id, sizeof id);
		length = receive(master.socket, block, sizeof block);
		if (length == RESULT_BYTES) {
			take_result(&master, id, block);
		} else if (length == 0 && master.worker_count < workers) {
			memcpy(master.workers[master.worker_count++].id, id, ID_BYTES);
		} else if (length == sizeof master.wanted) {
			memcpy(master.client, id, ID_BYTES);
			memcpy(&master.wanted, block, sizeof master.wanted);
			master.next = 0;
		}
		assign(&master);
	}
}

static void be_worker(const char *endpoint)
{
	void *socket = connect_to(endpoint);
	uint8_t block[RESULT_BYTES] = {0}, page[PAGE_BYTES] = {0};

	send_bytes(socket, NULL, 0, 0);
	puts("ready");
	fflush(stdout);
	while (true) {
		uint64_t value;

		receive(socket, block, ASSIGN_BYTES);
		value = tool_value(block, sizeof value);
		memcpy(page, &value, sizeof value);
		send_bytes(socket, block, sizeof block, ZMQ_SNDMORE);
		send_bytes(socket, page, sizeof page, 0);
	}
}

/* ---- client */

/* Takes the result of an item that has none yet. */
static void take_value(void *socket, uint8_t *seen, uint64_t items)
{
	uint8_t block[RESULT_BYTES], page[PAGE_BYTES];
	uint64_t number;

	if (receive(socket, block, sizeof block) != RESULT_BYTES || receive(socket, page, sizeof page) != PAGE_BYTES)
		fail("a message of the wrong size");
	memcpy(&number, page, sizeof number);
	if (~number >= items || seen[~number]++)
		fail("a result of no item");
}

/* Nanoseconds until all results are here. */
static int64_t run_job(void *socket, uint64_t items)
{
	int64_t start_ns = dlsi_clock_monotonic_ns();
	uint8_t *seen = tool_allocate(items, 1), ack[ACK_BYTES] = {0};

	send_bytes(socket, &items, sizeof items, 0);
	for (uint64_t i = 1; i <= items; i++) {
		take_value(socket, seen, items);
		if (i % ACK_EVERY == 0 || i == items)
			send_bytes(socket, ack, sizeof ack, 0);
	}
	free(seen);
	return dlsi_clock_monotonic_ns() - start_ns;
}

static void measure_batch(const char *endpoint, uint64_t items)
{
	void *socket = connect_to(endpoint);

	run_job(socket, WARM_UP);
	tool_print_rate(items, run_job(socket, items));
}

static void measure_latency(const char *endpoint, size_t count)
{
	int64_t *times_ns = tool_allocate(count, sizeof *times_ns);
	void *socket = connect_to(endpoint);

	run_job(socket, WARM_UP);
	for (size_t i = 0; i < count; i++)
		times_ns[i] = run_job(socket, 1);
	tool_print_times(times_ns, count);
	free(times_ns);
}

/* ---- large items */

static void keep(void *data, void *hint)
{
	(void)data;
	(void)hint;
}

static void be_reader(const char *endpoint)
{
	void *socket = connect_to(endpoint);
	uint64_t answer[2];
	zmq_msg_t item;

	send_bytes(socket, NULL, 0, 0);
	puts("ready");
	fflush(stdout);
	while (true) {
		receive(socket, answer, sizeof *answer);
		zmq_msg_init(&item);
		if (zmq_msg_recv(&item, socket, 0) < 0)
			fail("cannot receive");
		answer[1] = tool_value(zmq_msg_data(&item), zmq_msg_size(&item));
		zmq_msg_close(&item);
		send_bytes(socket, answer, sizeof answer, 0);
	}
}

static void send_item(void *socket, const uint8_t *reader, uint64_t number, uint64_t *data, size_t bytes)
{
	zmq_msg_t item;

	send_bytes(socket, reader, ID_BYTES, ZMQ_SNDMORE);
	send_bytes(socket, &number, sizeof number, ZMQ_SNDMORE);
	if (zmq_msg_init_data(&item, data, bytes, keep, NULL) || zmq_msg_send(&item, socket, 0) < 0)
		fail("cannot send an item");
}

static void measure_payload(unsigned readers, unsigned credit, uint64_t count, size_t bytes)
{
	uint64_t values[BUFFERS], *data = tool_make_items(BUFFERS, bytes, values), next = 0, answer[2];
	void *socket = make_socket(ZMQ_ROUTER);
	uint8_t ids[WORKERS_MOST][ID_BYTES], id[ID_BYTES];
	int64_t start_ns;

	tell_endpoint(socket);
	for (unsigned i = 0; i < readers; i++) {
		receive(socket, ids[i], ID_BYTES);
		receive(socket, answer, 0);
	}
	start_ns = dlsi_clock_monotonic_ns();
	for (; next < credit * readers && next < count; next++)
		send_item(socket, ids[next % readers], next, data + next % BUFFERS * (bytes / sizeof *data), bytes);
	for (uint64_t done = 0; done < count; done++) {
		receive(socket, id, sizeof id);
		receive(socket, answer, sizeof answer);
		if (answer[0] >= next || answer[1] != values[answer[0] % BUFFERS])
			fail("a result is not that of its item");
		if (next < count) {
			send_item(socket, id, next, data + next % BUFFERS * (bytes / sizeof *data), bytes);
			next++;
		}
	}
	tool_print_rate(count, dlsi_clock_monotonic_ns() - start_ns);
}

static unsigned long number_at(char **argv, int i)
{
	return strtoul(argv[i], NULL, 10);
}

int main(int argc, char **argv)
{
	const char *part = argc > 1 ? argv[1] : "";

	prctl(PR_SET_PDEATHSIG, SIGKILL); /* whoever started it may be killed */
	if (strcmp(part, "master") == 0 && argc == 4)
		be_master((unsigned)number_at(argv, 2), (unsigned)number_at(argv, 3));
	else if (strcmp(part, "worker") == 0 && argc == 3)
		be_worker(argv[2]);
	else if (strcmp(part, "batch") == 0 && argc == 4)
		measure_batch(argv[2], number_at(argv, 3));
	else if (strcmp(part, "latency") == 0 && argc == 4)
		measure_latency(argv[2], number_at(argv, 3));
	else if (strcmp(part, "payload") == 0 && argc == 6)
		measure_payload((unsigned)number_at(argv, 2), (unsigned)number_at(argv, 3), number_at(argv, 4),
			number_at(argv, 5));
	else if (strcmp(part, "reader") == 0 && argc == 3)
		be_reader(argv[2]);
	else
		fail("see the head of bench/dispatch_libzmq_tool.c for how it is called");
	return 0;
}
