/* What the core asks a policy: which job's items go to which device next. Policies live in policy/; the core knows only
 * this table and is given one by its driver.
 *
 * A policy must be a function of what it was told: no clock, no randomness of its own. It sees only jobs that have
 * items to give out and devices that could take them now, and names one of each; the core checks it. */
#ifndef DLSI_POLICY_OPS_H
#define DLSI_POLICY_OPS_H

#include "base/alloc.h"
#include "base/error.h"
#include "base/heap.h"
#include "base/json.h"
#include "base/list.h"
#include "core/resources.h"
#include "proto/record.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DLSI_POLICY_ABI 5

/* Who shares are accounted to. */
struct dlsi_policy_tenant {
	uint64_t number; /* order of arrival */
	const char *name;
	double weight;              /* above 0 */
	bool bounded;               /* by a quota: where it has no room in that, others may */
	struct dlsi_resources used; /* by its tasks at workers, those that wait there included */
};

/* A device that may be given a task. */
struct dlsi_policy_device {
	uint64_t number;  /* order of arrival */
	uint32_t held;    /* tasks, the running one included */
	uint32_t credits; /* tasks that it may hold */
	const char *name, *worker;
};

/* What queues ask of a device: where one fits now, so do the others, as far as quotas let them. */
struct dlsi_policy_class {
	const char *handler;
	struct dlsi_resources demand; /* of a task while it runs */
	struct dlsi_heap queues;      /* the policy's, as the next two: given to it empty, with room for each queue */
	struct dlsi_list node;
	uint64_t blocked;
};

/* Jobs of one tenant and one class: where one fits now, all do. */
struct dlsi_policy_queue {
	struct dlsi_policy_tenant *tenant;
	struct dlsi_policy_class *class;
	struct dlsi_heap jobs; /* the policy's, as the next three: given to it empty, with room for each job */
	struct dlsi_heap_node place;
	struct dlsi_list node, aside;
};

/* A job with items to give out. */
struct dlsi_policy_job {
	struct dlsi_id id;
	int32_t priority;
	int64_t since_ns;    /* when it was submitted */
	int64_t deadline_ns; /* INT64_MAX: none */
	uint64_t ready;      /* items that could be given out now */
	struct dlsi_policy_queue *queue;
	struct dlsi_heap_node place; /* the policy's while the job is ready, but for its order: that of arrival */
};

/* What is known of a queue's items on a device. */
struct dlsi_policy_expectation {
	uint64_t wait_ns; /* until it has done what it holds, as far as that is known */
	uint64_t load_ns; /* that it then takes to load the model; 0: it has it, or that is not known */
	uint64_t item_ns; /* that an item then takes; 0: it has never finished one */
	bool tried;       /* it holds one, or has finished one */
};

/* How fast all devices together finish a queue's items. */
struct dlsi_policy_pace {
	double items_per_ns; /* if they did nothing else; of devices that have never finished one: nothing */
	uint64_t fastest_ns; /* what an item takes on the fastest of them; 0: nothing is known */
};

struct dlsi_policy_view {
	int64_t now_ns;
	uint64_t turn;                      /* its number: devices that were seen in another may be gone */
	const struct dlsi_resources *total; /* of all workers that are connected */

	/* The device with the fewest tasks of those that can take one of the queue now; NULL if none can. Ties go to
	 * the one that was given a task longest ago. */
	struct dlsi_policy_device *(*least_loaded)(void *view_arg, const struct dlsi_policy_queue *queue);

	/* The same, up to `limit` of them in this order. Returns how many. */
	size_t (*candidates)(void *view_arg, const struct dlsi_policy_queue *queue, struct dlsi_policy_device **devices,
		size_t limit);
	/* Items of the job that are at workers. */
	uint64_t (*running)(void *view_arg, const struct dlsi_policy_job *job);

	bool (*can_take)(
		void *view_arg, const struct dlsi_policy_queue *queue, const struct dlsi_policy_device *device);
	struct dlsi_policy_expectation (*expect)(
		void *view_arg, const struct dlsi_policy_queue *queue, const struct dlsi_policy_device *device);
	struct dlsi_policy_pace (*pace)(void *view_arg, const struct dlsi_policy_queue *queue);

	/* What the tenant's tasks take of the device's worker, as part of what that has: the dominant share there. */
	double (*share_there)(
		void *view_arg, const struct dlsi_policy_tenant *tenant, const struct dlsi_policy_device *device);
	void *view_arg;
};

struct dlsi_policy_choice {
	struct dlsi_policy_job *job;
	struct dlsi_policy_device *device;
	uint64_t items; /* at most; 0: as many as usual */
};

enum { DLSI_POLICY_MORE = 1 };

struct dlsi_policy_ops {
	uint32_t abi; /* DLSI_POLICY_ABI */
	uint32_t size;
	const char *name;

	/* `ops` is this table. `params` is an object: one that is not known is DLS_EINVAL, like one out of range.
	 * Errors: that, DLS_ENOMEM. */
	int (*create)(const struct dlsi_policy_ops *ops, const struct dlsi_alloc *alloc, const cJSON *params,
		void **policy_out, struct dls_error *err);
	void (*destroy)(void *policy);

	/* Whether a job of so many items may come; NULL: any may. Errors: those of a refused job. */
	int (*admit)(void *policy, const struct dlsi_policy_view *view, const struct dlsi_policy_job *job,
		uint64_t items, struct dls_error *err);

	/* The job has items to give out from now on, or none any more. `idle` comes before its priority changes. */
	void (*ready)(void *policy, struct dlsi_policy_job *job);
	void (*idle)(void *policy, struct dlsi_policy_job *job);

	/* The next assignment; false if none is possible. The core makes it one task and asks again. */
	bool (*choose)(void *policy, const struct dlsi_policy_view *view, struct dlsi_policy_choice *choice_out);

	/* Why that was false; NULL: always because nothing is possible. 0: for that; DLSI_POLICY_MORE: it goes on in
	 * the next turn. Errors: it has failed, and another takes its place. */
	int (*excuse)(void *policy, struct dls_error *err);

	/* Preemption; both or neither. The first job, in its order, that no device can take a task of and that may take
	 * the place of others; NULL: none. And whether it may take that of this one, of which tasks are at workers. */
	struct dlsi_policy_job *(*urgent)(void *policy, const struct dlsi_policy_view *view);
	bool (*outranks)(void *policy, const struct dlsi_policy_job *urgent, const struct dlsi_policy_job *running);
};

/* The policy of this name in a list that NULL ends. Errors: DLS_EINVAL (there is none; the sentence names those there
 * are). */
int dlsi_policy_find(const struct dlsi_policy_ops *const *policies, const char *name,
	const struct dlsi_policy_ops **ops_out, struct dls_error *err);

#endif
