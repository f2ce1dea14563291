/* Tenants, and the queues of their jobs: one for each class that a tenant has jobs of. A tenant stays while it has jobs
 * or clients, and as long as a weight was set for it. */
#include "core/master_commands.h"
#include "core/master_places.h"

#include <string.h>

struct tenant *dlsi_tenant_ref(struct dlsi_master *master, struct dlsi_text name)
{
	struct dlsi_id key = dlsi_hash_key(name.data, name.length);
	struct tenant *tenant = dlsi_map_get(&master->tenant_by_name, &key);

	if (tenant) {
		tenant->uses++;
		return tenant;
	}
	if (master->tenant_by_name.count >= DLSI_TENANTS)
		return NULL;
	tenant = dlsi_calloc(master->alloc, 1, sizeof *tenant);
	if (!tenant)
		return NULL;
	tenant->uses = 1;
	tenant->policy.weight = 1;
	tenant->policy.number = master->next_number++;
	tenant->name = dlsi_strndup(master->alloc, name.data, name.length);
	tenant->policy.name = tenant->name;
	if (!tenant->name || dlsi_map_put(&master->tenant_by_name, &key, tenant)) {
		dlsi_free(master->alloc, tenant->name);
		dlsi_free(master->alloc, tenant);
		return NULL;
	}
	dlsi_list_append(&master->tenants, &tenant->node);
	return tenant;
}

void dlsi_tenant_unref(struct dlsi_master *master, struct tenant *tenant)
{
	struct dlsi_id key;

	if (!tenant || --tenant->uses)
		return;
	key = dlsi_hash_key(tenant->name, strlen(tenant->name));
	dlsi_map_remove(&master->tenant_by_name, &key);
	dlsi_list_remove(&tenant->node);
	dlsi_free(master->alloc, tenant->name);
	dlsi_free(master->alloc, tenant);
}

static struct tenant *tenant_of(const struct dlsi_policy_queue *queue)
{
	return dlsi_list_entry(queue->tenant, struct tenant, policy);
}

struct tenant *dlsi_job_tenant(const struct job *job)
{
	return tenant_of(job->policy.queue);
}

static struct queue *find(const struct class *class, const struct tenant *tenant)
{
	dlsi_list_each (node, &class->queues) {
		struct queue *queue = dlsi_list_entry(node, struct queue, node);

		if (queue->policy.tenant == &tenant->policy)
			return queue;
	}
	return NULL;
}

static struct queue *create(struct dlsi_master *master, struct class *class, struct tenant *tenant)
{
	struct queue *queue = dlsi_calloc(master->alloc, 1, sizeof *queue);

	if (!queue)
		return NULL;
	queue->policy.tenant = &tenant->policy;
	queue->policy.handler = class->handler->name;
	queue->policy.demand = class->demand;
	dlsi_heap_init(&queue->policy.jobs, master->alloc);
	dlsi_list_init(&queue->policy.node);
	queue->class = class;
	tenant->uses++;
	dlsi_list_append(&class->queues, &queue->node);
	return queue;
}

struct queue *dlsi_queue_join(struct dlsi_master *master, struct class *class, struct tenant *tenant)
{
	struct queue *queue = find(class, tenant);

	if (!queue)
		queue = create(master, class, tenant);
	if (!queue)
		return NULL;
	queue->jobs++;
	if (dlsi_heap_reserve(&queue->policy.jobs, queue->jobs)) {
		dlsi_queue_leave(master, queue);
		return NULL;
	}
	return queue;
}

void dlsi_queue_leave(struct dlsi_master *master, struct queue *queue)
{
	if (--queue->jobs)
		return;
	dlsi_list_remove(&queue->node);
	dlsi_heap_fini(&queue->policy.jobs);
	dlsi_tenant_unref(master, tenant_of(&queue->policy));
	dlsi_free(master->alloc, queue);
}

/* A weight of one need not be kept. Errors: DLS_ELIMIT. */
static int set_weight(struct dlsi_master *master, struct tenant *tenant, double weight, struct dls_error *err)
{
	bool was_kept = tenant->kept, is_kept = weight != 1;

	if (is_kept && !was_kept && master->kept_tenants >= DLSI_TENANTS_KEPT)
		return dlsi_fail(err, DLS_ELIMIT,
			"the master keeps the weights of %d tenants; give one that need not differ the weight 1 again",
			DLSI_TENANTS_KEPT);
	tenant->policy.weight = weight;
	tenant->kept = is_kept;
	master->kept_tenants = master->kept_tenants - was_kept + is_kept;
	if (is_kept && !was_kept)
		tenant->uses++;
	else if (was_kept && !is_kept)
		dlsi_tenant_unref(master, tenant);
	return 0;
}

static int read_weight(struct request *request, const char **name_out, double *weight_out)
{
	*name_out = dlsi_json_text(&request->reader, "name", NULL);
	*weight_out = dlsi_json_number(&request->reader, "weight", 0);
	dlsi_json_require(&request->reader, "name");
	dlsi_json_require(&request->reader, "weight");
	if (request->reader.rc)
		return request->reader.rc;
	if (!(*weight_out >= 1.0 / DLSI_TENANT_WEIGHT && *weight_out <= DLSI_TENANT_WEIGHT))
		return dlsi_fail(request->err, DLS_EINVAL, "the weight of a tenant must be from %g to %d",
			1.0 / DLSI_TENANT_WEIGHT, DLSI_TENANT_WEIGHT);
	if (!**name_out || strlen(*name_out) > DLSI_NAME_BYTES)
		return dlsi_fail(request->err, DLS_EINVAL, "the name of a tenant has 1 to %d bytes", DLSI_NAME_BYTES);
	return 0;
}

int dlsi_command_tenant(struct request *request)
{
	struct tenant *tenant;
	const char *name;
	double weight;
	int rc = read_weight(request, &name, &weight);

	if (rc)
		return rc;
	tenant = dlsi_tenant_ref(request->master, dlsi_text_of(name));
	if (!tenant)
		return dlsi_fail(request->err, DLS_EBUSY,
			"the master has no room for another tenant beside the %d that have clients or jobs now",
			DLSI_TENANTS);
	rc = set_weight(request->master, tenant, weight, request->err);
	if (rc == 0) {
		cJSON_AddStringToObject(request->answer, "tenant", tenant->name);
		cJSON_AddNumberToObject(request->answer, "weight", weight);
	}
	dlsi_tenant_unref(request->master, tenant);
	return rc;
}
