#include "reader/external.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What the model says under this key, NULL if nothing. */
static const char *entry(const Onnx__TensorProto *proto, const char *key)
{
	for (size_t i = 0; i < proto->n_external_data; i++)
		if (proto->external_data[i]->key && strcmp(proto->external_data[i]->key, key) == 0)
			return proto->external_data[i]->value;
	return NULL;
}

static int read_number(const Onnx__TensorProto *proto, const char *key, uint64_t otherwise, uint64_t *number_out,
	struct dls_error *err)
{
	const char *text = entry(proto, key);
	char *end = NULL;

	*number_out = text ? strtoull(text, &end, 10) : otherwise;
	if (text && (*text < '0' || *text > '9' || *end || *number_out > INT64_MAX))
		return dlsi_fail(
			err, DLS_EFORMAT, "its %s in another file is '%s', which is no number of bytes", key, text);
	return 0;
}

int dlsi_external_find(const struct dlsi_onnx *onnx, const Onnx__TensorProto *proto, size_t bytes,
	const uint8_t **data_out, struct dls_error *err)
{
	const char *name = entry(proto, "location");
	uint64_t offset, length;
	const uint8_t *data;
	size_t there;
	int rc =
		name ? 0
		     : dlsi_fail(err, DLS_EFORMAT, "its data are in another file, and the model does not say in which");

	if (rc == 0)
		rc = read_number(proto, "offset", 0, &offset, err);
	if (rc == 0)
		rc = read_number(proto, "length", bytes, &length, err);
	if (rc == 0 && length != bytes)
		rc = dlsi_fail(err, DLS_EFORMAT,
			"its data in the file '%s' are %" PRIu64 " bytes, and its shape needs %zu", name, length,
			bytes);
	if (rc == 0 && !onnx->find)
		rc = dlsi_fail(
			err, DLS_EUNSUPPORTED, "its data are in the file '%s', and the model comes without it", name);
	if (rc == 0)
		rc = onnx->find(onnx->find_arg, name, &data, &there, err);
	if (rc)
		return rc;
	if (offset > there || bytes > there - offset)
		return dlsi_fail(err, DLS_EFORMAT,
			"its data in the file '%s' are the %zu bytes from byte %" PRIu64
			" on, and the file ends after %zu",
			name, bytes, offset, there);
	*data_out = data + offset;
	return 0;
}
