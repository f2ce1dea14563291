#include "net/reader.h"

#include "base/limits.h"

struct loan {
	struct dlsi_list node;
	uint64_t fetch;
	struct dlsi_frame *frame;
};

struct dlsi_reader *dlsi_reader_create(
	const struct dlsi_alloc *alloc, struct dlsi_peer peer, struct dlsi_backlog *whole)
{
	struct dlsi_reader *reader = dlsi_calloc(alloc, 1, sizeof *reader);

	if (!reader)
		return NULL;
	reader->alloc = alloc;
	reader->peer = peer;
	dlsi_list_init(&reader->node);
	dlsi_list_init(&reader->waiting_node);
	dlsi_list_init(&reader->questions);
	dlsi_list_init(&reader->lent);
	reader->backlog = dlsi_backlog_of_peer(whole);
	if (reader->backlog)
		return reader;
	dlsi_free(alloc, reader);
	return NULL;
}

static void take_back(struct dlsi_reader *reader, struct loan *loan)
{
	dlsi_list_remove(&loan->node);
	dlsi_frame_unref(loan->frame);
	dlsi_free(reader->alloc, loan);
	reader->lent_count--;
}

void dlsi_reader_destroy(struct dlsi_reader *reader)
{
	dlsi_list_each (node, &reader->lent)
		take_back(reader, dlsi_list_entry(node, struct loan, node));
	dlsi_list_each (node, &reader->questions)
		dlsi_reader_drop(reader, dlsi_list_entry(node, struct dlsi_question, node));
	dlsi_list_remove(&reader->node);
	dlsi_list_remove(&reader->waiting_node);
	dlsi_backlog_unref(reader->backlog);
	dlsi_free(reader->alloc, reader);
}

/* A question for more than it may have is answered by an error. */
static bool has_room(const struct dlsi_reader *reader, const struct dlsi_question *question)
{
	uint32_t length = question->is_open ? 0 : question->read.length;

	return dlsi_backlog_has_room(reader->backlog, length <= DLSI_BLOB_CHUNK_BYTES ? length : 0);
}

struct dlsi_question *dlsi_reader_next(const struct dlsi_reader *reader)
{
	struct dlsi_question *first = dlsi_list_entry(reader->questions.next, struct dlsi_question, node);

	return reader->question_count && has_room(reader, first) ? first : NULL;
}

bool dlsi_reader_is_free(const struct dlsi_reader *reader, const struct dlsi_question *question)
{
	return !reader->question_count && has_room(reader, question);
}

bool dlsi_reader_keep(struct dlsi_reader *reader, const struct dlsi_question *question)
{
	struct dlsi_question *kept =
		reader->question_count == DLSI_PEER_READS_WAITING ? NULL : dlsi_malloc(reader->alloc, sizeof *kept);

	if (!kept)
		return false;
	*kept = *question;
	dlsi_list_append(&reader->questions, &kept->node);
	reader->question_count++;
	return true;
}

void dlsi_reader_drop(struct dlsi_reader *reader, struct dlsi_question *question)
{
	dlsi_list_remove(&question->node);
	dlsi_free(reader->alloc, question);
	reader->question_count--;
}

bool dlsi_reader_lend(struct dlsi_reader *reader, uint64_t fetch, struct dlsi_frame *frame_take)
{
	struct loan *loan =
		reader->lent_count == DLSI_FETCHES_AT_ONCE ? NULL : dlsi_malloc(reader->alloc, sizeof *loan);

	if (!loan) {
		dlsi_frame_unref(frame_take);
		return false;
	}
	*loan = (struct loan){.fetch = fetch, .frame = frame_take};
	dlsi_list_init(&loan->node);
	dlsi_list_append(&reader->lent, &loan->node);
	reader->lent_count++;
	return true;
}

void dlsi_reader_close(struct dlsi_reader *reader, uint64_t fetch)
{
	dlsi_list_each (node, &reader->lent) {
		struct loan *loan = dlsi_list_entry(node, struct loan, node);

		if (loan->fetch == fetch)
			take_back(reader, loan);
	}
}
