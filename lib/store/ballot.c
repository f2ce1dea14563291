#include "store/ballot.h"

#include "base/crc32c.h"
#include "proto/bytes.h"
#include <errno.h>
#include <string.h>

/* u64 magic, u64 serial, u64 term, u64 vote, u64 noted, 16 bytes cluster, u32 0, u32 CRC-32C of all before */
enum { BALLOT_BYTES = 64 };

#define MAGIC UINT64_C(0x31304554564c5344) /* "DLSVTE01" */

static const char *const names[] = {"vote-0", "vote-1"};

static void encode(const struct dlsi_ballot *ballot, uint8_t bytes[BALLOT_BYTES])
{
	memset(bytes, 0, BALLOT_BYTES);
	dlsi_put_u64(bytes, MAGIC);
	dlsi_put_u64(bytes + 8, ballot->serial);
	dlsi_put_u64(bytes + 16, ballot->term);
	dlsi_put_u64(bytes + 24, ballot->vote);
	dlsi_put_u64(bytes + 32, ballot->noted);
	memcpy(bytes + 40, ballot->cluster.bytes, DLSI_ID_BYTES);
	dlsi_put_u32(bytes + 60, dlsi_crc32c(0, bytes, 60));
}

static bool decode(const uint8_t *bytes, size_t length, struct dlsi_ballot *ballot_out)
{
	struct dlsi_reader reader = {bytes, bytes + length, true};
	struct dlsi_ballot ballot;

	if (length != BALLOT_BYTES || dlsi_read_u64(&reader) != MAGIC)
		return false;
	ballot.serial = dlsi_read_u64(&reader);
	ballot.term = dlsi_read_u64(&reader);
	ballot.vote = dlsi_read_u64(&reader);
	ballot.noted = dlsi_read_u64(&reader);
	ballot.cluster = dlsi_read_id(&reader);
	if (dlsi_read_u32(&reader) != 0 || dlsi_read_u32(&reader) != dlsi_crc32c(0, bytes, 60))
		return false;
	*ballot_out = ballot;
	return true;
}

int dlsi_ballot_read(
	struct dlsi_files *files, const struct dlsi_alloc *alloc, struct dlsi_ballot *ballot_out, struct dls_error *err)
{
	struct dlsi_ballot ballot, best = {0};
	unsigned missing = 0;
	bool found = false;

	for (unsigned i = 0; i < 2; i++) {
		uint8_t *data;
		size_t length;
		int rc = dlsi_files_read(files, alloc, names[i], BALLOT_BYTES, &data, &length, err);

		missing += rc == DLS_ENOTFOUND;
		if (rc == DLS_ENOTFOUND || rc == DLS_ELIMIT)
			continue;
		if (rc)
			return rc;
		if (decode(data, length, &ballot) && (!found || ballot.serial > best.serial)) {
			best = ballot;
			found = true;
		}
		dlsi_free(alloc, data);
	}
	if (found)
		*ballot_out = best;
	else if (missing == 2)
		return dlsi_fail(err, DLS_ENOTFOUND, "%s holds no data of a master", files->folder);
	return found ? 0
		     : dlsi_fail(err, DLS_EFORMAT,
			       "%s/vote-0 and vote-1 are damaged: this master does not know any more what it has "
			       "promised",
			       files->folder);
}

static int write_file(struct dlsi_files *files, const char *name, const uint8_t *bytes, struct dls_error *err)
{
	int handle = files->ops->open(files, name, false), rc;
	bool fresh = handle == -ENOENT;

	if (fresh)
		handle = files->ops->open(files, name, true);
	if (handle < 0)
		return dlsi_files_fail(files, -handle, "open", name, err);
	rc = dlsi_files_write(files, name, handle, 0, bytes, BALLOT_BYTES, err);
	if (rc == 0)
		rc = dlsi_files_sync(files, name, handle, err);
	files->ops->close(files, handle);
	if (rc == 0 && fresh)
		rc = dlsi_files_sync_names(files, err);
	return rc;
}

int dlsi_ballot_write(struct dlsi_files *files, struct dlsi_ballot *ballot, struct dls_error *err)
{
	struct dlsi_ballot next = *ballot;
	uint8_t bytes[BALLOT_BYTES];
	int rc;

	next.serial++;
	encode(&next, bytes);
	rc = write_file(files, names[next.serial % 2], bytes, err);
	if (rc == 0)
		ballot->serial = next.serial;
	return rc;
}
