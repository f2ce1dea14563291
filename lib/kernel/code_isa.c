/* The table of one variant. */
#include "kernel/variant.h"

const struct dlsi_kernel_code VARIANT(dlsi_kernel_code) = {
	.tile_rows = TILE_ROWS,
	.tile = VARIANT(dlsi_tile),
	.full_row = VARIANT(dlsi_full_row),
	.winograd_source = VARIANT(dlsi_winograd_source),
	.winograd_target = VARIANT(dlsi_winograd_target),
	.max_pool_row = VARIANT(dlsi_max_pool_row),
	.lrn_blocked = VARIANT(dlsi_lrn_blocked),
	.lrn_dense = VARIANT(dlsi_lrn_dense),
};
