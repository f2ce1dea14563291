/* Small files, whole: read with a limit, and written so that a reader sees the old or the new one, never a half. */
#ifndef DLSI_CLI_FILE_H
#define DLSI_CLI_FILE_H

#include <dlsched/error.h>
#include <stddef.h>

/* Reads a text of at most `limit` bytes; "-" is standard input. *text_out ends with a NUL, holds no other, and is freed
 * with free(). Errors: DLS_ENOTFOUND, DLS_EIO, DLS_ELIMIT, DLS_EFORMAT (a NUL inside), DLS_ENOMEM. */
int cli_file_read(const char *path, size_t limit, char **text_out, struct dls_error *err);

/* Writes the text to a temporary file beside `path` and renames it. Errors: DLS_EIO. */
int cli_file_write(const char *path, const char *text, struct dls_error *err);

#endif
