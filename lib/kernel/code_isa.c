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
	.reduce_columns = VARIANT(dlsi_reduce_columns),
	.reduce_row = VARIANT(dlsi_reduce_row),
	.arg_columns = VARIANT(dlsi_arg_columns),
	.arg_row = VARIANT(dlsi_arg_row),
	.softmax_columns = VARIANT(dlsi_softmax_columns),
	.standardise = VARIANT(dlsi_standardise),
	.mix_rows = VARIANT(dlsi_mix_rows),
	.mix_columns = VARIANT(dlsi_mix_columns),
	.integer_tile = VARIANT(dlsi_integer_tile),
	.integer_widen = VARIANT(dlsi_integer_widen),
	.integer_see = VARIANT(dlsi_integer_see),
	.integer_scale = VARIANT(dlsi_integer_scale),
};
