/* The inside of a program, for the files that build and run it; lowerings see device/onednn_program.h only. */
#ifndef DLSI_ONEDNN_BUILD_H
#define DLSI_ONEDNN_BUILD_H

#include "device/onednn_program.h"

#define DLSI_FOREVER    UINT32_MAX /* in place of the last node that takes a value: the model gives it out */

#define DLSI_NOWHERE    UINT32_MAX
#define DLSI_NEST_BYTES 64 /* a part begins at a multiple, as kernels are fastest with */

enum dlsi_buffer_kind {
	DLSI_BUFFER_SHARED, /* in the set's activations, at `offset` */
	DLSI_BUFFER_INPUT,  /* the caller's tensor number `port` */
	DLSI_BUFFER_OUTPUT,
	DLSI_BUFFER_FIXED /* at `data` */
};

struct dlsi_program_buffer {
	uint32_t inside;      /* the buffer that it is a part of, or DLSI_NOWHERE */
	size_t inside_offset; /* and where */
	enum dlsi_buffer_kind kind;
	uint32_t port;
	const void *data;
	size_t bytes;
	size_t offset;
	uint32_t first_step, last_step; /* that touch it; first_step is above last_step while none does */
	uint32_t last_node;             /* that takes a value which lies here */
};

struct dlsi_program_step {
	uint32_t node;              /* that it is a part of */
	int threads;                /* of the team that runs it, as when it was made */
	const char *kernel;         /* its name */
	dnnl_primitive_t primitive; /* NULL for a call */
	dlsi_step_call *call;
	void *context;
	uint32_t arguments; /* the first */
	uint32_t count;
	uint32_t together;    /* so many steps from it on are taken by threads at the same time; else 1 */
	uint32_t passage_end; /* where it begins a passage: the step behind that one's last */
	int standby;          /* and the threads that stand by in it; 1: none */
};

struct dlsi_program_argument {
	int index;
	struct dlsi_operand operand;
};

/* The buffer that this one is in the end a part of, or itself: it alone has a place, and a life that is that of all its
 * parts. *offset_out (NULL: not wanted) is where in it. */
struct dlsi_program_buffer *dlsi_program_root(const struct dlsi_program *program, uint32_t buffer, size_t *offset_out);

/* Adds a buffer of this kind, port, data and last node, with room for `md` (NULL counts as out of memory). */
int dlsi_program_add_buffer(struct dlsi_program *program, const struct dlsi_program_buffer *like, dlsi_md md,
	struct dlsi_operand *operand_out, struct dls_error *err);

#endif
