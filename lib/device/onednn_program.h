/* A graph for one batch size as a list of steps and the buffers that they work on. A step is a primitive of oneDNN or a
 * call of a function of ours.
 *
 * It is built node by node: a lowering takes its inputs with dlsi_program_use, gets a place for its output with
 * dlsi_program_target, and appends a step. Reorders between layouts are put in where one value is wanted in two. When
 * all steps are known, every buffer gets its place in the set's memory by its lifetime. */
#ifndef DLSI_ONEDNN_PROGRAM_H
#define DLSI_ONEDNN_PROGRAM_H

#include "device/device.h"
#include "device/onednn_set.h"
#include <dlsched/tensor.h>

/* A value as it lies in a buffer. */
struct dlsi_operand {
	uint32_t buffer;
	dlsi_md md;
};

struct dlsi_argument {
	int index; /* DNNL_ARG_* */
	struct dlsi_operand operand;
};

struct dlsi_program {
	struct dlsi_onednn_set *set;
	int64_t batch;
	struct dlsi_onednn_pool pool;
	struct dlsi_operand *values; /* by value: where it is; md NULL: nowhere yet */
	uint32_t *last_nodes;        /* by value: the last node that takes it */
	int64_t **found;             /* by value: where a bounded one's dimensions are after a run */
	uint32_t node;               /* that is being lowered */
	int team;                    /* the threads that it is for */
	bool banded;                 /* images lie so that each of them can have a band of rows */
	int sharers; /* of them, that share what the node is lowered to without being called together; or 1 */

	struct dlsi_program_buffer *buffers;
	struct dlsi_program_step *steps;
	struct dlsi_program_argument *arguments;
	dnnl_exec_arg_t *exec; /* of all steps, one after another */
	void **places;         /* the same arguments for calls */
	uint32_t buffer_count, buffer_capacity;
	uint32_t step_count, step_capacity;
	uint32_t argument_count, argument_capacity;

	size_t activations_bytes; /* that it needs */
	const uint8_t *bound_to;  /* the activations that its memory objects point into */
};

/* Adds the steps of one node. Errors: DLS_EUNSUPPORTED, DLS_ENOMEM, DLS_EIO. */
typedef int dlsi_lower(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err);

/* What is faster than the operator's own eval, which runs the nodes for which this answers DLS_EUNSUPPORTED. */
struct dlsi_lowering {
	const struct dlsi_op *op;
	dlsi_lower *lower;
	bool any_type; /* not for float32 alone */
};

/* Builds the program with these lowerings; an op NULL ends them. */
int dlsi_program_create(struct dlsi_onednn_set *set, int64_t batch, const struct dlsi_lowering *lowerings,
	struct dlsi_program **program_out, struct dls_error *err);
void dlsi_program_destroy(struct dlsi_program *program);

/* As the slots of struct dlsi_device_ops. */
void dlsi_program_facts(const struct dlsi_program *program, struct dlsi_device_facts *facts_out);
struct dlsi_device_step dlsi_program_tell_step(const struct dlsi_program *program, uint32_t step);
int dlsi_program_run(struct dlsi_program *program, const struct dls_tensor *inputs, struct dls_tensor *outputs,
	int64_t *step_ns, struct dls_error *err);

/* ---- for lowerings */

/* The value's dimensions in this batch; its rank; its description as dense memory, which for types other than float32
 * is that of its bytes. */
uint32_t dlsi_program_dims(const struct dlsi_program *program, uint32_t value, int64_t dims_out[DLS_TENSOR_RANK]);
dlsi_md dlsi_program_plain(struct dlsi_program *program, uint32_t value);

/* The value in the layout `md`, or where it is if NULL; reordered if need be. */
int dlsi_program_use(struct dlsi_program *program, uint32_t value, dlsi_md md, struct dlsi_operand *operand_out,
	struct dls_error *err);

/* The value's dense elements seen as `view` (other dimensions or strides over the same bytes), in the layout `md`. */
int dlsi_program_use_as(struct dlsi_program *program, uint32_t value, dlsi_md view, dlsi_md md,
	struct dlsi_operand *operand_out, struct dls_error *err);

/* A buffer for this output of the node, laid out as `md`. */
int dlsi_program_target(struct dlsi_program *program, uint32_t value, dlsi_md md, struct dlsi_operand *operand_out,
	struct dls_error *err);

/* The same, already holding the value `addend`: in its own bytes if nobody needs it later, else in a copy. `source` is
 * what else the step reads, which must lie elsewhere. */
int dlsi_program_target_over(struct dlsi_program *program, const struct dlsi_node *node, uint32_t addend, dlsi_md md,
	const struct dlsi_operand *source, struct dlsi_operand *operand_out, struct dls_error *err);

/* Makes the buffer of `part` so many bytes of that of `whole`, so that what is computed there need not be copied.
 * Returns whether that can be: not for what the caller gives or gets, for constants, and for what is a part already. */
bool dlsi_program_nest(struct dlsi_program *program, const struct dlsi_operand *part, const struct dlsi_operand *whole,
	size_t offset, size_t bytes);

/* What lies `offset` bytes into `whole`, laid out as `md`. */
int dlsi_program_view(struct dlsi_program *program, const struct dlsi_operand *whole, size_t offset, dlsi_md md,
	struct dlsi_operand *operand_out, struct dls_error *err);

/* A buffer that is no value's, for this step and the next. */
int dlsi_program_scratch(
	struct dlsi_program *program, dlsi_md md, struct dlsi_operand *operand_out, struct dls_error *err);

/* The node's output lies where `operand` does, seen as `md`. Errors: DLS_ENOMEM (for an `md` that is NULL). */
int dlsi_program_share(struct dlsi_program *program, const struct dlsi_node *node, const struct dlsi_operand *operand,
	dlsi_md md, struct dls_error *err);

/* Appends a step that copies one into the other, changing the layout. */
int dlsi_program_reorder(struct dlsi_program *program, const struct dlsi_operand *from, const struct dlsi_operand *to,
	struct dls_error *err);

/* Keeps the primitive descriptor that oneDNN made, or reports the status with which it did not. Destroys the attributes
 * that it was made with (NULL is allowed). */
int dlsi_program_keep(struct dlsi_program *program, const struct dlsi_node *node, dnnl_status_t status,
	dnnl_primitive_desc_t pd, dnnl_primitive_attr_t attributes, struct dls_error *err);

/* Runs on the arguments' places, in their order. Errors: DLS_EFORMAT, DLS_ENOMEM. */
typedef int dlsi_step_call(void *context, void *const *places, struct dls_error *err);

/* Appends a call; `context` is the program's pool's. Of the arguments only the operands count. `kernel` names the call
 * in profiles. */
int dlsi_program_call(struct dlsi_program *program, const char *kernel, dlsi_step_call *call, void *context,
	const struct dlsi_argument *arguments, uint32_t count, struct dls_error *err);

/* Appends the primitive of `pd` (kept) on these arguments; the scratchpad is added. */
int dlsi_program_step(struct dlsi_program *program, const struct dlsi_node *node, const_dnnl_primitive_desc_t pd,
	const struct dlsi_argument *arguments, uint32_t count, struct dls_error *err);

/* The steps from `first` on, primitives for one thread each that do not need one another, are taken by threads at the
 * same time. */
void dlsi_program_together(struct dlsi_program *program, uint32_t first);

#endif
