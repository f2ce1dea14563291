#include "cli/json.h"

#include "cli/text.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void cli_json_text(FILE *to, const char *text)
{
	uint32_t code;

	putc('"', to);
	for (const char *at = text; *at;) {
		size_t length = cli_text_next(at, &code);

		if (!length)
			fputs("\\ufffd", to);
		else if (code < 0x20 || code == 0x7f)
			fprintf(to, "\\u%04x", code);
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
