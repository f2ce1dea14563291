#include "master/master.h"

#include "api/options.h"
#include "base/export.h"

#define BIND              "tcp://127.0.0.1:7700"
#define POLICY            "roundrobin"
#define HEARTBEAT_MS      1000
#define WORKER_TIMEOUT_MS 5000
#define CLIENT_TIMEOUT_MS 10000
#define LONGEST_MS        (24 * 3600 * 1000)

static int complete(struct dls_master_options *options, struct dls_error *err)
{
	if (!options->bind)
		options->bind = BIND;
	if (!options->policy)
		options->policy = POLICY;
	if (!options->heartbeat_ms)
		options->heartbeat_ms = HEARTBEAT_MS;
	if (!options->worker_timeout_ms)
		options->worker_timeout_ms = WORKER_TIMEOUT_MS;
	if (!options->client_timeout_ms)
		options->client_timeout_ms = CLIENT_TIMEOUT_MS;
	if (options->worker_timeout_ms > LONGEST_MS || options->client_timeout_ms > LONGEST_MS)
		return dlsi_fail(err, DLS_EINVAL, "a timeout is at most a day, %d ms", LONGEST_MS);
	if (options->heartbeat_ms > options->worker_timeout_ms / 3)
		return dlsi_fail(err, DLS_EINVAL,
			"worker_timeout_ms is %u; it must be at least three times heartbeat_ms, which is %u",
			options->worker_timeout_ms, options->heartbeat_ms);
	return 0;
}

static int read(struct dls_ctx *ctx, const struct dls_master_options *options, struct dls_master_options *known,
	struct dls_error *err)
{
	int rc = dlsi_ctx_check(ctx, err);

	if (rc == 0)
		rc = dlsi_options_read("dls_master_options", options, sizeof *known, known, err);
	return rc ? rc : complete(known, err);
}

DLS_EXPORT int dls_master_check(struct dls_ctx *ctx, const struct dls_master_options *options, struct dls_error *err)
{
	struct dls_master_options known;
	int rc = read(ctx, options, &known, err);

	return rc ? rc : dlsi_node_master_check(&known, err);
}

DLS_EXPORT int dls_master_create(struct dls_ctx *ctx, const struct dls_master_options *options,
	struct dls_master **master_out, struct dls_error *err)
{
	struct dls_master_options known;
	int rc = read(ctx, options, &known, err);

	if (rc)
		return rc;
	if (!master_out)
		return dlsi_fail(err, DLS_EINVAL, "master_out is NULL");
	return dlsi_node_master_create(ctx, &known, master_out, err);
}

DLS_EXPORT int dls_master_inspect(
	struct dls_ctx *ctx, const char *folder, struct dls_master_data *data_out, struct dls_error *err)
{
	struct dls_master_data data;
	int rc = dlsi_ctx_check(ctx, err);

	if (rc)
		return rc;
	if (!folder || !data_out)
		return dlsi_fail(err, DLS_EINVAL, "%s is NULL", folder ? "data_out" : "folder");
	rc = dlsi_durable_inspect(&ctx->alloc, folder, &data, err);
	return rc ? rc : dlsi_options_write("dls_master_data", &data, sizeof data, data_out, err);
}

DLS_EXPORT const char *dls_master_endpoint(const struct dls_master *master)
{
	return master ? master->endpoint : NULL;
}

DLS_EXPORT void dls_master_destroy(struct dls_master *master)
{
	dlsi_node_master_destroy(master);
}
