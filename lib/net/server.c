#include "net/server.h"

#include "base/crc32c.h"
#include "base/limits.h"

enum {
	ARRIVALS_PER_STEP = 64,
	/* Twice what an honest reader asks for at once. One that asks for more gets no more answers until it reads. */
	QUEUE = 2 * DLSI_FETCHES_AT_ONCE * (DLSI_BLOB_CHUNKS_IN_FLIGHT + 1),
	HEARTBEAT_MS = 5000,
	TIMEOUT_MS = 20000,
};

int dlsi_server_init(struct dlsi_server *server, const struct dlsi_alloc *alloc, void *context, const char *endpoint,
	struct dlsi_offers *offers, struct dls_error *err)
{
	struct dlsi_transport_config config = {.context = context,
		.endpoint = endpoint,
		.queue = QUEUE,
		.heartbeat_ms = HEARTBEAT_MS,
		.timeout_ms = TIMEOUT_MS};

	server->offers = offers;
	dlsi_buffer_init(&server->message, alloc);
	return dlsi_transport_listen(alloc, &config, &server->transport, err);
}

void dlsi_server_fini(struct dlsi_server *server)
{
	dlsi_transport_destroy(server->transport, 0);
	dlsi_buffer_fini(&server->message);
}

/* Sends one record; false if it cannot be sent: the reader has gone or does not read, or memory is exhausted. Nothing
 * is kept for later: the reader asks again on its next connection, or runs out of time. */
static bool answer(
	struct dlsi_server *server, struct dlsi_peer peer, const struct dlsi_record *record, struct dlsi_frame *frame)
{
	static const struct dlsi_id no_cluster;
	struct dlsi_message_writer writer;

	dlsi_buffer_clear(&server->message);
	writer = dlsi_message_begin(&server->message, &no_cluster, 0);
	dlsi_message_add(&writer, record);
	return !server->message.failed && dlsi_transport_send(server->transport, peer, server->message.data,
						  server->message.length, &frame, frame != NULL) == 0;
}

static bool answer_error(struct dlsi_server *server, struct dlsi_peer peer, uint64_t fetch, const struct dls_error *err)
{
	struct dlsi_record record = {
		.kind = DLSI_ERROR, .error = {.fetch = fetch, .code = err->code, .sentence = dlsi_text_of(err->text)}};

	return answer(server, peer, &record, NULL);
}

static bool take_open(struct dlsi_server *server, struct dlsi_peer peer, const struct dlsi_open *open)
{
	struct dlsi_record record = {.kind = DLSI_DATA, .data = {.fetch = open->fetch}};
	struct dlsi_offer *offer;
	struct dls_error err;

	if (dlsi_offers_open(server->offers, &open->token, &open->name, &offer, &err))
		return answer_error(server, peer, open->fetch, &err);
	record.data.total = dlsi_offer_length(offer);
	dlsi_offer_release(offer);
	return answer(server, peer, &record, NULL);
}

static int read_chunk(
	struct dlsi_offer *offer, const struct dlsi_read *read, struct dlsi_frame **chunk_out, struct dls_error *err)
{
	if (read->length > DLSI_BLOB_CHUNK_BYTES)
		return dlsi_fail(err, DLS_ELIMIT, "%u bytes asked for at once; the limit is %d", read->length,
			DLSI_BLOB_CHUNK_BYTES);
	return dlsi_offer_read(offer, read->offset, read->length, chunk_out, err);
}

static bool take_read(struct dlsi_server *server, struct dlsi_peer peer, const struct dlsi_read *read)
{
	struct dlsi_record record = {
		.kind = DLSI_DATA, .data = {.fetch = read->fetch, .offset = read->offset, .frames = 1}};
	struct dlsi_frame *chunk = NULL;
	struct dlsi_offer *offer;
	struct dls_error err;
	int rc = dlsi_offers_open(server->offers, &read->token, &read->name, &offer, &err);
	bool sent;

	if (rc == 0) {
		record.data.total = dlsi_offer_length(offer);
		rc = read_chunk(offer, read, &chunk, &err);
		dlsi_offer_release(offer);
	}
	if (rc)
		return answer_error(server, peer, read->fetch, &err);
	if (read->checked)
		record.data.checksum = dlsi_crc32c(0, dlsi_frame_data(chunk), dlsi_frame_size(chunk));
	sent = answer(server, peer, &record, chunk);
	dlsi_frame_unref(chunk);
	return sent;
}

static void take_message(struct dlsi_server *server, const struct dlsi_arrival *arrival)
{
	struct dlsi_message message;
	struct dlsi_record record;
	bool sent = true;

	if (dlsi_message_open(arrival->block, arrival->length, arrival->frame_count, &message, NULL) == 0) {
		/* Nothing more is read for one that takes no answers. */
		while (sent && dlsi_message_next(&message, &record)) {
			if (record.kind == DLSI_OPEN)
				sent = take_open(server, arrival->peer, &record.open);
			else if (record.kind == DLSI_READ)
				sent = take_read(server, arrival->peer, &record.read);
		}
	}
	for (size_t i = 0; i < arrival->frame_count; i++)
		dlsi_frame_unref(arrival->frames[i]);
}

void dlsi_server_step(struct dlsi_server *server)
{
	struct dlsi_arrival arrival;

	for (int i = 0; i < ARRIVALS_PER_STEP; i++) {
		int rc = dlsi_transport_next(server->transport, &arrival);

		if (rc == 1 && arrival.kind == DLSI_ARRIVAL_MESSAGE)
			take_message(server, &arrival);
		else if (rc == 1 || rc == DLS_ENOMEM) /* nothing is known of a reader that must be remembered */
			dlsi_transport_forget(server->transport, arrival.peer);
		else
			break;
	}
}
