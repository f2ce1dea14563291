#include "cli/failure.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int cli_fail(struct dls_error *err, int code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(err->text, sizeof err->text, format, arguments);
	va_end(arguments);
	err->code = code;
	err->os_error = 0;
	return code;
}

int cli_fail_errno(struct dls_error *err, int code, const char *format, ...)
{
	int os_error = errno;
	char reason[128];
	va_list arguments;

	/* The reason stays whole, however long a name before it is. */
	snprintf(reason, sizeof reason, ": %s", strerror(os_error));
	va_start(arguments, format);
	vsnprintf(err->text, sizeof err->text - strlen(reason), format, arguments);
	va_end(arguments);
	strcat(err->text, reason);
	err->code = code;
	err->os_error = os_error;
	return code;
}

int cli_check_output(struct dls_error *err)
{
	if (fflush(stdout) != 0 || ferror(stdout))
		return cli_fail(err, DLS_EIO, "cannot write to standard output");
	return 0;
}

/* One line without control characters, whatever the names in it are made of. */
static void make_printable(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = '?';
}

int cli_report(const char *program, struct dls_error *err)
{
	make_printable(err->text);
	fprintf(stderr, "%s: %s\n", program, err->text[0] ? err->text : dls_error_meaning(err->code));
	return dls_error_exit_code(err->code);
}
