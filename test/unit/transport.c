#include "test/unit/transport.h"

#include "net/endpoint.h"
#include "test/unit/unit.h"
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct dlsi_transport *unit_listen(void *context, const char *endpoint)
{
	struct dlsi_transport_config config = {.context = context, .endpoint = endpoint};
	struct dlsi_transport *transport = NULL;
	struct dls_error err = {0};

	if (dlsi_transport_listen(unit_alloc(), &config, &transport, &err))
		fail_msg("%s", err.text);
	return transport;
}

struct dlsi_transport *unit_dial(void *context, const char *endpoint)
{
	struct dlsi_transport_config config = {.context = context, .endpoint = endpoint};
	struct dlsi_transport *transport = NULL;
	struct dls_error err = {0};

	if (dlsi_transport_dial(unit_alloc(), &config, &transport, &err))
		fail_msg("%s", err.text);
	return transport;
}

struct dlsi_arrival unit_next(struct dlsi_transport *transport)
{
	struct dlsi_arrival arrival;
	zmq_pollitem_t items[DLSI_TRANSPORT_POLL];
	int rc;

	while ((rc = dlsi_transport_next(transport, &arrival)) == 0) {
		dlsi_transport_poll_items(transport, items);
		if (zmq_poll(items, DLSI_TRANSPORT_POLL, UNIT_WAIT_MS) == 0)
			fail_msg("nothing arrives at %s", dlsi_transport_endpoint(transport));
	}
	assert_int_equal(rc, 1);
	return arrival;
}

struct dlsi_arrival unit_expect(struct dlsi_transport *transport, enum dlsi_arrival_kind kind)
{
	struct dlsi_arrival arrival = unit_next(transport);

	assert_int_equal(arrival.kind, kind);
	return arrival;
}

void unit_arrival_release(const struct dlsi_arrival *arrival)
{
	for (size_t i = 0; i < arrival->frame_count; i++)
		dlsi_frame_unref(arrival->frames[i]);
}

void unit_say(struct dlsi_transport *transport, struct dlsi_peer peer, const char *text)
{
	assert_int_equal(dlsi_transport_send(transport, peer, (const uint8_t *)text, strlen(text), NULL, 0), 0);
}

void unit_send_record(struct dlsi_transport *transport, struct dlsi_peer peer, const struct dlsi_record *record,
	struct dlsi_frame *frame)
{
	static const struct dlsi_id no_cluster;
	struct dlsi_message_writer writer;
	struct dlsi_buffer buffer;

	dlsi_buffer_init(&buffer, unit_alloc());
	writer = dlsi_message_begin(&buffer, &no_cluster, 0);
	dlsi_message_add(&writer, record);
	assert_int_equal(dlsi_transport_send(transport, peer, buffer.data, buffer.length, &frame, frame != NULL), 0);
	dlsi_buffer_fini(&buffer);
}

struct dlsi_peer unit_expect_text(struct dlsi_transport *transport, const char *text)
{
	struct dlsi_arrival arrival = unit_expect(transport, DLSI_ARRIVAL_MESSAGE);

	assert_int_equal(arrival.length, strlen(text));
	assert_memory_equal(arrival.block, text, arrival.length);
	assert_int_equal(arrival.frame_count, 0);
	return arrival.peer;
}

struct dlsi_transport *unit_join(
	void *context, struct dlsi_transport *listener, const char *name, struct dlsi_peer *peer_out)
{
	struct dlsi_transport *dialer = unit_dial(context, dlsi_transport_endpoint(listener));

	unit_say(dialer, unit_expect(dialer, DLSI_ARRIVAL_CONNECTED).peer, name);
	*peer_out = unit_expect_text(listener, name);
	return dialer;
}

int unit_connect(const char *endpoint)
{
	struct sockaddr_in tcp = {.sin_family = AF_INET};
	struct sockaddr_un ipc = {.sun_family = AF_UNIX};
	struct dlsi_endpoint parsed;
	int fd, rc;

	assert_int_equal(dlsi_endpoint_parse(endpoint, &parsed, NULL), 0);
	if (parsed.scheme == DLSI_SCHEME_TCP) {
		tcp.sin_port = htons((uint16_t)atoi(parsed.port));
		assert_int_equal(inet_pton(AF_INET, parsed.host, &tcp.sin_addr), 1);
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		rc = connect(fd, (struct sockaddr *)&tcp, sizeof tcp);
	} else {
		snprintf(ipc.sun_path, sizeof ipc.sun_path, "%.100s", parsed.host);
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		rc = connect(fd, (struct sockaddr *)&ipc, sizeof ipc);
	}
	assert_int_equal(rc, 0);
	return fd;
}

bool unit_write(int fd, const void *data, size_t length)
{
	const uint8_t *at = data;

	while (length) {
		ssize_t written = send(fd, at, length, MSG_NOSIGNAL);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return false;
		at += written;
		length -= (size_t)written;
	}
	return true;
}

bool unit_is_closed(int fd)
{
	struct pollfd item = {.fd = fd, .events = POLLIN};
	char rest[256];

	while (poll(&item, 1, UNIT_WAIT_MS) > 0)
		if (recv(fd, rest, sizeof rest, 0) <= 0)
			return true;
	return false;
}
