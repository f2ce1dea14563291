#include "core/outbox.h"

#include "base/limits.h"

#define FULL_BYTES   (DLSI_MESSAGE_BODY_BYTES / 4) /* leaves room for the largest record, a command or its answer */
#define FULL_RECORDS (DLSI_MESSAGE_RECORDS / 2)
#define KEPT_BYTES   (64 * 1024) /* a larger buffer is given back: there may be thousands of peers */

void dlsi_outbox_init(struct dlsi_outbox *outbox, const struct dlsi_alloc *alloc)
{
	*outbox = (struct dlsi_outbox){0};
	dlsi_buffer_init(&outbox->message, alloc);
}

void dlsi_outbox_fini(struct dlsi_outbox *outbox)
{
	dlsi_buffer_fini(&outbox->message);
}

static void empty(struct dlsi_outbox *outbox)
{
	dlsi_buffer_clear(&outbox->message);
	if (outbox->message.capacity > KEPT_BYTES)
		dlsi_buffer_fini(&outbox->message);
	outbox->frame_count = 0;
	outbox->records = 0;
}

void dlsi_outbox_connect(struct dlsi_outbox *outbox, struct dlsi_peer peer)
{
	empty(outbox);
	outbox->peer = peer;
	outbox->sent = 0;
}

static bool is_full(const struct dlsi_outbox *outbox)
{
	return outbox->message.length > FULL_BYTES || outbox->records >= FULL_RECORDS ||
	       outbox->frame_count == sizeof outbox->frames / sizeof *outbox->frames;
}

void dlsi_outbox_post(struct dlsi_outbox *outbox, const struct dlsi_id *cluster, uint64_t term,
	const struct dlsi_record *record, struct dlsi_payload payload, struct dlsi_effects *effects)
{
	if (!outbox->records)
		outbox->writer = dlsi_message_begin(&outbox->message, cluster, term);
	dlsi_message_add(&outbox->writer, record);
	outbox->records++;
	if (dlsi_record_frames(record))
		outbox->frames[outbox->frame_count++] = payload.handle;
	if (is_full(outbox))
		dlsi_outbox_flush(outbox, effects);
}

void dlsi_outbox_flush(struct dlsi_outbox *outbox, struct dlsi_effects *effects)
{
	if (!outbox->records)
		return;
	effects->failed |= outbox->message.failed;
	if (outbox->peer.generation && !outbox->message.failed) {
		outbox->sent++;
		dlsi_effects_send(effects, outbox->peer, outbox->message.data, outbox->message.length, outbox->frames,
			outbox->frame_count);
	}
	empty(outbox);
}
