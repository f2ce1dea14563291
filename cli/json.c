#include "cli/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the UTF-8 sequence at `text`, 0 if there is none. Says no to overlong forms, surrogates and what lies beyond
 * Unicode by the range of the second byte. */
static size_t sequence(const unsigned char *text)
{
	unsigned first = text[0], low = 0x80, high = 0xbf;
	size_t length = first < 0x80   ? 1
			: first < 0xc2 ? 0
			: first < 0xe0 ? 2
			: first < 0xf0 ? 3
			: first < 0xf5 ? 4
				       : 0;

	if (first == 0xe0)
		low = 0xa0;
	else if (first == 0xed)
		high = 0x9f;
	else if (first == 0xf0)
		low = 0x90;
	else if (first == 0xf4)
		high = 0x8f;
	for (size_t i = 1; i < length; i++) {
		if (text[i] < low || text[i] > high)
			return 0;
		low = 0x80;
		high = 0xbf;
	}
	return length;
}

void cli_json_text(FILE *to, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	putc('"', to);
	while (*at) {
		size_t length = sequence(at);

		if (!length)
			fputs("\\ufffd", to);
		else if (*at < 0x20 || *at == 0x7f)
			fprintf(to, "\\u%04x", *at);
		else if (*at == '"' || *at == '\\')
			fprintf(to, "\\%c", *at);
		else
			fwrite(at, 1, length, to);
		at += length ? length : 1;
	}
	putc('"', to);
}

void cli_json_float(FILE *to, float value)
{
	char text[32];

	for (int digits = 6; digits <= 9; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, (double)value);
		if (strtof(text, NULL) == value)
			break;
	}
	fputs(isfinite(value) ? text : "null", to);
}

void cli_json_double(FILE *to, double value)
{
	char text[32];

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	fputs(isfinite(value) ? text : "null", to);
}
