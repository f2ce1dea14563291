/* The log of a context: lines wait in a ring for a thread of their own, which gives them to the program one by one.
 *
 * So whoever writes a line, the loop above all, never waits for what becomes of it: a standard error that nobody reads
 * stops this one thread. Memory is bounded (DLSI_LOG_BYTES). What finds the ring full is lost and counted, and so is
 * what follows until half of the ring is free, so that a slow reader gets long stretches whole instead of every other
 * line; the next line that gets through is preceded by one that says how many are missing. Thread-safe. */
#ifndef DLSI_LOG_H
#define DLSI_LOG_H

#include "base/error.h"
#include <dlsched/ctx.h>

struct dlsi_log;

/* `options` name the function; it is there. Errors: DLS_ENOMEM, DLS_EIO (no thread). */
int dlsi_log_create(const struct dls_ctx_options *options, struct dlsi_log **log_out, struct dls_error *err);

/* Waits until all lines are with the program, but for DLSI_LOG_FLUSH_MS at most: a function that has not returned by
 * then is left alone with its thread, which touches nothing of the program once it comes back. NULL is allowed. */
void dlsi_log_destroy(struct dlsi_log *log);

/* Never waits. The line is at most DLSI_LOG_LINE_BYTES long. */
void dlsi_log_write(struct dlsi_log *log, enum dls_log_level level, const char *line);

#endif
