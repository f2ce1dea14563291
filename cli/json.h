/* Writing JSON, one object per line. */
#ifndef DLSI_CLI_JSON_H
#define DLSI_CLI_JSON_H

#include <stdio.h>

/* A string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void cli_json_text(FILE *to, const char *text);

/* The shortest of its spellings that reads back as the same float or double; null for what JSON cannot say. */
void cli_json_float(FILE *to, float value);
void cli_json_double(FILE *to, double value);

#endif
