#include "core/change.h"

#include "base/limits.h"
#include "proto/bytes.h"

void dlsi_change_write(struct dlsi_buffer *buffer, const struct dlsi_change *change)
{
	dlsi_write_u8(buffer, DLSI_CHANGE_FORMAT);
	dlsi_write_u8(buffer, change->kind);
	dlsi_write_id(buffer, &change->job);
	switch (change->kind) {
	case DLSI_CHANGE_SUBMIT:
		dlsi_write_id(buffer, &change->submit.token);
		dlsi_write_u64(buffer, change->submit.count);
		dlsi_write_u32(buffer, (uint32_t)change->submit.priority);
		dlsi_write_u64(buffer, change->submit.deadline_ns);
		dlsi_write_blob(buffer, &change->submit.manifest);
		dlsi_write_u32(buffer, change->submit.manifest_head);
		dlsi_write_bytes(buffer, change->submit.tenant.data, change->submit.tenant.length);
		dlsi_write_bytes(buffer, change->submit.spec.data, change->submit.spec.length);
		dlsi_write_bytes(buffer, change->submit.about.data, change->submit.about.length);
		break;
	case DLSI_CHANGE_ITEMS:
		dlsi_write_u64(buffer, change->items.first);
		dlsi_write_u64(buffer, change->items.end);
		dlsi_write_numbers(buffer, &change->items.again);
		dlsi_write_u64(buffer, change->items.elapsed_ns);
		dlsi_write_u32(buffer, change->items.failed);
		dlsi_write_bytes(buffer, change->items.worker.data, change->items.worker.length);
		break;
	case DLSI_CHANGE_END:
		dlsi_write_u8(buffer, change->end.state);
		dlsi_write_u32(buffer, (uint32_t)change->end.code);
		dlsi_write_bytes(buffer, change->end.sentence.data, change->end.sentence.length);
		break;
	case DLSI_CHANGE_PAUSE:
		dlsi_write_u8(buffer, change->pause.paused);
		break;
	case DLSI_CHANGE_PRIORITY:
		dlsi_write_u32(buffer, (uint32_t)change->priority.priority);
		break;
	}
}

bool dlsi_change_read(const uint8_t *data, size_t length, struct dlsi_change *change_out)
{
	struct dlsi_reader reader = {data, data + length, true};
	struct dlsi_change change = {0};

	if (dlsi_read_u8(&reader) != DLSI_CHANGE_FORMAT)
		return false;
	change.kind = dlsi_read_u8(&reader);
	change.job = dlsi_read_id(&reader);
	switch (change.kind) {
	case DLSI_CHANGE_SUBMIT:
		change.submit.token = dlsi_read_id(&reader);
		change.submit.count = dlsi_read_u64(&reader);
		change.submit.priority = (int32_t)dlsi_read_u32(&reader);
		change.submit.deadline_ns = dlsi_read_u64(&reader);
		change.submit.manifest = dlsi_read_blob(&reader);
		change.submit.manifest_head = dlsi_read_u32(&reader);
		change.submit.tenant = dlsi_read_text(&reader, DLSI_NAME_BYTES);
		change.submit.spec = dlsi_read_bytes(&reader, DLSI_SPEC_BYTES);
		change.submit.about = dlsi_read_bytes(&reader, DLSI_ABOUT_BYTES);
		break;
	case DLSI_CHANGE_ITEMS:
		change.items.first = dlsi_read_u64(&reader);
		change.items.end = dlsi_read_u64(&reader);
		change.items.again = dlsi_read_numbers(&reader, 3 * DLSI_TASK_ITEMS);
		change.items.elapsed_ns = dlsi_read_u64(&reader);
		change.items.failed = dlsi_read_u32(&reader);
		change.items.worker = dlsi_read_text(&reader, DLSI_NAME_BYTES);
		break;
	case DLSI_CHANGE_END:
		change.end.state = dlsi_read_u8(&reader);
		change.end.code = (int32_t)dlsi_read_u32(&reader);
		change.end.sentence = dlsi_read_text(&reader, DLSI_SENTENCE_BYTES);
		break;
	case DLSI_CHANGE_PAUSE:
		change.pause.paused = dlsi_read_u8(&reader) != 0;
		break;
	case DLSI_CHANGE_PRIORITY:
		change.priority.priority = (int32_t)dlsi_read_u32(&reader);
		break;
	case DLSI_CHANGE_FORGET:
		break;
	default:
		return false;
	}
	if (!reader.good || reader.at != reader.end)
		return false;
	*change_out = change;
	return true;
}
