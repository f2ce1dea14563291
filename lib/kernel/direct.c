#include "kernel/direct.h"

#include "kernel/code.h"
#include "kernel/parallel.h"
#include <string.h>

enum {
	PANEL_FLOATS = 8192,  /* weights at a time: what stays in the first cache */
	PIXELS_LEAST = 48,    /* in a chunk, so that loading a panel is worth it */
	UNITS_PER_THREAD = 4, /* fewer make threads wait for each other */
	SPAN_TIMES = 4,       /* so many times the pixels of an axis, and so many more, are the most with the padding */
	SPAN_MORE = 64
};

#define CHUNK_BYTES (INT64_C(160) << 10) /* of source pixels, which stay in the second cache */

/* The work is cut into units: a chunk of an item's pixels, for some of the panels, which are two blocks of target
 * channels each. A unit goes through the weights of its panels once. */
struct plan {
	const struct dlsi_kernel_conv *conv;
	const struct dlsi_kernel_code *code;
	struct dlsi_kernel_axis height, width; /* all pixels in one row if the window is a single one */
	int64_t taps;                          /* pixels of a window */
	int64_t source_blocks, target_blocks, panels;
	int64_t seen_blocks; /* of source channels, by the panel that sees most */
	bool copied;         /* chunks are copied, with the padding around them */
	int64_t chunk_rows, chunk_columns, chunks_down, chunks_across;
	int64_t panels_at_once, panel_parts;
	int64_t copy_rows, copy_columns;          /* pixels of a chunk's copy */
	int64_t block_step, row_step, pixel_step; /* floats in the source, or in the copy */
	bool far;                                 /* the weights are fetched ahead of their use */
	struct dlsi_kernel_image source, target;
};

struct run {
	struct plan plan;
	const float *source, *packed, *bias, *addend;
	float *target, *copies;
	const ptrdiff_t *offsets;
};

/* A unit while it is worked on. */
struct unit {
	const struct run *run;
	const float *source; /* of the chunk: the first pixel that its first window sees */
	ptrdiff_t target;    /* of the item */
	int64_t row, column, rows, columns;
	int64_t panel, panels_end;
};

/* Padding is copied with the pixels, and a file may have any amount of it around an image that is small. */
static bool has_little_padding(const struct dlsi_kernel_axis *axis)
{
	return (axis->target - 1) * axis->stride + dlsi_kernel_reach(axis) <= SPAN_TIMES * axis->source + SPAN_MORE;
}

static bool supported(const struct dlsi_kernel_conv *conv)
{
	return dlsi_kernel_conv_valid(conv) && has_little_padding(&conv->height) && has_little_padding(&conv->width) &&
	       (!conv->channels_last ||
		       (conv->source_channels % conv->block == 0 && conv->target_channels % conv->block == 0));
}

static int64_t divide_up(int64_t number, int64_t by)
{
	return (number + by - 1) / by;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* The blocks of source channels that a panel's groups have. */
struct range {
	int64_t first, end;
};

static struct range seen_by(const struct dlsi_kernel_conv *conv, int64_t panel)
{
	const int64_t sources = conv->source_channels / conv->groups, targets = conv->target_channels / conv->groups;
	const int64_t width = DLSI_TILE_WIDTH * conv->block;
	const int64_t last = least((panel + 1) * width, conv->target_channels) - 1;

	return (struct range){.first = panel * width / targets * sources / conv->block,
		.end = divide_up((last / targets + 1) * sources, conv->block)};
}

static int panel_blocks(const struct plan *plan, int64_t panel)
{
	return (int)least(DLSI_TILE_WIDTH, plan->target_blocks - panel * DLSI_TILE_WIDTH);
}

/* Floats from one panel's weights to the next one's. */
static int64_t panel_floats(const struct plan *plan)
{
	return plan->seen_blocks * plan->taps * plan->conv->block * DLSI_TILE_WIDTH * plan->conv->block;
}

static bool single(const struct dlsi_kernel_axis *axis)
{
	return axis->kernel == 1 && axis->stride == 1 && axis->pad == 0 && axis->source == axis->target;
}

/* Every window sees nothing but pixels. */
static bool unpadded(const struct dlsi_kernel_axis *axis)
{
	return axis->pad == 0 && (axis->target - 1) * axis->stride + dlsi_kernel_reach(axis) <= axis->source;
}

static void cut_into_chunks(struct plan *plan, int threads)
{
	const struct dlsi_kernel_axis *height = &plan->height, *width = &plan->width;
	const int64_t pixel_bytes = plan->source_blocks * plan->conv->block * (int64_t)sizeof(float);
	int64_t units;

	if (height->target == 1) {
		plan->chunk_rows = 1;
		plan->chunk_columns = most(PIXELS_LEAST, CHUNK_BYTES / (pixel_bytes * width->stride));
	} else {
		const int64_t row_bytes = pixel_bytes * width->source, rows = CHUNK_BYTES / row_bytes;

		plan->chunk_rows = most(1, (rows - dlsi_kernel_reach(height)) / height->stride + 1);
		plan->chunk_columns = width->target;
	}
	plan->chunks_down = divide_up(height->target, plan->chunk_rows);
	plan->chunks_across = divide_up(width->target, plan->chunk_columns);
	plan->chunk_rows = divide_up(height->target, plan->chunks_down);
	plan->chunk_columns = divide_up(width->target, plan->chunks_across);
	units = most(1, plan->conv->batch * plan->chunks_down * plan->chunks_across);
	plan->panel_parts = threads > 1 ? least(plan->panels, divide_up(UNITS_PER_THREAD * threads, units)) : 1;
	plan->panels_at_once = divide_up(plan->panels, plan->panel_parts);
	plan->panel_parts = divide_up(plan->panels, plan->panels_at_once);
}

static void place_source(struct plan *plan)
{
	const struct dlsi_kernel_axis *height = &plan->height, *width = &plan->width;

	plan->copied = !unpadded(height) || !unpadded(width);
	plan->copy_rows = (plan->chunk_rows - 1) * height->stride + dlsi_kernel_reach(height);
	plan->copy_columns = (plan->chunk_columns - 1) * width->stride + dlsi_kernel_reach(width);
	plan->pixel_step = plan->source.pixel;
	plan->block_step = plan->source.block;
	plan->row_step = width->source * plan->pixel_step;
	if (!plan->copied)
		return;
	plan->row_step = plan->copy_columns * plan->pixel_step;
	if (!plan->conv->channels_last)
		plan->block_step = plan->copy_rows * plan->row_step;
}

static struct plan make_plan(const struct dlsi_kernel_conv *conv, int threads)
{
	struct plan plan = {
		.conv = conv,
		.code = dlsi_kernel_code(conv->isa, conv->block),
		.height = conv->height,
		.width = conv->width,
		.taps = conv->height.kernel * conv->width.kernel,
		.source_blocks = dlsi_kernel_blocks(conv->block, conv->source_channels),
		.target_blocks = dlsi_kernel_blocks(conv->block, conv->target_channels),
		.source = dlsi_kernel_conv_source(conv),
		.target = dlsi_kernel_conv_target(conv),
	};

	if (single(&conv->height) && single(&conv->width)) {
		plan.width.source = plan.width.target = conv->height.source * conv->width.source;
		plan.height.source = plan.height.target = 1;
	}
	plan.panels = divide_up(plan.target_blocks, DLSI_TILE_WIDTH);
	for (int64_t panel = 0; panel < plan.panels; panel++) {
		const struct range seen = seen_by(conv, panel);

		plan.seen_blocks = most(plan.seen_blocks, seen.end - seen.first);
	}
	plan.far = plan.panels * panel_floats(&plan) * (int64_t)sizeof(float) > DLSI_NEAR_BYTES;
	cut_into_chunks(&plan, threads);
	place_source(&plan);
	return plan;
}

static size_t weights_bytes(const struct dlsi_kernel_conv *conv)
{
	const struct plan plan = make_plan(conv, 1);

	return (size_t)(plan.panels * panel_floats(&plan)) * sizeof(float);
}

struct packing {
	struct plan plan;
	const float *weights;
	float *packed;
};

/* One panel: for each block of source channels that it sees, each tap, each of the channels: a row of its target
 * channels. */
static void pack_panel(void *arg, int64_t panel, int thread)
{
	const struct packing *packing = arg;
	const struct plan *plan = &packing->plan;
	const struct dlsi_kernel_conv *conv = plan->conv;
	const int64_t sources = conv->source_channels / conv->groups, targets = conv->target_channels / conv->groups;
	const int64_t block = conv->block, width = DLSI_TILE_WIDTH * block, columns = panel_blocks(plan, panel) * block;
	const int64_t first = seen_by(conv, panel).first, end = least((panel + 1) * width, conv->target_channels);
	float *into = packing->packed + panel * panel_floats(plan);

	(void)thread;
	if (!dlsi_kernel_conv_fills_blocks(conv) || conv->groups > 1)
		memset(into, 0, (size_t)panel_floats(plan) * sizeof *into);
	for (int64_t i = 0; i < sources; i++)
		for (int64_t target = panel * width; target < end; target++) {
			const float *weights = packing->weights + (target * sources + i) * plan->taps;
			const int64_t source = target / targets * sources + i;
			const int64_t row = (source / block - first) * plan->taps * block + source % block;

			for (int64_t tap = 0; tap < plan->taps; tap++)
				into[(row + tap * block) * columns + target % width] = weights[tap];
		}
}

static void pack(const struct dlsi_kernel_conv *conv, const float *weights, float *packed, int threads)
{
	struct packing packing = {.plan = make_plan(conv, 1), .weights = weights, .packed = packed};

	dlsi_parallel(threads, packing.plan.panels, pack_panel, &packing);
}

/* Bytes for the offsets of a panel's slices; whole cache lines. */
static size_t offsets_bytes(const struct plan *plan)
{
	const size_t bytes = (size_t)(plan->seen_blocks * plan->taps) * sizeof(ptrdiff_t);

	return (bytes + DLSI_KERNEL_ALIGN - 1) / DLSI_KERNEL_ALIGN * DLSI_KERNEL_ALIGN;
}

static int64_t copy_floats(const struct plan *plan)
{
	const int64_t pixels = plan->copy_rows * plan->copy_columns;

	return plan->copied
		       ? divide_up(plan->source_blocks * plan->conv->block * pixels, DLSI_BLOCK_MOST) * DLSI_BLOCK_MOST
		       : 0;
}

static size_t scratch_bytes(const struct dlsi_kernel_conv *conv, int threads)
{
	const struct plan plan = make_plan(conv, threads);

	return offsets_bytes(&plan) + (size_t)(threads * copy_floats(&plan)) * sizeof(float);
}

/* One row of a chunk's copy, of what lies together of its pixels; `y` and `x` are the place in the source of its first
 * pixel. */
static void copy_row(const struct plan *plan, const float *source, int64_t y, int64_t x, float *target)
{
	const int64_t pixel = plan->pixel_step, columns = plan->copy_columns;
	const int64_t first = least(columns, most(0, -x)), end = most(first, least(columns, plan->width.source - x));

	if (y < 0 || y >= plan->height.source) {
		memset(target, 0, (size_t)(columns * pixel) * sizeof *target);
		return;
	}
	memset(target, 0, (size_t)(first * pixel) * sizeof *target);
	memcpy(target + first * pixel, source + (y * plan->width.source + x + first) * pixel,
		(size_t)((end - first) * pixel) * sizeof *target);
	memset(target + end * pixel, 0, (size_t)((columns - end) * pixel) * sizeof *target);
}

static void copy_chunk(const struct plan *plan, const float *source, const struct unit *unit, float *copy)
{
	const int64_t blocks = plan->conv->channels_last ? 1 : plan->source_blocks; /* that lie apart */
	const int64_t y = unit->row * plan->height.stride - plan->height.pad;
	const int64_t x = unit->column * plan->width.stride - plan->width.pad;
	const int64_t rows = (unit->rows - 1) * plan->height.stride + dlsi_kernel_reach(&plan->height);

	for (int64_t block = 0; block < blocks; block++)
		for (int64_t row = 0; row < rows; row++)
			copy_row(plan, source + block * plan->source.block, y + row, x,
				copy + block * plan->block_step + row * plan->row_step);
}

/* The chunk by one panel, so many slices at a time that their weights stay in the first cache. The sums so far are the
 * addend of what follows. */
static void multiply_panel(const struct unit *unit, int64_t panel)
{
	static const float zeros[DLSI_TILE_WIDTH * DLSI_BLOCK_MOST];
	const struct run *run = unit->run;
	const struct plan *plan = &run->plan;
	const struct dlsi_kernel_conv *conv = plan->conv;
	const struct range seen = seen_by(conv, panel);
	const int64_t block = conv->block, slices = (seen.end - seen.first) * plan->taps,
		      at_once = PANEL_FLOATS / (DLSI_TILE_WIDTH * block * block);
	const int blocks = panel_blocks(plan, panel);
	const int64_t lines =
		plan->far ? dlsi_tile_lines(plan->code, block * blocks * block, unit->rows, unit->columns) : 0;
	float bias[DLSI_TILE_WIDTH * DLSI_BLOCK_MOST];

	dlsi_kernel_bias(conv, run->bias, panel * DLSI_TILE_WIDTH * block, blocks, bias);
	for (int64_t slice = 0; slice < slices; slice += at_once) {
		const bool last = slice + at_once >= slices;
		const float *weights = run->packed + panel * panel_floats(plan) + slice * block * blocks * block;
		const float *next = weights + at_once * block * blocks * block;

		for (int64_t row = 0; row < unit->rows; row++) {
			const ptrdiff_t target =
				unit->target + panel * DLSI_TILE_WIDTH * plan->target.block +
				((unit->row + row) * plan->width.target + unit->column) * plan->target.pixel;
			const float *addend = slice ? run->target : run->addend;
			struct dlsi_tile tile = {
				.source = unit->source + seen.first * plan->block_step +
					  row * plan->height.stride * plan->row_step,
				.source_row = plan->width.stride * plan->pixel_step,
				.offsets = run->offsets + slice,
				.slices = least(at_once, slices - slice),
				.depth = block,
				.panel = weights,
				.next = next,
				.lines = lines,
				.bias = slice ? zeros : bias,
				.addend = addend ? addend + target : NULL,
				.target = run->target + target,
				.target_row = plan->target.pixel,
				.target_block = plan->target.block,
				.low = last ? conv->clamp.low : -INFINITY,
				.high = last ? conv->clamp.high : INFINITY,
			};

			dlsi_tile_rows(plan->code, blocks, unit->columns, &tile);
			next = tile.next;
		}
	}
}

static void run_unit(void *arg, int64_t index, int thread)
{
	const struct run *run = arg;
	const struct plan *plan = &run->plan;
	const int64_t part = index % plan->panel_parts, chunk = index / plan->panel_parts;
	const int64_t across = chunk % plan->chunks_across, down = chunk / plan->chunks_across % plan->chunks_down;
	const int64_t item = chunk / plan->chunks_across / plan->chunks_down;
	const float *source = run->source + item * plan->source.item;
	struct unit unit = {.run = run,
		.target = item * plan->target.item,
		.row = down * plan->chunk_rows,
		.column = across * plan->chunk_columns,
		.panel = part * plan->panels_at_once};

	unit.rows = least(plan->chunk_rows, plan->height.target - unit.row);
	unit.columns = least(plan->chunk_columns, plan->width.target - unit.column);
	unit.panels_end = least(unit.panel + plan->panels_at_once, plan->panels);
	if (unit.rows <= 0 || unit.columns <= 0)
		return;
	if (plan->copied) {
		float *copy = run->copies + thread * copy_floats(plan);

		copy_chunk(plan, source, &unit, copy);
		unit.source = copy;
	} else {
		unit.source = source + unit.row * plan->height.stride * plan->row_step +
			      unit.column * plan->width.stride * plan->pixel_step;
	}
	for (; unit.panel < unit.panels_end; unit.panel++)
		multiply_panel(&unit, unit.panel);
}

static void fill_offsets(const struct plan *plan, ptrdiff_t *offsets)
{
	const int64_t down = (plan->height.gap + 1) * plan->row_step, across = (plan->width.gap + 1) * plan->pixel_step;

	for (int64_t block = 0; block < plan->seen_blocks; block++)
		for (int64_t y = 0; y < plan->conv->height.kernel; y++)
			for (int64_t x = 0; x < plan->conv->width.kernel; x++)
				*offsets++ = block * plan->block_step + y * down + x * across;
}

static void run(const struct dlsi_kernel_conv *conv, const float *source, const float *packed, const float *bias,
	const float *addend, float *target, void *scratch, int threads)
{
	struct run run = {.plan = make_plan(conv, threads),
		.source = source,
		.packed = packed,
		.bias = bias,
		.addend = addend,
		.target = target,
		.offsets = scratch};
	const struct plan *plan = &run.plan;

	run.copies = (float *)((char *)scratch + offsets_bytes(plan));
	if (conv->batch == 0)
		return;
	fill_offsets(plan, scratch);
	dlsi_parallel(
		threads, conv->batch * plan->chunks_down * plan->chunks_across * plan->panel_parts, run_unit, &run);
}

const struct dlsi_conv_kernel dlsi_kernel_direct = {
	.name = "own:direct",
	.supported = supported,
	.weights_bytes = weights_bytes,
	.pack = pack,
	.scratch_bytes = scratch_bytes,
	.run = run,
};
