/* Constants whose data lie in another file than the model (TensorProto.external_data). */
#ifndef DLSI_EXTERNAL_H
#define DLSI_EXTERNAL_H

#include "onnx/onnx.pb-c.h"
#include "reader/onnx.h"

/* Where the `bytes` of this constant are. What the model says beside the file's name, the offset and the length (a
 * checksum, say) does not count. Errors: DLS_EFORMAT (no name, no number, another length, a file that ends before),
 * DLS_EUNSUPPORTED (onnx->find is NULL), and those of onnx->find. */
int dlsi_external_find(const struct dlsi_onnx *onnx, const Onnx__TensorProto *proto, size_t bytes,
	const uint8_t **data_out, struct dls_error *err);

#endif
