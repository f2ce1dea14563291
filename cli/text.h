/* Text from users, files and other machines: UTF-8, but nobody can be sure, shown in columns of a terminal. */
#ifndef DLSI_CLI_TEXT_H
#define DLSI_CLI_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the UTF-8 character at `text`, whose number goes to *code_out; 0 if there is none. */
size_t cli_text_next(const char *text, uint32_t *code_out);

/* Columns that the text takes when cli_text_print prints it. */
int cli_text_columns(const char *text);

/* Prints the text on standard output, with `?` for control characters and for bytes that are not UTF-8, and fills up
 * with spaces to `columns`; 0 fills nothing. */
void cli_text_print(const char *text, int columns);

/* The longest end of the text that takes no more than `columns`. */
const char *cli_text_tail(const char *text, int columns);

#endif
