/* Any bytes as a message: one that opens reads to its end, and written again it opens as the same records. */
#include "base/limits.h"
#include "proto/message.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_rewritten(struct dlsi_message message)
{
	unsigned records = 0, frames = message.frames, expected = message.records;
	struct dlsi_message_writer writer;
	struct dlsi_record record;
	struct dlsi_buffer buffer;

	dlsi_buffer_init(&buffer, &dlsi_alloc_libc);
	writer = dlsi_message_begin(&buffer, &message.cluster, message.term);
	for (; dlsi_message_next(&message, &record); records++)
		dlsi_message_add(&writer, &record);
	if (records != expected)
		abort();
	/* Records whose missing fields became zeros are longer now, and may be over the limit. */
	if (!buffer.failed && buffer.length <= DLSI_MESSAGE_HEADER_BYTES + DLSI_MESSAGE_BODY_BYTES &&
		dlsi_message_open(buffer.data, buffer.length, frames, &message, NULL))
		abort();
	dlsi_buffer_fini(&buffer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t frames = size > 9 ? data[8] + 256U * data[9] : 0; /* as many as it announces */
	struct dlsi_message message;

	if (dlsi_message_open(data, size, frames, &message, NULL) == 0)
		check_rewritten(message);
	return 0;
}
