/* oneDNN 3's interface, on 2.6 too: the one place that knows both.
 *
 * In 2.x a memory descriptor is a structure and a primitive is described in two steps; in 3.x the descriptor is a
 * handle and there is one step, whose functions are defined here for 2.x under the names that 3.x gives them. */
#ifndef DLSI_ONEDNN_COMPAT_H
#define DLSI_ONEDNN_COMPAT_H

#include "graph/arena.h"
#include <dnnl.h>

#if DNNL_VERSION_MAJOR >= 3

typedef const_dnnl_memory_desc_t dlsi_md;

/* A description laid out by strides, or as the tag says where they are NULL; dlsi_md_destroy comes before the arena's
 * end. */
static inline dnnl_status_t dlsi_md_create(struct dlsi_arena *arena, dlsi_md *md_out, dnnl_data_type_t type,
	uint32_t rank, const int64_t *dims, const int64_t *strides, dnnl_format_tag_t tag)
{
	dnnl_memory_desc_t md = NULL;
	dnnl_status_t status = strides ? dnnl_memory_desc_create_with_strides(&md, (int)rank, dims, type, strides)
				       : dnnl_memory_desc_create_with_tag(&md, (int)rank, dims, type, tag);

	(void)arena;
	*md_out = md;
	return status;
}

static inline dnnl_status_t dlsi_md_copy(struct dlsi_arena *arena, dlsi_md *md_out, dlsi_md md)
{
	dnnl_memory_desc_t copy = NULL;
	dnnl_status_t status = dnnl_memory_desc_clone(&copy, md);

	(void)arena;
	*md_out = copy;
	return status;
}

/* A part of `md`, `offsets` into it. */
static inline dnnl_status_t dlsi_md_create_part(
	struct dlsi_arena *arena, dlsi_md *md_out, dlsi_md md, const int64_t *dims, const int64_t *offsets)
{
	dnnl_memory_desc_t part = NULL;
	dnnl_status_t status = dnnl_memory_desc_create_submemory(&part, md, dims, offsets);

	(void)arena;
	*md_out = part;
	return status;
}

static inline void dlsi_md_destroy(dlsi_md md)
{
	dnnl_memory_desc_destroy((dnnl_memory_desc_t)md);
}

static inline dnnl_status_t dlsi_post_ops_append_sum(dnnl_post_ops_t ops)
{
	return dnnl_post_ops_append_sum(ops, 1, 0, dnnl_f32);
}

static inline dnnl_status_t dlsi_post_ops_append_eltwise(
	dnnl_post_ops_t ops, dnnl_alg_kind_t kind, float alpha, float beta)
{
	return dnnl_post_ops_append_eltwise(ops, kind, alpha, beta);
}

#elif DNNL_VERSION_MAJOR == 2 && DNNL_VERSION_MINOR >= 6

typedef const dnnl_memory_desc_t *dlsi_md;

static inline dnnl_status_t dlsi_md_create(struct dlsi_arena *arena, dlsi_md *md_out, dnnl_data_type_t type,
	uint32_t rank, const int64_t *dims, const int64_t *strides, dnnl_format_tag_t tag)
{
	dnnl_memory_desc_t *md = dlsi_arena_take(arena, 1, sizeof *md);

	*md_out = md;
	if (!md)
		return dnnl_out_of_memory;
	return strides ? dnnl_memory_desc_init_by_strides(md, (int)rank, dims, type, strides)
		       : dnnl_memory_desc_init_by_tag(md, (int)rank, dims, type, tag);
}

static inline dnnl_status_t dlsi_md_copy(struct dlsi_arena *arena, dlsi_md *md_out, dlsi_md md)
{
	dnnl_memory_desc_t *copy = dlsi_arena_take(arena, 1, sizeof *copy);

	*md_out = copy;
	if (!copy)
		return dnnl_out_of_memory;
	*copy = *md;
	return dnnl_success;
}

static inline dnnl_status_t dlsi_md_create_part(
	struct dlsi_arena *arena, dlsi_md *md_out, dlsi_md md, const int64_t *dims, const int64_t *offsets)
{
	dnnl_memory_desc_t *part = dlsi_arena_take(arena, 1, sizeof *part);

	*md_out = part;
	return part ? dnnl_memory_desc_init_submemory(part, md, dims, offsets) : dnnl_out_of_memory;
}

static inline void dlsi_md_destroy(dlsi_md md)
{
	(void)md; /* it goes with the arena */
}

static inline dnnl_status_t dlsi_post_ops_append_sum(dnnl_post_ops_t ops)
{
	return dnnl_post_ops_append_sum(ops, 1);
}

static inline dnnl_status_t dlsi_post_ops_append_eltwise(
	dnnl_post_ops_t ops, dnnl_alg_kind_t kind, float alpha, float beta)
{
	return dnnl_post_ops_append_eltwise(ops, 1, kind, alpha, beta);
}

static inline dnnl_status_t dnnl_convolution_forward_primitive_desc_create(dnnl_primitive_desc_t *pd,
	dnnl_engine_t engine, dnnl_prop_kind_t prop, dnnl_alg_kind_t kind, dlsi_md src, dlsi_md weights, dlsi_md bias,
	dlsi_md dst, const dnnl_dims_t strides, const dnnl_dims_t dilates, const dnnl_dims_t padding_l,
	const dnnl_dims_t padding_r, const_dnnl_primitive_attr_t attr)
{
	dnnl_convolution_desc_t desc;
	dnnl_status_t status = dnnl_dilated_convolution_forward_desc_init(
		&desc, prop, kind, src, weights, bias, dst, strides, dilates, padding_l, padding_r);

	return status ? status : dnnl_primitive_desc_create(pd, &desc, attr, engine, NULL);
}

static inline dnnl_status_t dnnl_deconvolution_forward_primitive_desc_create(dnnl_primitive_desc_t *pd,
	dnnl_engine_t engine, dnnl_prop_kind_t prop, dnnl_alg_kind_t kind, dlsi_md src, dlsi_md weights, dlsi_md bias,
	dlsi_md dst, const dnnl_dims_t strides, const dnnl_dims_t dilates, const dnnl_dims_t padding_l,
	const dnnl_dims_t padding_r, const_dnnl_primitive_attr_t attr)
{
	dnnl_deconvolution_desc_t desc;
	dnnl_status_t status = dnnl_dilated_deconvolution_forward_desc_init(
		&desc, prop, kind, src, weights, bias, dst, strides, dilates, padding_l, padding_r);

	return status ? status : dnnl_primitive_desc_create(pd, &desc, attr, engine, NULL);
}

static inline dnnl_status_t dnnl_pooling_forward_primitive_desc_create(dnnl_primitive_desc_t *pd, dnnl_engine_t engine,
	dnnl_prop_kind_t prop, dnnl_alg_kind_t kind, dlsi_md src, dlsi_md dst, const dnnl_dims_t strides,
	const dnnl_dims_t kernel, const dnnl_dims_t dilation, const dnnl_dims_t padding_l, const dnnl_dims_t padding_r,
	const_dnnl_primitive_attr_t attr)
{
	dnnl_pooling_v2_desc_t desc;
	dnnl_status_t status = dnnl_pooling_v2_forward_desc_init(
		&desc, prop, kind, src, dst, strides, kernel, dilation, padding_l, padding_r);

	return status ? status : dnnl_primitive_desc_create(pd, &desc, attr, engine, NULL);
}

static inline dnnl_status_t dnnl_inner_product_forward_primitive_desc_create(dnnl_primitive_desc_t *pd,
	dnnl_engine_t engine, dnnl_prop_kind_t prop, dlsi_md src, dlsi_md weights, dlsi_md bias, dlsi_md dst,
	const_dnnl_primitive_attr_t attr)
{
	dnnl_inner_product_desc_t desc;
	dnnl_status_t status = dnnl_inner_product_forward_desc_init(&desc, prop, src, weights, bias, dst);

	return status ? status : dnnl_primitive_desc_create(pd, &desc, attr, engine, NULL);
}

static inline dnnl_status_t dnnl_matmul_primitive_desc_create(dnnl_primitive_desc_t *pd, dnnl_engine_t engine,
	dlsi_md src, dlsi_md weights, dlsi_md bias, dlsi_md dst, const_dnnl_primitive_attr_t attr)
{
	dnnl_matmul_desc_t desc;
	dnnl_status_t status = dnnl_matmul_desc_init(&desc, src, weights, bias, dst);

	return status ? status : dnnl_primitive_desc_create(pd, &desc, attr, engine, NULL);
}

static inline dnnl_status_t dnnl_eltwise_forward_primitive_desc_create(dnnl_primitive_desc_t *pd, dnnl_engine_t engine,
	dnnl_prop_kind_t prop, dnnl_alg_kind_t kind, dlsi_md src, dlsi_md dst, float alpha, float beta,
	const_dnnl_primitive_attr_t attr)
{
	dnnl_eltwise_desc_t desc;
	dnnl_status_t status = dnnl_eltwise_forward_desc_init(&desc, prop, kind, src, alpha, beta);

	(void)dst; /* always laid out as the source */
	return status ? status : dnnl_primitive_desc_create(pd, &desc, attr, engine, NULL);
}

static inline dnnl_status_t dnnl_binary_primitive_desc_create(dnnl_primitive_desc_t *pd, dnnl_engine_t engine,
	dnnl_alg_kind_t kind, dlsi_md src0, dlsi_md src1, dlsi_md dst, const_dnnl_primitive_attr_t attr)
{
	dnnl_binary_desc_t desc;
	dnnl_status_t status = dnnl_binary_desc_init(&desc, kind, src0, src1, dst);

	return status ? status : dnnl_primitive_desc_create(pd, &desc, attr, engine, NULL);
}

static inline dnnl_status_t dnnl_softmax_forward_primitive_desc_create(dnnl_primitive_desc_t *pd, dnnl_engine_t engine,
	dnnl_prop_kind_t prop, dnnl_alg_kind_t kind, dlsi_md src, dlsi_md dst, int axis,
	const_dnnl_primitive_attr_t attr)
{
	dnnl_softmax_v2_desc_t desc;
	dnnl_status_t status = dnnl_softmax_v2_forward_desc_init(&desc, prop, kind, src, dst, axis);

	return status ? status : dnnl_primitive_desc_create(pd, &desc, attr, engine, NULL);
}

static inline dnnl_status_t dnnl_batch_normalization_forward_primitive_desc_create(dnnl_primitive_desc_t *pd,
	dnnl_engine_t engine, dnnl_prop_kind_t prop, dlsi_md src, dlsi_md dst, float epsilon, unsigned flags,
	const_dnnl_primitive_attr_t attr)
{
	dnnl_batch_normalization_desc_t desc;
	dnnl_status_t status = dnnl_batch_normalization_forward_desc_init(&desc, prop, src, epsilon, flags);

	(void)dst; /* always laid out as the source */
	return status ? status : dnnl_primitive_desc_create(pd, &desc, attr, engine, NULL);
}

static inline dnnl_status_t dnnl_lrn_forward_primitive_desc_create(dnnl_primitive_desc_t *pd, dnnl_engine_t engine,
	dnnl_prop_kind_t prop, dnnl_alg_kind_t kind, dlsi_md src, dlsi_md dst, int64_t size, float alpha, float beta,
	float k, const_dnnl_primitive_attr_t attr)
{
	dnnl_lrn_desc_t desc;
	dnnl_status_t status = dnnl_lrn_forward_desc_init(&desc, prop, kind, src, size, alpha, beta, k);

	(void)dst; /* always laid out as the source */
	return status ? status : dnnl_primitive_desc_create(pd, &desc, attr, engine, NULL);
}

#else
#error "oneDNN 2.6 or newer is needed"
#endif

#endif
