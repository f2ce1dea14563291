#include "policy/plugin.h"

#include "base/json.h"
#include "policy/batch.h"
#include <string.h>

enum { NAME_BYTES = 32 };

struct policy {
	struct dlsi_batch batch; /* first: the table has its functions */
	const struct dls_policy_ops *table;
	void *policy; /* the plug-in's */
};

/* What the plug-in says of its failure, or else what its code means. */
static int fail(const struct dls_policy_ops *table, int code, const struct dls_error *said, struct dls_error *err)
{
	return dlsi_fail(err, code, "the plug-in %s: %.*s", table->name, (int)sizeof said->text,
		*said->text ? said->text : dls_error_meaning(code));
}

static int ask(void *arg, const struct dls_policy_view *view, struct dls_policy_choice *choices, size_t limit,
	struct dls_error *err)
{
	const struct policy *policy = arg;
	struct dls_error said = {0};
	int count = policy->table->choose(policy->policy, view, choices, limit, &said);

	if (count < 0)
		return fail(policy->table, count, &said, err);
	if ((size_t)count > limit)
		return dlsi_fail(err, DLS_EINVAL,
			"the plug-in %s says that it made %d choices where there is room for %zu", policy->table->name,
			count, limit);
	return count;
}

static void destroy(void *arg)
{
	struct policy *policy = arg;

	policy->table->destroy(policy->policy);
	dlsi_free(policy->batch.ordered.alloc, policy);
}

static int begin(struct policy *policy, const char *params, struct dls_error *err)
{
	struct dls_error said = {0};
	int rc = policy->table->create(params, &policy->policy, &said);

	return rc ? fail(policy->table, rc < 0 ? rc : DLS_EINVAL, &said, err) : 0;
}

static int start(struct policy *policy, const cJSON *params, struct dls_error *err)
{
	char *text = dlsi_json_print(policy->batch.ordered.alloc, params);
	int rc = text ? begin(policy, text, err) : dlsi_fail_memory(err);

	dlsi_free(policy->batch.ordered.alloc, text);
	return rc;
}

static int create(const struct dlsi_policy_ops *ops, const struct dlsi_alloc *alloc, const cJSON *params,
	void **policy_out, struct dls_error *err)
{
	struct policy *policy = dlsi_calloc(alloc, 1, sizeof *policy);
	int rc;

	if (!policy)
		return dlsi_fail_memory(err);
	policy->table = &((const struct dlsi_policy_plugin *)ops)->table;
	dlsi_batch_init(&policy->batch, alloc, ask);
	rc = start(policy, params, err);
	if (rc) {
		dlsi_free(alloc, policy);
		return rc;
	}
	rc = dlsi_batch_try(&policy->batch, err);
	if (rc)
		destroy(policy);
	else
		*policy_out = policy;
	return rc;
}

static bool is_name(const char *name)
{
	size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-");

	return length && length <= NAME_BYTES && !name[length];
}

static int check(const struct dls_policy_ops *table, struct dls_error *err)
{
	if (table->abi != DLS_POLICY_ABI || table->size < sizeof *table)
		return dlsi_fail(err, DLS_EVERSION,
			"it was made for policies of ABI %u and %u bytes, and this release has ABI %d and %zu bytes; "
			"compile it "
			"anew",
			table->abi, table->size, DLS_POLICY_ABI, sizeof *table);
	if (!table->name || !is_name(table->name))
		return dlsi_fail(
			err, DLS_EINVAL, "the name of its policy must be 1 to %d of a-z, 0-9, - and _", NAME_BYTES);
	if (!table->create || !table->destroy || !table->choose)
		return dlsi_fail(err, DLS_EINVAL, "its policy %s must have create, destroy and choose", table->name);
	return 0;
}

int dlsi_policy_plugin_init(
	struct dlsi_policy_plugin *plugin, const struct dls_policy_ops *table, struct dls_error *err)
{
	int rc = check(table, err);

	if (rc)
		return rc;
	plugin->table = *table;
	plugin->ops = (struct dlsi_policy_ops){
		.abi = DLSI_POLICY_ABI,
		.size = sizeof(struct dlsi_policy_ops),
		.name = table->name,
		.create = create,
		.destroy = destroy,
		.ready = dlsi_ordered_ready_by_priority,
		.idle = dlsi_ordered_idle,
		.choose = dlsi_batch_choose,
		.excuse = dlsi_batch_excuse,
	};
	return 0;
}
