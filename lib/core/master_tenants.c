/* Tenants, and the queues of their jobs: one for each class that a tenant has jobs of. A tenant stays while it has jobs
 * or clients, and as long as a weight or a quota is set for it; then as long as nobody needs its place, for the sake of
 * what it has used (master_usage.c). */
#include "core/master_commands.h"
#include "core/master_places.h"

#include <string.h>

static void destroy(struct dlsi_master *master, struct tenant *tenant)
{
	struct dlsi_id key = dlsi_hash_key(tenant->name, strlen(tenant->name));

	dlsi_map_remove(&master->tenant_by_name, &key);
	dlsi_list_remove(&tenant->node);
	dlsi_list_remove(&tenant->idle);
	dlsi_kinds_unref(master, &tenant->quota);
	dlsi_free(master->alloc, tenant->name);
	dlsi_free(master->alloc, tenant);
}

void dlsi_tenants_forget_all(struct dlsi_master *master)
{
	dlsi_list_each (node, &master->tenants)
		destroy(master, dlsi_list_entry(node, struct tenant, node));
}

struct tenant *dlsi_tenant_ref(struct dlsi_master *master, struct dlsi_text name)
{
	struct dlsi_id key = dlsi_hash_key(name.data, name.length);
	struct tenant *tenant = dlsi_map_get(&master->tenant_by_name, &key);

	if (tenant) {
		dlsi_list_remove(&tenant->idle);
		tenant->uses++;
		return tenant;
	}
	if (master->tenant_by_name.count >= DLSI_TENANTS && !dlsi_list_empty(&master->idle_tenants))
		destroy(master, dlsi_list_entry(master->idle_tenants.next, struct tenant, idle));
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
	dlsi_list_init(&tenant->idle);
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
	if (!tenant || --tenant->uses)
		return;
	if (tenant->usage.jobs)
		dlsi_list_append(&master->idle_tenants, &tenant->idle);
	else
		destroy(master, tenant);
}

static struct tenant *tenant_of(const struct dlsi_policy_queue *queue)
{
	return dlsi_list_entry(queue->tenant, struct tenant, policy);
}

struct tenant *dlsi_job_tenant(const struct job *job)
{
	return tenant_of(job->policy.queue);
}

static struct dlsi_id key_of(const struct class *class, const struct tenant *tenant)
{
	return dlsi_map_key(class->number, tenant->policy.number);
}

static struct queue *create(struct dlsi_master *master, struct class *class, struct tenant *tenant)
{
	struct dlsi_id key = key_of(class, tenant);
	struct queue *queue = dlsi_calloc(master->alloc, 1, sizeof *queue);

	if (!queue || dlsi_heap_reserve(&class->policy.queues, class->queues + 1) ||
		dlsi_map_put(&master->queue_by_owners, &key, queue)) {
		dlsi_free(master->alloc, queue);
		return NULL;
	}
	queue->policy.tenant = &tenant->policy;
	queue->policy.class = &class->policy;
	dlsi_heap_init(&queue->policy.jobs, master->alloc);
	dlsi_list_init(&queue->policy.node);
	dlsi_list_init(&queue->policy.aside);
	queue->class = class;
	class->queues++;
	tenant->uses++;
	return queue;
}

struct queue *dlsi_queue_join(struct dlsi_master *master, struct class *class, struct tenant *tenant)
{
	struct dlsi_id key = key_of(class, tenant);
	struct queue *queue = dlsi_map_get(&master->queue_by_owners, &key);

	if (!queue)
		queue = create(master, class, tenant);
	if (!queue)
		return NULL;
	queue->jobs++;
	tenant->live_jobs++;
	if (dlsi_heap_reserve(&queue->policy.jobs, queue->jobs)) {
		dlsi_queue_leave(master, queue);
		return NULL;
	}
	return queue;
}

void dlsi_queue_leave(struct dlsi_master *master, struct queue *queue)
{
	struct tenant *tenant = tenant_of(&queue->policy);
	struct dlsi_id key = key_of(queue->class, tenant);

	tenant->live_jobs--;
	if (--queue->jobs)
		return;
	dlsi_map_remove(&master->queue_by_owners, &key);
	queue->class->queues--;
	dlsi_heap_fini(&queue->policy.jobs);
	dlsi_tenant_unref(master, tenant);
	dlsi_free(master->alloc, queue);
}

bool dlsi_tenant_may(const struct queue *queue)
{
	const struct tenant *tenant = tenant_of(&queue->policy);

	for (unsigned i = 0; tenant->kept && i < DLSI_RESOURCE_KINDS; i++)
		if (tenant->quota.amount[i] &&
			tenant->policy.used.amount[i] + queue->class->policy.demand.amount[i] > tenant->quota.amount[i])
			return false;
	return true;
}

/* What a tenant is told to be. */
struct settings {
	const char *name;
	double weight;
	struct dlsi_resources quota; /* with references to its kinds */
};

static int read_settings(struct request *request, struct settings *settings)
{
	struct dlsi_json_reader *reader = &request->reader;
	const cJSON *quota = dlsi_json_object(reader, "quota");

	settings->name = dlsi_json_text(reader, "name", NULL);
	settings->weight = dlsi_json_number(reader, "weight", 1);
	dlsi_json_require(reader, "name");
	if (reader->rc)
		return reader->rc;
	if (!(settings->weight >= 1.0 / DLSI_TENANT_WEIGHT && settings->weight <= DLSI_TENANT_WEIGHT))
		return dlsi_fail(request->err, DLS_EINVAL, "the weight of a tenant must be from %g to %d",
			1.0 / DLSI_TENANT_WEIGHT, DLSI_TENANT_WEIGHT);
	if (!*settings->name || strlen(settings->name) > DLSI_NAME_BYTES)
		return dlsi_fail(request->err, DLS_EINVAL, "the name of a tenant has 1 to %d bytes", DLSI_NAME_BYTES);
	return dlsi_kinds_read(request->master, "the tenant's quota", quota, &settings->quota, request->err);
}

/* A tenant that is as any other need not be kept. The references of the quota are handed over on success. Errors:
 * DLS_ELIMIT. */
static int set(
	struct dlsi_master *master, struct tenant *tenant, const struct settings *settings, struct dls_error *err)
{
	static const struct dlsi_resources none;
	bool is_bounded = !dlsi_resources_cover(&none, &settings->quota);
	bool was_kept = tenant->kept, is_kept = settings->weight != 1 || is_bounded;

	if (is_kept && !was_kept && master->kept_tenants >= DLSI_TENANTS_KEPT)
		return dlsi_fail(err, DLS_ELIMIT,
			"the master keeps the weights and quotas of %d tenants; set one that need not differ to weight "
			"1 and "
			"no quota",
			DLSI_TENANTS_KEPT);
	dlsi_kinds_unref(master, &tenant->quota);
	tenant->quota = settings->quota;
	tenant->policy.weight = settings->weight;
	tenant->policy.bounded = is_bounded;
	tenant->kept = is_kept;
	master->kept_tenants = master->kept_tenants - was_kept + is_kept;
	if (is_kept && !was_kept)
		tenant->uses++;
	else if (was_kept && !is_kept)
		dlsi_tenant_unref(master, tenant);
	return 0;
}

int dlsi_command_tenant(struct request *request)
{
	struct settings settings = {0};
	struct tenant *tenant = NULL;
	int rc = read_settings(request, &settings);

	if (rc == 0) {
		tenant = dlsi_tenant_ref(request->master, dlsi_text_of(settings.name));
		rc = tenant ? set(request->master, tenant, &settings, request->err)
			    : dlsi_fail(request->err, DLS_EBUSY, "the master has no room for another tenant");
	}
	if (rc)
		dlsi_kinds_unref(request->master, &settings.quota);
	else
		dlsi_tenant_describe(request->master, tenant, request->answer);
	dlsi_tenant_unref(request->master, tenant);
	return rc;
}
