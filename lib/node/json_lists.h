/* Lists of options as members of JSON; an empty or missing list is no member. False: memory is exhausted. */
#ifndef DLSI_JSON_LISTS_H
#define DLSI_JSON_LISTS_H

#include <cjson/cJSON.h>
#include <dlsched/resource.h>
#include <stdbool.h>

bool dlsi_json_add_names(cJSON *json, const char *member, const char *const *names);
bool dlsi_json_add_resources(cJSON *json, const char *member, const struct dls_resource *resources);

#endif
