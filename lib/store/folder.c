#include "store/folder.h"

#include "base/file.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK "lock"

struct dlsi_folder {
	struct dlsi_files files; /* first */
	const struct dlsi_alloc *alloc;
	char *path;
	int fd, lock_fd;
};

static struct dlsi_folder *folder_of(struct dlsi_files *files)
{
	return (struct dlsi_folder *)files;
}

static int64_t result_of(int64_t rc)
{
	return rc < 0 ? -errno : rc;
}

static int list(struct dlsi_files *files, void (*found)(void *arg, const char *name), void *arg)
{
	int fd = openat(folder_of(files)->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), error;
	DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	if (!directory) {
		error = errno;
		if (fd >= 0)
			close(fd);
		return -error;
	}
	errno = 0;
	while ((entry = readdir(directory)))
		found(arg, entry->d_name);
	error = errno;
	closedir(directory);
	return -error;
}

static int open_file(struct dlsi_files *files, const char *name, bool fresh)
{
	int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | (fresh ? O_CREAT | O_EXCL : 0);
	int fd = openat(folder_of(files)->fd, name, flags, 0600);

	if (fd < 0 && !fresh && (errno == EROFS || errno == EACCES)) /* enough to read it */
		fd = openat(folder_of(files)->fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	return (int)result_of(fd);
}

static void close_file(struct dlsi_files *files, int handle)
{
	(void)files;
	close(handle);
}

static int64_t size(struct dlsi_files *files, int handle)
{
	struct stat status;

	(void)files;
	return fstat(handle, &status) < 0 ? -errno : (int64_t)status.st_size;
}

static int64_t read_file(struct dlsi_files *files, int handle, uint64_t offset, void *data, size_t length)
{
	(void)files;
	return result_of(pread(handle, data, length, (off_t)offset));
}

static int64_t write_file(struct dlsi_files *files, int handle, uint64_t offset, const void *data, size_t length)
{
	(void)files;
	return result_of(pwrite(handle, data, length, (off_t)offset));
}

static int cut(struct dlsi_files *files, int handle, uint64_t length)
{
	(void)files;
	return (int)result_of(ftruncate(handle, (off_t)length));
}

static int sync_file(struct dlsi_files *files, int handle)
{
	(void)files;
	return (int)result_of(fdatasync(handle));
}

static int remove_file(struct dlsi_files *files, const char *name)
{
	return (int)result_of(unlinkat(folder_of(files)->fd, name, 0));
}

static int sync_names(struct dlsi_files *files)
{
	return (int)result_of(fsync(folder_of(files)->fd));
}

static const struct dlsi_files_ops ops = {
	list, open_file, close_file, size, read_file, write_file, cut, sync_file, remove_file, sync_names};

static int lock(struct dlsi_folder *folder, struct dls_error *err)
{
	folder->lock_fd = openat(folder->fd, LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (folder->lock_fd < 0)
		return dlsi_fail_errno(err, DLS_EIO, errno, "cannot open %s/" LOCK, folder->path);
	if (flock(folder->lock_fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno == EWOULDBLOCK)
		return dlsi_fail(err, DLS_EBUSY,
			"%s is in use by another process; end that one, or take another folder", folder->path);
	return dlsi_fail_errno(err, DLS_EIO, errno, "cannot lock %s/" LOCK, folder->path);
}

static int open_folder(struct dlsi_folder *folder, bool create, struct dls_error *err)
{
	int rc = create ? dlsi_file_make_folder(folder->alloc, folder->path, err) : 0;

	if (rc)
		return rc;
	folder->fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder->fd < 0)
		return dlsi_fail_errno(
			err, errno == ENOENT ? DLS_ENOTFOUND : DLS_EIO, errno, "cannot open %s", folder->path);
	return lock(folder, err);
}

int dlsi_folder_open(const struct dlsi_alloc *alloc, const char *path, bool create, struct dlsi_folder **folder_out,
	struct dls_error *err)
{
	struct dlsi_folder *folder = dlsi_calloc(alloc, 1, sizeof *folder);
	int rc;

	if (!folder)
		return dlsi_fail_memory(err);
	folder->alloc = alloc;
	folder->fd = folder->lock_fd = -1;
	folder->path = dlsi_strdup(alloc, path);
	folder->files = (struct dlsi_files){&ops, folder->path};
	rc = folder->path ? open_folder(folder, create, err) : dlsi_fail_memory(err);
	if (rc)
		dlsi_folder_close(folder);
	else
		*folder_out = folder;
	return rc;
}

struct dlsi_files *dlsi_folder_files(struct dlsi_folder *folder)
{
	return &folder->files;
}

void dlsi_folder_close(struct dlsi_folder *folder)
{
	if (!folder)
		return;
	if (folder->lock_fd >= 0)
		close(folder->lock_fd);
	if (folder->fd >= 0)
		close(folder->fd);
	dlsi_free(folder->alloc, folder->path);
	dlsi_free(folder->alloc, folder);
}
