#include "api/name.h"

#include "base/limits.h"
#include "base/utf8.h"
#include <string.h>

int dlsi_name_check(const char *what, const char *name, struct dls_error *err)
{
	const uint8_t *bytes = (const uint8_t *)name;
	size_t length = strlen(name), step;
	uint32_t code;

	if (!length || length > DLSI_NAME_BYTES)
		return dlsi_fail(err, DLS_EINVAL, "%s has from 1 to %d bytes, not %zu", what, DLSI_NAME_BYTES, length);
	for (size_t i = 0; i < length; i += step) {
		step = dlsi_utf8_next(bytes + i, length - i, &code);
		if (!step)
			return dlsi_fail(
				err, DLS_EINVAL, "%s must be UTF-8; its byte %zu is 0x%02x", what, i + 1, bytes[i]);
	}
	return 0;
}
