#include "node/json_lists.h"

bool dlsi_json_add_names(cJSON *json, const char *member, const char *const *names)
{
	cJSON *list = names && *names ? cJSON_AddArrayToObject(json, member) : NULL;

	if (!names || !*names)
		return true;
	for (; list && *names; names++)
		if (!cJSON_AddItemToArray(list, cJSON_CreateString(*names)))
			return false;
	return list != NULL;
}

bool dlsi_json_add_resources(cJSON *json, const char *member, const struct dls_resource *resources)
{
	cJSON *object = resources && resources->name ? cJSON_AddObjectToObject(json, member) : NULL;

	if (!resources || !resources->name)
		return true;
	for (; object && resources->name; resources++)
		if (!cJSON_AddNumberToObject(object, resources->name, resources->amount))
			return false;
	return object != NULL;
}
