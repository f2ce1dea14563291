/* Handlers that workers offer or specifications name, each once: whether a worker has one is asked without comparing
 * texts, and whether a device is free for it without asking them all. */
#include "core/master_state.h"

#include <string.h>

struct handler *dlsi_handler_ref(struct dlsi_master *master, struct dlsi_text name)
{
	struct dlsi_id key = dlsi_hash_key(name.data, name.length);
	struct handler *handler = dlsi_map_get(&master->handler_by_name, &key);

	if (handler) {
		handler->uses++;
		return handler;
	}
	handler = dlsi_calloc(master->alloc, 1, sizeof *handler);
	if (!handler)
		return NULL;
	handler->uses = 1;
	handler->name = dlsi_strndup(master->alloc, name.data, name.length);
	if (!handler->name || dlsi_map_put(&master->handler_by_name, &key, handler)) {
		dlsi_free(master->alloc, handler->name);
		dlsi_free(master->alloc, handler);
		return NULL;
	}
	return handler;
}

void dlsi_handler_unref(struct dlsi_master *master, struct handler *handler)
{
	struct dlsi_id key;

	if (!handler || --handler->uses)
		return;
	key = dlsi_hash_key(handler->name, strlen(handler->name));
	dlsi_map_remove(&master->handler_by_name, &key);
	dlsi_free(master->alloc, handler->name);
	dlsi_free(master->alloc, handler);
}

void dlsi_handler_count_free(const struct worker *worker, bool more)
{
	for (uint16_t i = 0; i < worker->handler_count; i++)
		worker->handlers[i]->free_devices += more ? 1 : -1U;
}
