/* Commands about jobs, made of arguments instead of JSON. */
#ifndef DLSI_CLIENT_CONTROL_H
#define DLSI_CLIENT_CONTROL_H

#include <dlsched/control.h>

/* Gives the command, with `priority` if that is not NULL, about one job. Errors: as in dlsched/control.h. */
int dlsi_node_client_change(struct dls_client *client, const char *command, const char *job, const int32_t *priority,
	int timeout_ms, struct dls_error *err);

/* Asks for what has one argument; NULL: it has none. */
int dlsi_node_client_ask(struct dls_client *client, const char *command, const char *argument, const char *value,
	int timeout_ms, char **json_out, struct dls_error *err);

/* `options` are complete. */
int dlsi_node_client_jobs(struct dls_client *client, const struct dls_jobs_options *options, int timeout_ms,
	char **json_out, struct dls_error *err);

int dlsi_node_client_set_policy(
	struct dls_client *client, const char *policy, const char *params, int timeout_ms, struct dls_error *err);

/* `options` are complete. */
int dlsi_node_client_set_tenant(struct dls_client *client, const char *tenant, const struct dls_tenant_options *options,
	int timeout_ms, struct dls_error *err);

/* NULL: any tenant, the first page. */
int dlsi_node_client_tenants(struct dls_client *client, const char *tenant, const char *after, int timeout_ms,
	char **json_out, struct dls_error *err);

#endif
