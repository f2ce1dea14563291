#include "store/journal.h"

#include "base/limits.h"
#include "base/random.h"
#include "store/segment.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "log-" and 16 hexadecimal digits */
enum { NAME_BYTES = 21 };

struct dlsi_journal {
	const struct dlsi_alloc *alloc;
	struct dlsi_files *files;
	struct dlsi_journal_config config;
	struct dlsi_journal_facts facts;
	uint64_t *firsts; /* of the segments that were found, in order */
	size_t first_count, first_capacity;
	bool failed; /* memory, while they were listed */

	int handle; /* of the segment that grows; -1: the next entry begins one */
	char name[NAME_BYTES];
	uint64_t salt;
	uint64_t length;
	struct dlsi_buffer group;
};

static void name_segment(uint64_t first, char name[NAME_BYTES])
{
	snprintf(name, NAME_BYTES, "log-%016" PRIx64, first);
}

static void note_segment(void *arg, const char *name)
{
	struct dlsi_journal *journal = arg;
	char again[NAME_BYTES];
	uint64_t first, *grown;

	if (strlen(name) != NAME_BYTES - 1 || memcmp(name, "log-", 4) != 0)
		return;
	first = strtoull(name + 4, NULL, 16);
	name_segment(first, again);
	if (strcmp(name, again) != 0 || !first)
		return;
	if (journal->first_count == journal->first_capacity) {
		journal->first_capacity = journal->first_capacity ? 2 * journal->first_capacity : 16;
		grown = dlsi_realloc(journal->alloc, journal->firsts, journal->first_capacity * sizeof *grown);
		if (!grown) {
			journal->failed = true;
			journal->first_capacity = journal->first_count;
			return;
		}
		journal->firsts = grown;
	}
	journal->firsts[journal->first_count++] = first;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *first_a = a, *first_b = b;

	return *first_a < *first_b ? -1 : *first_a > *first_b;
}

static int list_segments(struct dlsi_journal *journal, struct dls_error *err)
{
	int rc = journal->files->ops->list(journal->files, note_segment, journal);

	if (rc)
		return dlsi_files_fail(journal->files, -rc, "list", ".", err);
	if (journal->failed)
		return dlsi_fail_memory(err);
	if (journal->first_count)
		qsort(journal->firsts, journal->first_count, sizeof *journal->firsts, compare);
	return 0;
}

/* A segment that is being read. */
struct reading {
	char name[NAME_BYTES];
	const uint8_t *data;
	size_t length;
	size_t offset; /* all before is sound */
	uint64_t
		next; /* first index of the segment behind it, whose entries count instead; UINT64_MAX: there is none */
	uint64_t salt;
};

static int damaged(const struct dlsi_journal *journal, const struct reading *reading, struct dls_error *err)
{
	return dlsi_fail(err, DLS_EFORMAT,
		"%s/%s is damaged at offset %zu, where entry %" PRIu64
		" of the log should be; restore the folder from a copy",
		journal->files->folder, reading->name, reading->offset, journal->facts.last_index + 1);
}

static int take_entry(struct dlsi_journal *journal, const struct dlsi_journal_entry *entry, struct dls_error *err)
{
	journal->facts.last_index = entry->index;
	journal->facts.last_term = entry->term;
	return journal->config.visit ? journal->config.visit(journal->config.visit_arg, entry, err) : 0;
}

/* Up to the end, the segment behind it, or the first entry that is bad. */
static int read_entries(struct dlsi_journal *journal, struct reading *reading, struct dls_error *err)
{
	struct dlsi_segment_place place;
	int rc = 0;

	while (rc == 0 && journal->facts.last_index + 1 < reading->next &&
		dlsi_segment_read_entry(reading->data, reading->length, reading->offset, reading->salt, &place) &&
		place.entry.index == journal->facts.last_index + 1) {
		rc = take_entry(journal, &place.entry, err);
		reading->offset += place.bytes;
	}
	return rc;
}

/* What has not been read of the last segment: nothing, what a crash has torn, or damage. */
static int judge_rest(struct dlsi_journal *journal, struct reading *reading, struct dls_error *err)
{
	uint64_t index = journal->facts.last_index + 1;

	if (reading->offset == reading->length)
		return 0;
	if (index <= journal->config.noted ||
		dlsi_segment_proves_damage(reading->data, reading->length, reading->offset, reading->salt, index))
		return damaged(journal, reading, err);
	journal->facts.torn_bytes = reading->length - reading->offset;
	return 0;
}

/* What a crash has left of a segment that was just being begun. */
static bool is_stillborn(const struct dlsi_journal *journal, const struct reading *reading)
{
	return reading->next == UINT64_MAX && reading->length <= DLSI_SEGMENT_HEADER_BYTES &&
	       journal->facts.last_index >= journal->config.noted;
}

static int read_header(struct dlsi_journal *journal, struct reading *reading, uint64_t first, struct dls_error *err)
{
	struct dlsi_segment_header header;

	if (!dlsi_segment_read_header(reading->data, reading->length, &header) || header.first != first)
		return damaged(journal, reading, err);
	if (!dlsi_id_equal(&header.cluster, &journal->config.cluster))
		return dlsi_fail(err, DLS_EFORMAT, "%s/%s belongs to another cluster than vote-0 and vote-1",
			journal->files->folder, reading->name);
	reading->salt = header.salt;
	reading->offset = DLSI_SEGMENT_HEADER_BYTES;
	return 0;
}

static int remove_segment(struct dlsi_journal *journal, const char *name, struct dls_error *err)
{
	int rc = journal->config.read_only ? 0 : journal->files->ops->remove(journal->files, name);

	return rc && rc != -ENOENT ? dlsi_files_fail(journal->files, -rc, "remove", name, err) : 0;
}

static int read_segment(struct dlsi_journal *journal, struct reading *reading, uint64_t first, struct dls_error *err)
{
	struct dlsi_segment_header header;
	int rc;

	if (!dlsi_segment_read_header(reading->data, reading->length, &header) && is_stillborn(journal, reading)) {
		journal->facts.torn_bytes = reading->length;
		return remove_segment(journal, reading->name, err);
	}
	rc = read_header(journal, reading, first, err);
	if (rc == 0)
		rc = read_entries(journal, reading, err);
	if (rc)
		return rc;
	journal->facts.segments++;
	journal->facts.bytes += reading->length;
	if (reading->next == UINT64_MAX)
		return judge_rest(journal, reading, err);
	return journal->facts.last_index + 1 < reading->next ? damaged(journal, reading, err) : 0;
}

/* Goes on with the last segment where its last sound entry ends. */
static int resume(struct dlsi_journal *journal, const struct reading *reading, struct dls_error *err)
{
	int handle, rc = 0;

	if (journal->config.read_only || !reading->offset)
		return 0;
	handle = journal->files->ops->open(journal->files, reading->name, false);
	if (handle < 0)
		return dlsi_files_fail(journal->files, -handle, "open", reading->name, err);
	if (reading->offset < reading->length) {
		rc = journal->files->ops->cut(journal->files, handle, reading->offset);
		rc = rc ? dlsi_files_fail(journal->files, -rc, "cut", reading->name, err)
			: dlsi_files_sync(journal->files, reading->name, handle, err);
	}
	if (rc) {
		journal->files->ops->close(journal->files, handle);
		return rc;
	}
	journal->handle = handle;
	journal->salt = reading->salt;
	journal->length = reading->offset;
	journal->facts.bytes -= reading->length - reading->offset;
	memcpy(journal->name, reading->name, NAME_BYTES);
	return 0;
}

static int load_segment(struct dlsi_journal *journal, size_t number, struct dls_error *err)
{
	bool last = number + 1 == journal->first_count;
	struct reading reading = {.next = last ? UINT64_MAX : journal->firsts[number + 1]};
	uint64_t first = journal->firsts[number];
	uint8_t *data;
	int rc;

	name_segment(first, reading.name);
	if (first != journal->facts.last_index + 1)
		return dlsi_fail(err, DLS_EFORMAT,
			"%s has no file with entry %" PRIu64 " of the log, which is before %s; restore it from a copy",
			journal->files->folder, journal->facts.last_index + 1, reading.name);
	rc = dlsi_files_read(
		journal->files, journal->alloc, reading.name, DLSI_SEGMENT_MOST_BYTES, &data, &reading.length, err);
	if (rc)
		return rc;
	reading.data = data;
	rc = read_segment(journal, &reading, first, err);
	if (rc == 0 && last)
		rc = resume(journal, &reading, err);
	dlsi_free(journal->alloc, data);
	return rc;
}

static int load(struct dlsi_journal *journal, struct dls_error *err)
{
	int rc = list_segments(journal, err);

	for (size_t i = 0; rc == 0 && i < journal->first_count; i++)
		rc = load_segment(journal, i, err);
	if (rc == 0 && journal->facts.last_index < journal->config.noted)
		return dlsi_fail(err, DLS_EFORMAT,
			"%s has no file with entry %" PRIu64
			" of the log, which was there once; restore it from a copy",
			journal->files->folder, journal->facts.last_index + 1);
	return rc;
}

int dlsi_journal_open(const struct dlsi_alloc *alloc, struct dlsi_files *files,
	const struct dlsi_journal_config *config, struct dlsi_journal **journal_out, struct dls_error *err)
{
	struct dlsi_journal *journal = dlsi_calloc(alloc, 1, sizeof *journal);
	int rc;

	if (!journal)
		return dlsi_fail_memory(err);
	journal->alloc = alloc;
	journal->files = files;
	journal->config = *config;
	journal->handle = -1;
	if (!journal->config.segment_bytes)
		journal->config.segment_bytes = DLSI_SEGMENT_BYTES;
	dlsi_buffer_init(&journal->group, alloc);
	rc = load(journal, err);
	if (rc)
		dlsi_journal_close(journal);
	else
		*journal_out = journal;
	return rc;
}

static void leave_segment(struct dlsi_journal *journal)
{
	if (journal->handle >= 0)
		journal->files->ops->close(journal->files, journal->handle);
	journal->handle = -1;
}

void dlsi_journal_close(struct dlsi_journal *journal)
{
	if (!journal)
		return;
	leave_segment(journal);
	dlsi_buffer_fini(&journal->group);
	dlsi_free(journal->alloc, journal->firsts);
	dlsi_free(journal->alloc, journal);
}

static int write_header(struct dlsi_journal *journal, uint64_t first, struct dls_error *err)
{
	uint8_t bytes[DLSI_SEGMENT_HEADER_BYTES];
	struct dlsi_segment_header header = {journal->config.cluster, first, dlsi_random_u64()};
	int rc;

	dlsi_segment_write_header(&header, bytes);
	rc = dlsi_files_write(journal->files, journal->name, journal->handle, 0, bytes, sizeof bytes, err);
	if (rc == 0)
		rc = dlsi_files_sync(journal->files, journal->name, journal->handle, err);
	if (rc == 0)
		rc = dlsi_files_sync_names(journal->files, err);
	journal->salt = header.salt;
	journal->length = sizeof bytes;
	return rc;
}

/* A file of that name holds nothing that counts: what it was begun for has failed. */
static int begin_segment(struct dlsi_journal *journal, struct dls_error *err)
{
	uint64_t first = journal->facts.last_index + 1;
	int rc;

	name_segment(first, journal->name);
	rc = remove_segment(journal, journal->name, err);
	if (rc)
		return rc;
	journal->handle = journal->files->ops->open(journal->files, journal->name, true);
	if (journal->handle < 0)
		return dlsi_files_fail(journal->files, -journal->handle, "make", journal->name, err);
	rc = write_header(journal, first, err);
	if (rc) {
		leave_segment(journal);
		return rc;
	}
	journal->facts.segments++;
	journal->facts.began++;
	journal->facts.bytes += journal->length;
	return 0;
}

/* Gives back the room that the failed write has taken, if that is possible. */
static void abandon_segment(struct dlsi_journal *journal)
{
	(void)journal->files->ops->cut(journal->files, journal->handle, journal->length);
	leave_segment(journal);
}

static int write_group(
	struct dlsi_journal *journal, const struct dlsi_journal_entry *entries, size_t count, struct dls_error *err)
{
	int rc;

	dlsi_buffer_clear(&journal->group);
	for (size_t i = 0; i < count; i++)
		dlsi_segment_write_entry(&journal->group, journal->salt, &entries[i], journal->facts.last_index);
	if (journal->group.failed)
		return dlsi_fail_memory(err);
	rc = dlsi_files_write(journal->files, journal->name, journal->handle, journal->length, journal->group.data,
		journal->group.length, err);
	return rc ? rc : dlsi_files_sync(journal->files, journal->name, journal->handle, err);
}

int dlsi_journal_append(
	struct dlsi_journal *journal, const struct dlsi_journal_entry *entries, size_t count, struct dls_error *err)
{
	int rc = 0;

	if (journal->handle >= 0 && journal->length >= journal->config.segment_bytes)
		leave_segment(journal);
	if (journal->handle < 0)
		rc = begin_segment(journal, err);
	if (rc)
		return rc;
	rc = write_group(journal, entries, count, err);
	if (rc) {
		abandon_segment(journal);
		return rc;
	}
	journal->length += journal->group.length;
	journal->facts.bytes += journal->group.length;
	journal->facts.last_index = entries[count - 1].index;
	journal->facts.last_term = entries[count - 1].term;
	return 0;
}

struct dlsi_journal_facts dlsi_journal_facts(const struct dlsi_journal *journal)
{
	return journal->facts;
}
