/* The policy that decides, and putting another in its place while jobs run: the next decision is the new one's, and
 * nothing else changes. */
#include "core/master_commands.h"

static int check(const struct dlsi_policy_ops *ops, struct dls_error *err)
{
	if (ops->abi != DLSI_POLICY_ABI || ops->size < sizeof *ops || !ops->create || !ops->destroy || !ops->ready ||
		!ops->idle || !ops->choose)
		return dlsi_fail(err, DLS_EINVAL, "the policy %s was made for another release", ops->name);
	return 0;
}

/* Ready jobs leave the old policy and enter the new one in the order in which they came. */
static void move_jobs(struct dlsi_master *master, const struct dlsi_policy_ops *ops, void *policy)
{
	dlsi_list_each (node, &master->jobs) {
		struct job *job = dlsi_list_entry(node, struct job, node);

		if (job->offered)
			master->policy_ops->idle(master->policy, &job->policy);
	}
	dlsi_list_each (node, &master->jobs) {
		struct job *job = dlsi_list_entry(node, struct job, node);

		if (job->offered)
			ops->ready(policy, &job->policy);
	}
}

int dlsi_master_use_policy(
	struct dlsi_master *master, const struct dlsi_policy_ops *ops, const cJSON *params, struct dls_error *err)
{
	cJSON *none = params ? NULL : cJSON_CreateObject();
	void *policy;
	int rc = check(ops, err);

	if (rc == 0)
		rc = params || none ? ops->create(master->alloc, params ? params : none, &policy, err)
				    : dlsi_fail_memory(err);
	cJSON_Delete(none);
	if (rc)
		return rc;
	if (master->policy) {
		move_jobs(master, ops, policy);
		master->policy_ops->destroy(master->policy);
	}
	master->policy_ops = ops;
	master->policy = policy;
	return 0;
}

int dlsi_command_policy(struct request *request)
{
	struct dlsi_master *master = request->master;
	const char *name = dlsi_json_text(&request->reader, "name", NULL);
	const cJSON *params = dlsi_json_object(&request->reader, "params");
	const struct dlsi_policy_ops *ops = master->policy_ops;
	int rc = request->reader.rc;

	if (rc == 0 && params && !name)
		rc = dlsi_fail(request->err, DLS_EINVAL, "parameters are of a policy: name it, with them");
	if (rc == 0 && name)
		rc = master->config.find_policy(name, &ops, request->err);
	if (rc == 0 && name)
		rc = dlsi_master_use_policy(master, ops, params, request->err);
	if (rc == 0)
		cJSON_AddStringToObject(request->answer, "policy", master->policy_ops->name);
	return rc;
}
