/* The policy that decides, and putting another in its place while jobs run: the next decision is the new one's, and
 * nothing else changes. The one before it is kept, without jobs, so that it can decide again at once if the new one
 * fails; behind it there is the master's first, which stays for good. */
#include "core/master_commands.h"
#include "core/master_places.h"

#include <stdio.h>

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

/* The last one stays. */
static void drop(struct dlsi_master *master, struct replacement replacement)
{
	if (replacement.ops && replacement.policy != master->last.policy)
		replacement.ops->destroy(replacement.policy);
}

/* The one that decided becomes the one to come back to. */
static void retire(struct dlsi_master *master, const struct dlsi_policy_ops *ops, void *policy)
{
	move_jobs(master, ops, policy);
	drop(master, master->previous);
	master->previous = (struct replacement){master->policy_ops, master->policy};
}

/* NULL: memory is exhausted. */
static char *describe_failure(
	const struct dlsi_master *master, const struct dlsi_policy_ops *next, const char *sentence)
{
	char text[DLS_ERROR_TEXT_BYTES];

	snprintf(text, sizeof text, "the policy %s has failed, %s decides: %s", master->policy_ops->name, next->name,
		sentence);
	return dlsi_strdup(master->alloc, text);
}

int dlsi_master_use_policy(
	struct dlsi_master *master, const struct dlsi_policy_ops *ops, const cJSON *params, struct dls_error *err)
{
	cJSON *none = params ? NULL : cJSON_CreateObject();
	void *policy;
	int rc = check(ops, err);

	if (rc == 0)
		rc = params || none ? ops->create(ops, master->alloc, params ? params : none, &policy, err)
				    : dlsi_fail_memory(err);
	cJSON_Delete(none);
	if (rc)
		return rc;
	if (master->policy)
		retire(master, ops, policy);
	else
		master->last = (struct replacement){ops, policy};
	master->policy_ops = ops;
	master->policy = policy;
	dlsi_free(master->alloc, master->policy_failure);
	master->policy_failure = NULL;
	return 0;
}

bool dlsi_master_drop_policy(struct dlsi_master *master, const char *sentence)
{
	struct replacement next = master->previous.ops ? master->previous : master->last;
	struct replacement failed = {master->policy_ops, master->policy};

	dlsi_free(master->alloc, master->policy_failure);
	master->policy_failure = describe_failure(master, next.ops, sentence);
	dlsi_effects_log(master->effects, DLS_LOG_ERROR, "%s",
		master->policy_failure ? master->policy_failure : "a policy has failed");
	if (next.policy == failed.policy)
		return false;
	move_jobs(master, next.ops, next.policy);
	master->policy_ops = next.ops;
	master->policy = next.policy;
	master->previous = (struct replacement){0};
	drop(master, failed);
	return true;
}

void dlsi_master_end_policies(struct dlsi_master *master)
{
	drop(master, (struct replacement){master->policy_ops, master->policy});
	drop(master, master->previous);
	if (master->last.ops)
		master->last.ops->destroy(master->last.policy);
	dlsi_free(master->alloc, master->policy_failure);
}

int dlsi_command_policy(struct request *request)
{
	struct dlsi_master *master = request->master;
	const char *name = dlsi_json_text(&request->reader, "name", NULL);
	const cJSON *params = dlsi_json_object(&request->reader, "params");
	const struct dlsi_policy_ops *ops = master->policy_ops;
	int rc = request->reader.rc;
	cJSON *names;

	if (rc == 0 && params && !name)
		rc = dlsi_fail(request->err, DLS_EINVAL, "parameters are of a policy: name it, with them");
	if (rc == 0 && name)
		rc = dlsi_policy_find(master->config.policies, name, &ops, request->err);
	if (rc == 0 && name)
		rc = dlsi_master_use_policy(master, ops, params, request->err);
	if (rc)
		return rc;
	cJSON_AddStringToObject(request->answer, "policy", master->policy_ops->name);
	names = cJSON_AddArrayToObject(request->answer, "policies");
	for (size_t i = 0; master->config.policies[i]; i++)
		cJSON_AddItemToArray(names, cJSON_CreateString(master->config.policies[i]->name));
	return 0;
}
