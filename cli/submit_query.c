/* The verbs that only ask a master: status, list. */
#include "cli/failure.h"
#include "cli/show.h"
#include "cli/signals.h"
#include "cli/submit.h"
#include <signal.h>
#include <stdio.h>

enum { ANSWER_MS = 5000 };

int submit_print(const struct submit *submit, char *json, struct dls_error *err)
{
	int rc = 0;

	if (submit->values->json)
		printf("%s\n", json);
	else
		rc = cli_show(json, err);
	dls_free(submit->ctx, json);
	return rc ? rc : cli_check_output(err);
}

static int ask(const struct submit *submit, const char *command, struct dls_error *err)
{
	struct dls_client *client;
	char *json;
	int rc = submit_client_create(submit, submit->values->master, &client, err);

	if (rc)
		return -1;
	rc = submit_client_wait(submit, client, err);
	if (rc == 0 && !cli_signals_caught())
		rc = dls_client_command(client, command, ANSWER_MS, &json, err);
	if (rc == 0 && !cli_signals_caught())
		rc = submit_print(submit, json, err);
	dls_client_destroy(client);
	if (cli_signals_caught())
		return 128 + cli_signals_caught();
	return rc ? -1 : 0;
}

int submit_status(const struct submit *submit, struct dls_error *err)
{
	return ask(submit, "{\"command\":\"status\"}", err);
}

int submit_list(const struct submit *submit, struct dls_error *err)
{
	return ask(submit, "{\"command\":\"jobs\"}", err);
}
