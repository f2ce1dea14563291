#include "kernel/winograd.h"

#include "kernel/code.h"
#include "kernel/parallel.h"
#include <string.h>

enum {
	PATCH = DLSI_WINOGRAD_PATCH,
	PLANES = PATCH * PATCH,
	FEW_TILES = 36,  /* in a chunk, whose planes stay in the second cache where there are not many channels */
	MANY_TILES = 60, /* where the weights are large: they are read once per chunk */
	PLANE_GAP = 16   /* floats that keep planes from falling on the same sets of a cache */
};

#define LARGE_WEIGHTS (INT64_C(4) << 20) /* bytes */

/* The target is cut into tiles of size x size pixels, each the result of a patch of 6x6; a chunk of tiles goes through
 * three steps: patches to planes (36 matrices of tiles times channels), a product for each plane, planes to target.
 * Where there are fewer chunks than threads, several of these do one chunk: each for a part of the target channels, and
 * the first step for itself, which costs less than to wait for each other and to read the weights more than once. */
struct plan {
	const struct dlsi_kernel_conv *conv;
	const struct dlsi_kernel_code *code;
	int size;
	int64_t rows, columns, tiles;         /* of tiles: in a picture, and in all of them together */
	int64_t source_blocks, target_blocks; /* of channels in a group */
	int64_t panels;                       /* of target channels in a group: two blocks each */
	int64_t chunk, chunks;                /* tiles in a chunk, and how many of these */
	int64_t part, parts;                  /* panels in a part, and how many of these */
	bool far;                             /* the weights are fetched ahead of their use */
	int64_t source_plane, target_plane;   /* floats from one plane to the next */
	struct dlsi_kernel_image source, target;
};

struct run {
	struct plan plan;
	const float *source, *packed, *bias, *addend;
	float *target, *scratch;
	const ptrdiff_t *offsets; /* of the blocks of source channels in a plane */
};

static bool square(const struct dlsi_kernel_conv *conv, int64_t side)
{
	return conv->height.kernel == side && conv->width.kernel == side;
}

static bool supported(const struct dlsi_kernel_conv *conv)
{
	if (!dlsi_kernel_conv_valid(conv) || (!square(conv, 3) && !square(conv, 5)))
		return false;
	if (conv->groups > 1 && !dlsi_kernel_conv_fills_blocks(conv))
		return false;
	return conv->height.stride == 1 && conv->width.stride == 1 && conv->height.gap == 0 && conv->width.gap == 0;
}

static int64_t divide_up(int64_t number, int64_t by)
{
	return (number + by - 1) / by;
}

/* Floats of the weights of one plane of one group. */
static int64_t weight_plane(const struct plan *plan)
{
	return plan->source_blocks * plan->target_blocks * plan->conv->block * plan->conv->block;
}

/* As few chunks as the caches allow, all of about the same size and of whole tiles of the registers. */
static void cut(struct plan *plan, int threads)
{
	const int64_t rows = plan->conv->block == 16 ? 12 : 6; /* of the fastest variant */
	const int64_t groups = plan->conv->groups;
	const int64_t weight_bytes = PLANES * weight_plane(plan) * (int64_t)sizeof(float);
	int64_t chunks = divide_up(plan->tiles, weight_bytes > LARGE_WEIGHTS ? MANY_TILES : FEW_TILES);

	if (groups * chunks > threads)
		chunks = divide_up(chunks, threads) * threads;
	plan->chunk = chunks ? divide_up(divide_up(plan->tiles, chunks), rows) * rows : rows;
	plan->chunks = divide_up(plan->tiles, plan->chunk);
	plan->parts = plan->chunks ? divide_up(threads, groups * plan->chunks) : 1;
	plan->part = divide_up(plan->panels, plan->parts < plan->panels ? plan->parts : plan->panels);
	plan->parts = divide_up(plan->panels, plan->part);
}

static struct plan make_plan(const struct dlsi_kernel_conv *conv, int threads)
{
	const int size = PATCH - (int)conv->height.kernel + 1;
	struct plan plan = {
		.conv = conv,
		.code = dlsi_kernel_code(conv->isa, conv->block),
		.size = size,
		.rows = (conv->height.target + size - 1) / size,
		.columns = (conv->width.target + size - 1) / size,
		.source_blocks = dlsi_kernel_blocks(conv->block, conv->source_channels / conv->groups),
		.target_blocks = dlsi_kernel_blocks(conv->block, conv->target_channels / conv->groups),
		.source = dlsi_kernel_conv_source(conv),
		.target = dlsi_kernel_conv_target(conv),
	};

	plan.tiles = conv->batch * plan.rows * plan.columns;
	plan.panels = divide_up(plan.target_blocks, DLSI_TILE_WIDTH);
	plan.far = PLANES * weight_plane(&plan) * (int64_t)sizeof(float) > DLSI_NEAR_BYTES;
	cut(&plan, threads);
	plan.source_plane = plan.chunk * plan.source_blocks * conv->block + PLANE_GAP;
	plan.target_plane = plan.chunk * plan.part * DLSI_TILE_WIDTH * conv->block + PLANE_GAP;
	return plan;
}

/* ---- weights: for each group and plane the panels one after another */

/* The factors of Winograd's transform of weights, by point; those of infinity take the last weight alone. */
static void point_factors(int64_t side, double factors[PATCH][5])
{
	static const double points[] = {0, 1, -1, 2, -2}, scales[] = {1 / 4., -1 / 6., -1 / 6., 1 / 24., 1 / 24.};

	for (int i = 0; i < PATCH - 1; i++) {
		double power = scales[i];

		for (int64_t j = 0; j < side; j++, power *= points[i])
			factors[i][j] = power;
	}
	for (int64_t j = 0; j < side; j++)
		factors[PATCH - 1][j] = j == side - 1;
}

/* With a side that the compiler knows. */
static inline __attribute__((always_inline)) void transform_side(
	const float *weights, const int64_t side, double factors[PATCH][5], float *target, int64_t plane)
{
	double half[PATCH][5] = {{0}};

	for (int i = 0; i < PATCH; i++)
		for (int64_t y = 0; y < side; y++)
			for (int64_t x = 0; x < side; x++)
				half[i][x] += factors[i][y] * (double)weights[y * side + x];
	for (int i = 0; i < PATCH; i++)
		for (int j = 0; j < PATCH; j++) {
			double sum = 0;

			for (int64_t x = 0; x < side; x++)
				sum += half[i][x] * factors[j][x];
			target[(i * PATCH + j) * plane] = (float)sum;
		}
}

static void transform_weights(
	const float *weights, int64_t side, double factors[PATCH][5], float *target, int64_t plane)
{
	if (side == 3)
		transform_side(weights, 3, factors, target, plane);
	else
		transform_side(weights, 5, factors, target, plane);
}

/* Blocks of columns in a panel: two, but for the last one of an odd number. */
static int panel_blocks(const struct plan *plan, int64_t panel)
{
	const int64_t left = plan->target_blocks - panel * DLSI_TILE_WIDTH;

	return left < DLSI_TILE_WIDTH ? (int)left : DLSI_TILE_WIDTH;
}

static int64_t weight_place(const struct plan *plan, int64_t source_channel, int64_t target_channel)
{
	const int64_t depth = plan->source_blocks * plan->conv->block, width = DLSI_TILE_WIDTH * plan->conv->block;
	const int64_t panel = target_channel / width;

	return panel * depth * width + source_channel * panel_blocks(plan, panel) * plan->conv->block +
	       target_channel % width;
}

static size_t weights_bytes(const struct dlsi_kernel_conv *conv)
{
	const struct plan plan = make_plan(conv, 1);

	return (size_t)(conv->groups * PLANES * weight_plane(&plan)) * sizeof(float);
}

struct packing {
	struct plan plan;
	double factors[PATCH][5];
	const float *weights;
	float *packed;
};

/* One panel of one group. */
static void pack_panel(void *arg, int64_t index, int thread)
{
	struct packing *packing = arg;
	const struct plan *plan = &packing->plan;
	const struct dlsi_kernel_conv *conv = plan->conv;
	const int64_t group = index / plan->panels, panel = index % plan->panels;
	const int64_t side = conv->height.kernel, plane = weight_plane(plan), width = DLSI_TILE_WIDTH * conv->block;
	const int64_t sources = conv->source_channels / conv->groups, targets = conv->target_channels / conv->groups;
	const int64_t end = (panel + 1) * width < targets ? (panel + 1) * width : targets;
	const float *weights = packing->weights + group * targets * sources * side * side;
	float *packed = packing->packed + group * PLANES * plane;

	(void)thread;
	for (int64_t source = 0; source < sources; source++)
		for (int64_t target = panel * width; target < end; target++)
			transform_weights(weights + (target * sources + source) * side * side, side, packing->factors,
				packed + weight_place(plan, source, target), plane);
}

static void pack(const struct dlsi_kernel_conv *conv, const float *weights, float *packed, int threads)
{
	struct packing packing = {.plan = make_plan(conv, 1), .weights = weights, .packed = packed};

	point_factors(conv->height.kernel, packing.factors);
	if (!dlsi_kernel_conv_fills_blocks(conv))
		memset(packed, 0, weights_bytes(conv));
	dlsi_parallel(threads, conv->groups * packing.plan.panels, pack_panel, &packing);
}

/* ---- a run */

static size_t scratch_bytes(const struct dlsi_kernel_conv *conv, int threads)
{
	const struct plan plan = make_plan(conv, threads);
	const int64_t floats = PLANES * (plan.source_plane + plan.target_plane);

	return (size_t)(threads * floats) * sizeof(float) + (size_t)plan.source_blocks * sizeof(ptrdiff_t);
}

/* What a unit of the work is: a chunk of tiles, for a part of a group's target channels. */
struct unit {
	int64_t group, first, tiles;
	int64_t panel, panels_end;
	float *source, *target; /* planes */
};

/* Where a tile lies. */
struct place {
	int64_t item, y, x; /* of its first target pixel */
};

static struct place place_of(const struct plan *plan, int64_t tile)
{
	const int64_t in_item = tile % (plan->rows * plan->columns);

	return (struct place){.item = tile / (plan->rows * plan->columns),
		.y = in_item / plan->columns * plan->size,
		.x = in_item % plan->columns * plan->size};
}

/* The pixels of a patch that begins at `begin` which are not padding. */
static struct dlsi_kernel_span span_of(int64_t begin, int64_t pixels)
{
	const struct dlsi_kernel_axis patch = {.source = pixels, .kernel = PATCH, .stride = 1, .pad = -begin};

	return dlsi_kernel_span(&patch, 0);
}

/* The steps within tiles that are copied beside the image, `size` pixels wide. */
static struct dlsi_steps copy_steps(const struct plan *plan, int size)
{
	return (struct dlsi_steps){.row = size * plan->conv->block, .pixel = plan->conv->block};
}

/* Copies rows of pixels of `channels` channels. */
static void copy_pixels(const float *source, struct dlsi_steps from, float *target, struct dlsi_steps to, int64_t rows,
	int64_t columns, int64_t channels)
{
	for (int64_t y = 0; y < rows; y++)
		for (int64_t x = 0; x < columns; x++)
			memcpy(target + y * to.row + x * to.pixel, source + y * from.row + x * from.pixel,
				(size_t)channels * sizeof *target);
}

/* How many channels of the block that begins with `channel` are stored. */
static int64_t channels_of(const struct dlsi_kernel_conv *conv, int64_t channels, int64_t channel)
{
	const int64_t left = channels - channel;

	return conv->channels_last && left < conv->block ? left : conv->block;
}

/* Step 1, for the tile `row` of the unit: its patches of all the group's source channels. What reaches into the
 * padding, or has not all channels of a block, is made beside the image, with zeros. */
static void take_source(const struct run *run, const struct unit *unit, int64_t row)
{
	const struct plan *plan = &run->plan;
	const struct dlsi_kernel_conv *conv = plan->conv;
	const struct place place = place_of(plan, unit->first + row);
	const int64_t block = conv->block, top = place.y - conv->height.pad, left = place.x - conv->width.pad;
	const struct dlsi_kernel_span rows = span_of(top, conv->height.source);
	const struct dlsi_kernel_span columns = span_of(left, conv->width.source);
	const bool inside = rows.end - rows.first == PATCH && columns.end - columns.first == PATCH;
	const struct dlsi_steps steps = {.row = conv->width.source * plan->source.pixel, .pixel = plan->source.pixel};
	const struct dlsi_steps copied = copy_steps(plan, PATCH);
	float patch[PLANES * DLSI_BLOCK_MOST], *target = unit->source + row * plan->source_blocks * block;
	const float *source = run->source + place.item * plan->source.item +
			      unit->group * plan->source_blocks * plan->source.block + rows.first * steps.row +
			      columns.first * steps.pixel;

	for (int64_t i = 0; i < plan->source_blocks; i++, source += plan->source.block, target += block) {
		const int64_t channels =
			channels_of(conv, conv->source_channels, (unit->group * plan->source_blocks + i) * block);

		if (inside && channels == block) {
			plan->code->winograd_source(source, steps, target, plan->source_plane);
			continue;
		}
		memset(patch, 0, (size_t)(PLANES * block) * sizeof *patch);
		copy_pixels(source, steps, patch + rows.skipped * copied.row + columns.skipped * copied.pixel, copied,
			rows.end - rows.first, columns.end - columns.first, channels);
		plan->code->winograd_source(patch, copied, target, plan->source_plane);
	}
}

/* The unit's panel in the planes of the target. */
static float *target_panel(const struct plan *plan, const struct unit *unit, int64_t panel)
{
	return unit->target + (panel - unit->panel) * DLSI_TILE_WIDTH * plan->conv->block * plan->chunk;
}

static const float *panel_of(const struct run *run, const struct unit *unit, int plane, int64_t panel)
{
	const struct plan *plan = &run->plan;

	return run->packed + (unit->group * PLANES + plane) * weight_plane(plan) +
	       panel * DLSI_TILE_WIDTH * plan->conv->block * plan->source_blocks * plan->conv->block;
}

/* Step 2, for one panel of one plane: tiles times source channels by source channels times target channels. */
static void multiply(const struct run *run, const struct unit *unit, int plane, int64_t panel)
{
	static const float zeros[DLSI_TILE_WIDTH * DLSI_BLOCK_MOST];
	const struct plan *plan = &run->plan;
	const int64_t block = plan->conv->block, depth = plan->source_blocks * block;
	const int blocks = panel_blocks(plan, panel);
	struct dlsi_tile tile = {
		.source = unit->source + plane * plan->source_plane,
		.source_row = depth,
		.offsets = run->offsets,
		.slices = plan->source_blocks,
		.depth = block,
		.panel = panel_of(run, unit, plane, panel),
		.next = panel + 1 < unit->panels_end ? panel_of(run, unit, plane, panel + 1)
						     : panel_of(run, unit, plane + 1, unit->panel),
		.lines = plan->far ? dlsi_tile_lines(plan->code, block * blocks * block, 1, unit->tiles) : 0,
		.bias = zeros,
		.target = target_panel(plan, unit, panel) + plane * plan->target_plane,
		.target_row = blocks * block,
		.target_block = block,
		.low = -INFINITY,
		.high = INFINITY,
	};

	dlsi_tile_rows(plan->code, blocks, unit->tiles, &tile);
}

/* Where a block of channels of a tile goes to. */
struct spot {
	ptrdiff_t at; /* in the target */
	int64_t rows, columns, channels;
	const float *bias;
};

/* A tile that is not whole is made beside the image. */
static void put_cut(const struct run *run, const struct spot *spot, struct dlsi_steps steps, const float *source)
{
	const struct plan *plan = &run->plan;
	const struct dlsi_steps copied = copy_steps(plan, plan->size);
	const float clamp[2] = {plan->conv->clamp.low, plan->conv->clamp.high};
	float pixels[4 * 4 * DLSI_BLOCK_MOST] = {0};

	if (run->addend)
		copy_pixels(run->addend + spot->at, steps, pixels, copied, spot->rows, spot->columns, spot->channels);
	plan->code->winograd_target(
		plan->size, source, plan->target_plane, spot->bias, run->addend ? pixels : NULL, pixels, copied, clamp);
	copy_pixels(pixels, copied, run->target + spot->at, steps, spot->rows, spot->columns, spot->channels);
}

/* One block of channels of a tile. */
static void put_block(
	const struct run *run, const struct place *place, int64_t channel, const float *source, ptrdiff_t at)
{
	const struct plan *plan = &run->plan;
	const struct dlsi_kernel_conv *conv = plan->conv;
	const struct dlsi_steps steps = {.row = conv->width.target * plan->target.pixel, .pixel = plan->target.pixel};
	const int64_t down = conv->height.target - place->y, across = conv->width.target - place->x;
	const float clamp[2] = {conv->clamp.low, conv->clamp.high};
	float bias[DLSI_BLOCK_MOST];
	const struct spot spot = {.at = at,
		.rows = down < plan->size ? down : plan->size,
		.columns = across < plan->size ? across : plan->size,
		.channels = channels_of(conv, conv->target_channels, channel),
		.bias = bias};

	dlsi_kernel_bias(conv, run->bias, channel, 1, bias);
	if (spot.rows < plan->size || spot.columns < plan->size || spot.channels < conv->block)
		put_cut(run, &spot, steps, source);
	else
		plan->code->winograd_target(plan->size, source, plan->target_plane, bias,
			run->addend ? run->addend + at : NULL, run->target + at, steps, clamp);
}

/* Step 3, for the tile `row` of the unit: its pixels of the unit's target channels. */
static void put_target(const struct run *run, const struct unit *unit, int64_t row)
{
	const struct plan *plan = &run->plan;
	const struct dlsi_kernel_conv *conv = plan->conv;
	const struct place place = place_of(plan, unit->first + row);
	const int64_t block = conv->block;

	for (int64_t panel = unit->panel; panel < unit->panels_end; panel++) {
		const int blocks = panel_blocks(plan, panel);
		const float *source = target_panel(plan, unit, panel) + row * blocks * block;

		for (int i = 0; i < blocks; i++) {
			const int64_t number = unit->group * plan->target_blocks + panel * DLSI_TILE_WIDTH + i;

			put_block(run, &place, number * block, source + i * block,
				place.item * plan->target.item + number * plan->target.block +
					(place.y * conv->width.target + place.x) * plan->target.pixel);
		}
	}
}

static void run_unit(void *arg, int64_t index, int thread)
{
	const struct run *run = arg;
	const struct plan *plan = &run->plan;
	const int64_t part = index % plan->parts, chunk = index / plan->parts % plan->chunks;
	float *planes = run->scratch + thread * PLANES * (plan->source_plane + plan->target_plane);
	struct unit unit = {.group = index / plan->parts / plan->chunks,
		.first = chunk * plan->chunk,
		.tiles = plan->tiles - chunk * plan->chunk,
		.panel = part * plan->part,
		.panels_end = (part + 1) * plan->part,
		.source = planes,
		.target = planes + PLANES * plan->source_plane};

	if (unit.tiles > plan->chunk)
		unit.tiles = plan->chunk;
	if (unit.panels_end > plan->panels)
		unit.panels_end = plan->panels;
	for (int64_t row = 0; row < unit.tiles; row++)
		take_source(run, &unit, row);
	for (int plane = 0; plane < PLANES; plane++)
		for (int64_t panel = unit.panel; panel < unit.panels_end; panel++)
			multiply(run, &unit, plane, panel);
	for (int64_t row = 0; row < unit.tiles; row++)
		put_target(run, &unit, row);
}

static void run(const struct dlsi_kernel_conv *conv, const float *source, const float *packed, const float *bias,
	const float *addend, float *target, void *scratch, int threads)
{
	const struct plan plan = make_plan(conv, threads);
	float *planes = scratch;
	ptrdiff_t *offsets = (ptrdiff_t *)(planes + threads * PLANES * (plan.source_plane + plan.target_plane));
	struct run run = {.plan = plan,
		.source = source,
		.packed = packed,
		.bias = bias,
		.addend = addend,
		.target = target,
		.scratch = planes,
		.offsets = offsets};

	if (conv->batch == 0)
		return;
	for (int64_t i = 0; i < plan.source_blocks; i++)
		offsets[i] = i * conv->block;
	dlsi_parallel(threads, conv->groups * plan.chunks * plan.parts, run_unit, &run);
}

const struct dlsi_conv_kernel dlsi_kernel_winograd = {
	.name = "own:winograd",
	.supported = supported,
	.weights_bytes = weights_bytes,
	.pack = pack,
	.scratch_bytes = scratch_bytes,
	.run = run,
};
