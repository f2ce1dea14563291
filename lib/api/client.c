#include "client/client.h"

#include "api/name.h"
#include "api/options.h"
#include "base/export.h"
#include "base/limits.h"
#include "client/command.h"
#include <string.h>

static int complete(struct dls_client_options *options, struct dls_error *err)
{
	if (!options->master)
		return dlsi_fail(err, DLS_EINVAL, "dls_client_options.master is not set");
	if (!options->tenant)
		options->tenant = "default";
	if (!options->window_items)
		options->window_items = DLSI_WINDOW_ITEMS;
	if (!options->window_bytes)
		options->window_bytes = DLSI_WINDOW_BYTES;
	return dlsi_name_check("the name of a tenant", options->tenant, err);
}

DLS_EXPORT int dls_client_create(struct dls_ctx *ctx, const struct dls_client_options *options,
	struct dls_client **client_out, struct dls_error *err)
{
	struct dls_client_options known;
	int rc = dlsi_ctx_check(ctx, err);

	if (rc == 0)
		rc = dlsi_options_read("dls_client_options", options, sizeof known, &known, err);
	if (rc == 0)
		rc = complete(&known, err);
	if (rc)
		return rc;
	if (!client_out)
		return dlsi_fail(err, DLS_EINVAL, "client_out is NULL");
	return dlsi_node_client_create(ctx, &known, client_out, err);
}

DLS_EXPORT void dls_client_destroy(struct dls_client *client)
{
	dlsi_node_client_destroy(client);
}

DLS_EXPORT int dls_client_wait(struct dls_client *client, int timeout_ms, struct dls_error *err)
{
	int rc = dlsi_node_client_check(client, err);

	return rc ? rc : dlsi_node_client_wait(client, timeout_ms, err);
}

DLS_EXPORT int dls_client_fd(struct dls_client *client)
{
	int rc = dlsi_node_client_check(client, NULL);

	return rc ? rc : client->dialer.news_fd;
}

DLS_EXPORT int dls_client_process(struct dls_client *client, struct dls_error *err)
{
	int rc = dlsi_node_client_check(client, err);

	if (rc == 0)
		dlsi_node_client_process(client);
	return rc;
}

DLS_EXPORT int dls_client_command(
	struct dls_client *client, const char *json, int timeout_ms, char **json_out, struct dls_error *err)
{
	int rc = dlsi_node_client_check(client, err);

	if (rc)
		return rc;
	if (!json || !json_out)
		return dlsi_fail(err, DLS_EINVAL, "json or json_out is NULL");
	if (strlen(json) > DLSI_COMMAND_BYTES)
		return dlsi_fail(err, DLS_ELIMIT, "a command has at most %d bytes", DLSI_COMMAND_BYTES);
	return dlsi_node_client_command(client, json, timeout_ms, json_out, err);
}
