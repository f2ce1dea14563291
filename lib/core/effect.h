/* What the core wants done. A step appends effects in order; the driver (node/, test/sim) carries them out in that
 * order after the step and then clears them. The core itself does nothing and never waits.
 *
 * Payloads are the driver's: to the core a handle, counted once when an event hands it over. Effects that name a
 * payload borrow it (a driver that needs one for longer takes a reference of its own); DLSI_EFFECT_RELEASE gives it
 * back, exactly once for every handle the core was handed. */
#ifndef DLSI_EFFECT_H
#define DLSI_EFFECT_H

#include "base/buffer.h"
#include "core/peer.h"
#include "proto/message.h"
#include <dlsched/ctx.h>

/* A result page or a manifest; handle 0 is none. */
struct dlsi_payload {
	uint64_t handle;
	uint64_t bytes;
};

enum dlsi_effect_kind {
	DLSI_EFFECT_SEND,       /* a message to a peer; one that cannot be sent comes back as DLSI_EVENT_LOST */
	DLSI_EFFECT_RELEASE,    /* the payload is no longer needed */
	DLSI_EFFECT_DISCONNECT, /* forget the peer: it has left or broke the protocol */
	DLSI_EFFECT_RECONNECT,  /* worker, client: close the socket and open a new one */
	DLSI_EFFECT_APPEND,     /* master: a log record; answered by DLSI_EVENT_PERSISTED */
	DLSI_EFFECT_JOB_OPEN,   /* worker: tasks of this job may come */
	DLSI_EFFECT_JOB_CLOSE,  /* worker: none will come any more; cancelled ones may still run */
	DLSI_EFFECT_EXECUTE,    /* worker: run a task; answered by exactly one DLSI_EVENT_EXECUTED, also after CANCEL */
	DLSI_EFFECT_CANCEL,     /* worker: the task's result is not wanted any more */
	DLSI_EFFECT_RECALL,     /* worker: drop the task if it has not begun, else stop or keep it */
	DLSI_EFFECT_FOUND,      /* worker: where to get the model of a job; exactly once if it was wanted */
	DLSI_EFFECT_FETCH,      /* client: get an offered result; answered by exactly one DLSI_EVENT_FETCHED */
	DLSI_EFFECT_SERVE,      /* client: connect to a reader of the job's blobs and serve them there */
	DLSI_EFFECT_DELIVER,    /* client: results for the program */
	DLSI_EFFECT_NOTIFY,     /* client: the job, the connection or a command has news */
	DLSI_EFFECT_LOG,        /* a sentence for the operator */
};

enum dlsi_notice {
	DLSI_NOTICE_WELCOME,  /* the connection is up: registered with a master */
	DLSI_NOTICE_LOST,     /* and down again */
	DLSI_NOTICE_REJECTED, /* the master refuses this process; code and sentence say why; it will not try again */
	DLSI_NOTICE_ACCEPTED, /* the master has the job */
	DLSI_NOTICE_DEFERRED, /* it has no room for the job now, code says why; it is offered again */
	DLSI_NOTICE_PROGRESS,
	DLSI_NOTICE_ENDED,   /* the job: state, code and sentence */
	DLSI_NOTICE_DRAINED, /* the worker has nothing left and may go */
	DLSI_NOTICE_REPLY,   /* to a command: code, and JSON or a sentence in `text` */
};

/* Texts and bytes lie in the effects' arena and are valid until it is cleared. */
struct dlsi_effect {
	enum dlsi_effect_kind kind;
	struct dlsi_peer peer;       /* SEND, DISCONNECT */
	struct dlsi_payload payload; /* RELEASE, APPEND (a result to keep, or none), JOB_OPEN, DELIVER */
	size_t block;                /* SEND, APPEND: offset in the arena ... */
	size_t block_length;
	size_t frames; /* SEND: index in effects->frames of its first payload frame ... */
	size_t frame_count;
	struct dlsi_id job;
	uint64_t attempt;
	uint64_t first, end; /* items: EXECUTE, FETCH; DELIVER: those that are new */
	union {
		struct {
			uint64_t index;
		} append;
		struct {
			struct dlsi_id token;
			uint64_t count;
			struct dlsi_blob
				manifest; /* of length 0 where the payload is all of it, and not only its head */
			uint32_t manifest_head;
			size_t spec, spec_length; /* JSON, in the arena, not NUL-terminated */
			size_t holder, holder_length;
			size_t holder_host, holder_host_length;
		} open;
		struct {
			uint16_t device;
		} execute;
		struct {
			struct dlsi_id token;         /* zero: nobody else is to get it from here */
			size_t holder, holder_length; /* empty: the job's client */
			size_t holder_host, holder_host_length;
		} found;
		struct {
			bool running; /* a task that has begun stops behind the item that it is at; else it goes on */
		} recall;
		struct {
			struct dlsi_id token;
			struct dlsi_blob offer;
			size_t holder, holder_length;
			size_t holder_host, holder_host_length;
		} fetch;
		struct {
			struct dlsi_id token;
			size_t reader, reader_length;
		} serve;
		struct {
			uint64_t page_first, page_end; /* items of the page: row 0 is item page_first */
			uint64_t bytes; /* that count for it: all of the page for the last of its runs, or none */
			uint64_t elapsed_ns;
			size_t worker, worker_length;
		} deliver;
		struct {
			enum dlsi_notice notice;
			uint64_t number; /* of the command */
			uint8_t state;   /* enum dlsi_job_state */
			int code;
			size_t text, text_length;
			uint64_t done, running; /* items */
			uint32_t workers;
			uint64_t count; /* ACCEPTED: items of the job */
		} notify;
		struct {
			enum dls_log_level level;
			size_t text, text_length;
		} log;
	};
};

struct dlsi_effects {
	struct dlsi_effect *at;
	size_t count;
	size_t capacity;
	uint64_t *frames; /* payload handles of SEND */
	size_t frame_count;
	size_t frame_capacity;
	struct dlsi_buffer arena;
	int64_t deadline_ns; /* when to step with DLSI_EVENT_TIMER at the latest; INT64_MAX: never. Not cleared. */
	enum dls_log_level log_level; /* lines above it are not made; 0, as at first: none is. The driver's. */
	struct dlsi_effect spare;
	bool failed; /* memory ran out: the state machine is no longer to be trusted and must be destroyed */
	const struct dlsi_alloc *alloc;
};

void dlsi_effects_init(struct dlsi_effects *effects, const struct dlsi_alloc *alloc);
void dlsi_effects_fini(struct dlsi_effects *effects);
void dlsi_effects_clear(struct dlsi_effects *effects);

/* For the core: appends an effect, zeroed but for its kind. Never NULL: when memory is exhausted, `failed` is set and a
 * spare effect is returned that nobody sees. Valid until the next append. */
struct dlsi_effect *dlsi_effects_add(struct dlsi_effects *effects, enum dlsi_effect_kind kind);

/* Copies into the arena and returns the offset. */
size_t dlsi_effects_store(struct dlsi_effects *effects, const void *data, size_t length);

/* Does nothing for no payload. */
void dlsi_effects_release(struct dlsi_effects *effects, struct dlsi_payload payload);
void dlsi_effects_log(struct dlsi_effects *effects, enum dls_log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A message and the handles of its payload frames; all are copied. */
void dlsi_effects_send(struct dlsi_effects *effects, struct dlsi_peer to, const uint8_t *block, size_t length,
	const uint64_t *frames, size_t frame_count);

/* Text of an effect. */
struct dlsi_text dlsi_effects_text(const struct dlsi_effects *effects, size_t offset, size_t length);

#endif
