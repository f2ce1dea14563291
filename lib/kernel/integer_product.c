/* Products of matrices of bytes: the source in tiles of rows, made anew in each run, times panels of weights. */
#include "kernel/integer_tile.h"
#include "kernel/parallel.h"

struct work {
	const struct dlsi_integer_product *product;
	const struct dlsi_kernel_code *code;
	const struct dlsi_bytes *bytes; /* that are packed */
	const int32_t *panels;
	const struct dlsi_integer_target *target;
	int32_t *rows, *sums; /* the source in tiles; a tile for each thread */
	int64_t width, pairs;
};

static struct work begin(const struct dlsi_integer_product *product)
{
	return (struct work){.product = product,
		.code = dlsi_kernel_code(product->isa, product->block),
		.width = dlsi_integer_width(product->block),
		.pairs = dlsi_integer_pairs(product->depth)};
}

static int64_t panel_count(const struct work *work)
{
	return (work->product->columns + work->width - 1) / work->width;
}

size_t dlsi_integer_product_weights_bytes(const struct dlsi_integer_product *product)
{
	const struct work work = begin(product);

	return (size_t)(panel_count(&work) * work.pairs * work.width) * sizeof(int32_t);
}

/* What is beyond the last row or column is 0. */
static int16_t weight(const struct work *work, int64_t k, int64_t column)
{
	const struct dlsi_integer_product *product = work->product;

	return k < product->depth && column < product->columns
		       ? dlsi_bytes_at(work->bytes, k * product->columns + column, column)
		       : 0;
}

void dlsi_integer_product_pack(
	const struct dlsi_integer_product *product, const struct dlsi_bytes *weights, int32_t *packed)
{
	struct work work = begin(product);

	work.bytes = weights;
	for (int64_t panel = 0; panel < panel_count(&work); panel++)
		for (int64_t k = 0; k < 2 * work.pairs; k += 2)
			for (int64_t i = 0; i < work.width; i++)
				*packed++ = DLSI_PAIR(weight(&work, k, panel * work.width + i),
					weight(&work, k + 1, panel * work.width + i));
}

size_t dlsi_integer_product_scratch_bytes(const struct dlsi_integer_product *product, int threads)
{
	const struct work work = begin(product);

	return (size_t)(dlsi_integer_rows_size(work.code, product->rows, product->depth) +
			threads * work.code->tile_rows * work.width) *
	       sizeof(int32_t);
}

static int64_t rows_in(const struct work *work, int64_t tile)
{
	const int64_t left = work->product->rows - tile * work->code->tile_rows;

	return left < work->code->tile_rows ? left : work->code->tile_rows;
}

static void pack_tile(void *arg, int64_t tile, int thread)
{
	const struct work *work = arg;
	const int64_t rows = work->code->tile_rows;

	(void)thread;
	dlsi_integer_pack_rows(work->code, work->bytes, tile * rows, rows_in(work, tile), work->product->depth,
		work->rows + tile * rows * work->pairs);
}

/* All rows times one panel. */
static void multiply_panel(void *arg, int64_t panel, int thread)
{
	const struct work *work = arg;
	const struct dlsi_integer_product *product = work->product;
	const int64_t tile_rows = work->code->tile_rows, left = product->columns - panel * work->width;
	struct dlsi_integer_tile tile = {.right = work->panels + panel * work->pairs * work->width,
		.pairs = work->pairs,
		.sums = work->sums + thread * tile_rows * work->width};
	struct dlsi_integer_part part = {.code = work->code,
		.target = work->target,
		.width = work->width,
		.row_elements = product->columns,
		.column = panel * work->width,
		.columns = left < work->width ? left : work->width};

	for (int64_t row = 0; row < product->rows; row += tile_rows) {
		tile.left = work->rows + row * work->pairs;
		part.row = row;
		part.rows = rows_in(work, row / tile_rows);
		work->code->integer_tile((int)part.rows, &tile);
		dlsi_integer_finish(&part, tile.sums);
	}
}

void dlsi_integer_product_run(const struct dlsi_integer_product *product, const struct dlsi_bytes *source,
	const int32_t *packed, const struct dlsi_integer_target *target, void *scratch, int threads)
{
	struct work work = begin(product);

	work.bytes = source;
	work.panels = packed;
	work.target = target;
	work.rows = scratch;
	work.sums = work.rows + dlsi_integer_rows_size(work.code, product->rows, product->depth);
	dlsi_parallel(threads, (product->rows + work.code->tile_rows - 1) / work.code->tile_rows, pack_tile, &work);
	dlsi_parallel(threads, panel_count(&work), multiply_panel, &work);
}
