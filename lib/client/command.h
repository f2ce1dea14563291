/* Commands to the master: a thread of the program asks and waits, the loop sends the question and brings the answer. */
#ifndef DLSI_COMMAND_H
#define DLSI_COMMAND_H

#include "core/effect.h"
#include <dlsched/client.h>

/* Errors: as dls_client_command. */
int dlsi_node_client_command(
	struct dls_client *client, const char *json, int timeout_ms, char **json_out, struct dls_error *err);

/* On the loop's thread: carries out DLSI_NOTICE_REPLY. */
void dlsi_node_client_answer(struct dls_client *client, const struct dlsi_effect *effect, struct dlsi_text text);

#endif
