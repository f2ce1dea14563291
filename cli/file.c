#include "cli/file.h"

#include "cli/failure.h"
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_BYTES = 64 * 1024 };

/* Everything until the end of the stream, in a buffer that doubles. */
static int read_stream(FILE *stream, const char *path, size_t limit, char **text_out, struct dls_error *err)
{
	size_t capacity = FIRST_BYTES, length = 0, step = 0;
	char *text = NULL, *grown;

	do {
		length += step;
		if (length + 1 >= capacity)
			capacity *= 2;
		grown = realloc(text, capacity);
		if (!grown) {
			free(text);
			return cli_fail(err, DLS_ENOMEM, "out of memory while reading %s", path);
		}
		text = grown;
		step = fread(text + length, 1, capacity - 1 - length, stream);
	} while (step > 0 && length + step <= limit);
	length += step;
	text[length] = '\0';
	*text_out = text;
	if (ferror(stream))
		return cli_fail_errno(err, DLS_EIO, "cannot read %s", path);
	if (length > limit)
		return cli_fail(err, DLS_ELIMIT, "%s has more than the limit of %zu bytes", path, limit);
	if (strlen(text) != length)
		return cli_fail(err, DLS_EFORMAT, "%s is not a text: it holds a NUL byte", path);
	return 0;
}

int cli_file_read(const char *path, size_t limit, char **text_out, struct dls_error *err)
{
	FILE *stream = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
	char *text = NULL;
	int rc;

	if (!stream)
		return cli_fail_errno(err, errno == ENOENT ? DLS_ENOTFOUND : DLS_EIO, "cannot open %s", path);
	rc = read_stream(stream, path, limit, &text, err);
	if (stream != stdin)
		fclose(stream);
	if (rc)
		free(text);
	else
		*text_out = text;
	return rc;
}

/* The new file takes the place of what has the name: /dev/null would be a device no more, and a link would lead nowhere
 * else. */
static int check_place(const char *path, struct dls_error *err)
{
	struct stat status;

	if (lstat(path, &status) == 0 && !S_ISREG(status.st_mode))
		return cli_fail(err, DLS_EIO, "%s is there and is not a regular file; name another one to write", path);
	return 0;
}

int cli_file_begin(const char *path, char **temporary_out, int *file_out, struct dls_error *err)
{
	mode_t mask = umask(0);
	char *temporary;
	int file, rc = check_place(path, err);

	umask(mask);
	if (rc)
		return rc;
	temporary = malloc(strlen(path) + sizeof ".XXXXXX");
	if (!temporary)
		return cli_fail(err, DLS_ENOMEM, "out of memory");
	sprintf(temporary, "%s.XXXXXX", path);
	file = mkstemp(temporary);
	if (file >= 0 && fchmod(file, 0666 & ~mask) == 0) {
		*temporary_out = temporary;
		*file_out = file;
		return 0;
	}
	cli_fail_errno(err, DLS_EIO, "cannot write %s", path);
	if (file >= 0) {
		close(file);
		unlink(temporary);
	}
	free(temporary);
	return err->code;
}

int cli_file_write(const char *path, const char *text, struct dls_error *err)
{
	size_t length = strlen(text);
	char *temporary;
	bool written;
	int file, rc = cli_file_begin(path, &temporary, &file, err);

	if (rc)
		return rc;
	written = write(file, text, length) == (ssize_t)length;
	written = close(file) == 0 && written;
	if (!written || rename(temporary, path) != 0) {
		rc = cli_fail_errno(err, DLS_EIO, "cannot write %s", path);
		unlink(temporary);
	}
	free(temporary);
	return rc;
}

int cli_file_check(const char *path, struct dls_error *err)
{
	char *temporary;
	int file, rc = cli_file_begin(path, &temporary, &file, err);

	if (rc)
		return rc;
	close(file);
	unlink(temporary);
	free(temporary);
	return 0;
}
