/* Changes of a job's durable state. The one function that applies them (dlsi_job_apply) serves attached jobs, at once
 * and in memory, and durable jobs, when the log has committed their encoded form: recovery applies the same and never
 * decides.
 *
 *   u8 format (1), u8 kind, 16 bytes job, then by kind
 *     submit: 16 bytes token, u64 count, i32 priority, u64 deadline (from then, 0: none), blob manifest,
 *             u32 head, u32 length, tenant, u32 length, spec JSON, u32 length, JSON of the job alone
 *     items:  u64 first, u64 end, u32 count, u64 each: those of them that are tried again (core/again.h),
 *             u64 elapsed, u32 failed, u32 length, worker; the payload is the result
 *     end:    u8 state, i32 code, u32 length, sentence
 *     pause:  u8 paused
 *     priority: i32
 *     forget: nothing more */
#ifndef DLSI_CHANGE_H
#define DLSI_CHANGE_H

#include "proto/record.h"
#include <stdbool.h>

#define DLSI_CHANGE_FORMAT 1

enum dlsi_change_kind {
	DLSI_CHANGE_SUBMIT = 1,
	DLSI_CHANGE_ITEMS = 2,
	DLSI_CHANGE_END = 3,
	DLSI_CHANGE_PAUSE = 4,
	DLSI_CHANGE_PRIORITY = 5,
	DLSI_CHANGE_FORGET = 6, /* durable, ended: the job and its results go */
};

struct dlsi_buffer;

/* Texts and bytes are views. */
struct dlsi_change {
	uint8_t kind; /* enum dlsi_change_kind */
	struct dlsi_id job;
	union {
		struct {
			struct dlsi_id token;
			uint64_t count;
			int32_t priority;
			uint64_t deadline_ns;
			struct dlsi_blob manifest;
			uint32_t manifest_head;
			struct dlsi_text tenant;
			struct dlsi_bytes spec;
			struct dlsi_bytes about;
		} submit;
		struct {
			uint64_t first;
			uint64_t end;
			struct dlsi_numbers again; /* of them, those that are not done; a list of core/again.h */
			uint64_t elapsed_ns;       /* durable: as RESULT said them */
			uint32_t failed;
			struct dlsi_text worker;
		} items;
		struct {
			uint8_t state; /* enum dlsi_job_state */
			int32_t code;
			struct dlsi_text sentence;
		} end;
		struct {
			bool paused; /* else it goes on */
		} pause;
		struct {
			int32_t priority;
		} priority;
	};
};

/* Appends the encoded form. */
void dlsi_change_write(struct dlsi_buffer *buffer, const struct dlsi_change *change);

/* False for bytes that are no change of this format. */
bool dlsi_change_read(const uint8_t *data, size_t length, struct dlsi_change *change_out);

#endif
