/* Devices: what computes a graph, behind one table of functions per kind.
 *
 * A device makes a **set** out of a graph (what all batch sizes share, weights above all) and from it a **program** per
 * batch size. Everything a backend needs to know is in the graph; nothing of a backend is visible outside its files.
 *
 * Threads: a device may be used by several threads at once; a set and its programs by one thread at a time. */
#ifndef DLSI_DEVICE_H
#define DLSI_DEVICE_H

#include "base/alloc.h"
#include "base/error.h"
#include <dlsched/tensor.h>

struct dlsi_graph;

#define DLSI_DEVICE_ABI 3

/* What a program is and takes. */
struct dlsi_device_facts {
	uint32_t step_count;
	size_t activation_bytes; /* that its set holds for all that lies between inputs and outputs, in whatever program
				  */
	size_t packed_bytes;     /* of the set's constants that are laid out again for kernels */
};

/* A piece of work of a program. */
struct dlsi_device_step {
	uint32_t node;      /* of the graph; the number of nodes: it hands out what they computed */
	const char *kernel; /* the name of its implementation, which lives as long as the program; NULL: it is a part of
			       the step before, with which its time was counted */
};

/* All slots must be filled. Handles are the backend's own; what create made destroy gets back, exactly once. */
struct dlsi_device_ops {
	uint32_t abi; /* DLSI_DEVICE_ABI */
	size_t size;  /* sizeof(struct dlsi_device_ops) */
	const char *kind;

	/* What it measures it keeps in the folder, which need not exist, and takes over what others kept there; NULL:
	 * it keeps nothing. */
	int (*open)(const struct dlsi_alloc *alloc, const char *folder, void **state_out, struct dls_error *err);
	void (*close)(void *state);

	/* Roughly the time that one more item of a batch takes one thread. */
	double (*item_ns)(const void *state, const struct dlsi_graph *graph);

	/* The graph outlives the set. Errors: DLS_EUNSUPPORTED (names the node), DLS_ENOMEM, DLS_EIO. */
	int (*set_create)(void *state, const struct dlsi_graph *graph, void **set_out, struct dls_error *err);
	void (*set_destroy)(void *set);

	/* Another set on the same graph and the same weights, for another thread; `set` may be in use. Either may be
	 * destroyed first. Errors: DLS_ENOMEM, DLS_EIO. */
	int (*set_share)(void *set, void **other_out, struct dls_error *err);

	/* Errors: as set_create. */
	int (*program_create)(void *set, int64_t batch, void **program_out, struct dls_error *err);
	void (*program_destroy)(void *program);

	/* Tensors in the order of the graph's inputs and outputs, already checked to be of the program's shapes.
	 * Returns when the outputs are written; those that are bounded get the dims that they have. `step_ns`, unless
	 * NULL, has room for each step's nanoseconds. Errors: DLS_ENOMEM, DLS_EIO. */
	int (*program_run)(void *program, const struct dls_tensor *inputs, struct dls_tensor *outputs, int64_t *step_ns,
		struct dls_error *err);

	void (*program_facts)(const void *program, struct dlsi_device_facts *facts_out);
	struct dlsi_device_step (*program_step)(const void *program, uint32_t step);
};

/* The processor, through oneDNN. */
extern const struct dlsi_device_ops dlsi_device_onednn;

struct dlsi_device {
	const struct dlsi_device_ops *ops;
	void *state;
	const struct dlsi_alloc *alloc;
};

/* Checks the table and opens the device, which keeps what it measures in the folder (NULL: nowhere). Errors:
 * DLS_EINVAL (another ABI, an empty slot), DLS_ENOMEM, DLS_EIO. */
int dlsi_device_create(const struct dlsi_alloc *alloc, const struct dlsi_device_ops *ops, const char *folder,
	struct dlsi_device **device_out, struct dls_error *err);

/* NULL is allowed. All models on it are gone by then. */
void dlsi_device_destroy(struct dlsi_device *device);

#endif
