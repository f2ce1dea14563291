/* Small files, whole: read with a limit, and written so that a reader sees the old or the new one, never a half. */
#ifndef DLSI_CLI_FILE_H
#define DLSI_CLI_FILE_H

#include <dlsched/error.h>
#include <stdbool.h>
#include <stdio.h>

/* Reads a text of at most `limit` bytes; "-" is standard input. *text_out ends with a NUL, holds no other, and is freed
 * with free(). Errors: DLS_ENOTFOUND, DLS_EIO, DLS_ELIMIT, DLS_EFORMAT (a NUL inside), DLS_ENOMEM. */
int cli_file_read(const char *path, size_t limit, char **text_out, struct dls_error *err);

/* Writes the text. Errors: DLS_EIO, DLS_ENOMEM. */
int cli_file_write(const char *path, const char *text, struct dls_error *err);

/* Whether that text and no more is what can be read there. */
bool cli_file_holds(const char *path, const char *text);

/* Whether it could be written. */
int cli_file_check(const char *path, struct dls_error *err);

/* A file that has no name until it is whole, so that nothing is left of it whenever the program ends. Where the file
 * system has no such files it has a name beside `path` meanwhile. */
struct cli_new_file {
	const char *path; /* borrowed */
	FILE *stream;
	char *beside;
	bool is_beside; /* that is its name now */
};

/* With the permissions that `path` shall have. Errors: DLS_EIO (also where `path` is a device, a link or a folder:
 * nothing else shall be replaced than a file), DLS_ENOMEM; nothing is to be given to fini then. */
int cli_file_begin(const char *path, struct cli_new_file *file_out, struct dls_error *err);

/* Gives it its name, with which it takes the place of what had that. Errors: DLS_EIO. */
int cli_file_finish(struct cli_new_file *file, struct dls_error *err);

/* Drops the file if it was not finished. */
void cli_file_fini(struct cli_new_file *file);

#endif
