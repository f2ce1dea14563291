#include "device/onednn_set.h"

#include <string.h>

enum { ALIGN = 64 };

struct dlsi_onednn_packed {
	struct dlsi_onednn_packed *next;
	const void *from_data;
	uint64_t form; /* of our own; 0: oneDNN's, as follows */
	dlsi_md from, to;
	void *block; /* of the allocator; the data begins at its first aligned byte */
};

int dlsi_onednn_fail(struct dls_error *err, dnnl_status_t status, const char *what)
{
	switch (status) {
	case dnnl_out_of_memory:
		return dlsi_fail_memory(err);
	case dnnl_unimplemented:
		return dlsi_fail(err, DLS_EUNSUPPORTED, "%s: oneDNN has no implementation for this form of it", what);
	default:
		return dlsi_fail(err, DLS_EIO, "%s: oneDNN failed with status %d", what, (int)status);
	}
}

static void *align(void *block)
{
	return (uint8_t *)block + (ALIGN - (uintptr_t)block % ALIGN) % ALIGN;
}

static void *take_block(struct dlsi_onednn_set *set, size_t bytes)
{
	return bytes < SIZE_MAX - ALIGN ? dlsi_malloc(set->alloc, bytes + ALIGN) : NULL;
}

int dlsi_onednn_set_init(struct dlsi_onednn_set *set, const struct dlsi_alloc *alloc, dnnl_engine_t engine,
	enum dlsi_isa isa, struct dlsi_tuning *tuning, const struct dlsi_graph *graph, struct dls_error *err)
{
	dnnl_status_t status;

	*set = (struct dlsi_onednn_set){.alloc = alloc, .graph = graph, .engine = engine, .tuning = tuning, .isa = isa};
	dlsi_onednn_pool_init(&set->pool, alloc);
	status = dnnl_stream_create(&set->stream, engine, dnnl_stream_default_flags);
	return status == dnnl_success ? 0 : dlsi_onednn_fail(err, status, "cannot make a stream");
}

void dlsi_onednn_set_fini(struct dlsi_onednn_set *set)
{
	for (struct dlsi_onednn_packed *packed = set->packed; packed; packed = packed->next)
		dlsi_free(set->alloc, packed->block);
	dlsi_free(set->alloc, set->activations_block);
	if (set->stream)
		dnnl_stream_destroy(set->stream);
	dlsi_onednn_pool_fini(&set->pool);
}

/* Runs one reorder, with objects that last only as long. */
static dnnl_status_t reorder(struct dlsi_onednn_set *set, void *from_data, dlsi_md from, void *to_data, dlsi_md to)
{
	struct dlsi_onednn_pool pool;
	dnnl_exec_arg_t arguments[] = {{.arg = DNNL_ARG_FROM}, {.arg = DNNL_ARG_TO}, {.arg = DNNL_ARG_SCRATCHPAD}};
	const_dnnl_primitive_desc_t pd = NULL;
	dnnl_primitive_t primitive = NULL;
	dlsi_md scratch = NULL;
	void *block = NULL;
	dnnl_status_t status;

	dlsi_onednn_pool_init(&pool, set->alloc);
	status = dlsi_onednn_reorder(&pool, from, to, set->engine, &pd);
	if (status == dnnl_success)
		status = dlsi_onednn_primitive(&pool, pd, &primitive);
	if (status == dnnl_success)
		status = dlsi_onednn_memory(&pool, from, set->engine, &arguments[0].memory);
	if (status == dnnl_success)
		status = dlsi_onednn_memory(&pool, to, set->engine, &arguments[1].memory);
	if (status == dnnl_success)
		scratch = dnnl_primitive_desc_query_md(pd, dnnl_query_scratchpad_md, 0);
	if (status == dnnl_success)
		status = dlsi_onednn_memory(&pool, scratch, set->engine, &arguments[2].memory);
	if (status == dnnl_success) {
		block = take_block(set, dnnl_memory_desc_get_size(scratch));
		status = block ? dnnl_success : dnnl_out_of_memory;
	}
	if (status == dnnl_success)
		status = dnnl_memory_set_data_handle(arguments[0].memory, from_data);
	if (status == dnnl_success)
		status = dnnl_memory_set_data_handle(arguments[1].memory, to_data);
	if (status == dnnl_success)
		status = dnnl_memory_set_data_handle(arguments[2].memory, align(block));
	if (status == dnnl_success)
		status = dnnl_primitive_execute(primitive, set->stream, 3, arguments);
	if (status == dnnl_success)
		status = dnnl_stream_wait(set->stream);
	dlsi_free(set->alloc, block);
	dlsi_onednn_pool_fini(&pool);
	return status;
}

/* oneDNN reads whole floats: what lies unaligned in a file is moved first. */
static dnnl_status_t pack(struct dlsi_onednn_set *set, const struct dlsi_onednn_packed *packed)
{
	void *source = (void *)packed->from_data, *target = align(packed->block), *block = NULL;
	size_t bytes = dnnl_memory_desc_get_size(packed->from);
	dnnl_status_t status;

	if (dnnl_memory_desc_equal(packed->from, packed->to)) {
		memcpy(target, source, bytes);
		return dnnl_success;
	}
	if ((uintptr_t)source % sizeof(float)) {
		block = take_block(set, bytes);
		if (!block)
			return dnnl_out_of_memory;
		source = memcpy(align(block), source, bytes);
	}
	status = reorder(set, source, packed->from, target, packed->to);
	dlsi_free(set->alloc, block);
	return status;
}

static void keep(struct dlsi_onednn_set *set, struct dlsi_onednn_packed *packed, size_t bytes)
{
	packed->next = set->packed;
	set->packed = packed;
	set->packed_bytes += bytes;
}

int dlsi_onednn_set_pack(struct dlsi_onednn_set *set, const void *data, dlsi_md from, dlsi_md to,
	const void **packed_out, struct dls_error *err)
{
	struct dlsi_onednn_packed *packed;
	dnnl_status_t status;

	if ((uintptr_t)data % sizeof(float) == 0 && dnnl_memory_desc_equal(from, to)) {
		*packed_out = data;
		return 0;
	}
	for (packed = set->packed; packed; packed = packed->next) {
		if (packed->from_data == data && !packed->form && dnnl_memory_desc_equal(packed->from, from) &&
			dnnl_memory_desc_equal(packed->to, to)) {
			*packed_out = align(packed->block);
			return 0;
		}
	}
	packed = dlsi_arena_take(&set->pool.arena, 1, sizeof *packed);
	if (!packed)
		return dlsi_fail_memory(err);
	packed->from_data = data;
	packed->from = dlsi_md_clone(&set->pool, from);
	packed->to = dlsi_md_clone(&set->pool, to);
	packed->block = take_block(set, dnnl_memory_desc_get_size(to));
	if (!packed->from || !packed->to || !packed->block) {
		dlsi_free(set->alloc, packed->block);
		return dlsi_fail_memory(err);
	}
	status = pack(set, packed);
	if (status != dnnl_success) {
		dlsi_free(set->alloc, packed->block);
		return dlsi_onednn_fail(err, status, "cannot lay out weights");
	}
	keep(set, packed, dnnl_memory_desc_get_size(to));
	*packed_out = align(packed->block);
	return 0;
}

int dlsi_onednn_set_pack_own(struct dlsi_onednn_set *set, const void *data, size_t from, uint64_t form, size_t bytes,
	dlsi_pack *pack, const void *how, const void **packed_out, struct dls_error *err)
{
	struct dlsi_onednn_packed *packed;
	void *aligned = NULL;

	for (packed = set->packed; packed; packed = packed->next) {
		if (packed->from_data == data && packed->form == form) {
			*packed_out = align(packed->block);
			return 0;
		}
	}
	packed = dlsi_arena_take(&set->pool.arena, 1, sizeof *packed);
	if (!packed)
		return dlsi_fail_memory(err);
	*packed = (struct dlsi_onednn_packed){.from_data = data, .form = form, .block = take_block(set, bytes)};
	if (packed->block && (uintptr_t)data % sizeof(float)) {
		aligned = take_block(set, from);
		data = aligned ? memcpy(align(aligned), data, from) : NULL;
	}
	if (!packed->block || !data) {
		dlsi_free(set->alloc, packed->block);
		return dlsi_fail_memory(err);
	}
	pack(how, data, align(packed->block));
	dlsi_free(set->alloc, aligned);
	keep(set, packed, bytes);
	*packed_out = align(packed->block);
	return 0;
}

int dlsi_onednn_set_reserve(struct dlsi_onednn_set *set, size_t bytes, struct dls_error *err)
{
	if (bytes <= set->activations_bytes)
		return 0;
	dlsi_free(set->alloc, set->activations_block);
	set->activations = NULL;
	set->activations_bytes = 0;
	set->activations_block = take_block(set, bytes);
	if (!set->activations_block)
		return dlsi_fail_memory(err);
	set->activations = align(set->activations_block);
	set->activations_bytes = bytes;
	return 0;
}
