/* Payloads of all nodes: what each holds, and that nobody releases twice or names what he does not hold. */
#include "test/sim/sim.h"

#include <inttypes.h>
#include <stdlib.h>

struct sim_payload {
	const struct sim_node *owner;
	struct sim_content content;
};

struct dlsi_payload sim_payload_add(struct sim *sim, struct sim_node *owner, struct sim_content content)
{
	struct sim_payload *payload = sim_calloc(sizeof *payload);

	if (sim->payload_count == sim->payload_capacity) {
		sim->payload_capacity = sim->payload_capacity ? 2 * sim->payload_capacity : 1024;
		sim->payloads = realloc(sim->payloads, sim->payload_capacity * sizeof(struct sim_payload *));
	}
	*payload = (struct sim_payload){owner, content};
	sim->payloads[sim->payload_count++] = payload;
	owner->held++;
	return (struct dlsi_payload){sim->payload_count, content.bytes};
}

static struct sim_payload *find(struct sim *sim, const struct sim_node *owner, uint64_t handle)
{
	struct sim_payload *payload = handle && handle <= sim->payload_count ? sim->payloads[handle - 1] : NULL;

	if (!payload || payload->owner != owner)
		sim_fail(sim, "payload %" PRIu64 " is not held by who names it", handle);
	return payload;
}

const struct sim_content *sim_payload_get(struct sim *sim, const struct sim_node *owner, uint64_t handle)
{
	return &find(sim, owner, handle)->content;
}

void sim_payload_release(struct sim *sim, struct sim_node *owner, uint64_t handle)
{
	free(find(sim, owner, handle));
	sim->payloads[handle - 1] = NULL;
	owner->held--;
}

void sim_payload_drop_all(struct sim *sim, struct sim_node *owner)
{
	for (uint64_t i = 0; i < sim->payload_count; i++)
		if (sim->payloads[i] && sim->payloads[i]->owner == owner)
			sim_payload_release(sim, owner, i + 1);
}

bool sim_payload_offered(const struct sim *sim, const struct sim_node *owner, uint64_t attempt)
{
	for (uint64_t i = 0; i < sim->payload_count; i++)
		if (sim->payloads[i] && sim->payloads[i]->owner == owner &&
			sim->payloads[i]->content.attempt == attempt)
			return true;
	return false;
}
