/* What tenants use and have used. It is counted as long as the master runs; a tenant without jobs and clients, for
 * which nothing is set, is remembered until another needs its place: DLSI_TENANTS are known, and of those that nobody
 * uses the one that was used longest ago is forgotten first. */
#include "core/master_commands.h"
#include "core/master_places.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct usage *of(const struct job *job)
{
	return &dlsi_job_tenant(job)->usage;
}

void dlsi_usage_job(const struct job *job)
{
	uint64_t blob_bytes = dlsi_job_extras(job)->manifest_blob.length;

	of(job)->jobs++;
	of(job)->input_bytes += blob_bytes ? blob_bytes : job->manifest_bytes;
}

void dlsi_usage_result(const struct job *job, const struct dlsi_result *result)
{
	of(job)->device_ns += result->elapsed_ns;
	of(job)->result_bytes += result->bytes;
}

void dlsi_usage_items(const struct job *job, uint64_t items, uint64_t failed_items)
{
	of(job)->items += items;
	of(job)->failed_items += failed_items;
}

static void add_amounts(
	const struct dlsi_master *master, cJSON *json, const char *name, const struct dlsi_resources *amounts)
{
	cJSON *object = cJSON_AddObjectToObject(json, name);

	for (unsigned i = 0; i < DLSI_RESOURCE_KINDS; i++)
		if (amounts->amount[i])
			cJSON_AddNumberToObject(
				object, dlsi_kind_name(master, i), (double)amounts->amount[i] / DLSI_RESOURCE_UNIT);
}

void dlsi_tenant_describe(const struct dlsi_master *master, const struct tenant *tenant, cJSON *json)
{
	const struct usage *usage = &tenant->usage;

	cJSON_AddStringToObject(json, "tenant", tenant->name);
	cJSON_AddNumberToObject(json, "weight", tenant->policy.weight);
	add_amounts(master, json, "quota", &tenant->quota);
	add_amounts(master, json, "holds", &tenant->policy.used);
	cJSON_AddNumberToObject(json, "live_jobs", (double)tenant->live_jobs);
	cJSON_AddNumberToObject(json, "jobs", (double)usage->jobs);
	cJSON_AddNumberToObject(json, "items", (double)usage->items);
	cJSON_AddNumberToObject(json, "failed", (double)usage->failed_items);
	cJSON_AddNumberToObject(json, "device_seconds", (double)(usage->device_ns / 1000) / 1e6);
	cJSON_AddNumberToObject(json, "input_bytes", (double)usage->input_bytes);
	cJSON_AddNumberToObject(json, "result_bytes", (double)usage->result_bytes);
}

static size_t texts_of(const struct dlsi_master *master, const struct tenant *tenant)
{
	size_t bytes = strlen(tenant->name);

	for (unsigned i = 0; i < DLSI_RESOURCE_KINDS; i++)
		if (tenant->quota.amount[i] | tenant->policy.used.amount[i])
			bytes += 2 * strlen(dlsi_kind_name(master, i)) + 8;
	return bytes;
}

/* One tenant, or a page of those whose number is above `after`. */
static void list(struct request *request, const char *name, uint64_t after)
{
	const struct dlsi_master *master = request->master;
	cJSON *tenants = cJSON_AddArrayToObject(request->answer, "tenants"), *entry;
	unsigned limit = dlsi_request_limit(request);
	char next[24];

	dlsi_list_each (node, &master->tenants) {
		const struct tenant *tenant = dlsi_list_entry(node, struct tenant, node);

		if (tenant->policy.number <= after || (name && strcmp(tenant->name, name) != 0))
			continue;
		if (!limit-- || !dlsi_request_has_room(request, texts_of(master, tenant))) {
			snprintf(next, sizeof next, "%" PRIu64, after);
			cJSON_AddStringToObject(request->answer, "next", next);
			break;
		}
		entry = cJSON_CreateObject();
		dlsi_tenant_describe(master, tenant, entry);
		cJSON_AddItemToArray(tenants, entry);
		after = tenant->policy.number;
	}
}

int dlsi_command_tenants(struct request *request)
{
	const char *name = dlsi_json_text(&request->reader, "name", NULL);
	int64_t after = dlsi_json_integer(&request->reader, "after", 0, 0, INT64_MAX);

	if (request->reader.rc)
		return request->reader.rc;
	list(request, name, (uint64_t)after);
	if (name && !cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(request->answer, "tenants")))
		return dlsi_fail(request->err, DLS_ENOTFOUND,
			"the master knows no tenant \"%.255s\"; of those that have no jobs it remembers as many as "
			"there "
			"is room for",
			name);
	return request->reader.rc;
}
