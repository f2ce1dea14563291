#include "base/error.h"

#include "base/export.h"
#include <stdarg.h>
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

/* Length of the valid, printable UTF-8 sequence at `at`, 0 if there is none. */
static size_t sequence(const unsigned char *at)
{
	static const unsigned smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	unsigned value;
	size_t length;

	if (at[0] < 0x80)
		return at[0] >= 0x20 && at[0] != 0x7f;
	length = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : at[0] >= 0xc2 ? 2 : 0;
	if (!length || at[0] > 0xf4)
		return 0;
	value = at[0] & (0x7fU >> length);
	for (size_t i = 1; i < length; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (at[i] & 0x3f);
	}
	if (value < smallest[length] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000) || value < 0xa0)
		return 0;
	return length;
}

/* Makes a sentence safe to print on a terminal and to put into JSON, also after snprintf cut it anywhere. */
static void make_printable(char *text)
{
	size_t last = strlen(text);

	for (size_t i = 0; i < last;) {
		size_t length = sequence((unsigned char *)text + i);

		if (!length)
			text[i] = '?';
		i += length ? length : 1;
	}
}

static void write_sentence(struct dls_error *err, int code, int os_error, const char *format, va_list arguments)
{
	char sentence[DLS_ERROR_TEXT_BYTES];

	vsnprintf(sentence, sizeof sentence, format, arguments);
	err->code = code;
	err->os_error = os_error;
	if (os_error) {
		char buffer[128];

		snprintf(err->text, sizeof err->text, "%.*s: %s", DLS_ERROR_TEXT_BYTES - 130, sentence,
			strerror_r(os_error, buffer, sizeof buffer));
	} else {
		memcpy(err->text, sentence, sizeof sentence);
	}
	make_printable(err->text);
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
	char context[DLS_ERROR_TEXT_BYTES / 2], inner[DLS_ERROR_TEXT_BYTES];
	va_list arguments;

	if (err) {
		va_start(arguments, format);
		vsnprintf(context, sizeof context, format, arguments);
		va_end(arguments);
		memcpy(inner, err->text, sizeof inner);
		snprintf(err->text, sizeof err->text, "%s: %.*s", context, DLS_ERROR_TEXT_BYTES / 2 - 3, inner);
		make_printable(err->text);
	}
	return code;
}
