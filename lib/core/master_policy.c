/* The policy that decides, and putting another in its place while jobs run: the next decision is the new one's, and
 * nothing else changes. Nothing is decided while jobs leave the one and enter the other, which takes more than one turn
 * where there are many. The one before it is kept, without jobs, so that it can decide again at once if the new one
 * fails; behind it there is the master's first, which stays for good. */
#include "core/master_commands.h"
#include "core/master_places.h"

#include <stdio.h>

static int check(const struct dlsi_policy_ops *ops, struct dls_error *err)
{
	if (ops->abi != DLSI_POLICY_ABI || ops->size < sizeof *ops || !ops->create || !ops->destroy || !ops->ready ||
		!ops->idle || !ops->choose || !ops->urgent != !ops->outranks)
		return dlsi_fail(err, DLS_EINVAL, "the policy %s was made for another release", ops->name);
	return 0;
}

/* The last one stays. */
static void drop(struct dlsi_master *master, struct replacement replacement)
{
	if (replacement.ops && replacement.policy != master->last.policy)
		replacement.ops->destroy(replacement.policy);
}

/* From now on jobs leave the policy that decided. It is kept to come back to, unless it has failed. */
static void begin_exchange(struct dlsi_master *master, struct replacement next, bool failed)
{
	master->exchange = (struct exchange){.from = {master->policy_ops, master->policy},
		.failed = failed,
		.next = master->jobs.next,
		.leaving = true};
	master->policy_ops = next.ops;
	master->policy = next.policy;
}

static void end_leaving(struct dlsi_master *master)
{
	struct exchange *exchange = &master->exchange;

	drop(master, exchange->failed ? exchange->from : master->previous);
	master->previous = exchange->failed ? (struct replacement){0} : exchange->from;
	exchange->leaving = false;
	exchange->next = master->jobs.next;
}

bool dlsi_master_exchange(struct dlsi_master *master)
{
	struct exchange *exchange = &master->exchange;

	for (unsigned i = 0; exchange->next && i < DLSI_JOBS_PER_TURN; i++) {
		struct job *job = dlsi_list_entry(exchange->next, struct job, node);

		if (exchange->next == &master->jobs && exchange->leaving) {
			end_leaving(master);
			continue;
		}
		if (exchange->next == &master->jobs) {
			exchange->next = NULL;
			break;
		}
		exchange->next = exchange->next->next;
		if (exchange->leaving)
			dlsi_job_withdraw(master, job);
		else
			dlsi_job_refresh(master, job);
	}
	return !exchange->next;
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

	if (rc == 0 && master->exchange.next)
		rc = dlsi_fail(err, DLS_EBUSY,
			"the master's jobs are still on their way from the policy before to %s; ask again",
			master->policy_ops->name);
	if (rc == 0)
		rc = params || none ? ops->create(ops, master->alloc, params ? params : none, &policy, err)
				    : dlsi_fail_memory(err);
	cJSON_Delete(none);
	if (rc)
		return rc;
	if (master->policy) {
		begin_exchange(master, (struct replacement){ops, policy}, false);
	} else {
		master->last = (struct replacement){ops, policy};
		master->policy_ops = ops;
		master->policy = policy;
	}
	dlsi_free(master->alloc, master->policy_failure);
	master->policy_failure = NULL;
	return 0;
}

bool dlsi_master_drop_policy(struct dlsi_master *master, const char *sentence)
{
	struct replacement next = master->previous.ops ? master->previous : master->last;

	dlsi_free(master->alloc, master->policy_failure);
	master->policy_failure = describe_failure(master, next.ops, sentence);
	dlsi_effects_log(master->effects, DLS_LOG_ERROR, "%s",
		master->policy_failure ? master->policy_failure : "a policy has failed");
	if (next.policy == master->policy)
		return false;
	begin_exchange(master, next, true);
	return true;
}

void dlsi_master_end_policies(struct dlsi_master *master)
{
	if (master->exchange.next && master->exchange.leaving)
		end_leaving(master);
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
