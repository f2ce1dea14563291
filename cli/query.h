/* Asking a master: a verb connects, asks once or many times, and ends when it is done or a signal comes. */
#ifndef DLSI_CLI_QUERY_H
#define DLSI_CLI_QUERY_H

#include "cli/submit.h"
#include <cjson/cJSON.h>

/* Connects to the master and calls `act`, which returns the exit code, or -1 with a sentence in `err`. Returns the
 * same, or 128 and its number when a signal has come. */
int query_master(const struct submit *submit,
	int (*act)(const struct submit *submit, struct dls_client *client, struct dls_error *err),
	struct dls_error *err);

/* A question {"command": name}, to which members are added. NULL: memory is exhausted, which query_ask reports. */
cJSON *query_begin(const char *command);

/* Asks it and frees it. The answer is an object, freed by the caller with cJSON_Delete. Errors: as dls_client_command,
 * DLS_EFORMAT. */
int query_ask(const struct submit *submit, struct dls_client *client, cJSON *question, cJSON **answer_out,
	struct dls_error *err);

/* Prints an answer, as it is with --json, else for people. Errors: DLS_EIO, DLS_ENOMEM. */
int query_print(const struct submit *submit, const cJSON *answer, struct dls_error *err);

/* A number or a text of an answer; 0 or "" where there is none. */
double query_number(const cJSON *answer, const char *name);
const char *query_text(const cJSON *answer, const char *name);

#endif
