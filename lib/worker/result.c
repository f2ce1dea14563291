#include "worker/result.h"

#include "base/limits.h"
#include "base/random.h"

/* The page as a frame; NULL when memory is exhausted. */
static struct dlsi_frame *take_page(const struct dlsi_alloc *alloc, struct dlsi_buffer *page)
{
	size_t length;
	uint8_t *data;

	if (page->failed)
		return NULL;
	data = dlsi_buffer_take(page, &length);
	return dlsi_frame_take(alloc, data, length);
}

/* What a payload that was offered drags behind it: when the agent lets go of it, the offer ends. */
struct offer {
	const struct dlsi_alloc *alloc;
	struct dlsi_dataplane *plane;
	struct dlsi_id token;
	struct dlsi_hash name;
};

static void withdraw(void *arg, const void *data)
{
	struct offer *offer = arg;

	(void)data;
	dlsi_dataplane_withdraw(offer->plane, &offer->token, &offer->name);
	dlsi_free(offer->alloc, offer);
}

/* Offers the page, and returns the payload that stands for it; NULL if it cannot be offered. */
static struct dlsi_frame *offer_page(const struct dlsi_alloc *alloc, struct dlsi_dataplane *plane,
	const struct dlsi_id *token, struct dlsi_frame *page, struct dlsi_blob *blob_out)
{
	struct dlsi_source source = {.frame = page};
	struct dlsi_blob blob = {.length = dlsi_frame_size(page), .proof = DLSI_PROOF_CHECKSUM};
	struct offer *offer = dlsi_malloc(alloc, sizeof *offer);
	struct dlsi_frame *payload;

	if (!offer)
		return NULL;
	dlsi_random_bytes(blob.name.bytes, sizeof blob.name.bytes);
	*offer = (struct offer){alloc, plane, *token, blob.name};
	payload = dlsi_frame_wrap(alloc, dlsi_frame_data(page), (size_t)blob.length, withdraw, offer);
	if (!payload) {
		dlsi_free(alloc, offer);
		return NULL;
	}
	if (dlsi_dataplane_offer(offer->plane, &offer->token, &blob, &source, NULL)) {
		dlsi_frame_unref(payload);
		return NULL;
	}
	*blob_out = blob;
	return payload;
}

struct dlsi_frame *dlsi_worker_result_payload(const struct dlsi_alloc *alloc, struct dlsi_buffer *page,
	struct dlsi_dataplane *plane, const struct dlsi_id *token, struct dlsi_blob *offer_out)
{
	struct dlsi_frame *frame = take_page(alloc, page), *payload = frame;

	if (frame && dlsi_frame_size(frame) > DLSI_INLINE_BYTES) {
		payload = offer_page(alloc, plane, token, frame, offer_out);
		dlsi_frame_unref(frame);
	}
	return payload;
}
