/* Concat, in the layouts of images too and without copies where the parts lie one behind the other. */
#include "device/onednn_lower.h"
#include "kernel/parallel.h"
#include <string.h>

/* One source and its place in the target: of each of the rows, so many bytes. */
struct piece {
	size_t bytes, offset;
};

/* As the context of a step, its arguments are the sources that `pieces` are about, and the target. */
struct join {
	struct piece *pieces;
	uint32_t count;
	int64_t rows, parts; /* parts: of the rows, that threads take */
	size_t row_bytes;    /* of the target */
	int threads;
	void *const *places; /* of the run */
};

static void copy_rows(void *work, int64_t part, int thread)
{
	const struct join *join = work;
	const int64_t end = (part + 1) * join->rows / join->parts;

	(void)thread;
	for (int64_t row = part * join->rows / join->parts; row < end; row++) {
		uint8_t *to = (uint8_t *)join->places[join->count] + (size_t)row * join->row_bytes;

		for (uint32_t i = 0; i < join->count; i++) {
			const struct piece *piece = &join->pieces[i];

			memcpy(to + piece->offset, (const uint8_t *)join->places[i] + (size_t)row * piece->bytes,
				piece->bytes);
		}
	}
}

static int run(void *context, void *const *places, struct dls_error *err)
{
	struct join *join = context;

	(void)err;
	join->places = places;
	dlsi_parallel(join->threads, join->parts, copy_rows, join);
	return 0;
}

/* ---- what it is made of */

enum { DENSE = 0, LAST = 1, ROWS_LEAST = 64 /* of a thread's part */ };

/* The layout in which a value is joined: 8 or 16 channels together, DENSE, or with all channels LAST. NULL when memory
 * is exhausted. */
static dlsi_md layout(struct dlsi_program *program, uint32_t value, int block)
{
	int64_t dims[DLS_TENSOR_RANK];

	dlsi_program_dims(program, value, dims);
	if (block == LAST)
		return dlsi_md_last(&program->pool, 4, dims);
	return block == DENSE ? dlsi_program_plain(program, value) : dlsi_md_blocked(&program->pool, 4, dims, block);
}

/* The layout of the first input, if all inputs can lie so. */
static int find_layout(struct dlsi_program *program, const struct dlsi_node *node)
{
	int64_t dims[DLS_TENSOR_RANK];
	struct dlsi_operand first;

	if (dlsi_program_dims(program, node->outputs[0], dims) != 4 || node->axis != 1 ||
		dlsi_program_use(program, node->inputs[0], NULL, &first, NULL))
		return DENSE;
	if (dnnl_memory_desc_equal(first.md, layout(program, node->inputs[0], LAST)))
		return LAST;
	for (int block = 16; block >= 8; block /= 2) {
		bool whole = true;

		for (uint32_t i = 0; i < node->input_count; i++) {
			dlsi_program_dims(program, node->inputs[i], dims);
			whole = whole && dims[1] % block == 0;
		}
		if (whole && dnnl_memory_desc_equal(first.md, layout(program, node->inputs[0], block)))
			return block;
	}
	return DENSE;
}

/* Whether each input has as many rows as the output (what all items have in common is for eval), and none is empty. */
static bool are_whole(const struct dlsi_program *program, const struct dlsi_node *node)
{
	int64_t dims[DLS_TENSOR_RANK], joined[DLS_TENSOR_RANK];
	uint32_t rank = dlsi_program_dims(program, node->outputs[0], joined);

	for (uint32_t i = 0; i < node->input_count; i++) {
		dlsi_program_dims(program, node->inputs[i], dims);
		for (uint32_t k = 0; k < rank; k++)
			if (dims[k] == 0 || (k != node->axis && dims[k] != joined[k]))
				return false;
	}
	return true;
}

static struct join *describe(struct dlsi_program *program, const struct dlsi_node *node, int block)
{
	struct dlsi_arena *arena = &program->pool.arena;
	struct join *join = dlsi_arena_take(arena, 1, sizeof *join);
	int64_t dims[DLS_TENSOR_RANK];
	uint32_t rank = dlsi_program_dims(program, node->outputs[0], dims);

	if (!join)
		return NULL;
	*join = (struct join){.rows = 1, .row_bytes = sizeof(float), .threads = program->sharers};
	join->pieces = dlsi_arena_take(arena, node->input_count, sizeof *join->pieces);
	for (uint32_t i = 0; i < rank; i++) {
		if (i < node->axis || (i > node->axis && block == LAST))
			join->rows *= dims[i];
		else
			join->row_bytes *= (size_t)dims[i];
	}
	join->parts = block == LAST ? (join->rows + ROWS_LEAST - 1) / ROWS_LEAST : join->rows;
	return join->pieces ? join : NULL;
}

int dlsi_lower_concat(struct dlsi_program *program, const struct dlsi_node *node, struct dls_error *err)
{
	struct join *join;
	struct dlsi_argument *arguments =
		dlsi_arena_take(&program->pool.arena, (size_t)node->input_count + 1, sizeof *arguments);
	struct dlsi_operand target;
	size_t offset = 0;
	int block, rc;

	if (!arguments)
		return dlsi_fail_memory(err);
	if (!are_whole(program, node))
		return DLS_EUNSUPPORTED;
	block = find_layout(program, node);
	join = describe(program, node, block);
	if (!join)
		return dlsi_fail_memory(err);
	rc = dlsi_program_target(program, node->outputs[0], layout(program, node->outputs[0], block), &target, err);
	for (uint32_t i = 0; rc == 0 && i < node->input_count; i++) {
		struct dlsi_operand *source = &arguments[join->count].operand;
		struct piece piece = {.offset = offset};
		dlsi_md md = layout(program, node->inputs[i], block);

		rc = md ? dlsi_program_use(program, node->inputs[i], md, source, err) : dlsi_fail_memory(err);
		if (rc)
			break;
		piece.bytes = dnnl_memory_desc_get_size(source->md) / (size_t)join->rows;
		if (join->rows > 1 || !dlsi_program_nest(program, source, &target, offset, piece.bytes))
			join->pieces[join->count++] = piece;
		offset += piece.bytes;
	}
	arguments[join->count].operand = target;
	if (rc || join->count == 0)
		return rc;
	return dlsi_program_call(program, "own:join", run, join, arguments, join->count + 1, err);
}
