#include "net/transport.h"
#include "net/context.h"

#include "base/handover.h"
#include "base/limits.h"
#include "base/random.h"
#include "net/endpoint.h"
#include "net/monitor.h"
#include "net/peers.h"
#include "net/router.h"
#include "proto/message.h"
#include <errno.h>
#include <string.h>

/* Messages in a row before the monitor is looked at, and before news from it are told: what a peer sent before it was
 * lost should come first, but others must not hold the news back for ever. */
enum { MESSAGES_BEFORE_LOOK = 64, MESSAGES_BEFORE_NEWS = 1024 };

enum {
	BACKLOG = 4096, /* 1,000 workers that connect at once take 0.3 s instead of 4 s */
	HANDSHAKE_MS = 10000,
	CONNECT_MS = 3000,
	RECONNECT_MS = 50,
	RECONNECT_MOST_MS = 2000,
	UNBIND_MS = 1000,
	ROUTING_ID_BYTES = 5, /* of an id that libzmq made: 0 and a number */
};

struct dlsi_transport {
	const struct dlsi_alloc *alloc;
	struct dlsi_transport_config config; /* its endpoint is not used */
	char address[DLSI_ENDPOINT_BYTES + 1];
	bool ipv6;
	bool is_listener;
	void *socket;
	struct dlsi_monitor monitor;

	struct dlsi_peers peers; /* listener */
	struct dlsi_peer server; /* dialer: of the connection that is up, or was last */
	bool connected;          /* dialer */

	enum dlsi_arrival_kind news; /* dialer: what the monitor said that was not told yet; 0: nothing */
	unsigned in_a_row;           /* messages since the monitor was looked at or news were told */
	bool drained;                /* the last look found nothing ... */
	bool sent;                   /* ... but something was sent since */
	uint64_t dropped;

	zmq_msg_t block; /* of the message that was received last */
	struct dlsi_frame *frames[DLSI_MESSAGE_FRAMES];
	zmq_msg_t parts[1 + DLSI_MESSAGE_FRAMES]; /* of the message that is being sent */
};

static bool is_inproc(const struct dlsi_transport *transport)
{
	return strncmp(transport->address, "inproc:", 7) == 0;
}

static bool set(void *socket, int option, int value)
{
	return zmq_setsockopt(socket, option, &value, sizeof value) == 0;
}

static bool set_options(struct dlsi_transport *transport, void *socket)
{
	const int64_t frame = DLSI_MESSAGE_HEADER_BYTES + DLSI_MESSAGE_BODY_BYTES;
	const struct dlsi_transport_config *config = &transport->config;
	bool good = zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &frame, sizeof frame) == 0;

	good &= set(socket, ZMQ_LINGER, 0) && set(socket, ZMQ_IPV6, transport->ipv6);
	good &= set(socket, ZMQ_SNDHWM, config->queue ? config->queue : DLSI_PEER_QUEUE);
	good &= set(socket, ZMQ_HANDSHAKE_IVL, HANDSHAKE_MS);
	/* At a limit libzmq 4.3 stops reading from a connection, and if that ends then, it ends the process. Over
	 * inproc, where it would count for the sender too, there is none of that. */
	good &= is_inproc(transport) || set(socket, ZMQ_RCVHWM, 0);
	if (config->heartbeat_ms > 0) {
		good &= set(socket, ZMQ_HEARTBEAT_IVL, config->heartbeat_ms);
		good &= set(socket, ZMQ_HEARTBEAT_TIMEOUT, config->timeout_ms);
	}
	if (transport->is_listener)
		return good && set(socket, ZMQ_ROUTER_MANDATORY, 1) && set(socket, ZMQ_BACKLOG, BACKLOG);
	/* Without IMMEDIATE what waits in the socket when a connection ends goes out over the next one, before this
	 * side knows of either. Its price: of what has come and was not read yet the last may be dropped. */
	return good && set(socket, ZMQ_IMMEDIATE, 1) && set(socket, ZMQ_CONNECT_TIMEOUT, CONNECT_MS) &&
	       set(socket, ZMQ_RECONNECT_IVL, RECONNECT_MS) && set(socket, ZMQ_RECONNECT_IVL_MAX, RECONNECT_MOST_MS);
}

/* Gives the address back before the call returns, so that it can be listened at again at once: closing a socket alone
 * leaves that to libzmq's thread. */
static void unbind(struct dlsi_transport *transport)
{
	zmq_pollitem_t item = {.socket = transport->monitor.pair, .events = ZMQ_POLLIN};
	int event = 0, value;

	dlsi_endpoint_leave(transport->address); /* while nobody else can have it */
	if (dlsi_context_check_files(NULL) || zmq_unbind(transport->socket, transport->address))
		return;
	while (event != ZMQ_EVENT_CLOSED && zmq_poll(&item, 1, UNBIND_MS) > 0)
		while (event != ZMQ_EVENT_CLOSED && dlsi_monitor_next(&transport->monitor, &event, &value))
			;
}

static void close_socket(struct dlsi_transport *transport, int linger_ms)
{
	if (!transport->socket)
		return;
	dlsi_monitor_close(&transport->monitor, transport->socket);
	set(transport->socket, ZMQ_LINGER, linger_ms);
	zmq_close(transport->socket);
	transport->socket = NULL;
}

/* Makes the socket and its monitor, not yet bound or connected. */
static int open_socket(struct dlsi_transport *transport, struct dls_error *err)
{
	int events =
		ZMQ_EVENT_DISCONNECTED | (transport->is_listener ? ZMQ_EVENT_CLOSED : ZMQ_EVENT_HANDSHAKE_SUCCEEDED);

	transport->socket = transport->is_listener ? dlsi_router_open(transport->config.context)
						   : zmq_socket(transport->config.context, ZMQ_DEALER);
	if (!transport->socket)
		return dlsi_fail_errno(err, DLS_EIO, errno, "cannot make a socket for %s", transport->address);
	if (set_options(transport, transport->socket) &&
		dlsi_monitor_open(&transport->monitor, transport->config.context, transport->socket, events))
		return 0;
	dlsi_fail(err, DLS_EIO, "cannot set up a socket for %s: %s", transport->address, zmq_strerror(errno));
	close_socket(transport, 0);
	return DLS_EIO;
}

static int bind_address(struct dlsi_transport *transport, const char *given, struct dls_error *err)
{
	size_t room = sizeof transport->address;
	int rc = dlsi_context_check_files(err);

	if (rc)
		return rc;
	if (zmq_bind(transport->socket, transport->address) == 0) {
		if (zmq_getsockopt(transport->socket, ZMQ_LAST_ENDPOINT, transport->address, &room))
			return dlsi_fail(err, DLS_EIO, "cannot tell where %s is: %s", given, zmq_strerror(errno));
		return 0;
	}
	switch (errno) {
	case EADDRINUSE:
		return dlsi_fail(err, DLS_EADDRESS,
			"cannot listen at %s: the address is in use; stop what uses it or take another", given);
	case EADDRNOTAVAIL:
	case ENODEV:
		return dlsi_fail(
			err, DLS_EADDRESS, "cannot listen at %s: that is not an address of this machine", given);
	case EACCES:
	case EPERM:
		return dlsi_fail(err, DLS_EADDRESS,
			"cannot listen at %s: not permitted; take a port above 1023 or a folder of your own", given);
	case ENOENT:
		return dlsi_fail(err, DLS_EADDRESS, "cannot listen at %s: the folder does not exist", given);
	default:
		return dlsi_fail(err, DLS_EADDRESS, "cannot listen at %s: %s", given, zmq_strerror(errno));
	}
}

static int connect_address(struct dlsi_transport *transport, struct dls_error *err)
{
	if (zmq_connect(transport->socket, transport->address))
		return dlsi_fail(
			err, DLS_EADDRESS, "cannot connect to %s: %s", transport->address, zmq_strerror(errno));
	if (is_inproc(transport)) /* which the monitor does not see */
		transport->news = DLSI_ARRIVAL_CONNECTED;
	return 0;
}

static int create(const struct dlsi_alloc *alloc, const struct dlsi_transport_config *config, bool is_listener,
	struct dlsi_transport **transport_out, struct dls_error *err)
{
	struct dlsi_transport *transport = dlsi_calloc(alloc, 1, sizeof *transport);
	int rc;

	if (!transport)
		return dlsi_fail_memory(err);
	transport->alloc = alloc;
	transport->config = *config;
	transport->is_listener = is_listener;
	zmq_msg_init(&transport->block);
	dlsi_peers_init(&transport->peers, alloc, dlsi_random_u64());
	rc = (is_listener ? dlsi_endpoint_listen : dlsi_endpoint_dial)(
		config->endpoint, transport->address, &transport->ipv6, err);
	if (rc == 0)
		rc = open_socket(transport, err);
	if (rc == 0)
		rc = is_listener ? bind_address(transport, config->endpoint, err) : connect_address(transport, err);
	if (rc == 0)
		*transport_out = transport;
	else
		dlsi_transport_destroy(transport, 0);
	return rc;
}

int dlsi_transport_listen(const struct dlsi_alloc *alloc, const struct dlsi_transport_config *config,
	struct dlsi_transport **transport_out, struct dls_error *err)
{
	return create(alloc, config, true, transport_out, err);
}

int dlsi_transport_dial(const struct dlsi_alloc *alloc, const struct dlsi_transport_config *config,
	struct dlsi_transport **transport_out, struct dls_error *err)
{
	return create(alloc, config, false, transport_out, err);
}

void dlsi_transport_destroy(struct dlsi_transport *transport, int linger_ms)
{
	if (!transport)
		return;
	if (transport->is_listener && transport->socket && transport->monitor.pair && !is_inproc(transport))
		unbind(transport);
	dlsi_transport_abandon(transport, linger_ms);
}

void dlsi_transport_abandon(struct dlsi_transport *transport, int linger_ms)
{
	if (!transport)
		return;
	close_socket(transport, linger_ms);
	zmq_msg_close(&transport->block);
	dlsi_peers_fini(&transport->peers);
	dlsi_free(transport->alloc, transport);
}

const char *dlsi_transport_endpoint(const struct dlsi_transport *transport)
{
	return transport->address;
}

void dlsi_transport_poll_items(const struct dlsi_transport *transport, zmq_pollitem_t items[DLSI_TRANSPORT_POLL])
{
	items[0] = (zmq_pollitem_t){.socket = transport->socket, .fd = -1, .events = ZMQ_POLLIN};
	items[1] = (zmq_pollitem_t){.socket = transport->monitor.pair, .fd = -1, .events = ZMQ_POLLIN};
}

static int descriptor_of(void *socket)
{
	int fd = -1;
	size_t size = sizeof fd;

	zmq_getsockopt(socket, ZMQ_FD, &fd, &size);
	return fd;
}

void dlsi_transport_descriptors(const struct dlsi_transport *transport, int fds_out[DLSI_TRANSPORT_POLL])
{
	fds_out[0] = descriptor_of(transport->socket);
	fds_out[1] = descriptor_of(transport->monitor.pair);
}

bool dlsi_transport_has_unread(struct dlsi_transport *transport)
{
	int events = ZMQ_POLLIN;
	size_t size = sizeof events;

	if (transport->drained && !transport->sent)
		return false;
	transport->sent = false;
	zmq_getsockopt(transport->socket, ZMQ_EVENTS, &events, &size);
	transport->drained = transport->drained && !(events & ZMQ_POLLIN);
	return !transport->drained;
}

/* ---- news of connections */

static bool has_news(const struct dlsi_transport *transport)
{
	return transport->is_listener ? dlsi_peers_any_lost(&transport->peers) : transport->news != 0;
}

/* Reads the monitor: all of it for a listener, up to the next news for a dialer, which are told in order. */
static void look(struct dlsi_transport *transport)
{
	int event, value;

	while ((transport->is_listener || !transport->news) && dlsi_monitor_next(&transport->monitor, &event, &value)) {
		if (transport->is_listener) {
			if (event == ZMQ_EVENT_DISCONNECTED)
				dlsi_peers_lose_fd(&transport->peers, value);
		} else if (event == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) {
			transport->news = DLSI_ARRIVAL_CONNECTED;
		} else if (transport->connected) { /* an attempt that failed is no news */
			transport->news = DLSI_ARRIVAL_LOST;
		}
	}
}

/* ---- receiving */

/* Reads away the rest of a message, if there is `more` of it. */
static void drop_rest(struct dlsi_transport *transport, bool more)
{
	zmq_msg_t part;

	while (more) {
		zmq_msg_init(&part);
		more = zmq_msg_recv(&part, transport->socket, ZMQ_DONTWAIT) >= 0 && zmq_msg_more(&part);
		zmq_msg_close(&part);
	}
	transport->dropped++;
}

/* Reads one payload frame; NULL when memory is exhausted. */
static struct dlsi_frame *receive_frame(struct dlsi_transport *transport, bool *more_out)
{
	struct dlsi_frame *frame = NULL;
	zmq_msg_t part;

	zmq_msg_init(&part);
	*more_out = false;
	if (zmq_msg_recv(&part, transport->socket, ZMQ_DONTWAIT) >= 0) {
		*more_out = zmq_msg_more(&part);
		frame = dlsi_frame_receive(transport->alloc, &part);
	}
	zmq_msg_close(&part);
	return frame;
}

/* Reads the payload frames of the message whose block was read. 1; 0: they were too many, and all are dropped; or
 * DLS_ENOMEM, likewise. */
static int receive_frames(struct dlsi_transport *transport, struct dlsi_arrival *arrival)
{
	bool more = zmq_msg_more(&transport->block);
	size_t count = 0;
	int rc = 1;

	while (rc == 1 && more) {
		if (count == DLSI_MESSAGE_FRAMES)
			rc = 0;
		else if (!(transport->frames[count] = receive_frame(transport, &more)))
			rc = DLS_ENOMEM;
		else
			count++;
	}
	if (rc != 1) {
		while (count)
			dlsi_frame_unref(transport->frames[--count]);
		drop_rest(transport, more);
	}
	arrival->frames = transport->frames;
	arrival->frame_count = count;
	return rc;
}

/* Reads the routing id that a ROUTER puts before a message. 1, 0 if there is no message, or DLS_ESTATE. */
static int receive_id(struct dlsi_transport *transport, bool *ours_out, uint32_t *routing_id_out)
{
	uint8_t id[ROUTING_ID_BYTES + 1]; /* a longer one is cut, but its whole length is told */
	int length = zmq_recv(transport->socket, id, sizeof id, ZMQ_DONTWAIT);

	if (length < 0)
		return errno == ETERM || errno == ENOTSOCK ? DLS_ESTATE : 0;
	*ours_out = length == ROUTING_ID_BYTES && id[0] == 0;
	memcpy(routing_id_out, id + 1, sizeof *routing_id_out);
	return 1;
}

/* Reads the block of a message. 1, 0 if there is none, or DLS_ESTATE. */
static int receive_block(struct dlsi_transport *transport)
{
	zmq_msg_close(&transport->block);
	zmq_msg_init(&transport->block);
	if (zmq_msg_recv(&transport->block, transport->socket, ZMQ_DONTWAIT) >= 0) {
		dlsi_handover_take(zmq_msg_data(&transport->block));
		return 1;
	}
	return errno == ETERM || errno == ENOTSOCK ? DLS_ESTATE : 0;
}

/* The sender of the message whose block was read; false: it is from nobody, or there is no room for one more peer. */
static bool is_known(struct dlsi_transport *transport, uint32_t routing_id, struct dlsi_peer *peer_out)
{
	if (!transport->is_listener) {
		*peer_out = transport->server;
		return transport->connected;
	}
	*peer_out = dlsi_peers_by_id(&transport->peers, routing_id);
	if (peer_out->generation)
		return true;
	look(transport); /* the end of whoever had its descriptor before is in the monitor by now, and not its own */
	return dlsi_peers_add(&transport->peers, routing_id, zmq_msg_get(&transport->block, ZMQ_SRCFD), peer_out) == 0;
}

/* 1: a message was read, into *arrival if it is one to tell (else its kind is 0); 0: there is none; or a code. */
static int receive(struct dlsi_transport *transport, struct dlsi_arrival *arrival)
{
	uint32_t routing_id = 0;
	bool ours = true;
	int rc = transport->is_listener ? receive_id(transport, &ours, &routing_id) : 1;

	*arrival = (struct dlsi_arrival){0};
	if (rc == 1)
		rc = receive_block(transport);
	if (rc != 1)
		return rc;
	if (!ours || !is_known(transport, routing_id, &arrival->peer)) {
		drop_rest(transport, zmq_msg_more(&transport->block));
		return 1;
	}
	if (!zmq_msg_size(&transport->block) && !zmq_msg_more(&transport->block))
		return 1;
	rc = receive_frames(transport, arrival);
	if (rc < 0)
		return rc;
	arrival->kind = rc == 1 ? DLSI_ARRIVAL_MESSAGE : 0;
	arrival->block = zmq_msg_data(&transport->block);
	arrival->length = zmq_msg_size(&transport->block);
	return 1;
}

static bool tell_listener(struct dlsi_transport *transport, struct dlsi_arrival *arrival)
{
	struct dlsi_peer peer = dlsi_peers_take_lost(&transport->peers);

	if (!peer.generation)
		return false;
	dlsi_peers_remove(&transport->peers, peer);
	*arrival = (struct dlsi_arrival){.kind = DLSI_ARRIVAL_LOST, .peer = peer};
	return true;
}

static bool tell_dialer(struct dlsi_transport *transport, struct dlsi_arrival *arrival)
{
	transport->connected = transport->news == DLSI_ARRIVAL_CONNECTED;
	transport->server.generation += transport->connected;
	*arrival = (struct dlsi_arrival){.kind = transport->news, .peer = transport->server};
	transport->news = 0;
	return true;
}

int dlsi_transport_next(struct dlsi_transport *transport, struct dlsi_arrival *arrival_out)
{
	transport->drained = false;
	for (unsigned dropped = 0; dropped < MESSAGES_BEFORE_LOOK;) {
		unsigned most = has_news(transport) ? MESSAGES_BEFORE_NEWS : MESSAGES_BEFORE_LOOK;
		bool must_look = transport->in_a_row >= most;
		struct dlsi_arrival arrival = {0};
		int rc = must_look ? 0 : receive(transport, &arrival);

		if (rc < 0 || arrival.kind) {
			transport->in_a_row++;
			*arrival_out = arrival;
			return rc;
		}
		if (rc == 1) {
			transport->in_a_row++;
			dropped++;
			continue;
		}
		transport->in_a_row = 0;
		if (has_news(transport) &&
			(transport->is_listener ? tell_listener : tell_dialer)(transport, arrival_out))
			return 1;
		look(transport);
		if (!must_look && !has_news(transport)) {
			transport->drained = true;
			transport->sent = false;
			break;
		}
	}
	return 0;
}

bool dlsi_transport_is_from_here(const struct dlsi_transport *transport)
{
	const char *address = zmq_msg_gets((zmq_msg_t *)(uintptr_t)&transport->block, "Peer-Address");

	return strncmp(transport->address, "tcp:", 4) != 0 ||
	       (address && (strncmp(address, "127.", 4) == 0 || strncmp(address, "::ffff:127.", 11) == 0 ||
				   strcmp(address, "::1") == 0));
}

/* ---- sending */

/* Makes the messages of all parts before any is sent, because a message that was begun cannot be taken back. */
static int make_parts(struct dlsi_transport *transport, const uint8_t *block, size_t length,
	struct dlsi_frame *const *frames, size_t frame_count)
{
	if (zmq_msg_init_size(&transport->parts[0], length))
		return DLS_ENOMEM;
	if (length)
		memcpy(zmq_msg_data(&transport->parts[0]), block, length);
	dlsi_handover_give(zmq_msg_data(&transport->parts[0]));
	for (size_t i = 0; i < frame_count; i++) {
		if (dlsi_frame_message(frames[i], &transport->parts[1 + i])) {
			for (size_t made = 0; made <= i; made++)
				zmq_msg_close(&transport->parts[made]);
			return DLS_ENOMEM;
		}
	}
	return 0;
}

/* Opens a message to a peer of a ROUTER: when its id is refused nothing may follow, or it would be taken for an id. */
static int send_id(struct dlsi_transport *transport, struct dlsi_peer peer)
{
	uint8_t id[ROUTING_ID_BYTES] = {0};
	uint32_t routing_id;

	if (!dlsi_peers_routing_id(&transport->peers, peer, &routing_id))
		return DLS_ELOST;
	memcpy(id + 1, &routing_id, sizeof routing_id);
	if (zmq_send(transport->socket, id, sizeof id, ZMQ_DONTWAIT | ZMQ_SNDMORE) >= 0)
		return 0;
	if (errno == EAGAIN)
		return DLS_EBUSY;
	dlsi_peers_remove(&transport->peers, peer);
	return DLS_ELOST;
}

int dlsi_transport_send(struct dlsi_transport *transport, struct dlsi_peer peer, const uint8_t *block, size_t length,
	struct dlsi_frame *const *frames, size_t frame_count)
{
	size_t count = 1 + frame_count, sent = 0;
	int rc = make_parts(transport, block, length, frames, frame_count);

	transport->sent = true;
	if (rc)
		return rc;
	if (transport->is_listener)
		rc = send_id(transport, peer);
	else if (!transport->connected || !dlsi_peer_equal(peer, transport->server))
		rc = DLS_ELOST;
	while (rc == 0 && sent < count) {
		int flags = ZMQ_DONTWAIT | (sent + 1 < count ? ZMQ_SNDMORE : 0);

		if (zmq_msg_send(&transport->parts[sent], transport->socket, flags) < 0)
			rc = errno == EAGAIN ? DLS_EBUSY : DLS_ELOST; /* only of a dialer, and only at the first */
		else
			sent++;
	}
	while (sent < count)
		zmq_msg_close(&transport->parts[sent++]);
	return rc;
}

void dlsi_transport_forget(struct dlsi_transport *transport, struct dlsi_peer peer)
{
	dlsi_peers_remove(&transport->peers, peer);
}

int dlsi_transport_reopen(struct dlsi_transport *transport, struct dls_error *err)
{
	int rc;

	close_socket(transport, 0);
	transport->connected = false;
	transport->news = 0;
	transport->drained = false;
	rc = open_socket(transport, err);
	return rc ? rc : connect_address(transport, err);
}

uint64_t dlsi_transport_dropped(const struct dlsi_transport *transport)
{
	return transport->dropped;
}
