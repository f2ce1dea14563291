/* What jobs ask of workers and what workers have: kinds of resources, classes, tenants and their queues, devices and
 * what they do for each class; and what a policy sees of all that. */
#ifndef DLSI_MASTER_PLACES_H
#define DLSI_MASTER_PLACES_H

#include "core/master_state.h"

/* master_kinds.c: the number of the kind of this name, with a reference. Errors: DLS_ELIMIT, DLS_ENOMEM. */
int dlsi_kind_ref(struct dlsi_master *master, struct dlsi_text name, unsigned *kind_out, struct dls_error *err);

/* Adds the amounts of an object of numbers, NULL for none, to those that are zero, with a reference to each kind.
 * `what` names the object in errors: DLS_EINVAL, DLS_ELIMIT, DLS_ENOMEM; what was added until then stays. */
int dlsi_kinds_read(struct dlsi_master *master, const char *what, const cJSON *json, struct dlsi_resources *amounts,
	struct dls_error *err);

/* Drops a reference to each kind that is not zero. */
void dlsi_kinds_unref(struct dlsi_master *master, const struct dlsi_resources *amounts);
const char *dlsi_kind_name(const struct dlsi_master *master, unsigned kind); /* NULL: there is none */

/* master_classes.c: what specifications ask of a worker. The class of a specification, with a reference: `resources`,
 * `labels` and `preferred` are those members, NULL for none. Errors: DLS_EINVAL, DLS_ELIMIT, DLS_ENOMEM. */
int dlsi_class_intern(struct dlsi_master *master, const cJSON *spec, struct dlsi_text handler, const cJSON *resources,
	const cJSON *labels, const cJSON *preferred, struct class **class_out, struct dls_error *err);
void dlsi_class_unref(struct dlsi_master *master, struct class *class);

/* How many of the labels that it prefers the worker has. */
unsigned dlsi_class_likes(const struct class *class, const struct worker *worker);

/* Whether the worker could run a task of the class if it had nothing else to do. */
bool dlsi_class_suits(const struct class *class, const struct worker *worker);

/* Whether it asks for more than any connected worker with its handler has: DLS_ELIMIT, and the sentence says of what. 0
 * also where there is no such worker: one may come. */
int dlsi_class_object(const struct dlsi_master *master, const struct class *class, struct dls_error *err);

/* The worker is there to run tasks from now on, or is not. */
void dlsi_classes_count(struct dlsi_master *master, const struct worker *worker, bool present);

/* master_tenants.c: the tenant of this name, with a reference; NULL: there is no room for another */
struct tenant *dlsi_tenant_ref(struct dlsi_master *master, struct dlsi_text name);
void dlsi_tenant_unref(struct dlsi_master *master, struct tenant *tenant);
void dlsi_tenants_forget_all(struct dlsi_master *master);
struct tenant *dlsi_job_tenant(const struct job *job);

/* Whether its quota leaves room for one more task of the queue. */
bool dlsi_tenant_may(const struct queue *queue);

/* The queue of a job that comes, with room for it; NULL: memory is exhausted. */
struct queue *dlsi_queue_join(struct dlsi_master *master, struct class *class, struct tenant *tenant);
void dlsi_queue_leave(struct dlsi_master *master, struct queue *queue);

/* master_usage.c: what tenants use. A job of the tenant is accepted; a result has come; items of it are done. */
void dlsi_usage_job(const struct job *job);
void dlsi_usage_result(const struct job *job, const struct dlsi_result *result);
void dlsi_usage_items(const struct job *job, uint64_t items, uint64_t failed_items);

/* master_devices.c: what devices hold, and which could take more */
void dlsi_device_place(struct dlsi_master *master, struct device *device);

/* A task of the queue goes there, which is expected to take so long; false: memory is exhausted. And it is over. */
bool dlsi_device_hold(struct dlsi_master *master, struct device *device, struct queue *queue, uint64_t planned_ns);
void dlsi_device_free(struct dlsi_master *master, struct device *device, struct queue *queue, uint64_t planned_ns);
void dlsi_device_measure(
	struct device *device, const struct class *class, uint64_t items, uint64_t elapsed_ns, uint64_t bytes);

/* The task that it runs, of those that it holds the one that it was given first; NULL: it holds none. */
struct task *dlsi_device_front(const struct device *device);

/* Whether it could be given a task of the class now. */
bool dlsi_device_can_take(const struct device *device, const struct class *class);

/* The same, if it held nothing. */
bool dlsi_device_would_take(const struct device *device, const struct class *class);

/* Devices that can take a task of the class now, up to `limit`, at most 64: those with the fewest tasks first, of equal
 * ones those with more of the labels that it prefers, then those served longest ago. Returns how many.
 *
 * Where loading its model takes a while a device that has it and is idle is the only one; else the class keeps to those
 * that have it for up to eight times the time of a load since it was last served, so that two models do not push each
 * other out of one device all the time. Meanwhile it gets others only where they would do nothing else
 * (master->relaxed), and if the items that wait would take those that have the model longer than a load. */
size_t dlsi_devices_for(
	struct dlsi_master *master, struct class *class, struct dlsi_policy_device **devices, size_t limit);
struct device *dlsi_device_least_loaded(struct dlsi_master *master, struct class *class); /* the first; NULL: none */

/* master_services.c: what the device does for the class; NULL: nothing yet */
struct service *dlsi_device_service(const struct device *device, const struct class *class);
struct service *dlsi_service_create(struct dlsi_master *master, struct device *device, struct class *class);
void dlsi_service_destroy(struct dlsi_master *master, struct service *service);
void dlsi_service_measure(struct service *service, uint64_t items, uint64_t elapsed_ns, uint64_t bytes);

/* It holds more tasks of the class or fewer. */
void dlsi_service_hold(struct dlsi_master *master, struct service *service, int32_t more);

/* It has finished a task of the class, before which it took so long to load the model; and it has that no longer. */
void dlsi_service_load(struct dlsi_master *master, struct service *service, uint64_t load_ns);
void dlsi_worker_unloaded(struct worker *worker, const struct dlsi_unloaded *record);

/* Its worker is there from now on, or is not: whether it counts for the pace of its class. */
void dlsi_service_count(struct service *service, bool present);

/* A task of the queue is at the worker from now on, and no longer. False: memory is exhausted. */
bool dlsi_stake_add(struct dlsi_master *master, struct worker *worker, const struct dlsi_policy_queue *queue);
void dlsi_stake_remove(struct dlsi_master *master, struct worker *worker, const struct dlsi_policy_queue *queue);

/* What the tenant uses there; NULL: nothing. */
const struct dlsi_resources *dlsi_stake_used(const struct worker *worker, const struct dlsi_policy_tenant *tenant);

/* master_view.c: what a policy sees, for this step */
struct dlsi_policy_view dlsi_master_view(struct dlsi_master *master);

/* master_policy.c: the policy that decides from now on. `params` is an object, or NULL for none. Errors: DLS_EINVAL,
 * DLS_ENOMEM; then nothing has changed. */
int dlsi_master_use_policy(
	struct dlsi_master *master, const struct dlsi_policy_ops *ops, const cJSON *params, struct dls_error *err);

/* Goes on with an exchange; false: it goes on in the next turn, and nothing is decided before. */
bool dlsi_master_exchange(struct dlsi_master *master);

/* It has failed: the one before it decides from now on. False: there is no other. */
bool dlsi_master_drop_policy(struct dlsi_master *master, const char *sentence);
void dlsi_master_end_policies(struct dlsi_master *master);

/* master_assign.c: the turn's decisions. True if there is more to decide than one turn may. */
bool dlsi_master_assign(struct dlsi_master *master);

#endif
