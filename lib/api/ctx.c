#include "node/ctx.h"
#include "api/options.h"
#include "base/export.h"
#include "base/limits.h"
#include <inttypes.h>

DLS_EXPORT int dls_ctx_create(const struct dls_ctx_options *options, struct dls_ctx **ctx_out, struct dls_error *err)
{
	struct dls_ctx_options known;
	int rc = dlsi_options_read("dls_ctx_options", options, sizeof known, &known, err);

	if (rc)
		return rc;
	if (!ctx_out)
		return dlsi_fail(err, DLS_EINVAL, "ctx_out is NULL");
	if ((int)known.log_level < 0 || known.log_level > DLS_LOG_DEBUG)
		return dlsi_fail(err, DLS_EINVAL, "%d is no log level; DLS_LOG_ERROR to DLS_LOG_DEBUG are",
			(int)known.log_level);
	if (known.threads > DLSI_THREADS)
		return dlsi_fail(err, DLS_EINVAL, "%" PRIu32 " threads; a model may run on from 1 to %d", known.threads,
			DLSI_THREADS);
	return dlsi_ctx_create(&known, ctx_out, err);
}

DLS_EXPORT void dls_ctx_destroy(struct dls_ctx *ctx)
{
	dlsi_ctx_destroy(ctx);
}

DLS_EXPORT void dls_free(struct dls_ctx *ctx, void *memory)
{
	if (ctx)
		dlsi_free(&ctx->alloc, memory);
}
