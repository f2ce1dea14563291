/* Whole files in one call: read with a size limit, written so that readers see the old or the new one, never a half. */
#ifndef DLSI_FILE_H
#define DLSI_FILE_H

#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads a regular file; *data_out has a NUL behind its *length_out bytes and is freed by the caller.
 * Errors: DLS_ENOTFOUND, DLS_EINVAL (a directory or another kind of file), DLS_ELIMIT, DLS_EIO, DLS_ENOMEM. */
int dlsi_file_read(const struct dlsi_alloc *alloc, const char *path, uint64_t limit, uint8_t **data_out,
	size_t *length_out, struct dls_error *err);

/* The same for a file that lies in the folder itself under a plain name, and is no link. Errors: as
 * dlsi_file_read, DLS_EINVAL also for a link. */
int dlsi_file_read_inside(const struct dlsi_alloc *alloc, const char *folder, const char *name, uint64_t limit,
	uint8_t **data_out, size_t *length_out, struct dls_error *err);

/* Whether this is a name for a file that can neither lead out of a folder nor hide in it: at most 255 characters out of
 * A-Z a-z 0-9 . _ - of which a dot is not the first. */
bool dlsi_file_is_plain_name(const char *name, size_t length);

/* Hashes a regular file of at most `limit` bytes. Errors: as dlsi_file_read, without DLS_ENOMEM. */
int dlsi_file_hash(
	const char *path, uint64_t limit, struct dlsi_hash *hash_out, uint64_t *length_out, struct dls_error *err);

/* The same of an open file from its offset on; `path` names it in errors. Errors: DLS_EIO. */
int dlsi_file_hash_open(
	int fd, const char *path, struct dlsi_hash *hash_out, uint64_t *length_out, struct dls_error *err);

/* The next `length` bytes of an open file, which must be there. `path` names it in errors. Errors: DLS_EIO,
 * DLS_EFORMAT (it ends before). */
int dlsi_file_read_open(int fd, const char *path, uint8_t *data, size_t length, struct dls_error *err);

/* The first bytes of a regular file of at most `limit` bytes, `room` of them or all, and the length of the whole.
 * Errors: as dlsi_file_read, without DLS_ENOMEM; DLS_EIO also for a file that becomes shorter meanwhile. */
int dlsi_file_read_head(
	const char *path, uint64_t limit, uint8_t *head, size_t room, size_t *length_out, struct dls_error *err);

/* What stands at the end of the temporary name. */
#define DLSI_FILE_NEW ".new"

/* Writes to a temporary name in the same folder, fsyncs and renames. Errors: DLS_EIO, DLS_ENOMEM. */
int dlsi_file_write(const struct dlsi_alloc *alloc, const char *path, mode_t mode, const void *data, size_t length,
	struct dls_error *err);

/* Creates the folder, whose path is not empty, and those above it (mode 0700). One that exists is no error. Errors:
 * DLS_EIO, DLS_ENOMEM. */
int dlsi_file_make_folder(const struct dlsi_alloc *alloc, const char *path, struct dls_error *err);

/* Whether that folder can be written, or made where it can be. Leaves nothing behind. Errors: DLS_EIO, DLS_ENOMEM. */
int dlsi_file_check_folder(const struct dlsi_alloc *alloc, const char *path, struct dls_error *err);

/* "folder/name", freed by the caller; NULL when memory is exhausted. */
char *dlsi_file_join(const struct dlsi_alloc *alloc, const char *folder, const char *name);

#endif
