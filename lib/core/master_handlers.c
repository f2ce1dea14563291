/* Names of handlers as small numbers, so that a worker is asked "can you run this job" without comparing texts. Numbers
 * are never taken back: the table is bounded by what workers and specifications may name. */
#include "core/master_state.h"

#include <string.h>

#define HANDLERS 65536

uint32_t dlsi_master_handler(struct dlsi_master *master, struct dlsi_text name)
{
	char **grown, *copy;

	for (uint32_t i = 0; i < master->handler_count; i++)
		if (strlen(master->handlers[i]) == name.length &&
			memcmp(master->handlers[i], name.data, name.length) == 0)
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
	master->handlers[master->handler_count] = copy;
	return master->handler_count++;
}
