/* What masters, workers and clients say to each other: the records that messages are made of, with their fields.
 *
 * A message (proto/message.h) is a header and a run of records, each of one kind below. docs/PROTOCOL.md specifies the
 * same for other implementations; test/unit/golden.c fixes the bytes. A later release may append fields to a
 * record, never change or remove one: who knows fewer skips the rest by its length, who knows more reads missing ones
 * as zero.
 *
 * Decoded texts, bytes and lists are views into the message and live as long as it. */
#ifndef DLSI_RECORD_H
#define DLSI_RECORD_H

#include "base/hash.h"
#include "base/id.h"
#include "base/ranges.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text is UTF-8 without a NUL; both may be empty, then data may be NULL. */
struct dlsi_text {
	const char *data;
	uint32_t length;
};

struct dlsi_bytes {
	const uint8_t *data;
	uint32_t length;
};

/* Numbers as they lie in the message: little-endian and unaligned. */
struct dlsi_numbers {
	const uint8_t *data;
	uint32_t count;
};

uint64_t dlsi_numbers_at(const struct dlsi_numbers *numbers, uint32_t i);

/* name, number on the wire, struct */
#define DLSI_RECORD_TABLE(X)                                                                                           \
	X(REGISTER, 1, dlsi_register)                                                                                  \
	X(DEVICE, 2, dlsi_device_offer)                                                                                \
	X(HANDLER, 3, dlsi_handler_offer)                                                                              \
	X(HELD, 4, dlsi_held)                                                                                          \
	X(WELCOME, 5, dlsi_welcome)                                                                                    \
	X(SPEC, 6, dlsi_spec_record)                                                                                   \
	X(SUBMIT, 7, dlsi_submit)                                                                                      \
	X(ACCEPTED, 8, dlsi_accepted)                                                                                  \
	X(REFUSED, 9, dlsi_refused)                                                                                    \
	X(JOB, 10, dlsi_job_record)                                                                                    \
	X(FORGET, 11, dlsi_forget)                                                                                     \
	X(ASSIGN, 12, dlsi_assign)                                                                                     \
	X(RESULT, 13, dlsi_result)                                                                                     \
	X(ACK, 14, dlsi_ack)                                                                                           \
	X(TAKEN, 15, dlsi_taken)                                                                                       \
	X(CANCEL, 16, dlsi_cancel)                                                                                     \
	X(RECALL, 17, dlsi_recall)                                                                                     \
	X(HANDBACK, 18, dlsi_handback)                                                                                 \
	X(END, 19, dlsi_end)                                                                                           \
	X(HEARTBEAT, 20, dlsi_heartbeat)                                                                               \
	X(PROGRESS, 21, dlsi_progress)                                                                                 \
	X(COMMAND, 23, dlsi_command)                                                                                   \
	X(REPLY, 24, dlsi_reply)                                                                                       \
	X(LEAVE, 25, dlsi_leave)                                                                                       \
	X(RESOURCE, 26, dlsi_resource_offer)                                                                           \
	X(LABEL, 27, dlsi_label)                                                                                       \
	X(ATTACH, 28, dlsi_attach)                                                                                     \
	X(FOUND, 29, dlsi_found)                                                                                       \
	X(CALL, 30, dlsi_call)                                                                                         \
	X(SEEK, 31, dlsi_seek)                                                                                         \
	X(OPEN, 32, dlsi_open)                                                                                         \
	X(READ, 33, dlsi_read)                                                                                         \
	X(DATA, 34, dlsi_data)                                                                                         \
	X(ERROR, 35, dlsi_error_record)                                                                                \
	X(LENT, 36, dlsi_lent)                                                                                         \
	X(CLOSE, 37, dlsi_close)                                                                                       \
	X(SERVE, 38, dlsi_serve)                                                                                       \
	X(UNLOADED, 39, dlsi_unloaded)

enum dlsi_record_kind {
#define DLSI_RECORD_VALUE(name, number, type) DLSI_##name = number,
	DLSI_RECORD_TABLE(DLSI_RECORD_VALUE)
#undef DLSI_RECORD_VALUE
};

enum dlsi_role { DLSI_ROLE_WORKER = 1, DLSI_ROLE_CLIENT = 2 };

/* What proves a blob's bytes: its name is their hash, or each chunk carries a checksum and the name is random. */
enum dlsi_proof { DLSI_PROOF_HASH = 1, DLSI_PROOF_CHECKSUM = 2 };

/* Names a blob; zero length and name: none. */
struct dlsi_blob {
	struct dlsi_hash name;
	uint64_t length;
	uint8_t proof; /* enum dlsi_proof */
};

/* Worker or client to master, first on a connection and again until WELCOME comes, and after every reconnect. A
 * worker's is followed in the same message by its DEVICE, HANDLER, RESOURCE, LABEL and HELD records; a client's by
 * nothing: its jobs come again as SUBMIT after WELCOME. */
struct dlsi_register {
	uint8_t role; /* enum dlsi_role */
	uint8_t version_low;
	uint8_t version_high;
	uint64_t incarnation;  /* random per process start: the same on a new connection takes over what it had */
	struct dlsi_text name; /* of the worker, for people; of the client, the tenant it submits for */
	struct dlsi_text host; /* the same for all processes of one machine */
	struct dlsi_text data_endpoint; /* where this process serves its blobs; empty: it has none */
};

struct dlsi_device_offer {
	uint16_t index;   /* 0, 1, ... in order */
	uint16_t credits; /* tasks it takes at once, the running one included: the upper limit */
	uint32_t cores;
	uint64_t memory_bytes;
	struct dlsi_text name;
};

struct dlsi_handler_offer {
	struct dlsi_text name;
};

/* How much a worker has of a kind of resource, all its devices together; without it its cores and memory are those that
 * a device of it names. */
struct dlsi_resource_offer {
	struct dlsi_text name;
	uint64_t amount; /* in thousandths */
};

/* What jobs may ask a worker to be. */
struct dlsi_label {
	struct dlsi_text name;
};

/* A task that the worker still has, or whose result nobody has taken yet. */
struct dlsi_held {
	struct dlsi_id job;
	uint64_t attempt;
	uint64_t first;
	uint64_t end;
	uint8_t finished; /* 1: its RESULT follows after WELCOME */
};

struct dlsi_welcome {
	uint8_t version; /* the highest that both speak */
	uint64_t heartbeat_ns;
	uint64_t timeout_ns; /* without a message for so long either side takes the other for lost */
	uint8_t again;       /* 1: this connection had been registered already; nothing has changed */
};

/* A job specification, sent once per connection; jobs point to it by its number, which the client chooses. */
struct dlsi_spec_record {
	uint32_t number;
	struct dlsi_bytes json;
};

#define DLSI_DEADLINE_PASSED 1

enum dlsi_submit_flag { DLSI_SUBMIT_DURABLE = 1 };

/* A job, new or presented again. frames is 1 if the manifest follows as a payload frame, else `manifest` names its
 * blob. */
struct dlsi_submit {
	struct dlsi_id job;
	struct dlsi_id token; /* who shows it may read the job's blobs */
	uint32_t spec;
	uint16_t flags; /* enum dlsi_submit_flag */
	uint16_t frames;
	uint64_t count; /* items */
	int32_t priority;
	uint64_t deadline_ns;  /* from now; 0: none, DLSI_DEADLINE_PASSED: it has passed */
	uint64_t window_end;   /* results of items below this one may be sent */
	uint64_t window_bytes; /* and about so many bytes of them may be on their way */
	struct dlsi_blob manifest;
	uint32_t manifest_head;       /* bytes of the manifest before its first page */
	struct dlsi_numbers received; /* first, end, first, end, ...: items the client has already */
	struct dlsi_bytes about;      /* JSON of this job alone; may be empty */
};

struct dlsi_accepted {
	struct dlsi_id job;
	struct dlsi_id token; /* of the SUBMIT that this answers: under the same key there may be another on its way */
	uint64_t count;       /* items of the job */
};

/* Client to master: the results of a durable job that was submitted before, by whomever. Answered as SUBMIT is. */
struct dlsi_attach {
	struct dlsi_id job;
	struct dlsi_id token; /* returns in the answer */
	uint64_t window_end;
	uint64_t window_bytes;
	struct dlsi_numbers received;
};

/* Says no to a job, or with a zero job to the whole message. */
struct dlsi_refused {
	struct dlsi_id job;
	int32_t code;            /* DLS_E* */
	uint32_t retry_after_ms; /* 0: trying again does not help */
	struct dlsi_text sentence;
	struct dlsi_id token; /* of the SUBMIT that this answers */
};

/* Master to worker, once per job before its first ASSIGN there. */
struct dlsi_job_record {
	struct dlsi_id job;
	struct dlsi_id token;
	uint16_t frames;
	uint64_t count;
	struct dlsi_blob manifest;
	uint32_t manifest_head;
	struct dlsi_text holder; /* data endpoint of the process that has the job's blobs */
	struct dlsi_text holder_host;
	struct dlsi_bytes spec;
};

/* Master to worker: the job is over, nothing of it will be asked again. */
struct dlsi_forget {
	struct dlsi_id job;
};

/* Items [first, end) of a job to one device. The attempt is the master's own number; with the term it is unique. */
struct dlsi_assign {
	struct dlsi_id job;
	uint64_t attempt;
	uint64_t first;
	uint64_t end;
	uint16_t device;
};

/* In which way an item failed, as far as jobs tell them apart. */
enum dlsi_failure {
	DLSI_FAILURE_ERROR = 0,      /* running it: any but the other two */
	DLSI_FAILURE_TIME_LIMIT = 1, /* it took longer than its job allows */
	DLSI_FAILURE_INPUT = 2,      /* what it needs could not be had: its input, the list of inputs, the model */
};

enum { DLSI_FAILURES = 3 };

/* The results of an attempt, worker to master and on to the client: one page (proto/page.h) with a row per item. frames
 * is 1 if the page follows as a payload frame; else the worker offers it as a blob under the job's token. `again` names
 * items whose row is an error (core/again.h): to the master, those that failed in a way in which its job has items
 * tried again; to the client, those that will be, so that their rows are nobody's results. */
struct dlsi_result {
	struct dlsi_id job;
	uint64_t attempt;
	uint64_t first;
	uint64_t end;
	uint64_t bytes;      /* of the page */
	uint64_t elapsed_ns; /* on the device, all items together */
	uint32_t failed;     /* items whose row is an error */
	uint16_t frames;
	struct dlsi_blob offer;
	struct dlsi_text holder; /* data endpoint of the worker; put in by the master, like the next two */
	struct dlsi_text holder_host;
	struct dlsi_text worker;
	struct dlsi_numbers again; /* first, end, enum dlsi_failure, ... */
	uint64_t read_bytes;       /* of the inputs that the worker read from a holder for it */
	uint64_t load_ns;          /* that the device took before, to load the job's model; 0: it had it */
};

/* Worker to master: a device has no longer loaded the model of this bundle. */
struct dlsi_unloaded {
	uint16_t device;
	struct dlsi_hash model;
};

/* Client to master: which attempts' results it has, which offered ones it could not fetch, and its window now. */
struct dlsi_ack {
	struct dlsi_id job;
	uint64_t window_end;
	uint64_t window_bytes;
	struct dlsi_numbers taken; /* attempts */
	struct dlsi_numbers lost;
};

/* Master to worker: the attempts' results are where they belong; the worker may drop them. */
struct dlsi_taken {
	struct dlsi_numbers attempts;
};

/* Client to master: end the job (attempt 0). Master to worker: drop this attempt. */
struct dlsi_cancel {
	struct dlsi_id job;
	uint64_t attempt;
};

/* Master to worker: hand back those of the attempts that have not begun. */
struct dlsi_recall {
	struct dlsi_numbers attempts;
	uint8_t running; /* 1: and stop the others behind the item that they are at */
};

/* Worker to master: attempts that it has not begun and does not have any more. */
struct dlsi_handback {
	uint8_t leaving; /* 1: it takes no more tasks, and leaves when it has none */
	struct dlsi_numbers attempts;
};

enum dlsi_job_state {
	DLSI_JOB_PROPOSED = 1, /* durable, its submission is not committed yet */
	DLSI_JOB_ACTIVE = 2,
	DLSI_JOB_DONE = 3,
	DLSI_JOB_CANCELLED = 4,
	DLSI_JOB_FAILED = 5,
};

/* Master to client: the job has ended, and how. */
struct dlsi_end {
	struct dlsi_id job;
	uint8_t state; /* enum dlsi_job_state */
	int32_t code;  /* DLS_E* of a job that failed as a whole */
	struct dlsi_text sentence;
};

/* Both ways. What each side has counted so far on this connection, so that a difference is seen. */
struct dlsi_heartbeat {
	uint64_t sent; /* messages to the receiver, this one included */
	uint64_t received;
};

/* Master to client, at most a few times a second while something changes. */
struct dlsi_progress {
	struct dlsi_id job;
	uint64_t done;    /* items at the client */
	uint64_t running; /* items at workers */
	uint32_t workers; /* that can run it */
};

/* Client to master and back; the number pairs them. JSON: {"command": "status"} and the like. */
struct dlsi_command {
	uint64_t number;
	struct dlsi_bytes json;
};

struct dlsi_reply {
	uint64_t number;
	int32_t code;
	struct dlsi_bytes json; /* or the sentence, if code is not 0 */
};

/* Either side, before it closes the connection on purpose. */
struct dlsi_leave {
	struct dlsi_text reason;
};

enum dlsi_seek_state {
	DLSI_SEEK_WANTS = 1, /* it needs the model, and could not read it where it was told to before */
	DLSI_SEEK_HAS = 2,
	DLSI_SEEK_GAVE_UP = 3,
};

/* Worker to master: how it stands with the model of a job. */
struct dlsi_seek {
	struct dlsi_id job;
	uint8_t state;       /* enum dlsi_seek_state */
	uint64_t bytes;      /* HAS: that it read from the place that it was told ... */
	uint64_t elapsed_ns; /* ... and how long that took */
};

/* Master to worker: where to read the model of a job, or without a holder: from the client; after HAS nothing is to be
 * read. */
struct dlsi_found {
	struct dlsi_id job;
	struct dlsi_text holder; /* data endpoint of a worker */
	struct dlsi_text holder_host;
	struct dlsi_id token; /* with which workers read it from each other */
};

/* Worker to master and on to the client: nobody can connect to the job's holder, which is to connect to the worker and
 * to serve the job there. */
struct dlsi_call {
	struct dlsi_id job;
	struct dlsi_text reader; /* data endpoint of the worker; put in by the master */
};

/* On the data socket, reader to holder: begins to read a blob. The holder answers with DATA of no bytes that says the
 * length, or with ERROR. `fetch` is the reader's number and returns in every answer. */
struct dlsi_open {
	uint64_t fetch;
	struct dlsi_id token;
	struct dlsi_hash name;
	uint8_t direct; /* 1: the reader is on the same machine and would read the holder's memory */
};

struct dlsi_read {
	uint64_t fetch;
	struct dlsi_id token;
	struct dlsi_hash name;
	uint64_t offset;
	uint32_t length;
	uint8_t checked; /* 1: the answer is to have the checksum */
};

struct dlsi_data {
	uint64_t fetch;
	uint64_t offset;
	uint64_t total;    /* bytes of the whole blob */
	uint32_t checksum; /* CRC32C of the frame, or 0 */
	uint16_t frames;   /* 1, or 0 in the answer to OPEN */
};

struct dlsi_error_record {
	uint64_t fetch;
	int32_t code;
	struct dlsi_text sentence;
};

/* The answer to an OPEN that asks for it, if the blob lies in memory: where, until the reader says CLOSE or its
 * connection ends. Or the answer is DATA as ever. */
struct dlsi_lent {
	uint64_t fetch;
	uint64_t total;   /* bytes of the whole blob ... */
	uint64_t process; /* ... in the memory of this process ... */
	uint64_t address; /* ... from there on, if ... */
	uint64_t witness_address;
	struct dlsi_id witness; /* ... this lies there */
};

struct dlsi_close {
	uint64_t fetch;
};

/* Holder to reader, over a connection that the holder has opened since it was called: what it answers there. */
struct dlsi_serve {
	struct dlsi_id token;
};

/* One record of any kind, decoded. */
struct dlsi_record {
	uint16_t kind; /* enum dlsi_record_kind */
	union {
		struct dlsi_register reg;
		struct dlsi_device_offer device;
		struct dlsi_handler_offer handler;
		struct dlsi_resource_offer resource;
		struct dlsi_label label;
		struct dlsi_unloaded unloaded;
		struct dlsi_call call;
		struct dlsi_seek seek;
		struct dlsi_found found;
		struct dlsi_held held;
		struct dlsi_welcome welcome;
		struct dlsi_spec_record spec;
		struct dlsi_submit submit;
		struct dlsi_accepted accepted;
		struct dlsi_attach attach;
		struct dlsi_refused refused;
		struct dlsi_job_record job;
		struct dlsi_forget forget;
		struct dlsi_assign assign;
		struct dlsi_result result;
		struct dlsi_ack ack;
		struct dlsi_taken taken;
		struct dlsi_cancel cancel;
		struct dlsi_recall recall;
		struct dlsi_handback handback;
		struct dlsi_end end;
		struct dlsi_heartbeat heartbeat;
		struct dlsi_progress progress;
		struct dlsi_command command;
		struct dlsi_reply reply;
		struct dlsi_leave leave;
		struct dlsi_open open;
		struct dlsi_read read;
		struct dlsi_data data;
		struct dlsi_error_record error;
		struct dlsi_lent lent;
		struct dlsi_close close;
		struct dlsi_serve serve;
	};
};

/* How one field lies on the wire; the codec knows nothing else about a record. */
enum dlsi_field_type {
	DLSI_FIELD_U8,
	DLSI_FIELD_U16,
	DLSI_FIELD_U32,
	DLSI_FIELD_U64, /* I32 and I64 travel as their two's complement */
	DLSI_FIELD_ID,
	DLSI_FIELD_BLOB,
	DLSI_FIELD_TEXT,    /* u32 length, bytes */
	DLSI_FIELD_BYTES,   /* u32 length, bytes */
	DLSI_FIELD_NUMBERS, /* u32 count, u64 each */
	DLSI_FIELD_HASH,
	DLSI_FIELD_FRAMES, /* u16: payload frames of the message that belong to this record */
};

struct dlsi_record_field {
	uint8_t type;    /* enum dlsi_field_type */
	uint16_t offset; /* in the record's struct */
	uint32_t limit;  /* most bytes of a text or of bytes, most numbers */
};

struct dlsi_record_shape {
	uint16_t kind;
	uint16_t fields;
	const char *name;
	const struct dlsi_record_field *field;
};

/* NULL for a kind that does not exist. */
const struct dlsi_record_shape *dlsi_record_shape(uint16_t kind);

/* A view of a NUL-terminated text. */
struct dlsi_text dlsi_text_of(const char *text);
bool dlsi_text_equal(struct dlsi_text a, struct dlsi_text b);

#endif
