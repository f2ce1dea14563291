#include "proto/record.h"

#include "base/limits.h"
#include <endian.h>
#include <string.h>

#define FIELD(type, record, member, limit)                                                                             \
	{                                                                                                              \
		DLSI_FIELD_##type, offsetof(struct record, member), limit                                              \
	}

static const struct dlsi_record_field REGISTER_fields[] = {
	FIELD(U8, dlsi_register, role, 0),
	FIELD(U8, dlsi_register, version_low, 0),
	FIELD(U8, dlsi_register, version_high, 0),
	FIELD(U64, dlsi_register, incarnation, 0),
	FIELD(TEXT, dlsi_register, name, DLSI_NAME_BYTES),
	FIELD(TEXT, dlsi_register, host, DLSI_NAME_BYTES),
	FIELD(TEXT, dlsi_register, data_endpoint, DLSI_ENDPOINT_BYTES),
};

static const struct dlsi_record_field DEVICE_fields[] = {
	FIELD(U16, dlsi_device_offer, index, 0),
	FIELD(U16, dlsi_device_offer, credits, 0),
	FIELD(U32, dlsi_device_offer, cores, 0),
	FIELD(U64, dlsi_device_offer, memory_bytes, 0),
	FIELD(TEXT, dlsi_device_offer, name, DLSI_NAME_BYTES),
};

static const struct dlsi_record_field HANDLER_fields[] = {
	FIELD(TEXT, dlsi_handler_offer, name, DLSI_NAME_BYTES),
};

static const struct dlsi_record_field RESOURCE_fields[] = {
	FIELD(TEXT, dlsi_resource_offer, name, DLSI_NAME_BYTES),
	FIELD(U64, dlsi_resource_offer, amount, 0),
};

static const struct dlsi_record_field LABEL_fields[] = {
	FIELD(TEXT, dlsi_label, name, DLSI_NAME_BYTES),
};

static const struct dlsi_record_field SEEK_fields[] = {
	FIELD(ID, dlsi_seek, job, 0),
	FIELD(U8, dlsi_seek, state, 0),
	FIELD(U64, dlsi_seek, bytes, 0),
	FIELD(U64, dlsi_seek, elapsed_ns, 0),
};

static const struct dlsi_record_field FOUND_fields[] = {
	FIELD(ID, dlsi_found, job, 0),
	FIELD(TEXT, dlsi_found, holder, DLSI_ENDPOINT_BYTES),
	FIELD(TEXT, dlsi_found, holder_host, DLSI_NAME_BYTES),
	FIELD(ID, dlsi_found, token, 0),
};

static const struct dlsi_record_field CALL_fields[] = {
	FIELD(ID, dlsi_call, job, 0),
	FIELD(TEXT, dlsi_call, reader, DLSI_ENDPOINT_BYTES),
};

static const struct dlsi_record_field HELD_fields[] = {
	FIELD(ID, dlsi_held, job, 0),
	FIELD(U64, dlsi_held, attempt, 0),
	FIELD(U64, dlsi_held, first, 0),
	FIELD(U64, dlsi_held, end, 0),
	FIELD(U8, dlsi_held, finished, 0),
};

static const struct dlsi_record_field WELCOME_fields[] = {
	FIELD(U8, dlsi_welcome, version, 0),
	FIELD(U64, dlsi_welcome, heartbeat_ns, 0),
	FIELD(U64, dlsi_welcome, timeout_ns, 0),
	FIELD(U8, dlsi_welcome, again, 0),
};

static const struct dlsi_record_field SPEC_fields[] = {
	FIELD(U32, dlsi_spec_record, number, 0),
	FIELD(BYTES, dlsi_spec_record, json, DLSI_SPEC_BYTES),
};

static const struct dlsi_record_field SUBMIT_fields[] = {
	FIELD(ID, dlsi_submit, job, 0),
	FIELD(ID, dlsi_submit, token, 0),
	FIELD(U32, dlsi_submit, spec, 0),
	FIELD(U16, dlsi_submit, flags, 0),
	FIELD(FRAMES, dlsi_submit, frames, 0),
	FIELD(U64, dlsi_submit, count, 0),
	FIELD(U32, dlsi_submit, priority, 0),
	FIELD(U64, dlsi_submit, deadline_ns, 0),
	FIELD(U64, dlsi_submit, window_end, 0),
	FIELD(U64, dlsi_submit, window_bytes, 0),
	FIELD(BLOB, dlsi_submit, manifest, 0),
	FIELD(U32, dlsi_submit, manifest_head, 0),
	FIELD(NUMBERS, dlsi_submit, received, 2 * DLSI_RECEIVED_RANGES),
	FIELD(BYTES, dlsi_submit, about, DLSI_ABOUT_BYTES),
};

static const struct dlsi_record_field ACCEPTED_fields[] = {
	FIELD(ID, dlsi_accepted, job, 0),
	FIELD(ID, dlsi_accepted, token, 0),
	FIELD(U64, dlsi_accepted, count, 0),
};

static const struct dlsi_record_field ATTACH_fields[] = {
	FIELD(ID, dlsi_attach, job, 0),
	FIELD(ID, dlsi_attach, token, 0),
	FIELD(U64, dlsi_attach, window_end, 0),
	FIELD(U64, dlsi_attach, window_bytes, 0),
	FIELD(NUMBERS, dlsi_attach, received, 2 * DLSI_RECEIVED_RANGES),
};

static const struct dlsi_record_field REFUSED_fields[] = {
	FIELD(ID, dlsi_refused, job, 0),
	FIELD(U32, dlsi_refused, code, 0),
	FIELD(U32, dlsi_refused, retry_after_ms, 0),
	FIELD(TEXT, dlsi_refused, sentence, DLSI_SENTENCE_BYTES),
	FIELD(ID, dlsi_refused, token, 0),
};

static const struct dlsi_record_field JOB_fields[] = {
	FIELD(ID, dlsi_job_record, job, 0),
	FIELD(ID, dlsi_job_record, token, 0),
	FIELD(FRAMES, dlsi_job_record, frames, 0),
	FIELD(U64, dlsi_job_record, count, 0),
	FIELD(BLOB, dlsi_job_record, manifest, 0),
	FIELD(U32, dlsi_job_record, manifest_head, 0),
	FIELD(TEXT, dlsi_job_record, holder, DLSI_ENDPOINT_BYTES),
	FIELD(TEXT, dlsi_job_record, holder_host, DLSI_NAME_BYTES),
	FIELD(BYTES, dlsi_job_record, spec, DLSI_SPEC_BYTES),
};

static const struct dlsi_record_field FORGET_fields[] = {
	FIELD(ID, dlsi_forget, job, 0),
};

static const struct dlsi_record_field ASSIGN_fields[] = {
	FIELD(ID, dlsi_assign, job, 0),
	FIELD(U64, dlsi_assign, attempt, 0),
	FIELD(U64, dlsi_assign, first, 0),
	FIELD(U64, dlsi_assign, end, 0),
	FIELD(U16, dlsi_assign, device, 0),
};

static const struct dlsi_record_field RESULT_fields[] = {
	FIELD(ID, dlsi_result, job, 0),
	FIELD(U64, dlsi_result, attempt, 0),
	FIELD(U64, dlsi_result, first, 0),
	FIELD(U64, dlsi_result, end, 0),
	FIELD(U64, dlsi_result, bytes, 0),
	FIELD(U64, dlsi_result, elapsed_ns, 0),
	FIELD(U32, dlsi_result, failed, 0),
	FIELD(FRAMES, dlsi_result, frames, 0),
	FIELD(BLOB, dlsi_result, offer, 0),
	FIELD(TEXT, dlsi_result, holder, DLSI_ENDPOINT_BYTES),
	FIELD(TEXT, dlsi_result, holder_host, DLSI_NAME_BYTES),
	FIELD(TEXT, dlsi_result, worker, DLSI_NAME_BYTES),
	FIELD(NUMBERS, dlsi_result, again, 3 * DLSI_TASK_ITEMS),
	FIELD(U64, dlsi_result, read_bytes, 0),
	FIELD(U64, dlsi_result, load_ns, 0),
};

static const struct dlsi_record_field UNLOADED_fields[] = {
	FIELD(U16, dlsi_unloaded, device, 0),
	FIELD(HASH, dlsi_unloaded, model, 0),
};

static const struct dlsi_record_field ACK_fields[] = {
	FIELD(ID, dlsi_ack, job, 0),
	FIELD(U64, dlsi_ack, window_end, 0),
	FIELD(U64, dlsi_ack, window_bytes, 0),
	FIELD(NUMBERS, dlsi_ack, taken, DLSI_MESSAGE_RECORDS),
	FIELD(NUMBERS, dlsi_ack, lost, DLSI_MESSAGE_RECORDS),
};

static const struct dlsi_record_field TAKEN_fields[] = {
	FIELD(NUMBERS, dlsi_taken, attempts, DLSI_MESSAGE_RECORDS),
};

static const struct dlsi_record_field CANCEL_fields[] = {
	FIELD(ID, dlsi_cancel, job, 0),
	FIELD(U64, dlsi_cancel, attempt, 0),
};

static const struct dlsi_record_field RECALL_fields[] = {
	FIELD(NUMBERS, dlsi_recall, attempts, DLSI_MESSAGE_RECORDS),
	FIELD(U8, dlsi_recall, running, 0),
};

static const struct dlsi_record_field HANDBACK_fields[] = {
	FIELD(U8, dlsi_handback, leaving, 0),
	FIELD(NUMBERS, dlsi_handback, attempts, DLSI_MESSAGE_RECORDS),
};

static const struct dlsi_record_field END_fields[] = {
	FIELD(ID, dlsi_end, job, 0),
	FIELD(U8, dlsi_end, state, 0),
	FIELD(U32, dlsi_end, code, 0),
	FIELD(TEXT, dlsi_end, sentence, DLSI_SENTENCE_BYTES),
};

static const struct dlsi_record_field HEARTBEAT_fields[] = {
	FIELD(U64, dlsi_heartbeat, sent, 0),
	FIELD(U64, dlsi_heartbeat, received, 0),
};

static const struct dlsi_record_field PROGRESS_fields[] = {
	FIELD(ID, dlsi_progress, job, 0),
	FIELD(U64, dlsi_progress, done, 0),
	FIELD(U64, dlsi_progress, running, 0),
	FIELD(U32, dlsi_progress, workers, 0),
};

static const struct dlsi_record_field COMMAND_fields[] = {
	FIELD(U64, dlsi_command, number, 0),
	FIELD(BYTES, dlsi_command, json, DLSI_COMMAND_BYTES),
};

static const struct dlsi_record_field REPLY_fields[] = {
	FIELD(U64, dlsi_reply, number, 0),
	FIELD(U32, dlsi_reply, code, 0),
	FIELD(BYTES, dlsi_reply, json, DLSI_COMMAND_BYTES),
};

static const struct dlsi_record_field LEAVE_fields[] = {
	FIELD(TEXT, dlsi_leave, reason, DLSI_SENTENCE_BYTES),
};

static const struct dlsi_record_field OPEN_fields[] = {
	FIELD(U64, dlsi_open, fetch, 0),
	FIELD(ID, dlsi_open, token, 0),
	FIELD(HASH, dlsi_open, name, 0),
	FIELD(U8, dlsi_open, direct, 0),
};

static const struct dlsi_record_field READ_fields[] = {
	FIELD(U64, dlsi_read, fetch, 0),
	FIELD(ID, dlsi_read, token, 0),
	FIELD(HASH, dlsi_read, name, 0),
	FIELD(U64, dlsi_read, offset, 0),
	FIELD(U32, dlsi_read, length, 0),
	FIELD(U8, dlsi_read, checked, 0),
};

static const struct dlsi_record_field DATA_fields[] = {
	FIELD(U64, dlsi_data, fetch, 0),
	FIELD(U64, dlsi_data, offset, 0),
	FIELD(U64, dlsi_data, total, 0),
	FIELD(U32, dlsi_data, checksum, 0),
	FIELD(FRAMES, dlsi_data, frames, 0),
};

static const struct dlsi_record_field ERROR_fields[] = {
	FIELD(U64, dlsi_error_record, fetch, 0),
	FIELD(U32, dlsi_error_record, code, 0),
	FIELD(TEXT, dlsi_error_record, sentence, DLSI_SENTENCE_BYTES),
};

static const struct dlsi_record_field LENT_fields[] = {
	FIELD(U64, dlsi_lent, fetch, 0),
	FIELD(U64, dlsi_lent, total, 0),
	FIELD(U64, dlsi_lent, process, 0),
	FIELD(U64, dlsi_lent, address, 0),
	FIELD(U64, dlsi_lent, witness_address, 0),
	FIELD(ID, dlsi_lent, witness, 0),
};

static const struct dlsi_record_field CLOSE_fields[] = {
	FIELD(U64, dlsi_close, fetch, 0),
};

static const struct dlsi_record_field SERVE_fields[] = {
	FIELD(ID, dlsi_serve, token, 0),
};

/* By kind; those that do not exist have no fields. */
static const struct dlsi_record_shape shapes[] = {
#define SHAPE(name, number, type)                                                                                      \
	[number] = {number, sizeof name##_fields / sizeof *name##_fields, #name, name##_fields},
	DLSI_RECORD_TABLE(SHAPE)
#undef SHAPE
};

const struct dlsi_record_shape *dlsi_record_shape(uint16_t kind)
{
	return kind < sizeof shapes / sizeof *shapes && shapes[kind].field ? &shapes[kind] : NULL;
}

uint64_t dlsi_numbers_at(const struct dlsi_numbers *numbers, uint32_t i)
{
	uint64_t value;

	memcpy(&value, numbers->data + 8 * (size_t)i, sizeof value);
	return le64toh(value);
}

struct dlsi_text dlsi_text_of(const char *text)
{
	return (struct dlsi_text){text, (uint32_t)strlen(text)};
}

bool dlsi_text_equal(struct dlsi_text a, struct dlsi_text b)
{
	return a.length == b.length && (!a.length || memcmp(a.data, b.data, a.length) == 0);
}
