/* The files of one folder, behind a table of functions, so that a test can let any write fall short, any byte flip and
 * any moment be the last one. What is written may be lost until dlsi_files_ops.sync has returned 0, and a new name
 * until sync_names has.
 *
 * Functions return what they say, or a negative errno. Names are plain ones. One thread at a time. */
#ifndef DLSI_FILES_H
#define DLSI_FILES_H

#include "base/alloc.h"
#include "base/error.h"
#include <stdbool.h>
#include <stdint.h>

struct dlsi_files;

struct dlsi_files_ops {
	/* Calls found(arg, name) for each file, in any order. */
	int (*list)(struct dlsi_files *files, void (*found)(void *arg, const char *name), void *arg);

	/* A handle, at least 0. One that is `fresh` must not exist yet; others are opened for reading and writing. */
	int (*open)(struct dlsi_files *files, const char *name, bool fresh);
	void (*close)(struct dlsi_files *files, int handle);
	int64_t (*size)(struct dlsi_files *files, int handle);

	/* Bytes, maybe fewer than asked for; read: 0 at the end. */
	int64_t (*read)(struct dlsi_files *files, int handle, uint64_t offset, void *data, size_t length);
	int64_t (*write)(struct dlsi_files *files, int handle, uint64_t offset, const void *data, size_t length);
	int (*cut)(struct dlsi_files *files, int handle, uint64_t length);
	int (*sync)(struct dlsi_files *files, int handle);
	int (*remove)(struct dlsi_files *files, const char *name);
	int (*sync_names)(struct dlsi_files *files);
};

struct dlsi_files {
	const struct dlsi_files_ops *ops;
	const char *folder; /* for sentences */
};

/* All of it, or an error that names the file. Errors: DLS_EIO. */
int dlsi_files_write(struct dlsi_files *files, const char *name, int handle, uint64_t offset, const void *data,
	size_t length, struct dls_error *err);

/* A whole file, freed by the caller. Errors: DLS_ENOTFOUND, DLS_ELIMIT, DLS_EIO, DLS_ENOMEM. */
int dlsi_files_read(struct dlsi_files *files, const struct dlsi_alloc *alloc, const char *name, uint64_t limit,
	uint8_t **data_out, size_t *length_out, struct dls_error *err);

/* Errors: DLS_EIO. */
int dlsi_files_sync(struct dlsi_files *files, const char *name, int handle, struct dls_error *err);
int dlsi_files_sync_names(struct dlsi_files *files, struct dls_error *err);
int dlsi_files_fail(
	const struct dlsi_files *files, int os_error, const char *what, const char *name, struct dls_error *err);

#endif
