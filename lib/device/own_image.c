/* How images lie for our kernels: with their channels last where oneDNN has them so, and in blocks elsewhere. */
#include "device/own.h"
#include "kernel/isa.h"

dlsi_md dlsi_own_image(struct dlsi_program *program, uint32_t value, bool channels_last)
{
	int64_t dims[DLS_TENSOR_RANK];
	uint32_t rank = dlsi_program_dims(program, value, dims);

	return channels_last ? dlsi_md_last(&program->pool, rank, dims)
			     : dlsi_md_blocked(&program->pool, rank, dims, dlsi_isa_block(program->set->isa));
}

bool dlsi_own_is_last(struct dlsi_program *program, uint32_t value, dlsi_md md)
{
	dlsi_md last = dlsi_own_image(program, value, true);

	return md && last && dnnl_memory_desc_equal(md, last);
}

bool dlsi_own_fills_blocks(const struct dlsi_program *program, uint32_t value)
{
	return program->set->graph->values[value].dims[1] % dlsi_isa_block(program->set->isa) == 0;
}
