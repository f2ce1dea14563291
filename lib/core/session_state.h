/* The client's tables, seen only by the files of core/ that make up the session. */
#ifndef DLSI_SESSION_STATE_H
#define DLSI_SESSION_STATE_H

#include "base/limits.h"
#include "base/list.h"
#include "base/map.h"
#include "base/ranges.h"
#include "core/link.h"
#include "core/session.h"

/* A specification by its place in the table, which is its number on the connection. */
struct spec {
	uint8_t *json;
	uint32_t length;
	unsigned uses;
	bool sent; /* over this connection */
};

struct job {
	struct dlsi_list node;
	struct dlsi_list dirty; /* on session->dirty while an ACK is due */
	struct dlsi_id id, token;
	uint32_t spec;
	uint8_t *about; /* JSON, or NULL */
	uint32_t about_length;
	uint64_t count;
	int32_t priority;
	int64_t deadline_ns; /* 0: none */
	bool durable;
	bool attached;    /* to a job that was submitted before: it has no specification here */
	bool over;        /* for the program; kept until the master says so too */
	bool accepted;    /* by the master of this connection */
	int64_t retry_ns; /* when to submit again after a refusal for now; INT64_MAX: not */
	struct dlsi_payload manifest;
	struct dlsi_blob manifest_blob;
	uint32_t manifest_head;
	struct dlsi_ranges received;
	uint64_t received_items;
	uint64_t window_items, window_bytes;
	uint64_t next;                  /* item that the program takes next */
	uint64_t waiting;               /* bytes of results that it has not taken */
	uint64_t fetching;              /* bytes of offered results that are being fetched */
	uint64_t told_end, told_bytes;  /* the window as the master knows it */
	struct dlsi_buffer taken, lost; /* u64 each: attempts for the next ACK */
	struct dlsi_list offers;        /* that wait for room in the window, by their first item */
	struct dlsi_list fetches;       /* those that are being fetched */
};

/* An offered result, on its job's offers or fetches or, its job gone, on session->orphans. */
struct fetch {
	struct dlsi_list node;
	struct job *job; /* NULL: it is gone, nobody wants the result */
	struct dlsi_result result;
	char worker[DLSI_NAME_BYTES];
	char holder[DLSI_ENDPOINT_BYTES];
	char holder_host[DLSI_NAME_BYTES];
};

struct dlsi_session {
	const struct dlsi_alloc *alloc;
	char *tenant, *host, *data_endpoint;
	uint64_t incarnation;
	struct dlsi_link link;
	struct dls_error rejection; /* with a code: why no master takes this client */
	struct spec *specs;
	uint32_t spec_count;
	struct dlsi_list jobs, dirty, orphans;
	struct dlsi_map job_by_id, fetch_by_attempt;
	struct dlsi_buffer scratch;
	struct dlsi_buffer asked; /* u64 each: numbers of commands that wait for an answer */
	int64_t retry_ns;         /* the earliest of its jobs' */
	int64_t patience_ns;
	int64_t ack_ns; /* when the ACKs of dirty jobs leave at the latest; INT64_MAX: there are none */
};

/* The u64 that have been written to a buffer. */
struct dlsi_numbers dlsi_session_numbers(const struct dlsi_buffer *buffer);

/* session_specs.c: specifications by the number they have on the connection. A reference to the one with this JSON; -1
 * if there is no room. It is dropped by uses--. */
int64_t dlsi_session_use_spec(struct dlsi_session *session, struct dlsi_bytes json);
void dlsi_session_post_spec(struct dlsi_session *session, uint32_t number);

/* session_jobs.c: presenting jobs, and how they end */
void dlsi_session_submit(struct dlsi_session *session, const struct dlsi_event *event);
void dlsi_session_cancel(struct dlsi_session *session, const struct dlsi_event *event);
void dlsi_session_attach(struct dlsi_session *session, const struct dlsi_event *event);
void dlsi_session_detach(struct dlsi_session *session, const struct dlsi_event *event);
void dlsi_session_post_submit(struct dlsi_session *session, struct job *job);
void dlsi_session_post_cancel(struct dlsi_session *session, const struct job *job);
void dlsi_session_accepted(struct dlsi_session *session, const struct dlsi_accepted *record);
void dlsi_session_refused(struct dlsi_session *session, const struct dlsi_refused *record);
void dlsi_session_end(struct dlsi_session *session, const struct dlsi_end *record);

/* The program is done with the job; the master is told, and its END ends the entry. */
void dlsi_session_finish(
	struct dlsi_session *session, struct job *job, uint8_t state, int code, struct dlsi_text sentence);
void dlsi_session_job_destroy(struct dlsi_session *session, struct job *job);

/* Submits again what was refused for a while. */
void dlsi_session_run_retries(struct dlsi_session *session);

/* session_results.c: results, the window, and what is fetched */
void dlsi_session_result(struct dlsi_session *session, const struct dlsi_result *result, struct dlsi_payload payload);
void dlsi_session_fetched(struct dlsi_session *session, const struct dlsi_event *event);
void dlsi_session_consumed(struct dlsi_session *session, const struct dlsi_event *event);
void dlsi_session_post_ack(struct dlsi_session *session, struct job *job);
void dlsi_session_mark_dirty(struct dlsi_session *session, struct job *job, bool can_wait);
void dlsi_session_fetch_destroy(struct dlsi_session *session, struct fetch *fetch);

/* The job goes: its offers too, and what is being fetched for it will be dropped when it comes. */
void dlsi_session_drop_fetches(struct dlsi_session *session, struct job *job);

/* What the client can still take in of a job. */
uint64_t dlsi_session_window_end(const struct job *job);
uint64_t dlsi_session_window_bytes(const struct job *job);

#endif
