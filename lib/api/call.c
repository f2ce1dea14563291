#include "client/function.h"

#include "api/job.h"
#include "base/export.h"
#include "base/tensor.h"

DLS_EXPORT int dls_function_create(struct dls_client *client, const struct dls_job_options *options,
	struct dls_function **function_out, struct dls_error *err)
{
	struct dls_job_options known;
	int rc = dlsi_job_options_read(client, options, &known, err);

	if (rc)
		return rc;
	if (known.key || known.notify || known.deadline_ms || known.after)
		return dlsi_fail(err, DLS_EINVAL, "a function has no key, notify, deadline or after; jobs have");
	if (!function_out)
		return dlsi_fail(err, DLS_EINVAL, "function_out is NULL");
	return dlsi_node_function_create(client, &known, function_out, err);
}

DLS_EXPORT void dls_function_destroy(struct dls_function *function)
{
	dlsi_node_function_destroy(function);
}

DLS_EXPORT int dls_function_call(struct dls_function *function, const struct dls_tensor *tensors, uint32_t count,
	struct dls_call **call_out, struct dls_error *err)
{
	int rc = dlsi_node_function_check(function, err);

	if (rc == 0 && !call_out)
		rc = dlsi_fail(err, DLS_EINVAL, "call_out is NULL");
	if (rc == 0)
		return dlsi_node_function_call(function, tensors, count, call_out, err);
	dlsi_tensors_release(tensors, count);
	return rc;
}

DLS_EXPORT int dls_call_result(
	struct dls_call *call, int timeout_ms, struct dls_result **result_out, struct dls_error *err)
{
	int rc = dlsi_node_call_check(call, err);

	if (rc == 0 && !result_out)
		rc = dlsi_fail(err, DLS_EINVAL, "result_out is NULL");
	return rc ? rc : dlsi_node_call_result(call, timeout_ms, result_out, err);
}

DLS_EXPORT void dls_call_destroy(struct dls_call *call)
{
	if (dlsi_node_call_check(call, NULL) == 0)
		dlsi_node_call_destroy(call);
}
