#include "node/ctx.h"

#include "base/limits.h"
#include "base/random.h"
#include "base/utf8.h"
#include "device/device.h"
#include "device/topology.h"
#include "kernel/parallel.h"
#include "net/context.h"
#include "store/place.h"
#include <stdarg.h>
#include <stdio.h>

static int start(struct dls_ctx *ctx, const struct dls_ctx_options *options, struct dls_error *err)
{
	const bool keeps = !options->cache_dir || *options->cache_dir;
	int rc = options->log ? dlsi_log_create(options, &ctx->log, err) : 0;

	if (rc == 0 && keeps && dlsi_cache_place(&ctx->alloc, options->cache_dir, &ctx->cache_dir, NULL) == DLS_ENOMEM)
		rc = dlsi_fail_memory(err);
	if (rc)
		return rc;
	if (dlsi_random_start())
		return dlsi_fail(err, DLS_EIO, "the system gives no random numbers");
	dlsi_host_text(ctx->host);
	rc = dlsi_context_create(&ctx->zmq, err);
	return rc ? rc : dlsi_loop_create(&ctx->alloc, &ctx->loop, err);
}

static void end(struct dls_ctx *ctx)
{
	struct dlsi_alloc alloc = ctx->alloc;

	dlsi_executor_destroy(ctx->executor);
	dlsi_device_destroy(ctx->device);
	dlsi_free(&alloc, ctx->cache_dir);
	dlsi_loop_destroy(ctx->loop);
	dlsi_context_destroy(ctx->zmq);
	pthread_mutex_destroy(&ctx->planes_mutex);
	pthread_mutex_destroy(&ctx->executor_mutex);
	dlsi_log_destroy(ctx->log);
	dlsi_process_drop(&ctx->process);
	dlsi_free(&alloc, ctx);
}

int dlsi_ctx_create(const struct dls_ctx_options *options, struct dls_ctx **ctx_out, struct dls_error *err)
{
	struct dlsi_alloc alloc = {options->resize, options->resize_arg};
	struct dls_ctx *ctx;
	int rc;

	if (!alloc.resize)
		alloc = dlsi_alloc_libc;
	ctx = dlsi_calloc(&alloc, 1, sizeof *ctx);
	if (!ctx)
		return dlsi_fail_memory(err);
	ctx->alloc = alloc;
	ctx->threads = options->threads ? (int)options->threads : dlsi_parallel_usual(dlsi_processors());
	dlsi_process_note(&ctx->process);
	if (options->log)
		ctx->log_level = options->log_level ? options->log_level : DLS_LOG_WARNING;
	pthread_mutex_init(&ctx->executor_mutex, NULL);
	pthread_mutex_init(&ctx->planes_mutex, NULL);
	dlsi_list_init(&ctx->planes);
	rc = start(ctx, options, err);
	if (rc)
		end(ctx);
	else
		*ctx_out = ctx;
	return rc;
}

void dlsi_ctx_destroy(struct dls_ctx *ctx)
{
	unsigned handles;

	if (dlsi_ctx_check(ctx, NULL))
		return;
	handles = atomic_load(&ctx->handles);
	if (handles)
		dlsi_ctx_log(ctx, DLS_LOG_ERROR, "a context with %u live handles is not destroyed", handles);
	else
		end(ctx);
}

int dlsi_ctx_check(const struct dls_ctx *ctx, struct dls_error *err)
{
	if (!ctx)
		return dlsi_fail(err, DLS_EINVAL, "the context is NULL");
	if (!dlsi_process_is_this(&ctx->process))
		return dlsi_fail(err, DLS_EFORK,
			"the context was made by process %ld, which forked this one; make a new one here",
			(long)ctx->process.pid);
	return 0;
}

void dlsi_ctx_ref(struct dls_ctx *ctx)
{
	atomic_fetch_add(&ctx->handles, 1);
}

void dlsi_ctx_unref(struct dls_ctx *ctx)
{
	atomic_fetch_sub(&ctx->handles, 1);
}

int dlsi_ctx_executor(struct dls_ctx *ctx, struct dlsi_executor **executor_out, struct dls_error *err)
{
	int rc = 0;

	pthread_mutex_lock(&ctx->executor_mutex);
	if (!ctx->executor)
		rc = dlsi_executor_create(&ctx->alloc, "dls-executor", ctx->threads, &ctx->executor, err);
	if (rc == 0)
		*executor_out = ctx->executor;
	pthread_mutex_unlock(&ctx->executor_mutex);
	return rc;
}

int dlsi_ctx_device(struct dls_ctx *ctx, struct dlsi_device **device_out, struct dls_error *err)
{
	int rc = 0;

	pthread_mutex_lock(&ctx->executor_mutex);
	if (!ctx->device)
		rc = dlsi_device_create(&ctx->alloc, &dlsi_device_onednn, ctx->cache_dir, &ctx->device, err);
	if (rc == 0)
		*device_out = ctx->device;
	pthread_mutex_unlock(&ctx->executor_mutex);
	return rc;
}

void dlsi_ctx_log(struct dls_ctx *ctx, enum dls_log_level level, const char *format, ...)
{
	char line[DLSI_LOG_LINE_BYTES + 5]; /* and a character that is cut off whole */
	va_list arguments;

	if (level > ctx->log_level)
		return;
	va_start(arguments, format);
	vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	line[dlsi_utf8_cut(line, DLSI_LOG_LINE_BYTES)] = '\0';
	dlsi_log_write(ctx->log, level, line);
}
