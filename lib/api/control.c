#include "client/control.h"

#include "api/demands.h"
#include "api/name.h"
#include "api/options.h"
#include "base/export.h"
#include "client/client.h"
#include <math.h>

static int check(const struct dls_client *client, const char *what, const char *name, struct dls_error *err)
{
	int rc = dlsi_node_client_check(client, err);

	if (rc == 0 && !name)
		rc = dlsi_fail(err, DLS_EINVAL, "%s is NULL", what);
	return rc ? rc : dlsi_name_check(what, name, err);
}

static int change(struct dls_client *client, const char *command, const char *job, const int32_t *priority,
	int timeout_ms, struct dls_error *err)
{
	int rc = check(client, "the job", job, err);

	return rc ? rc : dlsi_node_client_change(client, command, job, priority, timeout_ms, err);
}

DLS_EXPORT int dls_client_cancel(struct dls_client *client, const char *job, int timeout_ms, struct dls_error *err)
{
	return change(client, "cancel", job, NULL, timeout_ms, err);
}

DLS_EXPORT int dls_client_pause(struct dls_client *client, const char *job, int timeout_ms, struct dls_error *err)
{
	return change(client, "pause", job, NULL, timeout_ms, err);
}

DLS_EXPORT int dls_client_resume(struct dls_client *client, const char *job, int timeout_ms, struct dls_error *err)
{
	return change(client, "resume", job, NULL, timeout_ms, err);
}

DLS_EXPORT int dls_client_set_priority(
	struct dls_client *client, const char *job, int32_t priority, int timeout_ms, struct dls_error *err)
{
	return change(client, "priority", job, &priority, timeout_ms, err);
}

static int ask(struct dls_client *client, const char *command, const char *job, int timeout_ms, char **json_out,
	struct dls_error *err)
{
	int rc = check(client, "the job", job, err);

	if (rc == 0 && !json_out)
		rc = dlsi_fail(err, DLS_EINVAL, "json_out is NULL");
	return rc ? rc : dlsi_node_client_ask(client, command, "job", job, timeout_ms, json_out, err);
}

DLS_EXPORT int dls_client_describe(
	struct dls_client *client, const char *job, int timeout_ms, char **json_out, struct dls_error *err)
{
	return ask(client, "job", job, timeout_ms, json_out, err);
}

DLS_EXPORT int dls_client_explain(
	struct dls_client *client, const char *job, int timeout_ms, char **json_out, struct dls_error *err)
{
	return ask(client, "explain", job, timeout_ms, json_out, err);
}

DLS_EXPORT int dls_client_jobs(struct dls_client *client, const struct dls_jobs_options *options, int timeout_ms,
	char **json_out, struct dls_error *err)
{
	struct dls_jobs_options known;
	int rc = dlsi_node_client_check(client, err);

	if (rc == 0)
		rc = dlsi_options_read("dls_jobs_options", options, sizeof known, &known, err);
	if (rc == 0 && !json_out)
		rc = dlsi_fail(err, DLS_EINVAL, "json_out is NULL");
	return rc ? rc : dlsi_node_client_jobs(client, &known, timeout_ms, json_out, err);
}

static int turn_worker(
	struct dls_client *client, const char *command, const char *worker, int timeout_ms, struct dls_error *err)
{
	char *json = NULL;
	int rc = check(client, "the worker", worker, err);

	if (rc == 0)
		rc = dlsi_node_client_ask(client, command, "worker", worker, timeout_ms, &json, err);
	if (rc == 0)
		dlsi_free(&client->ctx->alloc, json);
	return rc;
}

DLS_EXPORT int dls_client_drain(struct dls_client *client, const char *worker, int timeout_ms, struct dls_error *err)
{
	return turn_worker(client, "drain", worker, timeout_ms, err);
}

DLS_EXPORT int dls_client_undrain(struct dls_client *client, const char *worker, int timeout_ms, struct dls_error *err)
{
	return turn_worker(client, "undrain", worker, timeout_ms, err);
}

DLS_EXPORT int dls_client_set_policy(
	struct dls_client *client, const char *policy, const char *params, int timeout_ms, struct dls_error *err)
{
	int rc = check(client, "the policy", policy, err);

	return rc ? rc : dlsi_node_client_set_policy(client, policy, params, timeout_ms, err);
}

DLS_EXPORT int dls_client_set_tenant(struct dls_client *client, const char *tenant,
	const struct dls_tenant_options *options, int timeout_ms, struct dls_error *err)
{
	struct dls_tenant_options known;
	int rc = check(client, "the tenant", tenant, err);

	if (rc == 0)
		rc = dlsi_options_read("dls_tenant_options", options, sizeof known, &known, err);
	if (rc == 0 && !isfinite(known.weight))
		rc = dlsi_fail(err, DLS_EINVAL, "the weight of a tenant must be a number");
	if (rc == 0)
		rc = dlsi_resources_check("a tenant's quota", known.quota, err);
	return rc ? rc : dlsi_node_client_set_tenant(client, tenant, &known, timeout_ms, err);
}

DLS_EXPORT int dls_client_tenants(struct dls_client *client, const char *tenant, const char *after, int timeout_ms,
	char **json_out, struct dls_error *err)
{
	int rc = dlsi_node_client_check(client, err);

	if (rc == 0 && tenant)
		rc = dlsi_name_check("the tenant", tenant, err);
	if (rc == 0 && !json_out)
		rc = dlsi_fail(err, DLS_EINVAL, "json_out is NULL");
	return rc ? rc : dlsi_node_client_tenants(client, tenant, after, timeout_ms, json_out, err);
}
