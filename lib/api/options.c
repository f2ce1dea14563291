#include "api/options.h"

#include <string.h>

int dlsi_options_read(const char *name, const void *given, size_t size, void *options_out, struct dls_error *err)
{
	const unsigned char *bytes = given;
	size_t given_size;

	memset(options_out, 0, size);
	memcpy(options_out, &size, sizeof size);
	if (!given)
		return 0;
	memcpy(&given_size, given, sizeof given_size);
	if (given_size < sizeof given_size)
		return dlsi_fail(err, DLS_EINVAL, "%s.size is not set: begin with its _INIT", name);
	for (size_t i = size; i < given_size; i++)
		if (bytes[i])
			return dlsi_fail(err, DLS_EINVAL,
				"%s has a member set that this release of the library does not know", name);
	memcpy(options_out, given, given_size < size ? given_size : size);
	memcpy(options_out, &size, sizeof size);
	return 0;
}

int dlsi_options_write(const char *name, const void *known, size_t size, void *given_out, struct dls_error *err)
{
	size_t given_size;

	memcpy(&given_size, given_out, sizeof given_size);
	if (given_size < sizeof given_size)
		return dlsi_fail(err, DLS_EINVAL, "%s.size is not set", name);
	memcpy(given_out, known, given_size < size ? given_size : size);
	memcpy(given_out, &given_size, sizeof given_size);
	return 0;
}
