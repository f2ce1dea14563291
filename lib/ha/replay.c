#include "ha/replay.h"

#include "proto/bytes.h"
#include "store/folder.h"
#include <inttypes.h>
#include <raft.h>

/* The data of an entry: u32 length, record, payload. */
static int visit(void *arg, const struct dlsi_journal_entry *entry, struct dls_error *err)
{
	const struct dlsi_group_config *config = arg;
	struct dlsi_reader reader = {entry->data, entry->data + entry->length, true};
	struct dlsi_group_record record = {0};

	if (entry->type != RAFT_COMMAND)
		return 0;
	record.length = dlsi_read_u32(&reader);
	record.bytes = dlsi_read_raw(&reader, record.length);
	if (!reader.good)
		return dlsi_fail(err, DLS_EFORMAT, "the log in %s holds an entry of another release", config->folder);
	record.payload_length = (size_t)(reader.end - reader.at);
	record.payload = record.payload_length ? reader.at : NULL;
	return config->replay(config->arg, &record, err);
}

int dlsi_group_read(struct dlsi_files *files, const struct dlsi_alloc *alloc, const struct dlsi_ballot *ballot,
	bool read_only, struct dlsi_group_config *config, struct dlsi_journal **journal_out, struct dls_error *err)
{
	struct dlsi_journal_config journal_config = {
		.cluster = ballot->cluster,
		.noted = ballot->noted,
		.read_only = read_only,
		.visit = visit,
		.visit_arg = config,
	};
	int rc = config->begin(config->arg, &ballot->cluster, ballot->term + 1, err);

	return rc ? rc : dlsi_journal_open(alloc, files, &journal_config, journal_out, err);
}

static int check_open(const struct dlsi_alloc *alloc, struct dlsi_files *files, struct dlsi_group_config *config,
	struct dlsi_group_facts *facts_out, struct dls_error *err)
{
	struct dlsi_journal_facts facts;
	struct dlsi_journal *journal;
	struct dlsi_ballot ballot;
	int rc = dlsi_ballot_read(files, alloc, &ballot, err);

	if (rc == 0)
		rc = dlsi_group_read(files, alloc, &ballot, true, config, &journal, err);
	if (rc)
		return rc;
	facts = dlsi_journal_facts(journal);
	dlsi_journal_close(journal);
	*facts_out = (struct dlsi_group_facts){
		.cluster = ballot.cluster,
		.term = ballot.term,
		.entries = facts.last_index,
		.segments = facts.segments,
		.bytes = facts.bytes,
		.torn_bytes = facts.torn_bytes,
	};
	return 0;
}

int dlsi_group_check(const struct dlsi_alloc *alloc, const struct dlsi_group_config *config,
	struct dlsi_group_facts *facts_out, struct dls_error *err)
{
	struct dlsi_group_config copy = *config;
	struct dlsi_folder *folder;
	int rc = dlsi_folder_open(alloc, config->folder, false, &folder, err);

	if (rc)
		return rc;
	rc = check_open(alloc, dlsi_folder_files(folder), &copy, facts_out, err);
	dlsi_folder_close(folder);
	return rc;
}
