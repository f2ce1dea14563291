#include "master/master.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/random.h"
#include "policy/roundrobin.h"
#include <string.h>

enum { LOST_GRACE_MS = 200 }; /* a dead connection is not yet a dead worker */

static struct dls_master *master_of(struct dlsi_driver *driver)
{
	return (struct dls_master *)driver;
}

static void step(
	struct dlsi_driver *driver, int64_t now_ns, const struct dlsi_event *event, struct dlsi_effects *effects)
{
	dlsi_master_step(master_of(driver)->core, now_ns, event, effects);
}

static void carry_out(struct dlsi_driver *driver, const struct dlsi_effect *effect)
{
	if (effect->kind != DLSI_EFFECT_APPEND)
		dlsi_ctx_log(driver->ctx, DLS_LOG_ERROR, "master: asked for effect %d, which it does not know",
			(int)effect->kind);
	else if (dlsi_durable_append(master_of(driver), effect))
		driver->failure = DLS_ENOMEM;
}

static void broken(struct dlsi_driver *driver, int code)
{
	(void)driver;
	(void)code; /* said in the log; its peers see the connection end */
}

static int create_core(struct dls_master *master, struct dls_error *err)
{
	if (master->data)
		return dlsi_durable_open(master, master->data, err);
	master->config.cluster = dlsi_random_id();
	master->config.seed = dlsi_random_u64();
	return dlsi_master_create(&master->driver.ctx->alloc, &master->config, &master->core, err);
}

static int revive(struct dlsi_driver *driver)
{
	struct dls_master *master = master_of(driver);
	struct dlsi_transport *transport;
	int rc;

	dlsi_durable_abandon(master);
	dlsi_master_destroy(master->core, NULL);
	master->core = NULL;
	rc = create_core(master, NULL);
	if (rc == 0)
		rc = dlsi_transport_listen(&driver->ctx->alloc, &master->transport, &transport, NULL);
	if (rc == 0)
		dlsi_driver_revive(driver, transport);
	return rc;
}

static const struct dlsi_driver_ops driver_ops = {"master", step, carry_out, broken, revive};

static struct dlsi_master_config configure_core(const struct dls_master_options *options)
{
	return (struct dlsi_master_config){
		.term = 1,
		.heartbeat_ns = options->heartbeat_ms * DLSI_MILLISECOND_NS,
		.worker_timeout_ns = options->worker_timeout_ms * DLSI_MILLISECOND_NS,
		.lost_grace_ns = LOST_GRACE_MS * DLSI_MILLISECOND_NS,
		.patience_ns = DLSI_PATIENCE_NS,
		.client_timeout_ns = options->client_timeout_ms * DLSI_MILLISECOND_NS,
		.job_bytes = options->job_memory_bytes,
		.last_policy = &dlsi_policy_roundrobin,
	};
}

static void configure(struct dls_master *master, const struct dls_master_options *options)
{
	master->config = configure_core(options);
	master->transport = (struct dlsi_transport_config){
		.context = master->driver.ctx->zmq,
		.endpoint = options->bind,
		.heartbeat_ms = (int)options->heartbeat_ms,
		.timeout_ms = (int)options->worker_timeout_ms,
	};
}

/* Before it listens: what is not an address is said to be none rather than to be too open. */
static int check_bind(const struct dls_master_options *options, struct dls_error *err)
{
	char resolved[DLSI_ENDPOINT_BYTES + 1];
	bool ipv6;
	int rc = dlsi_endpoint_listen(options->bind, resolved, &ipv6, err);

	if (rc)
		return rc;
	if (!options->insecure && !dlsi_endpoint_is_local(resolved))
		return dlsi_fail(err, DLS_EDENIED,
			"listening at %s would be open to other machines, unencrypted and to anybody; allow it with "
			"insecure (--insecure), or listen on a loopback address",
			options->bind);
	return 0;
}

/* The caller deletes *params_out. */
static int choose_policy(const struct dls_master_options *options, const struct dlsi_plugins *plugins,
	struct dlsi_master_config *config, cJSON **params_out, struct dls_error *err)
{
	const char *text = options->policy_params;
	int rc;

	config->policies = dlsi_plugins_policies(plugins);
	rc = dlsi_policy_find(config->policies, options->policy, &config->policy, err);
	if (rc == 0 && text)
		rc = dlsi_json_parse(
			"the policy's parameters", text, strlen(text), DLSI_COMMAND_BYTES, params_out, err);
	if (rc == 0)
		config->policy_params = *params_out;
	return rc;
}

/* The same. */
static int choose_speculation(const struct dls_master_options *options, struct dlsi_master_config *config,
	cJSON **params_out, struct dls_error *err)
{
	const char *text = options->speculation;
	int rc = text ? dlsi_json_parse("speculation", text, strlen(text), DLSI_COMMAND_BYTES, params_out, err) : 0;

	config->speculation = *params_out;
	return rc;
}

/* One that listens nowhere shows whether the policy takes its parameters. */
int dlsi_node_master_check(const struct dls_master_options *options, struct dls_error *err)
{
	struct dlsi_master_config config = configure_core(options);
	struct dlsi_master *core = NULL;
	struct dlsi_plugins *plugins = NULL;
	cJSON *params = NULL, *speculation = NULL;
	int rc = dlsi_plugins_open(&dlsi_alloc_libc, options->plugins, &plugins, err);

	if (rc == 0)
		rc = choose_policy(options, plugins, &config, &params, err);
	if (rc == 0)
		rc = choose_speculation(options, &config, &speculation, err);
	if (rc == 0)
		rc = check_bind(options, err);
	if (rc == 0 && options->data)
		rc = dlsi_file_check_folder(&dlsi_alloc_libc, options->data, err);
	if (rc == 0)
		rc = dlsi_master_create(&dlsi_alloc_libc, &config, &core, err);
	dlsi_master_destroy(core, NULL);
	cJSON_Delete(params);
	cJSON_Delete(speculation);
	dlsi_plugins_close(plugins);
	return rc;
}

static int listen(struct dls_master *master, struct dls_error *err)
{
	struct dlsi_transport *transport;
	int rc = dlsi_transport_listen(&master->driver.ctx->alloc, &master->transport, &transport, err);

	if (rc)
		return rc;
	strncpy(master->endpoint, dlsi_transport_endpoint(transport), DLSI_ENDPOINT_BYTES);
	master->transport.endpoint = master->endpoint;
	return dlsi_driver_start(&master->driver, transport, false, err);
}

static void fini(struct dls_master *master)
{
	dlsi_driver_stop(&master->driver);
	dlsi_durable_close(master);
	dlsi_master_destroy(master->core, NULL);
	dlsi_driver_fini(&master->driver);
	cJSON_Delete(master->policy_params);
	cJSON_Delete(master->speculation);
	dlsi_plugins_close(master->plugins);
	dlsi_free(&master->driver.ctx->alloc, master->data);
	dlsi_free(&master->driver.ctx->alloc, master);
}

int dlsi_node_master_create(struct dls_ctx *ctx, const struct dls_master_options *options,
	struct dls_master **master_out, struct dls_error *err)
{
	struct dls_master *master = dlsi_calloc(&ctx->alloc, 1, sizeof *master);
	int rc;

	if (!master)
		return dlsi_fail_memory(err);
	dlsi_driver_init(&master->driver, ctx, &driver_ops);
	configure(master, options);
	if (options->data)
		master->data = dlsi_strdup(&ctx->alloc, options->data);
	rc = options->data && !master->data ? dlsi_fail_memory(err) : 0;
	if (rc == 0)
		rc = dlsi_plugins_open(&ctx->alloc, options->plugins, &master->plugins, err);
	if (rc == 0)
		rc = choose_policy(options, master->plugins, &master->config, &master->policy_params, err);
	if (rc == 0)
		rc = choose_speculation(options, &master->config, &master->speculation, err);
	if (rc == 0)
		rc = check_bind(options, err);
	if (rc == 0)
		rc = create_core(master, err);
	if (rc == 0)
		rc = listen(master, err);
	if (rc) {
		fini(master);
		return rc;
	}
	dlsi_ctx_ref(ctx);
	*master_out = master;
	return 0;
}

void dlsi_node_master_destroy(struct dls_master *master)
{
	struct dls_ctx *ctx = master ? master->driver.ctx : NULL;

	if (dlsi_ctx_check(ctx, NULL))
		return;
	fini(master);
	dlsi_ctx_unref(ctx);
}
