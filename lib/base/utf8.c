#include "base/utf8.h"

#include <string.h>

size_t dlsi_utf8_next(const uint8_t *at, size_t room, uint32_t *code_out)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	uint32_t code;
	size_t length;

	if (!room || (at[0] >= 0x80 && at[0] < 0xc2) || at[0] > 0xf4)
		return 0;
	length = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : at[0] >= 0xc2 ? 2 : 1;
	if (length > room)
		return 0;
	code = length == 1 ? at[0] : at[0] & (0x7fU >> length);
	for (size_t i = 1; i < length; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3f);
	}
	if (code < smallest[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	*code_out = code;
	return length;
}

size_t dlsi_utf8_cut(const char *text, size_t room)
{
	size_t length = strnlen(text, room + 1);

	if (length <= room)
		return length;
	for (size_t cut = room; cut && room - cut < 4; cut--)
		if (((uint8_t)text[cut] & 0xc0) != 0x80)
			return cut;
	return room; /* not UTF-8 in the first place */
}
