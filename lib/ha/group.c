#include "ha/group.h"

#include "base/buffer.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/random.h"
#include "ha/replay.h"
#include "ha/writer.h"
#include "proto/bytes.h"
#include "store/folder.h"
#include <raft.h>
#include <string.h>

/* The id of a group's only voter, and what stands for its address. */
#define SELF         1
#define SELF_ADDRESS "self"

/* libraft keeps entries in memory until there was a snapshot behind them; ours cost nothing. */
enum { SNAPSHOT_ENTRIES = 64, TRAILING_ENTRIES = 16, APPLIED_AT_ONCE = 1024 };

struct dlsi_group {
	const struct dlsi_alloc *alloc;
	struct dlsi_group_config config;
	struct dlsi_folder *folder;
	struct dlsi_writer writer;
	bool writes; /* the writer runs */
	bool ready;  /* raft_init has worked */
	struct raft raft;
	struct raft_io io;
	struct raft_fsm fsm;
	struct raft_io_snapshot_put *put; /* to be answered */
	raft_io_snapshot_put_cb put_done;
	struct dlsi_buffer proposed; /* struct raft_buffer each */
	uint64_t committed;          /* records that the owner has not been told of */
};

/* An append of libraft's on its way. */
struct append {
	struct dlsi_writer_job job; /* first */
	struct raft_io_append *request;
	raft_io_append_cb done;
	struct dlsi_journal_entry entries[];
};

static struct dlsi_group *group_of(struct raft_io *io)
{
	return io->impl;
}

static int fail_raft(const struct dlsi_group *group, int rc, struct dls_error *err)
{
	return rc == RAFT_NOMEM ? dlsi_fail_memory(err)
				: dlsi_fail(err, DLS_EIO, "the log in %s cannot be used: %s", group->config.folder,
					  raft_strerror(rc));
}

/* raft_io */

static int io_init(struct raft_io *io, raft_id id, const char *address)
{
	(void)io;
	(void)id;
	(void)address;
	return 0;
}

static int configure(struct raft_configuration *configuration)
{
	raft_configuration_init(configuration);
	return raft_configuration_add(configuration, SELF, SELF_ADDRESS, RAFT_VOTER);
}

/* What it holds is of no matter: the owner has replayed the log up to its end. */
static int make_snapshot_buffer(struct raft_buffer *bufs[], unsigned *count)
{
	struct raft_buffer *buffer = raft_calloc(1, sizeof *buffer);

	if (buffer)
		buffer->base = raft_calloc(1, 8);
	if (!buffer || !buffer->base) {
		raft_free(buffer);
		return RAFT_NOMEM;
	}
	buffer->len = 8;
	*bufs = buffer;
	*count = 1;
	return 0;
}

static int make_snapshot(const struct dlsi_journal_facts *facts, struct raft_snapshot **snapshot_out)
{
	struct raft_snapshot *snapshot = raft_calloc(1, sizeof *snapshot);
	int rc = snapshot ? configure(&snapshot->configuration) : RAFT_NOMEM;

	if (rc == 0)
		rc = make_snapshot_buffer(&snapshot->bufs, &snapshot->n_bufs);
	if (rc) {
		if (snapshot)
			raft_configuration_close(&snapshot->configuration);
		raft_free(snapshot);
		return rc;
	}
	snapshot->index = facts->last_index;
	snapshot->term = facts->last_term;
	snapshot->configuration_index = 1;
	*snapshot_out = snapshot;
	return 0;
}

static int io_load(struct raft_io *io, raft_term *term, raft_id *voted_for, struct raft_snapshot **snapshot,
	raft_index *start_index, struct raft_entry *entries[], size_t *n_entries)
{
	struct dlsi_group *group = group_of(io);
	struct dlsi_journal_facts facts = dlsi_journal_facts(group->writer.journal);

	*term = group->writer.ballot.term;
	*voted_for = group->writer.ballot.vote;
	*start_index = facts.last_index + 1;
	*entries = NULL;
	*n_entries = 0;
	return make_snapshot(&facts, snapshot);
}

/* A group of one sends no heartbeats and misses none: there is nothing to do by the clock. */
static int io_start(struct raft_io *io, unsigned msecs, raft_io_tick_cb tick, raft_io_recv_cb recv)
{
	(void)io;
	(void)msecs;
	(void)tick;
	(void)recv;
	return 0;
}

static int io_bootstrap(struct raft_io *io, const struct raft_configuration *configuration)
{
	struct dlsi_group *group = group_of(io);
	struct dlsi_journal_entry entry = {.index = 1, .term = group->writer.ballot.term, .type = RAFT_CHANGE};
	struct raft_buffer buffer;
	int rc = raft_configuration_encode(configuration, &buffer);

	if (rc)
		return rc;
	entry.data = buffer.base;
	entry.length = (uint32_t)buffer.len;
	rc = dlsi_journal_append(group->writer.journal, &entry, 1, NULL);
	raft_free(buffer.base);
	return rc ? RAFT_IOERR : 0;
}

static int io_recover(struct raft_io *io, const struct raft_configuration *configuration)
{
	(void)io;
	(void)configuration;
	return RAFT_INVALID;
}

/* On disk before it returns. Before the writer runs: the only voter's term does not change afterwards. */
static int keep_ballot(struct dlsi_group *group, uint64_t term, uint64_t vote)
{
	if (group->writes)
		return RAFT_INVALID;
	group->writer.ballot.term = term;
	group->writer.ballot.vote = vote;
	return dlsi_ballot_write(group->writer.files, &group->writer.ballot, NULL) ? RAFT_IOERR : 0;
}

static int io_set_term(struct raft_io *io, raft_term term)
{
	return keep_ballot(group_of(io), term, 0);
}

static int io_set_vote(struct raft_io *io, raft_id server_id)
{
	struct dlsi_group *group = group_of(io);

	return keep_ballot(group, group->writer.ballot.term, server_id);
}

static int io_send(struct raft_io *io, struct raft_io_send *req, const struct raft_message *message, raft_io_send_cb cb)
{
	(void)io;
	(void)req;
	(void)message;
	(void)cb;
	return RAFT_NOCONNECTION;
}

static int io_append(struct raft_io *io, struct raft_io_append *req, const struct raft_entry entries[], unsigned n,
	raft_io_append_cb cb)
{
	struct dlsi_group *group = group_of(io);
	struct append *append = dlsi_malloc(group->alloc, sizeof *append + n * sizeof *append->entries);
	uint64_t index = raft_last_index(&group->raft) - n;

	if (!append)
		return RAFT_NOMEM;
	for (unsigned i = 0; i < n; i++)
		append->entries[i] = (struct dlsi_journal_entry){
			.index = ++index,
			.term = entries[i].term,
			.type = entries[i].type,
			.length = (uint32_t)entries[i].buf.len,
			.data = entries[i].buf.base,
		};
	append->job = (struct dlsi_writer_job){.entries = append->entries, .count = n};
	append->request = req;
	append->done = cb;
	dlsi_writer_put(&group->writer, &append->job);
	return 0;
}

/* What the only voter has written is committed, and nothing follows it that could be cut. */
static int io_truncate(struct raft_io *io, raft_index index)
{
	(void)io;
	(void)index;
	return RAFT_INVALID;
}

/* Answered by the next step. */
static int io_snapshot_put(struct raft_io *io, unsigned trailing, struct raft_io_snapshot_put *req,
	const struct raft_snapshot *snapshot, raft_io_snapshot_put_cb cb)
{
	struct dlsi_group *group = group_of(io);

	(void)trailing;
	(void)snapshot;
	group->put = req;
	group->put_done = cb;
	return 0;
}

static int io_snapshot_get(struct raft_io *io, struct raft_io_snapshot_get *req, raft_io_snapshot_get_cb cb)
{
	(void)io;
	(void)req;
	(void)cb;
	return RAFT_NOTFOUND;
}

static raft_time io_time(struct raft_io *io)
{
	(void)io;
	return (raft_time)(dlsi_clock_monotonic_ns() / DLSI_MILLISECOND_NS);
}

static int io_random(struct raft_io *io, int min, int max)
{
	(void)io;
	return min + (int)(dlsi_random_u64() % (uint64_t)(max - min + 1));
}

static void answer_put(struct dlsi_group *group, int status)
{
	struct raft_io_snapshot_put *put = group->put;

	group->put = NULL;
	if (put)
		group->put_done(put, status);
}

static void answer_append(struct dlsi_group *group, struct dlsi_writer_job *job, int status)
{
	struct append *append = (struct append *)job;

	append->done(append->request, status);
	dlsi_free(group->alloc, append);
}

/* The writer has been stopped. */
static void io_close(struct raft_io *io, raft_io_close_cb cb)
{
	struct dlsi_group *group = group_of(io);
	struct dlsi_writer_job *job;

	while ((job = dlsi_writer_take_any(&group->writer)))
		answer_append(group, job, RAFT_CANCELED);
	answer_put(group, RAFT_CANCELED);
	if (cb)
		cb(io);
}

/* raft_fsm */

static int fsm_apply(struct raft_fsm *fsm, const struct raft_buffer *buf, void **result)
{
	struct dlsi_group *group = fsm->data;

	(void)buf;
	group->committed++;
	*result = NULL;
	return 0;
}

static int fsm_snapshot(struct raft_fsm *fsm, struct raft_buffer *bufs[], unsigned *n_bufs)
{
	(void)fsm;
	return make_snapshot_buffer(bufs, n_bufs);
}

static int fsm_restore(struct raft_fsm *fsm, struct raft_buffer *buf)
{
	(void)fsm;
	raft_free(buf->base);
	return 0;
}

static void init_raft_tables(struct dlsi_group *group)
{
	group->io = (struct raft_io){
		.version = 1,
		.impl = group,
		.init = io_init,
		.close = io_close,
		.load = io_load,
		.start = io_start,
		.bootstrap = io_bootstrap,
		.recover = io_recover,
		.set_term = io_set_term,
		.set_vote = io_set_vote,
		.send = io_send,
		.append = io_append,
		.truncate = io_truncate,
		.snapshot_put = io_snapshot_put,
		.snapshot_get = io_snapshot_get,
		.time = io_time,
		.random = io_random,
	};
	group->fsm = (struct raft_fsm){
		.version = 1, .data = group, .apply = fsm_apply, .snapshot = fsm_snapshot, .restore = fsm_restore};
}

/* The log, which is empty, begins with who votes. */
static int bootstrap(struct dlsi_group *group)
{
	struct raft_configuration configuration;
	int rc = configure(&configuration);

	if (rc == 0)
		rc = raft_bootstrap(&group->raft, &configuration);
	raft_configuration_close(&configuration);
	return rc;
}

static int start_raft(struct dlsi_group *group, struct dls_error *err)
{
	int rc;

	init_raft_tables(group);
	rc = raft_init(&group->raft, &group->io, &group->fsm, SELF, SELF_ADDRESS);
	if (rc)
		return fail_raft(group, rc, err);
	group->ready = true;
	raft_set_snapshot_threshold(&group->raft, SNAPSHOT_ENTRIES);
	raft_set_snapshot_trailing(&group->raft, TRAILING_ENTRIES);
	raft_set_pre_vote(&group->raft, true);
	if (!dlsi_journal_facts(group->writer.journal).last_index)
		rc = bootstrap(group);
	if (rc == 0)
		rc = raft_start(&group->raft);
	return rc ? fail_raft(group, rc, err) : 0;
}

/* A new term for this opening, on disk before anything is said in it. */
static int begin_term(struct dlsi_group *group, struct dls_error *err)
{
	struct dlsi_ballot *ballot = &group->writer.ballot;

	ballot->term++;
	ballot->vote = SELF;
	ballot->noted = dlsi_journal_facts(group->writer.journal).last_index;
	return dlsi_ballot_write(group->writer.files, ballot, err);
}

static int read_ballot(struct dlsi_group *group, struct dls_error *err)
{
	struct dlsi_ballot *ballot = &group->writer.ballot;
	int rc = dlsi_ballot_read(group->writer.files, group->alloc, ballot, err);

	if (rc != DLS_ENOTFOUND)
		return rc;
	*ballot = (struct dlsi_ballot){.cluster = dlsi_random_id()};
	return 0;
}

static int open_group(struct dlsi_group *group, struct dls_error *err)
{
	struct dlsi_writer *writer = &group->writer;
	int rc = dlsi_folder_open(group->alloc, group->config.folder, true, &group->folder, err);

	if (rc)
		return rc;
	writer->alloc = group->alloc;
	writer->files = dlsi_folder_files(group->folder);
	writer->wake = group->config.wake;
	writer->wake_arg = group->config.arg;
	rc = read_ballot(group, err);
	if (rc == 0)
		rc = dlsi_group_read(
			writer->files, group->alloc, &writer->ballot, false, &group->config, &writer->journal, err);
	if (rc == 0)
		rc = begin_term(group, err);
	if (rc == 0)
		rc = start_raft(group, err);
	if (rc == 0)
		rc = dlsi_writer_start(writer, err);
	group->writes = rc == 0;
	return rc;
}

int dlsi_group_open(const struct dlsi_alloc *alloc, const struct dlsi_group_config *config,
	struct dlsi_group **group_out, struct dls_error *err)
{
	struct dlsi_group *group = dlsi_calloc(alloc, 1, sizeof *group);
	int rc;

	if (!group)
		return dlsi_fail_memory(err);
	group->alloc = alloc;
	group->config = *config;
	dlsi_buffer_init(&group->proposed, alloc);
	rc = open_group(group, err);
	if (rc)
		dlsi_group_close(group);
	else
		*group_out = group;
	return rc;
}

/* Of those that libraft has not been given. */
static void drop_proposed(struct dlsi_group *group, size_t first)
{
	struct raft_buffer *buffers = (struct raft_buffer *)group->proposed.data;

	for (size_t i = first; i < group->proposed.length / sizeof *buffers; i++)
		raft_free(buffers[i].base);
	dlsi_buffer_clear(&group->proposed);
}

void dlsi_group_close(struct dlsi_group *group)
{
	if (!group)
		return;
	if (group->writes)
		dlsi_writer_stop(&group->writer);
	if (group->ready)
		raft_close(&group->raft, NULL);
	drop_proposed(group, 0);
	dlsi_buffer_fini(&group->proposed);
	dlsi_journal_close(group->writer.journal);
	dlsi_folder_close(group->folder);
	dlsi_free(group->alloc, group);
}

int dlsi_group_propose(struct dlsi_group *group, const struct dlsi_group_record *record)
{
	struct raft_buffer buffer = {.len = 4 + record->length + record->payload_length};
	uint8_t *at = raft_malloc(buffer.len);

	if (!at)
		return DLS_ENOMEM;
	buffer.base = at;
	dlsi_put_u32(at, (uint32_t)record->length);
	memcpy(at + 4, record->bytes, record->length);
	if (record->payload_length)
		memcpy(at + 4 + record->length, record->payload, record->payload_length);
	dlsi_buffer_append(&group->proposed, &buffer, sizeof buffer);
	if (!group->proposed.failed)
		return 0;
	raft_free(at);
	return DLS_ENOMEM;
}

static void free_apply(struct raft_apply *request, int status, void *result)
{
	(void)status;
	(void)result;
	raft_free(request);
}

static int apply(struct dlsi_group *group, const struct raft_buffer *buffers, unsigned count)
{
	struct raft_apply *request = raft_malloc(sizeof *request);
	int rc = request ? raft_apply(&group->raft, request, buffers, count, free_apply) : RAFT_NOMEM;

	if (rc)
		raft_free(request);
	return rc ? DLS_ENOMEM : 0;
}

/* Gives libraft what was proposed. */
static int flush(struct dlsi_group *group)
{
	const struct raft_buffer *buffers = (const struct raft_buffer *)group->proposed.data;
	size_t count = group->proposed.length / sizeof *buffers, done = 0;
	int rc = 0;

	while (rc == 0 && done < count) {
		unsigned most = count - done < APPLIED_AT_ONCE ? (unsigned)(count - done) : APPLIED_AT_ONCE;

		rc = apply(group, buffers + done, most);
		done += rc ? 0 : most;
	}
	drop_proposed(group, done);
	return rc;
}

static void tell_committed(struct dlsi_group *group)
{
	uint64_t count = group->committed;

	group->committed = 0;
	if (count)
		group->config.committed(group->config.arg, count);
}

int dlsi_group_step(struct dlsi_group *group)
{
	struct dlsi_writer_job *job;
	int rc = flush(group);

	while (rc == 0 && (job = dlsi_writer_take(&group->writer))) {
		answer_append(group, job, 0);
		answer_put(group, 0);
		tell_committed(group);
		rc = flush(group);
	}
	return rc;
}

int dlsi_group_trouble(struct dlsi_group *group, struct dls_error *err)
{
	struct dls_error trouble;
	uint64_t bytes;

	if (dlsi_writer_state(&group->writer, &bytes, &trouble))
		return dlsi_fail(err, DLS_EIO, "the master cannot write its log: %s", trouble.text);
	if (bytes > group->config.log_bytes)
		return dlsi_fail(err, DLS_ELIMIT, "the master's log in %s is full", group->config.folder);
	return 0;
}
