/* A function that a client calls: tasks of one item, each with a handle, that travel together.
 *
 * A bundle of calls is a job. Calls are added to the one that is open; it is submitted when the loop comes by, which
 * the first call of a bundle asks for, or when it is full. So a call leaves at once while the loop is idle, and calls
 * gather while it is busy. A bundle lives as long as a call of it, or until it is submitted. */
#ifndef DLSI_FUNCTION_H
#define DLSI_FUNCTION_H

#include "client/job.h"
#include <dlsched/call.h>

/* `options` are complete. Errors: as dls_function_create. */
int dlsi_node_function_create(struct dls_client *client, const struct dls_job_options *options,
	struct dls_function **function_out, struct dls_error *err);
void dlsi_node_function_destroy(struct dls_function *function);

/* Errors: DLS_EINVAL (NULL), DLS_EFORK. */
int dlsi_node_function_check(const struct dls_function *function, struct dls_error *err);
int dlsi_node_call_check(const struct dls_call *call, struct dls_error *err);

int dlsi_node_function_call(struct dls_function *function, const struct dls_tensor *tensors, uint32_t count,
	struct dls_call **call_out, struct dls_error *err);
int dlsi_node_call_result(struct dls_call *call, int timeout_ms, struct dls_result **result_out, struct dls_error *err);
void dlsi_node_call_destroy(struct dls_call *call);

#endif
