/* The context: what the handles of a program share. One allocator, one log, one ZeroMQ context, one loop thread.
 *
 * Handles are counted; a context outlives all of them. After a fork the child has none of the threads: every call first
 * asks dlsi_ctx_check, and destroying leaves everything as it lies. Thread-safe. */
#ifndef DLSI_CTX_H
#define DLSI_CTX_H

#include "base/process.h"
#include "net/endpoint.h"
#include "node/executor.h"
#include "node/log.h"
#include "node/loop.h"
#include <dlsched/ctx.h>
#include <pthread.h>
#include <stdatomic.h>

struct dlsi_device;

struct dls_ctx {
	struct dlsi_alloc alloc;
	struct dlsi_process process; /* that made it */
	void *zmq;
	struct dlsi_loop *loop;
	char host[DLSI_HOST_TEXT_BYTES];
	atomic_uint handles;

	pthread_mutex_t planes_mutex;
	struct dlsi_list planes; /* node/plane.c */

	int threads;                    /* on which the executor has a model run */
	pthread_mutex_t executor_mutex; /* of the next two; NULL: nobody has asked for it */
	struct dlsi_executor *executor;
	struct dlsi_device *device;
	char *cache_dir; /* of the device; NULL: it keeps nothing */

	struct dlsi_log *log;
	enum dls_log_level log_level; /* 0: nothing is logged */
};

/* `options` are complete. Errors: as dls_ctx_create. */
int dlsi_ctx_create(const struct dls_ctx_options *options, struct dls_ctx **ctx_out, struct dls_error *err);
void dlsi_ctx_destroy(struct dls_ctx *ctx);

/* What every public call on a handle of this context asks first. Errors: DLS_EINVAL (NULL), DLS_EFORK. */
int dlsi_ctx_check(const struct dls_ctx *ctx, struct dls_error *err);

/* A handle was made or is gone. */
void dlsi_ctx_ref(struct dls_ctx *ctx);
void dlsi_ctx_unref(struct dls_ctx *ctx);

/* The executor on which the program's threads have models run; one, whatever their number. It is the context's.
 * Errors: as dlsi_executor_create. */
int dlsi_ctx_executor(struct dls_ctx *ctx, struct dlsi_executor **executor_out, struct dls_error *err);

/* The device of those models, which lasts as long as the context. Errors: as dlsi_device_create. */
int dlsi_ctx_device(struct dls_ctx *ctx, struct dlsi_device **device_out, struct dls_error *err);

/* A line for the operator; longer than DLSI_LOG_LINE_BYTES it is cut. Never waits, and costs nothing above the level
 * that is asked for. */
void dlsi_ctx_log(struct dls_ctx *ctx, enum dls_log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
