/* Calls: many small tasks, each with a handle of its own.
 *
 *	dls_function_create(client, &options, &function, &err);
 *	dls_function_call(function, &tensor, 1, &call, &err);
 *	dls_call_result(call, -1, &result, &err); ...; dls_result_destroy(result);
 *	dls_call_destroy(call);
 *	dls_function_destroy(function);
 *
 * A call is an item whose result can be waited for by itself, where a job gives its results in order. Calls of one
 * function that come while the library is busy with earlier ones travel together, as the items of one job; one that
 *comes alone leaves at once. So a call says nothing that the others of its function do not say too; whoever wants a
 *priority or a key for each makes jobs. The jobs are shown by the master as any others. */
#ifndef DLSCHED_CALL_H
#define DLSCHED_CALL_H

#include <dlsched/job.h>

#ifdef __cplusplus
extern "C" {
#endif

struct dls_function;
struct dls_call;

/* What is called: the options are those of a job of which `key` and `notify` are not set. Errors: as dls_job_create. */
int dls_function_create(struct dls_client *client, const struct dls_job_options *options,
	struct dls_function **function_out, struct dls_error *err);

/* Its calls live on and must be destroyed too, before or afterwards. NULL is allowed. */
void dls_function_destroy(struct dls_function *function);

/* Begins a call and does not wait. The tensors are taken as by dls_job_add_tensors. Errors: DLS_EINVAL (of a tensor),
 * DLS_ELIMIT, DLS_ENOMEM. What the master has against it shows in dls_call_result. */
int dls_function_call(struct dls_function *function, const struct dls_tensor *tensors, uint32_t count,
	struct dls_call **call_out, struct dls_error *err);

/* Waits at most timeout_ms for its result (0: not at all, below 0: for ever). Returns 0 with *result_out, also if the
 * item failed, or an error: DLS_ETIMEOUT (it is not here yet), or that with which the master refused or ended the job.
 * The result belongs to the caller; a second call of this function makes another one. The result's `item` is the place
 * among those that travelled together. Results that have come stay in memory, without a limit, until their calls are
 * destroyed: it is the program that says how many calls there are at once. */
int dls_call_result(struct dls_call *call, int timeout_ms, struct dls_result **result_out, struct dls_error *err);

/* If the result is not here yet nobody wants it: the call may still be run. NULL is allowed. */
void dls_call_destroy(struct dls_call *call);

#ifdef __cplusplus
}
#endif
#endif
