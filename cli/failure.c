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
	va_list arguments;
	size_t length;

	va_start(arguments, format);
	vsnprintf(err->text, sizeof err->text, format, arguments);
	va_end(arguments);
	length = strlen(err->text);
	snprintf(err->text + length, sizeof err->text - length, ": %s", strerror(os_error));
	err->code = code;
	err->os_error = os_error;
	return code;
}

int cli_report(const char *program, const struct dls_error *err)
{
	fprintf(stderr, "%s: %s\n", program, err->text[0] ? err->text : dls_error_meaning(err->code));
	return dls_error_exit_code(err->code);
}
