#include "net/sink.h"

#include <string.h>

int dlsi_sink_open(struct dlsi_sink *sink, struct dlsi_pool *pool, const struct dlsi_blob *blob, uint64_t offset,
	uint64_t length, struct dls_error *err)
{
	struct dlsi_sink opened = {.name = blob->name, .length = length};

	opened.frame = length > SIZE_MAX / 2 ? NULL : dlsi_pool_frame(pool, (size_t)length, &opened.bytes);
	if (!opened.frame)
		return dlsi_fail_memory(err);
	opened.is_hashed = blob->proof == DLSI_PROOF_HASH && offset == 0 && length == blob->length;
	*sink = opened;
	dlsi_hash_init(&sink->hash);
	return 0;
}

void dlsi_sink_write(struct dlsi_sink *sink, const uint8_t *data, size_t length)
{
	if (length)
		memcpy(sink->bytes + sink->received, data, length);
	if (sink->is_hashed)
		dlsi_hash_update(&sink->hash, data, length);
	sink->received += length;
}

bool dlsi_sink_fill(struct dlsi_sink *sink, const struct dlsi_direct_place *place)
{
	struct dlsi_direct_place rest = *place;
	uint8_t *to = sink->bytes + sink->received;
	size_t length = (size_t)(sink->length - sink->received);

	rest.address += sink->received;
	if (!dlsi_direct_read(&rest, to, length))
		return false;
	if (sink->is_hashed)
		dlsi_hash_update(&sink->hash, to, length);
	sink->received = sink->length;
	return true;
}

int dlsi_sink_finish(struct dlsi_sink *sink, struct dlsi_frame **frame_out, struct dls_error *err)
{
	struct dlsi_hash hash;

	dlsi_hash_final(&sink->hash, &hash);
	if (sink->is_hashed && !dlsi_hash_equal(&hash, &sink->name)) {
		dlsi_sink_abort(sink);
		return dlsi_fail(
			err, DLS_EFORMAT, "the bytes that came are not those of the blob: their hash is another");
	}
	*frame_out = sink->frame;
	return 0;
}

void dlsi_sink_abort(struct dlsi_sink *sink)
{
	dlsi_frame_unref(sink->frame);
}
