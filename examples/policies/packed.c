/* Packs: a task goes to the device that holds the most tasks already, so that other machines stay free, or can be
 * switched off. Jobs go by their age. Its parameter "most" says how many tasks a device may hold at most.
 *
 *     cc -shared -fPIC -o plugins/packed.so examples/policies/packed.c
 *     dls-master --plugins plugins --policy packed --policy-params '{"most":2}' */
#include <dlsched/policy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOTED = 256 };

struct packed {
	unsigned most;         /* 0: as many as a device takes */
	uint64_t given[NOTED]; /* devices chosen in this call, once for each task */
	size_t given_count;
};

static int create(const char *params, void **policy_out, struct dls_error *err)
{
	struct packed *packed = calloc(1, sizeof *packed);
	char rest;

	if (!packed)
		return DLS_ENOMEM;
	if (strcmp(params, "{}") != 0 && sscanf(params, "{\"most\":%u}%c", &packed->most, &rest) != 1) {
		snprintf(err->text, sizeof err->text, "its only parameter is \"most\", a whole number");
		free(packed);
		return DLS_EINVAL;
	}
	*policy_out = packed;
	return 0;
}

static void destroy(void *policy)
{
	free(policy);
}

/* With what was chosen before in this call, of which the view does not know. */
static unsigned held_by(const struct packed *packed, const struct dls_policy_device *device)
{
	unsigned held = device->held;

	for (size_t i = 0; i < packed->given_count; i++)
		held += packed->given[i] == device->number;
	return held;
}

/* NULL: all are full. */
static const struct dls_policy_device *fullest(const struct packed *packed, const struct dls_policy_queue *queue)
{
	const struct dls_policy_device *best = NULL;

	for (size_t i = 0; i < queue->device_count; i++) {
		const struct dls_policy_device *device = queue->devices[i];
		unsigned held = held_by(packed, device);

		if (held >= device->credits || (packed->most && held >= packed->most))
			continue;
		if (!best || held > held_by(packed, best))
			best = device;
	}
	return best;
}

static int choose(void *policy, const struct dls_policy_view *view, struct dls_policy_choice *choices, size_t limit,
	struct dls_error *err)
{
	struct packed *packed = policy;
	const struct dls_policy_device *device;
	size_t count = 0;

	(void)err;
	packed->given_count = 0;
	for (size_t i = 0; i < view->queue_count; i++)
		for (size_t j = 0; j < view->queues[i]->job_count && count < limit && count < NOTED; j++) {
			device = fullest(packed, view->queues[i]);
			if (!device)
				break;
			packed->given[packed->given_count++] = device->number;
			choices[count++] =
				(struct dls_policy_choice){view->queues[i]->jobs[j]->number, device->number, 0};
		}
	return (int)count;
}

const struct dls_policy_ops dls_policy_plugin = {
	.abi = DLS_POLICY_ABI,
	.size = sizeof(struct dls_policy_ops),
	.name = "packed",
	.create = create,
	.destroy = destroy,
	.choose = choose,
};
