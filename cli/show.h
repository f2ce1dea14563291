/* Prints a JSON object for people: a line per member, a table per list of objects. Whatever the object holds is shown;
 * nothing here knows its names. */
#ifndef DLSI_CLI_SHOW_H
#define DLSI_CLI_SHOW_H

#include <dlsched/error.h>

struct cJSON;

/* Errors: DLS_EFORMAT (no JSON object). */
int cli_show_text(const char *json, struct dls_error *err);
void cli_show(const struct cJSON *object);

#endif
