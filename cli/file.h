/* Small files, whole: read with a limit, and written so that a reader sees the old or the new one, never a half. */
#ifndef DLSI_CLI_FILE_H
#define DLSI_CLI_FILE_H

#include <dlsched/error.h>
#include <stddef.h>

/* Reads a text of at most `limit` bytes; "-" is standard input. *text_out ends with a NUL, holds no other, and is freed
 * with free(). Errors: DLS_ENOTFOUND, DLS_EIO, DLS_ELIMIT, DLS_EFORMAT (a NUL inside), DLS_ENOMEM. */
int cli_file_read(const char *path, size_t limit, char **text_out, struct dls_error *err);

/* Writes the text to a temporary file beside `path` and renames it. Errors: DLS_EIO, DLS_ENOMEM. */
int cli_file_write(const char *path, const char *text, struct dls_error *err);

/* Whether it could be written. */
int cli_file_check(const char *path, struct dls_error *err);

/* The beginning of that: makes the temporary file, with the permissions that `path` shall have. Its name is freed with
 * free(). Errors: DLS_EIO (also where `path` is a device, a link or a folder: nothing else shall be replaced than a
 * file), DLS_ENOMEM. */
int cli_file_begin(const char *path, char **temporary_out, int *file_out, struct dls_error *err);

#endif
