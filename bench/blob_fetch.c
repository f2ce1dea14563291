/* How fast a blob of 256 MB comes over tcp loopback from another process into memory: through the data plane, with each
 * proof, beside libzmq alone (messages of the same size, one way, without a question) and a bare socket. The ways take
 * turns, so that what else the machine does hits all. One JSON line each; MB are millions of bytes. */
#include "base/clock.h"
#include "base/random.h"
#include "net/dataplane.h"
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 5, CHUNK = DLSI_BLOB_CHUNK_BYTES };
static const size_t length = 256000000;
static const struct dlsi_id token = {{1}};

static void check(bool good, const char *what)
{
	if (!good) {
		fprintf(stderr, "blob_fetch: %s\n", what);
		exit(1);
	}
}

/* A process that holds the blob, and where it can be reached. */
struct holder {
	pid_t process;
	struct dlsi_blob blob;
	char endpoint[100];
};

/* Holds the blob for ever, once it has told where. */
typedef void hold_function(const uint8_t *bytes, struct holder *self, int told);

static void tell(const struct holder *self, int told)
{
	check(write(told, self, sizeof *self) == sizeof *self, "cannot write to a pipe");
}

static void hold_plane(const uint8_t *bytes, struct holder *self, int told, enum dlsi_proof proof)
{
	struct dlsi_dataplane_config config = {.context = zmq_ctx_new(), .endpoint = "tcp://127.0.0.1:0"};
	struct dlsi_source source = {.frame = dlsi_frame_wrap(&dlsi_alloc_libc, bytes, length, NULL, NULL)};
	struct dlsi_dataplane *plane;

	self->blob = (struct dlsi_blob){.length = length, .proof = (uint8_t)proof};
	if (proof == DLSI_PROOF_HASH)
		self->blob.name = dlsi_hash_of(bytes, length);
	check(dlsi_dataplane_create(&dlsi_alloc_libc, &config, &plane, NULL) == 0, "cannot make a data plane");
	check(dlsi_dataplane_offer(plane, &token, &self->blob, &source, NULL) == 0, "cannot offer the blob");
	snprintf(self->endpoint, sizeof self->endpoint, "%s", dlsi_dataplane_endpoint(plane));
	tell(self, told);
	pause();
}

static void hold_checked(const uint8_t *bytes, struct holder *self, int told)
{
	hold_plane(bytes, self, told, DLSI_PROOF_CHECKSUM);
}

static void hold_hashed(const uint8_t *bytes, struct holder *self, int told)
{
	hold_plane(bytes, self, told, DLSI_PROOF_HASH);
}

static void hold_zmq(const uint8_t *bytes, struct holder *self, int told)
{
	void *context = zmq_ctx_new(), *socket = zmq_socket(context, ZMQ_DEALER);
	size_t room = sizeof self->endpoint;
	char question;

	zmq_bind(socket, "tcp://127.0.0.1:0");
	zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, self->endpoint, &room);
	tell(self, told);
	while (zmq_recv(socket, &question, 1, 0) == 1) {
		for (size_t at = 0; at < length; at += CHUNK) {
			zmq_msg_t message;

			zmq_msg_init_data(&message, (void *)(uintptr_t)(bytes + at),
				length - at < CHUNK ? length - at : CHUNK, NULL, NULL);
			zmq_msg_send(&message, socket, 0);
		}
	}
}

static void hold_socket(const uint8_t *bytes, struct holder *self, int told)
{
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd;
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof address;

	bind(listener, (struct sockaddr *)&address, sizeof address);
	listen(listener, 1);
	getsockname(listener, (struct sockaddr *)&address, &size);
	snprintf(self->endpoint, sizeof self->endpoint, "%u", ntohs(address.sin_port));
	tell(self, told);
	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		for (size_t at = 0; at < length;) {
			ssize_t sent = send(fd, bytes + at, length - at < CHUNK ? length - at : CHUNK, MSG_NOSIGNAL);

			check(sent > 0, "cannot send");
			at += (size_t)sent;
		}
		close(fd);
	}
}

/* ---- reading: the seconds that one blob takes */

static void *reader_context;
static struct dlsi_dataplane *reader;

static void done(void *arg, int code, struct dlsi_frame *frame, const struct dls_error *err)
{
	check(code == 0, code ? err->text : "");
	dlsi_frame_unref(frame);
	check(write(*(int *)arg, "", 1) == 1, "cannot write to a pipe");
}

static void read_plane(const struct holder *holder, bool same_host)
{
	struct dlsi_fetch fetch = {.endpoint = holder->endpoint,
		.same_host = same_host,
		.token = token,
		.blob = holder->blob,
		.length = length,
		.done = done};
	int ends[2];
	char byte;

	check(pipe(ends) == 0, "cannot make a pipe");
	fetch.arg = &ends[1];
	check(dlsi_dataplane_fetch(reader, &fetch, NULL, NULL) == 0, "cannot fetch");
	check(read(ends[0], &byte, 1) == 1, "cannot read from a pipe");
	close(ends[0]);
	close(ends[1]);
}

static void read_unchecked(const struct holder *holder)
{
	read_plane(holder, true);
}

static void read_checked(const struct holder *holder)
{
	read_plane(holder, false);
}

static void read_zmq(const struct holder *holder)
{
	void *socket = zmq_socket(reader_context, ZMQ_DEALER);
	uint8_t *bytes = malloc(length);

	zmq_connect(socket, holder->endpoint);
	zmq_send(socket, "?", 1, 0);
	for (size_t at = 0; at < length;) {
		zmq_msg_t message;

		zmq_msg_init(&message);
		zmq_msg_recv(&message, socket, 0);
		memcpy(bytes + at, zmq_msg_data(&message), zmq_msg_size(&message));
		at += zmq_msg_size(&message);
		zmq_msg_close(&message);
	}
	free(bytes);
	zmq_close(socket);
}

static void read_socket(const struct holder *holder)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	uint8_t *bytes = malloc(length);

	address.sin_port = htons((uint16_t)strtoul(holder->endpoint, NULL, 10));
	check(connect(fd, (struct sockaddr *)&address, sizeof address) == 0, "cannot connect");
	for (size_t at = 0; at < length;) {
		ssize_t got = recv(fd, bytes + at, length - at < CHUNK ? length - at : CHUNK, 0);

		check(got > 0, "cannot receive");
		at += (size_t)got;
	}
	close(fd);
	free(bytes);
}

/* ---- the ways, in turns */

static const struct way {
	const char *name;
	hold_function *hold;
	void (*read)(const struct holder *holder);
} ways[] = {
	{"same_host", hold_checked, read_unchecked},
	{"checksum", hold_checked, read_checked},
	{"hash", hold_hashed, read_checked},
	{"libzmq", hold_zmq, read_zmq},
	{"socket", hold_socket, read_socket},
};
enum { WAYS = sizeof ways / sizeof *ways };

static struct holder start(const struct way *way, const uint8_t *bytes)
{
	struct holder holder = {0};
	int ends[2];
	pid_t process;

	check(pipe(ends) == 0, "cannot make a pipe");
	process = fork();
	if (process == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		way->hold(bytes, &holder, ends[1]);
		_exit(0);
	}
	check(read(ends[0], &holder, sizeof holder) == sizeof holder, "a holder does not start");
	close(ends[0]);
	close(ends[1]);
	holder.process = process;
	return holder;
}

static int compare(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

int main(void)
{
	uint8_t *bytes = malloc(length);
	struct holder holders[WAYS];
	double speeds[WAYS][ROUNDS];

	check(dlsi_random_start() == 0 && bytes, "cannot begin");
	dlsi_random_bytes(bytes, length);
	for (int i = 0; i < WAYS; i++) /* before this process has threads */
		holders[i] = start(&ways[i], bytes);
	reader_context = zmq_ctx_new();
	check(dlsi_dataplane_create(
		      &dlsi_alloc_libc, &(struct dlsi_dataplane_config){.context = reader_context}, &reader, NULL) == 0,
		"cannot make a data plane");
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < WAYS; i++) {
			int64_t begin = dlsi_clock_monotonic_ns();

			ways[i].read(&holders[i]);
			speeds[i][round] = (double)length * 1e3 / (double)(dlsi_clock_monotonic_ns() - begin);
		}
	}
	for (int i = 0; i < WAYS; i++) {
		qsort(speeds[i], ROUNDS, sizeof *speeds[i], compare);
		printf("{\"figure\": \"blob_fetch_mb_per_second.%s\", \"value\": %.0f, \"lowest\": %.0f, \"highest\": "
		       "%.0f}\n",
			ways[i].name, speeds[i][ROUNDS / 2], speeds[i][0], speeds[i][ROUNDS - 1]);
	}
	dlsi_dataplane_destroy(reader);
	zmq_ctx_term(reader_context);
	for (int i = 0; i < WAYS; i++) {
		kill(holders[i].process, SIGKILL);
		waitpid(holders[i].process, NULL, 0);
	}
	free(bytes);
	return 0;
}
