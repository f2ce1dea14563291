/* The bytes of a model: those of its ONNX file, and how to come by the files in which it keeps the data of constants
 * (TensorProto.external_data). The reader opens nothing itself. */
#ifndef DLSI_READER_ONNX_H
#define DLSI_READER_ONNX_H

#include "base/error.h"
#include <stdint.h>

struct dlsi_onnx {
	const void *file;
	size_t length;

	/* The whole content of the file of this name, which the model says and which may be anything; asked for once
	 * per constant. NULL: there are no such files. Errors: its own. */
	int (*find)(
		void *find_arg, const char *name, const uint8_t **data_out, size_t *length_out, struct dls_error *err);
	void *find_arg;
};

/* Refuses a file of so many bytes if protobuf cannot have that many. Errors: DLS_ELIMIT. */
int dlsi_onnx_check_length(uint64_t length, struct dls_error *err);

#endif
