/* Prints a JSON object for people: a line per member, a table per list of objects. Whatever the object holds is shown;
 * nothing here knows its names. */
#ifndef DLSI_CLI_SHOW_H
#define DLSI_CLI_SHOW_H

#include <dlsched/error.h>

/* Errors: DLS_EFORMAT (no JSON object). */
int cli_show(const char *json, struct dls_error *err);

#endif
