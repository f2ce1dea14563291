/* What model.json means for a graph: how each input is made from an item, and what is done with each output. Making the
 * plan is the check of the one against the other. */
#ifndef DLSI_MODEL_PLAN_H
#define DLSI_MODEL_PLAN_H

#include "device/model.h"
#include "media/prepare.h"

/* The values of one item: of a batchable model without the batch's dimension. */
struct dlsi_output_plan {
	const char *name; /* of the output, in errors */
	const struct dlsi_output_description *how;
	enum dls_dtype dtype;
	uint32_t rank;
	int64_t dims[DLS_TENSOR_RANK];
	size_t count;
	size_t bytes;
	bool bounded; /* these are the most that there can be */
};

struct dlsi_model_plan {
	struct dlsi_prepare *inputs; /* in the order of the ports */
	struct dlsi_output_plan *outputs;
	size_t input_count;
	size_t output_count;
	bool batchable;
	bool unsized; /* sizes are not known yet: of inputs and outputs there are name, type, rank, dims and how */
	uint32_t max_batch; /* items of one run, at least 1 */
	const struct dlsi_alloc *alloc;
};

/* The ends of a model, as they are known of a graph or of a model on a device. */
struct dlsi_model_ports {
	const struct dlsi_model_port *inputs;
	const struct dlsi_model_port *outputs;
	size_t input_count;
	size_t output_count;
	bool batchable;
	bool unsized;
};

/* `description` and the names of the ports are borrowed and must outlive the plan.
 * Errors: DLS_EINVAL (names what does not fit), DLS_ELIMIT, DLS_ENOMEM. */
int dlsi_model_plan_init(struct dlsi_model_plan *plan, const struct dlsi_alloc *alloc,
	const struct dlsi_description *description, const struct dlsi_model_ports *ports, struct dls_error *err);
void dlsi_model_plan_fini(struct dlsi_model_plan *plan);

#endif
