#include "net/transfer.h"

#include "base/crc32c.h"
#include <inttypes.h>

#define DIRECT_BYTES 32768 /* less is not worth two more system calls and a message */

int dlsi_transfer_create(const struct dlsi_alloc *alloc, struct dlsi_pool *pool, const struct dlsi_fetch *fetch,
	struct dlsi_transfer **transfer_out, struct dls_error *err)
{
	struct dlsi_transfer *transfer;

	if (fetch->blob.length > DLSI_BLOB_BYTES || fetch->offset > fetch->blob.length ||
		fetch->length > fetch->blob.length - fetch->offset)
		return dlsi_fail(err, DLS_EINVAL,
			"%" PRIu64 " bytes from %" PRIu64 " on are not within a blob of %" PRIu64, fetch->length,
			fetch->offset, fetch->blob.length);
	transfer = dlsi_calloc(alloc, 1, sizeof *transfer);
	if (!transfer)
		return dlsi_fail_memory(err);
	transfer->alloc = alloc;
	transfer->pool = pool;
	transfer->fetch = *fetch;
	dlsi_list_init(&transfer->node);
	dlsi_list_init(&transfer->in_all);
	transfer->fetch.endpoint = dlsi_strdup(alloc, fetch->endpoint);
	if (!transfer->fetch.endpoint) {
		dlsi_transfer_destroy(transfer);
		return dlsi_fail_memory(err);
	}
	*transfer_out = transfer;
	return 0;
}

static void close_sink(struct dlsi_transfer *transfer)
{
	if (transfer->is_open)
		dlsi_sink_abort(&transfer->sink);
	transfer->is_open = false;
}

void dlsi_transfer_destroy(struct dlsi_transfer *transfer)
{
	dlsi_list_remove(&transfer->node);
	close_sink(transfer);
	if (transfer->offer)
		dlsi_offer_release(transfer->offer);
	dlsi_frame_unref(transfer->frame);
	dlsi_free(transfer->alloc, (void *)(uintptr_t)transfer->fetch.endpoint);
	dlsi_free(transfer->alloc, transfer);
}

void dlsi_transfer_end(struct dlsi_transfer *transfer, int code, const struct dls_error *err)
{
	struct dlsi_frame *frame = transfer->frame;

	transfer->frame = NULL;
	close_sink(transfer); /* nothing is left of a failed one when it is told */
	transfer->fetch.done(transfer->fetch.arg, code, frame, err);
	dlsi_transfer_destroy(transfer);
}

uint64_t dlsi_transfer_progress(const struct dlsi_transfer *transfer)
{
	return transfer->is_open ? 1 + transfer->sink.received : 0;
}

static int open_sink(struct dlsi_transfer *transfer, struct dls_error *err)
{
	const struct dlsi_fetch *fetch = &transfer->fetch;
	int rc = dlsi_sink_open(&transfer->sink, transfer->pool, &fetch->blob, fetch->offset, fetch->length, err);

	transfer->is_open = rc == 0;
	return rc;
}

/* Bytes of the chunk that begins at `from` of the part. */
static uint32_t chunk_at(const struct dlsi_transfer *transfer, uint64_t from)
{
	uint64_t left = transfer->fetch.length - from;

	return left < DLSI_BLOB_CHUNK_BYTES ? (uint32_t)left : DLSI_BLOB_CHUNK_BYTES;
}

/* All has come. */
static int finish_sink(struct dlsi_transfer *transfer, struct dls_error *err)
{
	int rc;

	transfer->is_open = false;
	rc = dlsi_sink_finish(&transfer->sink, &transfer->frame, err);
	return rc ? rc : 1;
}

/* Takes bytes that are next; ends the sink when they were the last. */
static int write_chunk(struct dlsi_transfer *transfer, const uint8_t *data, size_t length, struct dls_error *err)
{
	dlsi_sink_write(&transfer->sink, data, length);
	return transfer->sink.received < transfer->fetch.length ? 0 : finish_sink(transfer, err);
}

static bool is_checked(const struct dlsi_transfer *transfer)
{
	return !transfer->fetch.same_host && !transfer->sink.is_hashed;
}

/* Asks for as many chunks as may be on their way. */
static int ask(struct dlsi_transfer *transfer, struct dls_error *err)
{
	const uint64_t most = (uint64_t)DLSI_BLOB_CHUNKS_IN_FLIGHT * DLSI_BLOB_CHUNK_BYTES;
	const struct dlsi_fetch *fetch = &transfer->fetch;
	struct dlsi_message_writer writer = dlsi_holder_begin(transfer->holder);

	while (transfer->asked < fetch->length && transfer->asked - transfer->sink.received < most) {
		uint32_t length = chunk_at(transfer, transfer->asked);
		struct dlsi_record read = {.kind = DLSI_READ,
			.read = {.fetch = transfer->number,
				.token = fetch->token,
				.name = fetch->blob.name,
				.offset = fetch->offset + transfer->asked,
				.length = length,
				.checked = is_checked(transfer)}};

		dlsi_message_add(&writer, &read);
		transfer->asked += length;
	}
	return dlsi_holder_send(transfer->holder, err);
}

int dlsi_transfer_begin(struct dlsi_transfer *transfer, struct dls_error *err)
{
	const struct dlsi_fetch *fetch = &transfer->fetch;
	struct dlsi_message_writer writer;
	struct dlsi_record open = {.kind = DLSI_OPEN,
		.open = {.fetch = transfer->number, .token = fetch->token, .name = fetch->blob.name}};

	if (transfer->is_open) {
		transfer->asked = transfer->sink.received;
		return ask(transfer, err);
	}
	open.open.direct = fetch->same_host && !transfer->holder->comes && !transfer->holder->is_closed_to_us &&
			   fetch->length >= DIRECT_BYTES;
	writer = dlsi_holder_begin(transfer->holder);
	dlsi_message_add(&writer, &open);
	return dlsi_holder_send(transfer->holder, err);
}

/* The holder has the blob, of so many bytes. */
static int take_total(struct dlsi_transfer *transfer, uint64_t total, struct dls_error *err)
{
	if (total != transfer->fetch.blob.length)
		return dlsi_fail(err, DLS_EFORMAT, "%s has %" PRIu64 " bytes of a blob of %" PRIu64,
			transfer->fetch.endpoint, total, transfer->fetch.blob.length);
	return open_sink(transfer, err);
}

static int take_opened(struct dlsi_transfer *transfer, const struct dlsi_data *data, struct dls_error *err)
{
	int rc = take_total(transfer, data->total, err);

	if (rc == 0 && transfer->fetch.length == 0)
		return write_chunk(transfer, NULL, 0, err);
	return rc ? rc : ask(transfer, err);
}

static int take_data(struct dlsi_transfer *transfer, const struct dlsi_data *data, const struct dlsi_frame *frame,
	struct dls_error *err)
{
	const uint64_t half = (uint64_t)DLSI_BLOB_CHUNKS_IN_FLIGHT / 2 * DLSI_BLOB_CHUNK_BYTES;
	struct dlsi_sink *sink = &transfer->sink;
	int rc;

	if (!frame)
		return transfer->is_open ? 0 : take_opened(transfer, data, err);
	if (!transfer->is_open || data->offset != transfer->fetch.offset + sink->received)
		return 0; /* not what is asked for now */
	if (dlsi_frame_size(frame) != chunk_at(transfer, sink->received))
		return dlsi_fail(err, DLS_EFORMAT, "%s sends chunks of another length than it is asked for",
			transfer->fetch.endpoint);
	if (is_checked(transfer) && data->checksum != dlsi_crc32c(0, dlsi_frame_data(frame), dlsi_frame_size(frame)))
		return dlsi_fail(err, DLS_EFORMAT, "a chunk from %s is damaged: its checksum is wrong",
			transfer->fetch.endpoint);
	rc = write_chunk(transfer, dlsi_frame_data(frame), dlsi_frame_size(frame), err);
	if (rc == 0 && transfer->asked - sink->received <= half && transfer->asked < transfer->fetch.length)
		rc = ask(transfer, err);
	return rc;
}

/* Copies what is wanted; where that is not possible it is asked for as of other machines. */
static int take_lent(struct dlsi_transfer *transfer, const struct dlsi_lent *lent, struct dls_error *err)
{
	struct dlsi_direct_place place = {
		lent->process, lent->address + transfer->fetch.offset, lent->witness_address, lent->witness};
	int rc = transfer->is_open ? 0 : take_total(transfer, lent->total, err);
	bool copied = rc == 0 && dlsi_sink_fill(&transfer->sink, &place);

	dlsi_holder_close(transfer->holder, transfer->number);
	if (rc)
		return rc;
	if (copied)
		return finish_sink(transfer, err);
	transfer->holder->is_closed_to_us = true;
	return ask(transfer, err);
}

int dlsi_transfer_take(struct dlsi_transfer *transfer, const struct dlsi_record *record, struct dlsi_frame *frame,
	struct dls_error *err)
{
	const struct dlsi_text *sentence = &record->error.sentence;

	if (record->kind == DLSI_DATA)
		return take_data(transfer, &record->data, frame, err);
	if (record->kind == DLSI_LENT)
		return take_lent(transfer, &record->lent, err);
	return dlsi_fail(err, record->error.code < 0 ? record->error.code : DLS_EPROTOCOL, "%s answers: %.*s",
		transfer->fetch.endpoint, (int)sentence->length, sentence->length ? sentence->data : "");
}

int dlsi_transfer_copy(struct dlsi_transfer *transfer, struct dls_error *err)
{
	const struct dlsi_fetch *fetch = &transfer->fetch;
	struct dlsi_frame *chunk;
	int rc = 0;

	if (dlsi_offer_is_in_memory(transfer->offer)) {
		rc = dlsi_offer_read(transfer->offer, fetch->offset, (size_t)fetch->length, &transfer->frame, err);
		return rc ? rc : 1;
	}
	if (!transfer->is_open)
		rc = open_sink(transfer, err);
	if (rc)
		return rc;
	rc = dlsi_offer_read(transfer->offer, fetch->offset + transfer->sink.received,
		chunk_at(transfer, transfer->sink.received), &chunk, err);
	if (rc)
		return rc;
	rc = write_chunk(transfer, dlsi_frame_data(chunk), dlsi_frame_size(chunk), err);
	dlsi_frame_unref(chunk);
	return rc;
}
