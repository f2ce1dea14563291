#include "kernel/code.h"

extern const struct dlsi_kernel_code dlsi_kernel_code_generic8, dlsi_kernel_code_generic16;
#ifdef __x86_64__
extern const struct dlsi_kernel_code dlsi_kernel_code_avx2, dlsi_kernel_code_avx512;
#endif

const struct dlsi_kernel_code *dlsi_kernel_code(enum dlsi_isa isa, int block)
{
#ifdef __x86_64__
	if (block == 8 && isa >= DLSI_ISA_AVX2)
		return &dlsi_kernel_code_avx2;
	if (block == 16 && isa >= DLSI_ISA_AVX512)
		return &dlsi_kernel_code_avx512;
#else
	(void)isa;
#endif
	return block == 8 ? &dlsi_kernel_code_generic8 : &dlsi_kernel_code_generic16;
}

int64_t dlsi_tile_lines(const struct dlsi_kernel_code *code, int64_t slice_floats, int64_t times, int64_t rows)
{
	const int64_t tiles = times * ((rows + code->tile_rows - 1) / code->tile_rows);
	const int64_t shared = tiles * DLSI_LINE_FLOATS;

	return (slice_floats + shared - 1) / shared;
}

void dlsi_tile_rows(const struct dlsi_kernel_code *code, int blocks, int64_t rows, struct dlsi_tile *tile)
{
	while (rows > 0) {
		/* Two tiles of middle size at the end rather than a full one and a small one, which would be slow. */
		const int64_t most = code->tile_rows, now = rows >= 2 * most ? most
							    : rows > most    ? (rows + 1) / 2
									     : rows;

		code->tile((int)now, blocks, tile);
		tile->next += tile->lines * tile->slices * DLSI_LINE_FLOATS;
		tile->source += now * tile->source_row;
		tile->target += now * tile->target_row;
		if (tile->addend)
			tile->addend += now * tile->target_row;
		rows -= now;
	}
}
