/* Names of handlers as small numbers, so that a worker is asked "can you run this job" without comparing texts. Numbers
 * are never taken back: the table is bounded by what workers and specifications may name. */
#include "core/master_state.h"

#include <string.h>

#define HANDLERS 65536

uint32_t dlsi_master_handler(struct dlsi_master *master, struct dlsi_text name)
{
	struct handler *grown;
	char *copy;

	for (uint32_t i = 0; i < master->handler_count; i++)
		if (strlen(master->handlers[i].name) == name.length &&
			memcmp(master->handlers[i].name, name.data, name.length) == 0)
			return i;
	if (master->handler_count == HANDLERS)
		return UINT32_MAX;
	grown = dlsi_realloc(master->alloc, master->handlers, (master->handler_count + 1) * sizeof *grown);
	if (!grown)
		return UINT32_MAX;
	master->handlers = grown;
	copy = dlsi_strndup(master->alloc, name.data, name.length);
	if (!copy)
		return UINT32_MAX;
	master->handlers[master->handler_count] = (struct handler){.name = copy};
	return master->handler_count++;
}

void dlsi_master_count_worker(struct dlsi_master *master, const struct worker *worker, bool present)
{
	for (uint16_t i = 0; i < worker->handler_count; i++) {
		struct handler *handler = &master->handlers[worker->handlers[i]];

		handler->workers += present ? 1 : -1U;
		handler->devices += present ? worker->device_count : -(uint32_t)worker->device_count;
	}
}
