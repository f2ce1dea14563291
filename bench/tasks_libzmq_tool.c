/* What libzmq alone does where a master, its workers and a client pass no-op tasks on, for bench/tasks.py: a loop
 * around one ROUTER, with messages of the sizes that lib/ sends for a task of one item, one task a message, and the
 * same number of tasks at each worker. Nothing is kept, counted or sent again.
 *
 *   tasks_libzmq_tool master CREDIT          prints its endpoint and works until it is killed
 *   tasks_libzmq_tool worker MASTER          works until it is killed
 *   tasks_libzmq_tool rate MASTER ITEMS      prints items a second
 *   tasks_libzmq_tool latency MASTER COUNT   one item at a time: prints the median and the 99th of 100 in microseconds
 */
#include "base/clock.h"
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <zmq.h>

/* Header and one record, and the page behind a result. */
enum { ASSIGN_BYTES = 106, RESULT_BYTES = 216, PAGE_BYTES = 50, ACK_BYTES = 104 };
enum { WORKERS = 2, WARM_UP = 200, ACK_EVERY = 64, ID_BYTES = 5 };

static void fail(const char *what)
{
	fprintf(stderr, "tasks_libzmq_tool: %s: %s\n", what, zmq_strerror(zmq_errno()));
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
	unsigned credit;
	uint64_t wanted;
	struct peer {
		uint8_t id[ID_BYTES];
		unsigned held;
	} workers[WORKERS];
	unsigned worker_count;
	uint8_t client[ID_BYTES];
};

static void assign(struct master *master)
{
	uint8_t block[ASSIGN_BYTES] = {0};

	while (master->wanted && master->worker_count == WORKERS) {
		struct peer *peer = &master->workers[master->workers[1].held < master->workers[0].held];

		if (peer->held == master->credit)
			return;
		send_bytes(master->socket, peer->id, ID_BYTES, ZMQ_SNDMORE);
		send_bytes(master->socket, block, sizeof block, 0);
		peer->held++;
		master->wanted--;
	}
}

static void take_result(struct master *master, const uint8_t *id, const uint8_t *block)
{
	zmq_msg_t page;

	for (unsigned i = 0; i < WORKERS; i++)
		master->workers[i].held -= memcmp(master->workers[i].id, id, ID_BYTES) == 0;
	zmq_msg_init(&page);
	if (zmq_msg_recv(&page, master->socket, 0) < 0)
		fail("cannot receive");
	send_bytes(master->socket, master->client, ID_BYTES, ZMQ_SNDMORE);
	send_bytes(master->socket, block, RESULT_BYTES, ZMQ_SNDMORE);
	if (zmq_msg_send(&page, master->socket, 0) < 0)
		fail("cannot send");
}

static void be_master(unsigned credit)
{
	struct master master = {.socket = make_socket(ZMQ_ROUTER), .credit = credit};
	char endpoint[100];
	size_t room = sizeof endpoint;

	if (zmq_bind(master.socket, "tcp://127.0.0.1:*") ||
		zmq_getsockopt(master.socket, ZMQ_LAST_ENDPOINT, endpoint, &room))
		fail("cannot bind");
	puts(endpoint);
	fflush(stdout);
	while (true) {
		uint8_t id[ID_BYTES], block[RESULT_BYTES];
		size_t length;

		receive(master.socket, id, sizeof id);
		length = receive(master.socket, block, sizeof block);
		if (length == RESULT_BYTES) {
			take_result(&master, id, block);
		} else if (length == 0 && master.worker_count < WORKERS) {
			memcpy(master.workers[master.worker_count++].id, id, ID_BYTES);
		} else if (length == sizeof master.wanted) {
			memcpy(master.client, id, ID_BYTES);
			memcpy(&master.wanted, block, sizeof master.wanted);
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
		receive(socket, block, ASSIGN_BYTES);
		send_bytes(socket, block, sizeof block, ZMQ_SNDMORE);
		send_bytes(socket, page, sizeof page, 0);
	}
}

/* ---- client */

/* Nanoseconds until all results are here. */
static int64_t run_job(void *socket, uint64_t items)
{
	int64_t start_ns = dlsi_clock_monotonic_ns();
	uint8_t block[RESULT_BYTES];

	send_bytes(socket, &items, sizeof items, 0);
	for (uint64_t i = 1; i <= items; i++) {
		if (receive(socket, block, sizeof block) != RESULT_BYTES ||
			receive(socket, block, sizeof block) != PAGE_BYTES)
			fail("a message of the wrong size");
		if (i % ACK_EVERY == 0 || i == items)
			send_bytes(socket, block, ACK_BYTES, 0);
	}
	return dlsi_clock_monotonic_ns() - start_ns;
}

static int compare(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static void measure_latency(void *socket, size_t count)
{
	int64_t *times_ns = calloc(count, sizeof *times_ns);

	if (!count || !times_ns)
		fail("COUNT is too small or too large");
	for (size_t i = 0; i < count; i++)
		times_ns[i] = run_job(socket, 1);
	qsort(times_ns, count, sizeof *times_ns, compare);
	printf("%.1f %.1f\n", (double)times_ns[count / 2] / 1e3, (double)times_ns[count * 99 / 100] / 1e3);
	free(times_ns);
}

int main(int argc, char **argv)
{
	const char *part = argc > 1 ? argv[1] : "";
	bool is_rate = strcmp(part, "rate") == 0, is_latency = strcmp(part, "latency") == 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL); /* whoever started it may be killed */
	if (strcmp(part, "master") == 0 && argc == 3) {
		be_master((unsigned)strtoul(argv[2], NULL, 10));
	} else if (strcmp(part, "worker") == 0 && argc == 3) {
		be_worker(argv[2]);
	} else if ((is_rate || is_latency) && argc == 4) {
		void *socket = connect_to(argv[2]);
		uint64_t count = strtoull(argv[3], NULL, 10);

		run_job(socket, WARM_UP);
		if (is_rate)
			printf("%.1f\n", (double)count * 1e9 / (double)run_job(socket, count));
		else
			measure_latency(socket, count);
	} else {
		fprintf(stderr, "see the head of bench/tasks_libzmq_tool.c for how it is called\n");
		return 2;
	}
	return 0;
}
