/* What happens to the core. Exactly one state machine takes each event, with the time; texts and blocks are borrowed
 * for the call, payloads are handed over. */
#ifndef DLSI_EVENT_H
#define DLSI_EVENT_H

#include "core/effect.h"

enum dlsi_event_kind {
	DLSI_EVENT_MESSAGE,   /* from a peer; its payload frames are handed over */
	DLSI_EVENT_CONNECTED, /* worker, client: a connection to the master's endpoint, maybe the first */
	DLSI_EVENT_LOST,      /* a connection is gone; its process may live and come back */
	DLSI_EVENT_TIMER,     /* the deadline came */
	DLSI_EVENT_TURN,      /* no more events are at hand: decide and send. Follows every bunch of events */
	DLSI_EVENT_PERSISTED, /* master: the log has all records up to `index` */
	DLSI_EVENT_LOG_STATE, /* master: the log can take nothing new, or can again */
	DLSI_EVENT_EXECUTED,  /* worker: a task is over; its payload is its result page or the offer of it */
	DLSI_EVENT_FETCHED,   /* client: an offered result is here, or cannot be had */
	DLSI_EVENT_SUBMIT,    /* client: a new job; one of the same id must be over */
	DLSI_EVENT_CONSUMED,  /* client: the program has taken results; room in the job's window */
	DLSI_EVENT_CANCEL,    /* client: end a job; worker: not used */
	DLSI_EVENT_ATTACH,    /* client: the results of a durable job that the master has */
	DLSI_EVENT_DETACH,    /* client: a durable job goes on without it */
	DLSI_EVENT_COMMAND,   /* client: ask the master something */
	DLSI_EVENT_SEEK,      /* worker: how it stands with the model of a job; DLSI_EFFECT_FOUND answers */
	DLSI_EVENT_CALL,      /* worker: nobody can connect to the job's holder, which is to connect here */
	DLSI_EVENT_DRAIN,     /* worker: begin nothing more; DLSI_NOTICE_DRAINED says when nothing is left */
	DLSI_EVENT_STOP,      /* say goodbye to the peers; nothing but destroy follows */
};

struct dlsi_event {
	enum dlsi_event_kind kind;
	struct dlsi_peer peer; /* MESSAGE, CONNECTED, LOST; a worker's or client's only peer is its master */
	struct dlsi_id job;
	uint64_t attempt;
	union {
		struct {
			const uint8_t *block;
			size_t length;
			const struct dlsi_payload *frames;
			size_t frame_count;
		} message;
		struct {
			int64_t longest_ns; /* turn that the driver has taken since it began; 0: it does not say */
			int64_t recent_ns;  /* the longest one of late */
		} turn;
		struct {
			uint64_t index;
		} persisted;
		struct dls_error log_state; /* with a code: why not */
		struct {
			struct dlsi_payload payload;
			struct dlsi_blob offer; /* length 0: the payload travels inside RESULT */
			uint64_t elapsed_ns;
			uint64_t load_ns; /* that the device took before, to load the job's model; 0: it had it */
			const struct dlsi_hash *unloaded; /* models that it does not have any more */
			unsigned unloaded_count;
			uint16_t device;
			uint32_t failed; /* items */
			uint32_t left; /* items at its end that it has not run since it was recalled; fewer than all */
			struct dlsi_numbers again; /* as in RESULT */
			uint64_t read_bytes;       /* of its inputs */
			bool dropped; /* it was cancelled before it had a result, or recalled before it began; no
					 payload */
		} executed;
		struct {
			struct dlsi_payload payload; /* if code is 0 */
			int code;
		} fetched;
		struct {
			struct dlsi_id token;
			struct dlsi_bytes spec;  /* JSON */
			struct dlsi_bytes about; /* the same, of this job alone; may be empty */
			uint64_t count;
			int32_t priority;
			int64_t deadline_ns; /* 0: none */
			bool durable;
			struct dlsi_payload manifest; /* or its head, and its blob */
			struct dlsi_blob manifest_blob;
			uint32_t manifest_head;
			uint64_t window_items;
			uint64_t window_bytes;
		} submit;
		struct {
			struct dlsi_id token;
			uint64_t window_items;
			uint64_t window_bytes;
		} attach;
		struct {
			uint64_t next;  /* all items below have been taken */
			uint64_t bytes; /* of results that wait to be taken */
		} consumed;
		struct {
			uint8_t state; /* enum dlsi_seek_state */
			uint64_t bytes, elapsed_ns;
		} seek;
		struct {
			uint64_t number;
			struct dlsi_bytes json;
		} command;
	};
};

#endif
