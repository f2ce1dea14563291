/* One that reads this process's blobs, as the server knows it: what it has asked and cannot be answered yet, and how
 * much of what was answered it has still to take. One thread, the data plane's. */
#ifndef DLSI_READER_H
#define DLSI_READER_H

#include "base/list.h"
#include "core/peer.h"
#include "net/backlog.h"
#include "proto/record.h"

struct dlsi_question {
	struct dlsi_list node;
	bool is_open;   /* an OPEN, of whose fields the first three here are */
	bool is_direct; /* which asks for memory, and may */
	struct dlsi_read read;
};

struct dlsi_reader {
	struct dlsi_list node;         /* in the server's list of all */
	struct dlsi_list waiting_node; /* in its list of those with questions */
	struct dlsi_peer peer;
	struct dlsi_backlog *backlog;
	struct dlsi_list questions; /* in the order in which they came */
	unsigned question_count;
	struct dlsi_list lent;
	unsigned lent_count;
	const struct dlsi_alloc *alloc;
};

/* NULL when memory is exhausted. */
struct dlsi_reader *dlsi_reader_create(
	const struct dlsi_alloc *alloc, struct dlsi_peer peer, struct dlsi_backlog *whole);

/* Leaves the lists too; its questions are dropped, and what it was lent is taken back. */
void dlsi_reader_destroy(struct dlsi_reader *reader);

/* The question that is next; NULL if there is none, or no room for its answer yet. */
struct dlsi_question *dlsi_reader_next(const struct dlsi_reader *reader);

/* Whether it may be answered now: nothing that came before waits, and there is room. */
bool dlsi_reader_is_free(const struct dlsi_reader *reader, const struct dlsi_question *question);

/* Keeps a copy for later; false if the reader has its limit of them, or memory is exhausted. */
bool dlsi_reader_keep(struct dlsi_reader *reader, const struct dlsi_question *question);
void dlsi_reader_drop(struct dlsi_reader *reader, struct dlsi_question *question);

/* Keeps the frame, a reference that becomes the reader's, for this fetch until it is closed; false, and the reference
 * is dropped, if the reader has as many as it may, or memory is exhausted. */
bool dlsi_reader_lend(struct dlsi_reader *reader, uint64_t fetch, struct dlsi_frame *frame_take);

/* An unknown fetch is ignored. */
void dlsi_reader_close(struct dlsi_reader *reader, uint64_t fetch);

#endif
