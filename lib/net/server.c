#include "net/server.h"

#include "base/crc32c.h"
#include "base/limits.h"
#include "base/random.h"
#include "net/direct.h"

enum {
	ARRIVALS_PER_STEP = 64,
	HEARTBEAT_MS = 5000,
	TIMEOUT_MS = 20000,
};

static int init(struct dlsi_server *server, const struct dlsi_alloc *alloc, void *context, const char *endpoint,
	struct dlsi_offers *offers, bool dials, struct dls_error *err)
{
	struct dlsi_transport_config config = {.context = context,
		.endpoint = endpoint,
		.queue = DLSI_PEER_READS_WAITING,
		.heartbeat_ms = HEARTBEAT_MS,
		.timeout_ms = TIMEOUT_MS};
	int rc;

	*server = (struct dlsi_server){.alloc = alloc, .offers = offers, .witness = dlsi_random_id()};
	rc = dlsi_backlog_create(alloc, &server->backlog, err);
	if (rc)
		return rc;
	dlsi_buffer_init(&server->message, alloc);
	dlsi_list_init(&server->readers);
	dlsi_list_init(&server->waiting);
	dlsi_map_init(&server->reader_by_peer, alloc, dlsi_random_u64());
	rc = (dials ? dlsi_transport_dial : dlsi_transport_listen)(alloc, &config, &server->transport, err);
	if (rc)
		dlsi_backlog_unref(server->backlog);
	return rc;
}

int dlsi_server_listen(struct dlsi_server *server, const struct dlsi_alloc *alloc, void *context, const char *endpoint,
	struct dlsi_offers *offers, struct dls_error *err)
{
	return init(server, alloc, context, endpoint, offers, false, err);
}

int dlsi_server_dial(struct dlsi_server *server, const struct dlsi_alloc *alloc, void *context, const char *endpoint,
	struct dlsi_offers *offers, struct dls_error *err)
{
	return init(server, alloc, context, endpoint, offers, true, err);
}

static struct dlsi_id key_of(struct dlsi_peer peer)
{
	return dlsi_map_key(peer.slot, peer.generation);
}

static void drop_reader(struct dlsi_server *server, struct dlsi_reader *reader)
{
	struct dlsi_id key = key_of(reader->peer);

	dlsi_map_remove(&server->reader_by_peer, &key);
	server->question_count -= reader->question_count;
	dlsi_reader_destroy(reader);
}

void dlsi_server_fini(struct dlsi_server *server)
{
	dlsi_list_each (node, &server->readers)
		drop_reader(server, dlsi_list_entry(node, struct dlsi_reader, node));
	dlsi_transport_destroy(server->transport, 0);
	dlsi_map_fini(&server->reader_by_peer);
	dlsi_buffer_fini(&server->message);
	dlsi_backlog_unref(server->backlog);
}

void dlsi_server_poll_items(const struct dlsi_server *server, zmq_pollitem_t items[DLSI_SERVER_POLL])
{
	items[0] = (zmq_pollitem_t){.fd = dlsi_backlog_descriptor(server->backlog), .events = ZMQ_POLLIN};
	dlsi_transport_poll_items(server->transport, items + 1);
}

static void forget(struct dlsi_server *server, struct dlsi_peer peer)
{
	struct dlsi_id key = key_of(peer);
	struct dlsi_reader *reader = dlsi_map_get(&server->reader_by_peer, &key);

	if (reader)
		drop_reader(server, reader);
	dlsi_transport_forget(server->transport, peer);
	server->owner.lose(server->owner.arg, peer);
}

static struct dlsi_reader *find_or_create(struct dlsi_server *server, struct dlsi_peer peer)
{
	struct dlsi_id key = key_of(peer);
	struct dlsi_reader *reader = dlsi_map_get(&server->reader_by_peer, &key);

	if (reader)
		return reader;
	reader = dlsi_reader_create(server->alloc, peer, server->backlog);
	if (!reader)
		return NULL;
	if (dlsi_map_put(&server->reader_by_peer, &key, reader)) {
		dlsi_reader_destroy(reader);
		return NULL;
	}
	dlsi_list_append(&server->readers, &reader->node);
	return reader;
}

/* Sends one record; an error if it cannot be sent: the reader has gone or does not read, or memory is exhausted.
 * Nothing is kept for later: the reader asks again on its next connection, or runs out of time. */
static int send_record(
	struct dlsi_server *server, struct dlsi_peer peer, const struct dlsi_record *record, struct dlsi_frame *frame)
{
	static const struct dlsi_id no_cluster;
	struct dlsi_message_writer writer;

	dlsi_buffer_clear(&server->message);
	writer = dlsi_message_begin(&server->message, &no_cluster, 0);
	dlsi_message_add(&writer, record);
	if (server->message.failed)
		return DLS_ENOMEM;
	return dlsi_transport_send(
		server->transport, peer, server->message.data, server->message.length, &frame, frame != NULL);
}

int dlsi_server_say(struct dlsi_server *server, struct dlsi_peer peer, const struct dlsi_record *record)
{
	return send_record(server, peer, record, NULL);
}

static int send_error(
	struct dlsi_server *server, const struct dlsi_reader *reader, uint64_t fetch, const struct dls_error *err)
{
	struct dlsi_record record = {
		.kind = DLSI_ERROR, .error = {.fetch = fetch, .code = err->code, .sentence = dlsi_text_of(err->text)}};

	return send_record(server, reader->peer, &record, NULL);
}

static int read_chunk(
	struct dlsi_offer *offer, const struct dlsi_read *read, struct dlsi_frame **chunk_out, struct dls_error *err)
{
	if (read->length > DLSI_BLOB_CHUNK_BYTES)
		return dlsi_fail(err, DLS_ELIMIT, "%u bytes asked for at once; the limit is %d", read->length,
			DLSI_BLOB_CHUNK_BYTES);
	return dlsi_offer_read(offer, read->offset, read->length, chunk_out, err);
}

/* The chunk is handed over. */
static int send_chunk(struct dlsi_server *server, struct dlsi_reader *reader, const struct dlsi_record *record,
	struct dlsi_frame *chunk)
{
	struct dlsi_frame *counted = dlsi_backlog_count(reader->backlog, chunk);
	int rc = counted ? send_record(server, reader->peer, record, counted) : DLS_ENOMEM;

	if (rc == 0)
		dlsi_offers_count(server->offers, dlsi_frame_size(counted));
	dlsi_frame_unref(counted);
	dlsi_frame_unref(chunk);
	return rc;
}

/* Lends the whole blob; false: it is answered as ever. */
static bool lend(struct dlsi_server *server, struct dlsi_reader *reader, struct dlsi_offer *offer, uint64_t fetch)
{
	uint64_t total = dlsi_offer_length(offer);
	struct dlsi_record record = {.kind = DLSI_LENT, .lent = {.fetch = fetch, .total = total}};
	struct dlsi_direct_place place;
	struct dlsi_frame *frame;

	if (!dlsi_offer_is_in_memory(offer) || dlsi_offer_read(offer, 0, (size_t)total, &frame, NULL))
		return false;
	place = dlsi_direct_lend(dlsi_frame_data(frame), &server->witness);
	record.lent.process = place.process;
	record.lent.address = place.address;
	record.lent.witness_address = place.witness_address;
	record.lent.witness = place.witness;
	if (!dlsi_reader_lend(reader, fetch, frame))
		return false;
	if (send_record(server, reader->peer, &record, NULL) == 0) {
		dlsi_offers_count(server->offers, total);
		return true;
	}
	dlsi_reader_close(reader, fetch);
	return false;
}

static int answer(struct dlsi_server *server, struct dlsi_reader *reader, const struct dlsi_question *question)
{
	const struct dlsi_read *read = &question->read;
	struct dlsi_record record = {.kind = DLSI_DATA,
		.data = {.fetch = read->fetch, .offset = read->offset, .frames = !question->is_open}};
	struct dlsi_frame *chunk = NULL;
	struct dlsi_offer *offer;
	struct dls_error err;
	int rc = dlsi_offers_open(server->offers, &read->token, &read->name, &offer, &err);

	if (rc == 0) {
		bool is_lent = question->is_direct && lend(server, reader, offer, read->fetch);

		record.data.total = dlsi_offer_length(offer);
		if (!question->is_open)
			rc = read_chunk(offer, read, &chunk, &err);
		dlsi_offer_release(offer);
		if (is_lent)
			return 0;
	}
	if (rc)
		return send_error(server, reader, read->fetch, &err);
	if (!chunk)
		return send_record(server, reader->peer, &record, NULL);
	if (read->checked)
		record.data.checksum = dlsi_crc32c(0, dlsi_frame_data(chunk), dlsi_frame_size(chunk));
	return send_chunk(server, reader, &record, chunk);
}

static void keep(struct dlsi_server *server, struct dlsi_reader *reader, const struct dlsi_question *question)
{
	if (server->question_count == DLSI_READS_WAITING || !dlsi_reader_keep(reader, question))
		return; /* it runs out of time */
	server->question_count++;
	if (dlsi_list_empty(&reader->waiting_node))
		dlsi_list_append(&server->waiting, &reader->waiting_node);
}

/* False: the reader has gone. */
static bool take_question(struct dlsi_server *server, struct dlsi_peer peer, const struct dlsi_question *question)
{
	struct dlsi_reader *reader = find_or_create(server, peer);

	server->questions++;
	if (!reader)
		return true;
	if (!dlsi_reader_is_free(reader, question))
		keep(server, reader, question);
	else if (answer(server, reader, question) == DLS_ELOST) {
		drop_reader(server, reader);
		return false;
	}
	return true;
}

static void take_close(struct dlsi_server *server, struct dlsi_peer peer, uint64_t fetch)
{
	struct dlsi_id key = key_of(peer);
	struct dlsi_reader *reader = dlsi_map_get(&server->reader_by_peer, &key);

	if (reader)
		dlsi_reader_close(reader, fetch);
}

/* False: it is no question. */
static bool read_question(
	const struct dlsi_server *server, const struct dlsi_record *record, struct dlsi_question *question_out)
{
	const struct dlsi_open *open = &record->open;

	*question_out = (struct dlsi_question){.is_open = record->kind == DLSI_OPEN};
	if (record->kind == DLSI_READ)
		question_out->read = record->read;
	else
		question_out->read = (struct dlsi_read){.fetch = open->fetch, .token = open->token, .name = open->name};
	question_out->is_direct =
		question_out->is_open && open->direct && dlsi_transport_is_from_here(server->transport);
	return record->kind == DLSI_READ || record->kind == DLSI_OPEN;
}

static void take_message(struct dlsi_server *server, const struct dlsi_arrival *arrival)
{
	struct dlsi_question question;
	struct dlsi_message message;
	struct dlsi_record record;
	bool there = true, others = false;

	if (dlsi_message_open(arrival->block, arrival->length, arrival->frame_count, &message, NULL) == 0) {
		while (there && dlsi_message_next(&message, &record)) {
			if (record.kind == DLSI_CLOSE)
				take_close(server, arrival->peer, record.close.fetch);
			else if (read_question(server, &record, &question))
				there = take_question(server, arrival->peer, &question);
			else
				others = true;
		}
	}
	if (others && server->owner.hear)
		server->owner.hear(server->owner.arg, arrival);
	for (size_t i = 0; i < arrival->frame_count; i++)
		dlsi_frame_unref(arrival->frames[i]);
}

static void take_arrivals(struct dlsi_server *server)
{
	struct dlsi_arrival arrival;

	for (int i = 0; i < ARRIVALS_PER_STEP; i++) {
		int rc = dlsi_transport_next(server->transport, &arrival);

		if (rc == 1 && arrival.kind == DLSI_ARRIVAL_MESSAGE)
			take_message(server, &arrival);
		else if (rc == 1 && arrival.kind == DLSI_ARRIVAL_CONNECTED)
			server->owner.meet(server->owner.arg, arrival.peer);
		else if (rc == 1 || rc == DLS_ENOMEM) /* nothing is known of a reader that must be remembered */
			forget(server, arrival.peer);
		else
			break;
	}
}

/* Answers what one reader asked, as far as it has room; then it is the others' turn. */
static void answer_waiting(struct dlsi_server *server, struct dlsi_reader *reader)
{
	struct dlsi_question *question;
	bool any = false;

	while ((question = dlsi_reader_next(reader))) {
		int rc = answer(server, reader, question);

		if (rc == DLS_ELOST) {
			drop_reader(server, reader);
			return;
		}
		dlsi_reader_drop(reader, question);
		server->question_count--;
		any = true;
	}
	if (!any)
		return;
	dlsi_list_remove(&reader->waiting_node);
	if (reader->question_count)
		dlsi_list_append(&server->waiting, &reader->waiting_node);
}

void dlsi_server_step(struct dlsi_server *server)
{
	const struct dlsi_list *last;

	take_arrivals(server);
	if (dlsi_list_empty(&server->waiting))
		return;
	dlsi_backlog_ask(server->backlog);
	last = server->waiting.previous; /* those that are put behind it come next time */
	dlsi_list_each (node, &server->waiting) {
		bool is_last = node == last;

		answer_waiting(server, dlsi_list_entry(node, struct dlsi_reader, waiting_node));
		if (is_last)
			break;
	}
}
