/* The context: the threads, the memory and the log of everything a program does with the library. There are no globals;
 * a program may have several contexts, which know nothing of each other. */
#ifndef DLSCHED_CTX_H
#define DLSCHED_CTX_H

#include <dlsched/error.h>
#include <dlsched/sized.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dls_ctx;

enum dls_log_level { DLS_LOG_ERROR = 1, DLS_LOG_WARNING = 2, DLS_LOG_INFO = 3, DLS_LOG_DEBUG = 4 };

struct dls_ctx_options {
	size_t size;

	/* One line without a newline, and when it was made (nanoseconds since 1970, UTC). Called from a thread that
	 * does nothing else, so it may block, and call the library but for dls_ctx_destroy of this context. Lines that
	 * come meanwhile wait, 256 KB of them; those beyond are lost, and the next one is preceded by a line that says
	 * how many. NULL: nothing is logged. */
	void (*log)(void *log_arg, enum dls_log_level level, int64_t time_ns, const char *line);
	void *log_arg;
	enum dls_log_level log_level; /* lines above it are not made; 0: DLS_LOG_WARNING */

	/* realloc's contract, but size 0 frees and returns NULL; called from any thread. NULL: the C library's. */
	void *(*resize)(void *resize_arg, void *old, size_t size);
	void *resize_arg;

	/* On how many threads at most dls_model_run computes, whichever thread calls it. 0: as many as OMP_NUM_THREADS
	 * says, else dls_processors(). They wait for each other actively, for milliseconds: where other programs need
	 * the processors too, start yours with GOMP_SPINCOUNT=1000 in the environment, as dls-worker does for itself;
	 * OpenMP reads it while it is being loaded, so a library cannot. */
	uint32_t threads;

	/* The folder that keeps which kernels dls_model_run measured to be the fastest, for the next process; made when
	 * it is missing. NULL: $XDG_CACHE_HOME/dlsched or ~/.cache/dlsched. Empty: nothing is kept. */
	const char *cache_dir;
};

#define DLS_CTX_OPTIONS_INIT DLS_SIZED(struct dls_ctx_options)

/* `options` may be NULL. Errors: DLS_ENOMEM, DLS_EINVAL, DLS_EIO (no threads, descriptors or randomness left). */
int dls_ctx_create(const struct dls_ctx_options *options, struct dls_ctx **ctx_out, struct dls_error *err);

/* All handles made on it must have been destroyed. Waits for its threads, but for `log` no longer than a second: if
 * that has not returned by then, its thread is left in it for good, and what it uses must stay. NULL is allowed. */
void dls_ctx_destroy(struct dls_ctx *ctx);

/* Frees memory that a call on a handle of this context handed out "to be freed with dls_free". NULL is allowed. */
void dls_free(struct dls_ctx *ctx, void *memory);

#ifdef __cplusplus
}
#endif
#endif
