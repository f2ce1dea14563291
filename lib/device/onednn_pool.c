#include "device/onednn_pool.h"

enum kind { DESCRIPTION, PRIMITIVE_DESCRIPTOR, PRIMITIVE, MEMORY };

struct dlsi_onednn_kept {
	struct dlsi_onednn_kept *previous;
	enum kind kind;
	void *handle;
};

void dlsi_onednn_pool_init(struct dlsi_onednn_pool *pool, const struct dlsi_alloc *alloc)
{
	*pool = (struct dlsi_onednn_pool){.last = NULL};
	dlsi_arena_init(&pool->arena, alloc);
}

static void destroy(enum kind kind, void *handle)
{
	switch (kind) {
	case DESCRIPTION:
		dlsi_md_destroy(handle);
		break;
	case PRIMITIVE_DESCRIPTOR:
		dnnl_primitive_desc_destroy(handle);
		break;
	case PRIMITIVE:
		dnnl_primitive_destroy(handle);
		break;
	case MEMORY:
		dnnl_memory_destroy(handle);
		break;
	}
}

void dlsi_onednn_pool_fini(struct dlsi_onednn_pool *pool)
{
	for (struct dlsi_onednn_kept *kept = pool->last; kept; kept = kept->previous)
		destroy(kept->kind, kept->handle);
	dlsi_arena_fini(&pool->arena);
}

/* Takes the handle over, also when it fails. */
static dnnl_status_t keep(struct dlsi_onednn_pool *pool, enum kind kind, void *handle)
{
	struct dlsi_onednn_kept *kept = dlsi_arena_take(&pool->arena, 1, sizeof *kept);

	if (!kept) {
		destroy(kind, handle);
		return dnnl_out_of_memory;
	}
	*kept = (struct dlsi_onednn_kept){.previous = pool->last, .kind = kind, .handle = handle};
	pool->last = kept;
	return dnnl_success;
}

dnnl_status_t dlsi_onednn_keep(struct dlsi_onednn_pool *pool, dnnl_primitive_desc_t pd)
{
	return keep(pool, PRIMITIVE_DESCRIPTOR, pd);
}

/* Laid out by strides, or as the tag says where they are NULL. */
static dlsi_md describe_as(struct dlsi_onednn_pool *pool, dnnl_data_type_t type, uint32_t rank, const int64_t *dims,
	const int64_t *strides, dnnl_format_tag_t tag)
{
	dlsi_md md;
	dnnl_status_t status = dlsi_md_create(&pool->arena, &md, type, rank, dims, strides, tag);

	if (status == dnnl_success)
		status = keep(pool, DESCRIPTION, (void *)md);
	pool->failed |= status != dnnl_success;
	return status == dnnl_success ? md : NULL;
}

static dlsi_md describe(struct dlsi_onednn_pool *pool, dnnl_data_type_t type, uint32_t rank, const int64_t *dims,
	const int64_t *strides)
{
	return describe_as(pool, type, rank, dims, strides, dnnl_format_tag_any);
}

dlsi_md dlsi_md_blocked(struct dlsi_onednn_pool *pool, uint32_t rank, const int64_t *dims, int block)
{
	static const dnnl_format_tag_t tags[][2] = {
		{dnnl_nCw8c, dnnl_nCw16c}, {dnnl_nChw8c, dnnl_nChw16c}, {dnnl_nCdhw8c, dnnl_nCdhw16c}};

	return describe_as(pool, dnnl_f32, rank, dims, NULL, tags[rank - 3][block == 16]);
}

dlsi_md dlsi_md_last(struct dlsi_onednn_pool *pool, uint32_t rank, const int64_t *dims)
{
	int64_t strides[DNNL_MAX_NDIMS], stride = dims[1];

	strides[1] = 1;
	for (uint32_t i = rank; i-- > 2;) {
		strides[i] = stride;
		stride *= dims[i];
	}
	strides[0] = stride;
	return describe(pool, dnnl_f32, rank, dims, strides);
}

dlsi_md dlsi_md_strided(struct dlsi_onednn_pool *pool, uint32_t rank, const int64_t *dims, const int64_t *strides)
{
	static const dnnl_dims_t one = {1};

	return rank ? describe(pool, dnnl_f32, rank, dims, strides) : describe(pool, dnnl_f32, 1, one, one);
}

dlsi_md dlsi_md_plain(struct dlsi_onednn_pool *pool, uint32_t rank, const int64_t *dims)
{
	int64_t strides[DNNL_MAX_NDIMS], stride = 1;

	for (uint32_t i = rank; i-- > 0;) {
		strides[i] = stride;
		stride *= dims[i];
	}
	return dlsi_md_strided(pool, rank, dims, strides);
}

dlsi_md dlsi_md_any(struct dlsi_onednn_pool *pool, uint32_t rank, const int64_t *dims)
{
	return describe(pool, dnnl_f32, rank, dims, NULL);
}

dlsi_md dlsi_md_bytes(struct dlsi_onednn_pool *pool, int64_t count)
{
	const dnnl_dims_t dims = {count}, strides = {1};

	return describe(pool, dnnl_u8, 1, dims, strides);
}

dlsi_md dlsi_md_clone(struct dlsi_onednn_pool *pool, dlsi_md md)
{
	dlsi_md copy;

	return dlsi_md_copy(&pool->arena, &copy, md) || keep(pool, DESCRIPTION, (void *)copy) ? NULL : copy;
}

dlsi_md dlsi_md_rows(struct dlsi_onednn_pool *pool, dlsi_md md, const int64_t *dims, int64_t first, int64_t end)
{
	const dnnl_dims_t some = {dims[0], dims[1], end - first, dims[3]}, offsets = {0, 0, first, 0};
	dlsi_md rows;

	if (dlsi_md_create_part(&pool->arena, &rows, md, some, offsets) != dnnl_success)
		return NULL;
	return keep(pool, DESCRIPTION, (void *)rows) ? NULL : rows;
}

dnnl_status_t dlsi_onednn_memory(
	struct dlsi_onednn_pool *pool, dlsi_md md, dnnl_engine_t engine, dnnl_memory_t *memory_out)
{
	dnnl_status_t status = dnnl_memory_create(memory_out, md, engine, DNNL_MEMORY_NONE);

	return status == dnnl_success ? keep(pool, MEMORY, *memory_out) : status;
}

dnnl_status_t dlsi_onednn_primitive(
	struct dlsi_onednn_pool *pool, const_dnnl_primitive_desc_t pd, dnnl_primitive_t *primitive_out)
{
	dnnl_status_t status = dnnl_primitive_create(primitive_out, pd);

	return status == dnnl_success ? keep(pool, PRIMITIVE, *primitive_out) : status;
}

dnnl_status_t dlsi_onednn_reorder(struct dlsi_onednn_pool *pool, dlsi_md from, dlsi_md to, dnnl_engine_t engine,
	const_dnnl_primitive_desc_t *pd_out)
{
	dnnl_primitive_attr_t attr = NULL;
	dnnl_primitive_desc_t pd = NULL;
	dnnl_status_t status = pool->failed ? dnnl_out_of_memory : dnnl_primitive_attr_create(&attr);

	if (status == dnnl_success)
		status = dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user);
	if (status == dnnl_success)
		status = dnnl_reorder_primitive_desc_create(&pd, from, engine, to, engine, attr);
	if (attr)
		dnnl_primitive_attr_destroy(attr);
	if (status == dnnl_success)
		status = keep(pool, PRIMITIVE_DESCRIPTOR, pd);
	if (status == dnnl_success)
		*pd_out = pd;
	return status;
}
