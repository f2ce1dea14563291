/* The worker's state machine: registers with a master, keeps the tasks it was given and the results nobody has taken
 * yet.
 *
 * A task is executing (the driver has it) or finished (its result waits for TAKEN). After a lost connection it
 * registers again and presents both, so that nothing is done twice. A master of another cluster knows nothing of them:
 * all is dropped. */
#ifndef DLSI_AGENT_H
#define DLSI_AGENT_H

#include "core/event.h"

struct dlsi_agent;

struct dlsi_agent_device {
	const char *name;
	uint16_t credits;
	uint32_t cores;
	uint64_t memory_bytes;
};

struct dlsi_agent_resource {
	const char *name;
	uint64_t amount; /* thousandths */
};

/* All texts are copied. */
struct dlsi_agent_config {
	const char *name;
	const char *host;
	const char *data_endpoint;
	uint64_t incarnation;
	uint64_t seed;
	const struct dlsi_agent_device *devices;
	uint16_t device_count;
	const struct dlsi_agent_resource
		*resources; /* of all devices together, where they differ from what these say */
	unsigned resource_count;
	const char *const *labels;   /* NULL-terminated, or NULL */
	const char *const *handlers; /* NULL-terminated; a worker that runs models has DLSI_HANDLER_MODEL too */
};

/* The handler of jobs that name a model. */
#define DLSI_HANDLER_MODEL "dls.model"

int dlsi_agent_create(const struct dlsi_alloc *alloc, const struct dlsi_agent_config *config,
	struct dlsi_agent **agent_out, struct dls_error *err);
void dlsi_agent_destroy(struct dlsi_agent *agent, struct dlsi_effects *effects);

/* What is in its tables now, and what it has counted since it began. */
struct dlsi_agent_counts {
	uint64_t jobs;
	uint64_t tasks;               /* executing, also when nobody wants them any more, or with a result that waits */
	uint64_t refused;             /* what a master or a driver should not have said */
	uint64_t refused_transitions; /* more than 0 is a fault of this program */
};

struct dlsi_agent_counts dlsi_agent_counts(const struct dlsi_agent *agent);

/* Events: MESSAGE, CONNECTED, LOST, TIMER, TURN, EXECUTED, DRAIN, STOP. */
void dlsi_agent_step(
	struct dlsi_agent *agent, int64_t now_ns, const struct dlsi_event *event, struct dlsi_effects *effects);

#endif
