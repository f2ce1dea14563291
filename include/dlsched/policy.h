/* Policies in C. A plug-in is a shared object that defines one table, dls_policy_plugin, and lies in the folder that
 * its master was given (dls_master_options.plugins, `dls-master --plugins`). It is chosen by its name, as any other
 * policy; docs/policies.md tells of all of them, and examples/policies/packed.c is one. It needs no library.
 *
 * A plug-in runs in the master's process, on the thread that does everything else there, one call at a time. So a
 * function of it returns at once, well within a millisecond: it waits for nothing, no file, network, lock or sleep. It
 * begins no threads, calls nothing of this library but what dlsched/error.h has, does not end the process, leave by
 * longjmp or an exception, or change what belongs to the whole process (signals, locale, environment, standard
 * streams). It reads of the view what that points to, during the call alone. Nobody catches what it does wrong there.
 * What the master does catch is an error that it returns and a choice that cannot be: then the policy before it decides
 * again, as docs/policies.md says.
 *
 * The ABI. Arrays of a view are of pointers, and a later release appends members to structs, so that a plug-in goes on
 * to work; where that is not enough the number becomes another, and a plug-in of the old one is refused. */
#ifndef DLSCHED_POLICY_H
#define DLSCHED_POLICY_H

#include <dlsched/error.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DLS_POLICY_ABI 1

/* A job with items to give out. */
struct dls_policy_job {
	uint64_t number; /* its own as long as it lives; an older job's is smaller */
	const char *id;
	int32_t priority;
	int64_t since_ns;    /* when it was submitted, on the clock of now_ns */
	int64_t deadline_ns; /* the same; INT64_MAX: none */
	uint64_t ready;      /* items that could be given out now */
	uint64_t running;    /* items at workers */
};

/* A device that can take a task of a queue now. */
struct dls_policy_device {
	uint64_t number; /* its own, whichever queue it is listed in */
	const char *name, *worker;
	uint32_t held;    /* tasks, the running one included */
	uint32_t credits; /* tasks that it may hold */
	uint64_t wait_ns; /* until it has done what it holds, as far as that is known */
	uint64_t item_ns; /* that an item of the queue then takes; 0: it has never finished one */
	uint64_t load_ns; /* that it takes before to load the queue's model; 0: it has it, or that is not known */
};

/* Jobs of one tenant that ask for the same of a device. */
struct dls_policy_queue {
	const char *tenant;
	double weight; /* of the tenant, above 0 */
	double share;  /* the dominant share that the tenant has of the cluster now, 0 to 1 */
	const char *handler;
	const struct dls_policy_job *const *jobs; /* the first of them, by priority, then by age */
	size_t job_count;
	const struct dls_policy_device *const *devices; /* the least loaded first */
	size_t device_count;
};

/* What could be done now: some queues with a job and a device at least; where there are more they take turns. */
struct dls_policy_view {
	int64_t now_ns; /* of a clock that never goes back */
	const struct dls_policy_queue *const *queues;
	size_t queue_count;
};

/* A task of this job goes to this device, both by their numbers in one queue of the view. */
struct dls_policy_choice {
	uint64_t job, device;
	uint64_t items; /* at most; 0: as many as usual */
};

struct dls_policy_ops {
	uint32_t abi;     /* DLS_POLICY_ABI */
	uint32_t size;    /* of this struct */
	const char *name; /* 1 to 32 of a-z, 0-9, - and _; no other policy's */

	/* Begins to decide, with parameters as JSON text, "{}" for none. 0, or a DLS_E* code with a sentence in
	 * err->text that says what is wrong with them; `err` is never NULL. */
	int (*create)(const char *params, void **policy_out, struct dls_error *err);
	void (*destroy)(void *policy);

	/* Writes up to `limit` choices and returns how many, or a DLS_E* code with a sentence: it has failed. It is
	 * asked once a turn where there is something to choose, and again in the next as long as it chose something; it
	 * is tried with an empty view before it decides anything. Choices that have become impossible by those before
	 * them are passed over. */
	int (*choose)(void *policy, const struct dls_policy_view *view, struct dls_policy_choice *choices, size_t limit,
		struct dls_error *err);
};

/* What a plug-in defines. */
extern
#ifdef __GNUC__
	__attribute__((visibility("default")))
#endif
	const struct dls_policy_ops dls_policy_plugin;

#ifdef __cplusplus
}
#endif
#endif
