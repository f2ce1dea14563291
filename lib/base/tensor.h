/* Tensors that a program hands in: checked before anything is believed, and given back once. */
#ifndef DLSI_BASE_TENSOR_H
#define DLSI_BASE_TENSOR_H

#include "base/error.h"
#include <dlsched/tensor.h>

/* The members fit each other: size, type, rank, dimensions, and bytes with data behind them. `what` names it in errors
 * ("tensor 2"). Errors: DLS_EINVAL. */
int dlsi_tensor_check(const struct dls_tensor *tensor, const char *what, struct dls_error *err);

/* Tells the owners that their data is not needed any more. A tensor of another build's size is passed over: what
 * follows its size cannot be believed. `tensors` may be NULL. */
void dlsi_tensors_release(const struct dls_tensor *tensors, uint32_t count);

#endif
