/* Amounts of resources: what a worker has, and what each running task of a job takes of it. A master runs a task only
 * where there is as much of each kind as it asks for beside what the tasks that run there have asked for. */
#ifndef DLSCHED_RESOURCE_H
#define DLSCHED_RESOURCE_H

#ifdef __cplusplus
extern "C" {
#endif

/* Lists end with a row without a name, have 16 rows at most, and name each kind once. */
struct dls_resource {
	const char *name; /* "cores", "memory_bytes", or any other name that workers and jobs agree on */
	double amount;    /* above 0 and at most 1e15; counted in thousandths */
};

#ifdef __cplusplus
}
#endif
#endif
