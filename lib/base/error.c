#include "base/error.h"

#include "base/export.h"
#include "base/utf8.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct row {
	int code;
	const char *name;
	const char *meaning;
	int exit_code;
	int http_status;
	int temporary;
};

static const struct row rows[] = {{0, "DLS_OK", "success", 0, 200, 0},
#define ROW(name, value, text, exit_code, http, retry) {value, #name, text, exit_code, http, retry},
	DLS_ERROR_TABLE(ROW)
#undef ROW
};

static const struct row *find(int code)
{
	static const struct row unknown = {0, "DLS_UNKNOWN", "unknown error code", 4, 500, 0};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].code == code)
			return &rows[i];
	return &unknown;
}

DLS_EXPORT const char *dls_error_name(int code)
{
	return find(code)->name;
}

DLS_EXPORT const char *dls_error_meaning(int code)
{
	return find(code)->meaning;
}

DLS_EXPORT int dls_error_exit_code(int code)
{
	return find(code)->exit_code;
}

DLS_EXPORT int dls_error_http_status(int code)
{
	return find(code)->http_status;
}

DLS_EXPORT int dls_error_is_temporary(int code)
{
	return find(code)->temporary;
}

static bool is_printable(uint32_t code)
{
	return code >= 0x20 && code != 0x7f && (code < 0x80 || code >= 0xa0);
}

/* Makes a sentence safe to print on a terminal and to put into JSON. */
static void make_printable(char *text)
{
	size_t end = strlen(text);

	for (size_t i = 0; i < end;) {
		uint32_t code = 0;
		size_t length = dlsi_utf8_next((uint8_t *)text + i, end - i, &code);

		if (!is_printable(code))
			memset(text + i, '?', length ? length : 1);
		i += length ? length : 1;
	}
}

/* Writes `sentence` and `suffix`, of which the sentence is cut if both do not fit. */
static void write_text(struct dls_error *err, const char *sentence, const char *suffix)
{
	size_t room = sizeof err->text - 1 - strlen(suffix);

	snprintf(err->text, sizeof err->text, "%.*s%s", (int)dlsi_utf8_cut(sentence, room), sentence, suffix);
	make_printable(err->text);
}

static void write_sentence(struct dls_error *err, int code, int os_error, const char *format, va_list arguments)
{
	char sentence[DLS_ERROR_TEXT_BYTES + 4], meaning[128], suffix[sizeof meaning + 2] = "";

	vsnprintf(sentence, sizeof sentence, format, arguments);
	if (os_error)
		snprintf(suffix, sizeof suffix, ": %s", strerror_r(os_error, meaning, sizeof meaning));
	err->code = code;
	err->os_error = os_error;
	write_text(err, sentence, suffix);
}

int dlsi_fail(struct dls_error *err, int code, const char *format, ...)
{
	va_list arguments;

	if (err) {
		va_start(arguments, format);
		write_sentence(err, code, 0, format, arguments);
		va_end(arguments);
	}
	return code;
}

int dlsi_fail_errno(struct dls_error *err, int code, int os_error, const char *format, ...)
{
	va_list arguments;

	if (err) {
		va_start(arguments, format);
		write_sentence(err, code, os_error, format, arguments);
		va_end(arguments);
	}
	return code;
}

int dlsi_fail_memory(struct dls_error *err)
{
	return dlsi_fail(err, DLS_ENOMEM, "out of memory");
}

int dlsi_fail_in(struct dls_error *err, int code, const char *format, ...)
{
	char context[DLS_ERROR_TEXT_BYTES / 2], sentence[2 * DLS_ERROR_TEXT_BYTES];
	va_list arguments;

	if (err) {
		va_start(arguments, format);
		vsnprintf(context, sizeof context, format, arguments);
		va_end(arguments);
		context[dlsi_utf8_cut(context, sizeof context - 5)] = '\0';
		snprintf(sentence, sizeof sentence, "%s: %s", context, err->text);
		err->code = code;
		write_text(err, sentence, "");
	}
	return code;
}
