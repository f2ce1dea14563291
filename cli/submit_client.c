/* The client behind those verbs of dls-submit that talk to a master. */
#include "cli/failure.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "cli/submit.h"

enum { SLICE_MS = 50 };

int submit_client_create(
	const struct submit *submit, const char *master, struct dls_client **client_out, struct dls_error *err)
{
	struct dls_client_options options = DLS_CLIENT_OPTIONS_INIT;

	options.master = master;
	options.tenant = submit->values->tenant;
	options.data_bind = submit->values->data_bind;
	options.insecure = submit->values->insecure;
	return dls_client_create(submit->ctx, &options, client_out, err);
}

/* In slices, so that a signal is acted on. A failure that took a whole slice says only that the time was too short. */
int submit_client_wait(const struct submit *submit, struct dls_client *client, struct dls_error *err)
{
	int64_t deadline_ms = cli_now_ms() + submit->values->connect_timeout_ms, began_ms, now_ms;
	int rc;

	do {
		began_ms = cli_now_ms();
		rc = dls_client_wait(client, SLICE_MS, err);
		now_ms = cli_now_ms();
	} while (rc && now_ms - began_ms >= SLICE_MS && now_ms < deadline_ms && !cli_signals_caught());
	if (cli_signals_caught())
		return 0;
	if (rc == DLS_EUNREACHABLE)
		return cli_fail(err, rc, "no master answered at %s within %g s; is dls-master running there?",
			submit->values->master, (double)submit->values->connect_timeout_ms / 1000);
	return rc;
}
