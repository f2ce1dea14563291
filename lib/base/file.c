#include "base/file.h"

#include "base/limits.h"
#include "base/random.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens a regular file of at most `limit` bytes; the descriptor or a negative code. */
static int open_regular(const char *path, int flags, uint64_t limit, size_t *length_out, struct dls_error *err)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags);

	if (fd < 0 && errno == ELOOP && flags & O_NOFOLLOW)
		return dlsi_fail(err, DLS_EINVAL, "%s is a link; put the file itself there", path);
	if (fd < 0)
		return dlsi_fail_errno(err, errno == ENOENT || errno == ENOTDIR ? DLS_ENOTFOUND : DLS_EIO, errno,
			"cannot open %s", path);
	if (fstat(fd, &status) < 0) {
		int error = errno;

		close(fd);
		return dlsi_fail_errno(err, DLS_EIO, error, "cannot examine %s", path);
	}
	if (!S_ISREG(status.st_mode)) {
		close(fd);
		return dlsi_fail(err, DLS_EINVAL, "%s is not a regular file", path);
	}
	if ((uint64_t)status.st_size > limit) {
		close(fd);
		return dlsi_fail(err, DLS_ELIMIT, "%s has %" PRIu64 " bytes, more than the limit of %" PRIu64, path,
			(uint64_t)status.st_size, limit);
	}
	*length_out = (size_t)status.st_size;
	return fd;
}

/* Fills `data`; a file that became shorter meanwhile ends early. The bytes read or -1. */
static ssize_t read_all(int fd, uint8_t *data, size_t length)
{
	size_t done = 0;

	while (done < length) {
		ssize_t got = read(fd, data + done, length - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

static int read_regular(const struct dlsi_alloc *alloc, const char *path, int flags, uint64_t limit, uint8_t **data_out,
	size_t *length_out, struct dls_error *err)
{
	size_t length;
	ssize_t got;
	uint8_t *data;
	int error, fd = open_regular(path, flags, limit, &length, err);

	if (fd < 0)
		return fd;
	data = dlsi_malloc(alloc, length + 1);
	got = data ? read_all(fd, data, length) : -1;
	error = errno;
	close(fd);
	if (!data)
		return dlsi_fail_memory(err);
	if (got < 0) {
		dlsi_free(alloc, data);
		return dlsi_fail_errno(err, DLS_EIO, error, "cannot read %s", path);
	}
	data[got] = '\0';
	*data_out = data;
	*length_out = (size_t)got;
	return 0;
}

int dlsi_file_read(const struct dlsi_alloc *alloc, const char *path, uint64_t limit, uint8_t **data_out,
	size_t *length_out, struct dls_error *err)
{
	return read_regular(alloc, path, 0, limit, data_out, length_out, err);
}

bool dlsi_file_is_plain_name(const char *name, size_t length)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";

	if (length == 0 || length > DLSI_BUNDLE_NAME_BYTES || name[0] == '.')
		return false;
	for (size_t i = 0; i < length; i++)
		if (!name[i] || !strchr(letters, name[i]))
			return false;
	return true;
}

int dlsi_file_read_inside(const struct dlsi_alloc *alloc, const char *folder, const char *name, uint64_t limit,
	uint8_t **data_out, size_t *length_out, struct dls_error *err)
{
	char *path = dlsi_file_join(alloc, folder, name);
	int rc = path ? read_regular(alloc, path, O_NOFOLLOW, limit, data_out, length_out, err) : dlsi_fail_memory(err);

	dlsi_free(alloc, path);
	return rc;
}

int dlsi_file_hash_open(
	int fd, const char *path, struct dlsi_hash *hash_out, uint64_t *length_out, struct dls_error *err)
{
	struct dlsi_hash_state state;
	uint8_t chunk[32 * 1024];
	uint64_t length = 0;
	ssize_t got;

	dlsi_hash_init(&state);
	while ((got = read_all(fd, chunk, sizeof chunk)) > 0) {
		dlsi_hash_update(&state, chunk, (size_t)got);
		length += (uint64_t)got;
	}
	if (got < 0)
		return dlsi_fail_errno(err, DLS_EIO, errno, "cannot read %s", path);
	dlsi_hash_final(&state, hash_out);
	*length_out = length;
	return 0;
}

int dlsi_file_hash(
	const char *path, uint64_t limit, struct dlsi_hash *hash_out, uint64_t *length_out, struct dls_error *err)
{
	size_t announced;
	int rc, fd = open_regular(path, 0, limit, &announced, err);

	if (fd < 0)
		return fd;
	rc = dlsi_file_hash_open(fd, path, hash_out, length_out, err);
	close(fd);
	return rc;
}

int dlsi_file_read_open(int fd, const char *path, uint8_t *data, size_t length, struct dls_error *err)
{
	ssize_t got = read_all(fd, data, length);

	if (got < 0)
		return dlsi_fail_errno(err, DLS_EIO, errno, "cannot read %s", path);
	if ((size_t)got < length)
		return dlsi_fail(err, DLS_EFORMAT, "%s ends after %zd bytes and not %zu", path, got, length);
	return 0;
}

int dlsi_file_read_head(
	const char *path, uint64_t limit, uint8_t *head, size_t room, size_t *length_out, struct dls_error *err)
{
	size_t length, wanted;
	ssize_t got;
	int error, fd = open_regular(path, 0, limit, &length, err);

	if (fd < 0)
		return fd;
	wanted = length < room ? length : room;
	got = read_all(fd, head, wanted);
	error = errno;
	close(fd);
	if (got < 0)
		return dlsi_fail_errno(err, DLS_EIO, error, "cannot read %s", path);
	if ((size_t)got < wanted)
		return dlsi_fail(err, DLS_EIO, "%s became shorter while it was read", path);
	*length_out = length;
	return 0;
}

static int write_all(int fd, const uint8_t *data, size_t length)
{
	while (length) {
		ssize_t written = write(fd, data, length);

		if (written < 0 && errno != EINTR)
			return -1;
		if (written > 0) {
			data += written;
			length -= (size_t)written;
		}
	}
	return fsync(fd);
}

int dlsi_file_write(const struct dlsi_alloc *alloc, const char *path, mode_t mode, const void *data, size_t length,
	struct dls_error *err)
{
	size_t room = strlen(path) + 32;
	char *temporary = dlsi_malloc(alloc, room);
	int fd, rc = 0;

	if (!temporary)
		return dlsi_fail_memory(err);
	snprintf(temporary, room, "%s.%016" PRIx64 DLSI_FILE_NEW, path, dlsi_random_u64());
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd < 0) {
		rc = dlsi_fail_errno(err, DLS_EIO, errno, "cannot create %s", temporary);
		goto out;
	}
	if (write_all(fd, data, length) < 0)
		rc = dlsi_fail_errno(err, DLS_EIO, errno, "cannot write %s", temporary);
	close(fd);
	if (rc == 0 && rename(temporary, path) < 0)
		rc = dlsi_fail_errno(err, DLS_EIO, errno, "cannot rename %s to %s", temporary, path);
	if (rc)
		unlink(temporary);
out:
	dlsi_free(alloc, temporary);
	return rc;
}

/* What stands in the way of a folder there; `error` is that of making it. Returns 0 if it is there already. */
static int explain_no_folder(const char *path, int error, struct dls_error *err)
{
	struct stat status;

	if (stat(path, &status) == 0) {
		if (S_ISDIR(status.st_mode))
			return 0;
		return dlsi_fail(err, DLS_EIO, "%s is there and is not a folder", path);
	}
	if (error == EEXIST)
		return dlsi_fail_errno(err, DLS_EIO, errno, "%s is a link to no folder", path);
	return dlsi_fail_errno(err, DLS_EIO, error, "cannot create the folder %s", path);
}

static int make_one_folder(const char *path, struct dls_error *err)
{
	return mkdir(path, 0700) == 0 ? 0 : explain_no_folder(path, errno, err);
}

int dlsi_file_make_folder(const struct dlsi_alloc *alloc, const char *path, struct dls_error *err)
{
	char *part = dlsi_strdup(alloc, path);
	int rc = 0;

	if (!part)
		return dlsi_fail_memory(err);
	for (char *end = part; rc == 0 && end;) {
		end = strchr(end + 1, '/');
		if (end)
			*end = '\0';
		rc = make_one_folder(part, err);
		if (end)
			*end = '/';
	}
	dlsi_free(alloc, part);
	return rc;
}

/* Cuts a path down to the first part of it that is there: where its folders would be made. */
static void cut_to_what_is_there(char *path)
{
	struct stat status;

	while (lstat(path, &status) && (errno == ENOENT || errno == ENOTDIR)) {
		char *slash = strrchr(path, '/');

		if (slash && slash != path)
			*slash = '\0';
		else
			memcpy(path, slash ? "/" : ".", 2);
	}
}

/* By a folder in it, which unlike a nameless file can be made on every file system. Returns 0 or an errno. */
static int try_to_write(const struct dlsi_alloc *alloc, const char *folder)
{
	char *tried = dlsi_file_join(alloc, folder, "check.XXXXXX");
	int error = tried ? 0 : ENOMEM;

	if (tried && !mkdtemp(tried))
		error = errno;
	else if (tried)
		rmdir(tried);
	dlsi_free(alloc, tried);
	return error;
}

int dlsi_file_check_folder(const struct dlsi_alloc *alloc, const char *path, struct dls_error *err)
{
	char *there = dlsi_strdup(alloc, path);
	int rc, error = 0;

	if (!there)
		return dlsi_fail_memory(err);
	cut_to_what_is_there(there);
	rc = explain_no_folder(there, EEXIST, err);
	if (rc == 0)
		error = try_to_write(alloc, there);
	if (error == ENOMEM)
		rc = dlsi_fail_memory(err);
	else if (error && strcmp(there, path) == 0)
		rc = dlsi_fail_errno(err, DLS_EIO, error, "cannot write in the folder %s", path);
	else if (error)
		rc = dlsi_fail_errno(err, DLS_EIO, error, "cannot create the folder %s in %s", path, there);
	dlsi_free(alloc, there);
	return rc;
}

char *dlsi_file_join(const struct dlsi_alloc *alloc, const char *folder, const char *name)
{
	size_t room = strlen(folder) + strlen(name) + 2;
	char *path = dlsi_malloc(alloc, room);

	if (path)
		snprintf(path, room, "%s/%s", folder, name);
	return path;
}
