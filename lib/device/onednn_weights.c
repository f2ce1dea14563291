#include "device/onednn_weights.h"

#include "device/onednn_set.h"
#include <string.h>

struct dlsi_onednn_packed {
	struct dlsi_onednn_packed *next;
	const void *from_data;
	struct dlsi_id form; /* of our own; zero: oneDNN's, as follows */
	dlsi_md from, to;
	void *block; /* of the allocator; the data begins at its first aligned byte */
};

struct dlsi_onednn_weights *dlsi_onednn_weights_create(const struct dlsi_alloc *alloc)
{
	struct dlsi_onednn_weights *weights = dlsi_calloc(alloc, 1, sizeof *weights);

	if (!weights)
		return NULL;
	weights->alloc = alloc;
	weights->users = 1;
	pthread_mutex_init(&weights->mutex, NULL);
	dlsi_onednn_pool_init(&weights->pool, alloc);
	return weights;
}

struct dlsi_onednn_weights *dlsi_onednn_weights_ref(struct dlsi_onednn_weights *weights)
{
	pthread_mutex_lock(&weights->mutex);
	weights->users++;
	pthread_mutex_unlock(&weights->mutex);
	return weights;
}

static void destroy(struct dlsi_onednn_weights *weights)
{
	for (struct dlsi_onednn_packed *packed = weights->packed; packed; packed = packed->next)
		dlsi_free(weights->alloc, packed->block);
	dlsi_onednn_pool_fini(&weights->pool);
	pthread_mutex_destroy(&weights->mutex);
	dlsi_free(weights->alloc, weights);
}

void dlsi_onednn_weights_unref(struct dlsi_onednn_weights *weights)
{
	unsigned left;

	if (!weights)
		return;
	pthread_mutex_lock(&weights->mutex);
	left = --weights->users;
	pthread_mutex_unlock(&weights->mutex);
	if (!left)
		destroy(weights);
}

size_t dlsi_onednn_weights_bytes(struct dlsi_onednn_weights *weights)
{
	size_t bytes;

	pthread_mutex_lock(&weights->mutex);
	bytes = weights->bytes;
	pthread_mutex_unlock(&weights->mutex);
	return bytes;
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
		block = dlsi_onednn_block(set->alloc, dnnl_memory_desc_get_size(scratch));
		status = block ? dnnl_success : dnnl_out_of_memory;
	}
	if (status == dnnl_success)
		status = dnnl_memory_set_data_handle(arguments[0].memory, from_data);
	if (status == dnnl_success)
		status = dnnl_memory_set_data_handle(arguments[1].memory, to_data);
	if (status == dnnl_success)
		status = dnnl_memory_set_data_handle(arguments[2].memory, dlsi_onednn_block_start(block));
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
	void *source = (void *)packed->from_data, *target = dlsi_onednn_block_start(packed->block), *block = NULL;
	size_t bytes = dnnl_memory_desc_get_size(packed->from);
	dnnl_status_t status;

	if (dnnl_memory_desc_equal(packed->from, packed->to)) {
		memcpy(target, source, bytes);
		return dnnl_success;
	}
	if ((uintptr_t)source % sizeof(float)) {
		block = dlsi_onednn_block(set->alloc, bytes);
		if (!block)
			return dnnl_out_of_memory;
		source = memcpy(dlsi_onednn_block_start(block), source, bytes);
	}
	status = reorder(set, source, packed->from, target, packed->to);
	dlsi_free(set->alloc, block);
	return status;
}

static void keep(struct dlsi_onednn_weights *weights, struct dlsi_onednn_packed *packed, size_t bytes)
{
	packed->next = weights->packed;
	weights->packed = packed;
	weights->bytes += bytes;
}

/* The rest is done under the mutex, so that whoever comes second finds what the first has made. */
static int find_or_pack(struct dlsi_onednn_set *set, const void *data, dlsi_md from, dlsi_md to,
	const void **packed_out, struct dls_error *err)
{
	struct dlsi_onednn_weights *weights = set->weights;
	struct dlsi_onednn_packed *packed;
	dnnl_status_t status;

	for (packed = weights->packed; packed; packed = packed->next) {
		if (packed->from_data == data && dlsi_id_is_zero(&packed->form) &&
			dnnl_memory_desc_equal(packed->from, from) && dnnl_memory_desc_equal(packed->to, to)) {
			*packed_out = dlsi_onednn_block_start(packed->block);
			return 0;
		}
	}
	packed = dlsi_arena_take(&weights->pool.arena, 1, sizeof *packed);
	if (!packed)
		return dlsi_fail_memory(err);
	packed->from_data = data;
	packed->from = dlsi_md_clone(&weights->pool, from);
	packed->to = dlsi_md_clone(&weights->pool, to);
	packed->block = dlsi_onednn_block(set->alloc, dnnl_memory_desc_get_size(to));
	if (!packed->from || !packed->to || !packed->block) {
		dlsi_free(set->alloc, packed->block);
		return dlsi_fail_memory(err);
	}
	status = pack(set, packed);
	if (status != dnnl_success) {
		dlsi_free(set->alloc, packed->block);
		return dlsi_onednn_fail(err, status, "cannot lay out weights");
	}
	keep(weights, packed, dnnl_memory_desc_get_size(to));
	*packed_out = dlsi_onednn_block_start(packed->block);
	return 0;
}

static int find_or_pack_own(struct dlsi_onednn_set *set, const void *data, size_t from, const struct dlsi_id *form,
	size_t bytes, dlsi_pack *pack, const void *how, const void **packed_out, struct dls_error *err)
{
	struct dlsi_onednn_weights *weights = set->weights;
	struct dlsi_onednn_packed *packed;
	void *aligned = NULL;

	for (packed = weights->packed; packed; packed = packed->next) {
		if (packed->from_data == data && dlsi_id_equal(&packed->form, form)) {
			*packed_out = dlsi_onednn_block_start(packed->block);
			return 0;
		}
	}
	packed = dlsi_arena_take(&weights->pool.arena, 1, sizeof *packed);
	if (!packed)
		return dlsi_fail_memory(err);
	*packed = (struct dlsi_onednn_packed){
		.from_data = data, .form = *form, .block = dlsi_onednn_block(set->alloc, bytes)};
	if (packed->block && (uintptr_t)data % sizeof(float)) {
		aligned = dlsi_onednn_block(set->alloc, from);
		data = aligned ? memcpy(dlsi_onednn_block_start(aligned), data, from) : NULL;
	}
	if (!packed->block || !data) {
		dlsi_free(set->alloc, packed->block);
		return dlsi_fail_memory(err);
	}
	pack(how, data, dlsi_onednn_block_start(packed->block));
	dlsi_free(set->alloc, aligned);
	keep(weights, packed, bytes);
	*packed_out = dlsi_onednn_block_start(packed->block);
	return 0;
}

int dlsi_onednn_set_pack(struct dlsi_onednn_set *set, const void *data, dlsi_md from, dlsi_md to,
	const void **packed_out, struct dls_error *err)
{
	int rc;

	if ((uintptr_t)data % sizeof(float) == 0 && dnnl_memory_desc_equal(from, to)) {
		*packed_out = data;
		return 0;
	}
	pthread_mutex_lock(&set->weights->mutex);
	rc = find_or_pack(set, data, from, to, packed_out, err);
	pthread_mutex_unlock(&set->weights->mutex);
	return rc;
}

int dlsi_onednn_set_pack_own(struct dlsi_onednn_set *set, const void *data, size_t from, const struct dlsi_id *form,
	size_t bytes, dlsi_pack *pack, const void *how, const void **packed_out, struct dls_error *err)
{
	int rc;

	pthread_mutex_lock(&set->weights->mutex);
	rc = find_or_pack_own(set, data, from, form, bytes, pack, how, packed_out, err);
	pthread_mutex_unlock(&set->weights->mutex);
	return rc;
}
