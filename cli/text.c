#include "cli/text.h"

#include <locale.h>
#include <stdio.h>
#include <wchar.h>

/* Says no to overlong forms, surrogates and what lies beyond Unicode by the range of the second byte. */
size_t cli_text_next(const char *text, uint32_t *code_out)
{
	const unsigned char *at = (const unsigned char *)text;
	unsigned first = at[0], low = 0x80, high = 0xbf;
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
	*code_out = length > 1 ? first & (0x7fu >> length) : first;
	for (size_t i = 1; i < length; i++) {
		if (at[i] < low || at[i] > high)
			return 0;
		*code_out = *code_out << 6 | (at[i] & 0x3f);
		low = 0x80;
		high = 0xbf;
	}
	return length;
}

/* wcwidth knows the columns of a character in a locale of Unicode only. */
static int columns_of(uint32_t code)
{
	static locale_t unicode;
	locale_t before;
	int columns;

	if (code < 0x80)
		return 1;
	if (!unicode)
		unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	if (!unicode)
		return 1;
	before = uselocale(unicode);
	columns = wcwidth((wchar_t)code);
	uselocale(before);
	return columns < 0 ? 1 : columns;
}

/* One character as it is printed: its bytes, or the `?` in its place. */
struct glyph {
	const char *text;
	size_t bytes;
	int columns;
	size_t taken; /* bytes of the text that it stands for */
};

static struct glyph next_glyph(const char *text)
{
	uint32_t code = 0;
	size_t length = cli_text_next(text, &code);

	if (!length || code < 0x20 || (code >= 0x7f && code < 0xa0))
		return (struct glyph){"?", 1, 1, length ? length : 1};
	return (struct glyph){text, length, columns_of(code), length};
}

int cli_text_columns(const char *text)
{
	int columns = 0;

	while (*text) {
		struct glyph glyph = next_glyph(text);

		columns += glyph.columns;
		text += glyph.taken;
	}
	return columns;
}

void cli_text_print(const char *text, int columns)
{
	while (*text) {
		struct glyph glyph = next_glyph(text);

		fwrite(glyph.text, 1, glyph.bytes, stdout);
		columns -= glyph.columns;
		text += glyph.taken;
	}
	if (columns > 0)
		printf("%*s", columns, "");
}

const char *cli_text_tail(const char *text, int columns)
{
	int all = cli_text_columns(text);

	while (all > columns) {
		struct glyph glyph = next_glyph(text);

		all -= glyph.columns;
		text += glyph.taken;
	}
	return text;
}
