#include "cli/file.h"

#include "cli/failure.h"
#include <errno.h>
#include <fcntl.h>
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

/* A file without a name, or -1. It can be given one later only where /proc is. */
static int open_nameless(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	int file = folder && access("/proc/self/fd", X_OK) == 0 ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666)
								: -1;

	free(folder);
	return file;
}

static int open_beside(struct cli_new_file *file)
{
	mode_t mask = umask(0);
	int opened;

	umask(mask);
	sprintf(file->beside, "%s.XXXXXX", file->path);
	opened = mkstemp(file->beside);
	file->is_beside = opened >= 0;
	if (file->is_beside)
		fchmod(opened, 0666 & ~mask);
	return opened;
}

int cli_file_begin(const char *path, struct cli_new_file *file_out, struct dls_error *err)
{
	struct cli_new_file file = {.path = path};
	int opened, rc = check_place(path, err);

	if (rc)
		return rc;
	file.beside = malloc(strlen(path) + sizeof ".XXXXXX");
	if (!file.beside)
		return cli_fail(err, DLS_ENOMEM, "out of memory");
	opened = open_nameless(path);
	if (opened < 0)
		opened = open_beside(&file);
	file.stream = opened < 0 ? NULL : fdopen(opened, "wb");
	if (!file.stream) {
		rc = cli_fail_errno(err, DLS_EIO, "cannot write %s", path);
		if (opened >= 0)
			close(opened);
		cli_file_fini(&file);
		return rc;
	}
	*file_out = file;
	return 0;
}

/* Links a nameless file to `path` or, if that is taken, to a name beside it. */
static int give_name(struct cli_new_file *file)
{
	char source[32];
	unsigned number = (unsigned)getpid();

	snprintf(source, sizeof source, "/proc/self/fd/%d", fileno(file->stream));
	if (linkat(AT_FDCWD, source, AT_FDCWD, file->path, AT_SYMLINK_FOLLOW) == 0)
		return 0;
	while (errno == EEXIST && !file->is_beside) {
		sprintf(file->beside, "%s.%06x", file->path, number++ & 0xffffff);
		file->is_beside = linkat(AT_FDCWD, source, AT_FDCWD, file->beside, AT_SYMLINK_FOLLOW) == 0;
	}
	return file->is_beside ? 0 : -1;
}

int cli_file_finish(struct cli_new_file *file, struct dls_error *err)
{
	bool good = fflush(file->stream) == 0 && !ferror(file->stream) && fsync(fileno(file->stream)) == 0;

	if (good && !file->is_beside)
		good = give_name(file) == 0;
	if (good && file->is_beside)
		good = rename(file->beside, file->path) == 0;
	if (!good)
		return cli_fail_errno(err, DLS_EIO, "cannot write %s", file->path);
	file->is_beside = false;
	return 0;
}

void cli_file_fini(struct cli_new_file *file)
{
	if (file->stream)
		fclose(file->stream);
	if (file->is_beside)
		unlink(file->beside);
	free(file->beside);
	*file = (struct cli_new_file){0};
}

int cli_file_write(const char *path, const char *text, struct dls_error *err)
{
	struct cli_new_file file;
	int rc = cli_file_begin(path, &file, err);

	if (rc)
		return rc;
	fputs(text, file.stream);
	rc = cli_file_finish(&file, err);
	cli_file_fini(&file);
	return rc;
}

bool cli_file_holds(const char *path, const char *text)
{
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	FILE *stream = file < 0 ? NULL : fdopen(file, "r");
	bool same = stream != NULL;

	while (same && *text)
		same = getc(stream) == (unsigned char)*text++;
	same = same && getc(stream) == EOF;
	if (stream)
		fclose(stream);
	else if (file >= 0)
		close(file);
	return same;
}

int cli_file_check(const char *path, struct dls_error *err)
{
	struct cli_new_file file;
	int rc = cli_file_begin(path, &file, err);

	if (rc == 0)
		cli_file_fini(&file);
	return rc;
}
