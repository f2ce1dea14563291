/* UTF-8 (RFC 3629), checked: overlong forms, surrogates and values above U+10FFFF are not characters. Pure. */
#ifndef DLSI_UTF8_H
#define DLSI_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Length in bytes of the character at `at`, looking at no more than `room` bytes; 0 if there is none. Its number goes
 * to *code_out. */
size_t dlsi_utf8_next(const uint8_t *at, size_t room, uint32_t *code_out);

/* The most bytes, at most `room`, after which `text` can be cut without cutting a character in two. */
size_t dlsi_utf8_cut(const char *text, size_t room);

#endif
