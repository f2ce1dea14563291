#include "net/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int dlsi_sink_open(struct dlsi_sink *sink, const struct dlsi_alloc *alloc, const char *path,
	const struct dlsi_blob *blob, uint64_t offset, uint64_t length, struct dls_error *err)
{
	struct dlsi_sink opened = {.alloc = alloc, .name = blob->name, .length = length, .path = path, .fd = -1};

	if (path) {
		opened.fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (opened.fd < 0)
			return dlsi_fail_errno(err, DLS_EIO, errno, "cannot create %s", path);
	} else {
		opened.frame = length > SIZE_MAX / 2 ? NULL : dlsi_frame_make(alloc, (size_t)length, &opened.bytes);
		if (!opened.frame)
			return dlsi_fail_memory(err);
	}
	opened.is_hashed = blob->proof == DLSI_PROOF_HASH && offset == 0 && length == blob->length;
	*sink = opened;
	dlsi_hash_init(&sink->hash);
	return 0;
}

static int write_file(struct dlsi_sink *sink, const uint8_t *data, size_t length, struct dls_error *err)
{
	while (length) {
		ssize_t written = write(sink->fd, data, length);

		if (written < 0 && errno != EINTR)
			return dlsi_fail_errno(err, DLS_EIO, errno, "cannot write %s", sink->path);
		if (written > 0) {
			data += written;
			length -= (size_t)written;
		}
	}
	return 0;
}

int dlsi_sink_write(struct dlsi_sink *sink, const uint8_t *data, size_t length, struct dls_error *err)
{
	int rc = sink->path ? write_file(sink, data, length, err) : 0;

	if (rc)
		return rc;
	if (!sink->path && length)
		memcpy(sink->bytes + sink->received, data, length);
	if (sink->is_hashed)
		dlsi_hash_update(&sink->hash, data, length);
	sink->received += length;
	return 0;
}

int dlsi_sink_finish(struct dlsi_sink *sink, struct dlsi_frame **frame_out, struct dls_error *err)
{
	struct dlsi_hash hash;
	int rc = 0;

	dlsi_hash_final(&sink->hash, &hash);
	if (sink->is_hashed && !dlsi_hash_equal(&hash, &sink->name))
		rc = dlsi_fail(
			err, DLS_EFORMAT, "the bytes that came are not those of the blob: their hash is another");
	if (rc == 0 && sink->path && close(sink->fd)) {
		rc = dlsi_fail_errno(err, DLS_EIO, errno, "cannot write %s", sink->path);
		sink->fd = -1;
	}
	if (rc)
		dlsi_sink_abort(sink);
	else
		*frame_out = sink->frame;
	return rc;
}

void dlsi_sink_abort(struct dlsi_sink *sink)
{
	dlsi_frame_unref(sink->frame);
	if (!sink->path)
		return;
	if (sink->fd >= 0)
		close(sink->fd);
	unlink(sink->path);
}
