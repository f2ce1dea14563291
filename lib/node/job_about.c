#include "node/job_about.h"

#include "base/json.h"
#include "base/limits.h"
#include "node/json_lists.h"
#include <string.h>

int dlsi_job_about_write(
	const struct dlsi_alloc *alloc, const struct dlsi_job_about *about, char **json_out, struct dls_error *err)
{
	cJSON *json = cJSON_CreateObject();
	bool good = json && (!about->name || cJSON_AddStringToObject(json, "name", about->name)) &&
		    dlsi_json_add_names(json, "tags", about->tags) &&
		    dlsi_json_add_names(json, "after", about->after) &&
		    (!about->after_when || cJSON_AddStringToObject(json, "after_when", about->after_when));
	bool empty = good && !json->child;
	char *text = good && !empty ? dlsi_json_print(alloc, json) : NULL;

	cJSON_Delete(json);
	if (!text && !empty)
		return dlsi_fail_memory(err);
	if (text && strlen(text) > DLSI_ABOUT_BYTES) {
		dlsi_free(alloc, text);
		return dlsi_fail(err, DLS_ELIMIT, "the name and the tags of the job take more than %d bytes as JSON",
			DLSI_ABOUT_BYTES);
	}
	*json_out = text;
	return 0;
}
