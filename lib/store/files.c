#include "store/files.h"

#include <errno.h>
#include <inttypes.h>

int dlsi_files_fail(
	const struct dlsi_files *files, int os_error, const char *what, const char *name, struct dls_error *err)
{
	return dlsi_fail_errno(err, os_error == ENOENT ? DLS_ENOTFOUND : DLS_EIO, os_error, "cannot %s %s/%s", what,
		files->folder, name);
}

int dlsi_files_write(struct dlsi_files *files, const char *name, int handle, uint64_t offset, const void *data,
	size_t length, struct dls_error *err)
{
	const uint8_t *at = data;

	while (length) {
		int64_t written = files->ops->write(files, handle, offset, at, length);

		if (written == -EINTR)
			continue;
		if (written <= 0)
			return dlsi_files_fail(files, written ? (int)-written : ENOSPC, "write", name, err);
		at += written;
		offset += (uint64_t)written;
		length -= (size_t)written;
	}
	return 0;
}

static int read_all(
	struct dlsi_files *files, const char *name, int handle, uint8_t *data, size_t *length, struct dls_error *err)
{
	size_t done = 0;

	while (done < *length) {
		int64_t got = files->ops->read(files, handle, done, data + done, *length - done);

		if (got == -EINTR)
			continue;
		if (got < 0)
			return dlsi_files_fail(files, (int)-got, "read", name, err);
		if (got == 0)
			break;
		done += (size_t)got;
	}
	*length = done;
	return 0;
}

static int read_open(struct dlsi_files *files, const struct dlsi_alloc *alloc, const char *name, int handle,
	uint64_t limit, uint8_t **data_out, size_t *length_out, struct dls_error *err)
{
	int64_t size = files->ops->size(files, handle);
	size_t length = size > 0 ? (size_t)size : 0;
	uint8_t *data;
	int rc;

	if (size < 0)
		return dlsi_files_fail(files, (int)-size, "examine", name, err);
	if ((uint64_t)size > limit)
		return dlsi_fail(err, DLS_ELIMIT, "%s/%s has %" PRId64 " bytes, more than any such file", files->folder,
			name, size);
	data = dlsi_malloc(alloc, length + 1);
	if (!data)
		return dlsi_fail_memory(err);
	rc = read_all(files, name, handle, data, &length, err);
	if (rc) {
		dlsi_free(alloc, data);
		return rc;
	}
	*data_out = data;
	*length_out = length;
	return 0;
}

int dlsi_files_read(struct dlsi_files *files, const struct dlsi_alloc *alloc, const char *name, uint64_t limit,
	uint8_t **data_out, size_t *length_out, struct dls_error *err)
{
	int handle = files->ops->open(files, name, false), rc;

	if (handle < 0)
		return dlsi_files_fail(files, -handle, "open", name, err);
	rc = read_open(files, alloc, name, handle, limit, data_out, length_out, err);
	files->ops->close(files, handle);
	return rc;
}

int dlsi_files_sync(struct dlsi_files *files, const char *name, int handle, struct dls_error *err)
{
	int rc = files->ops->sync(files, handle);

	return rc ? dlsi_files_fail(files, -rc, "sync", name, err) : 0;
}

int dlsi_files_sync_names(struct dlsi_files *files, struct dls_error *err)
{
	int rc = files->ops->sync_names(files);

	return rc ? dlsi_files_fail(files, -rc, "sync", ".", err) : 0;
}
